/* gpu/factor/describe.c: the fronts of a factorization's program: places, what they pull from
 * children, entries of A
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/factor/builder.h"

/* ---- Fronts and the arena -------------------------------------------------------------------- */

/* Contribution blocks of even and of odd depth lie in two arenas, so that a block may take the
 * place of those of its grandchildren, which are done with before their grandparent is begun, but
 * never that of its children's.  Whatever order the fronts of different subtrees come in, no two
 * blocks that are wanted at a time overlap. */
void builder_place_blocks(builder *b)
{
    const factor_groups *tree = &b->tree;
    factor_program *g = b->program;
    int64_t even = 0, odd = 0;
    for (int32_t s = 0; s < tree->fronts; s++)
        b->own[s] = b->other[s] = 0;
    for (int32_t q = 0; q < tree->fronts; q++) {
        const int32_t s = tree->visit[q], parent = above(b, s);
        const int is_summed = !is_group(b, s) && group_of_leaves(b, s) >= 0;
        const int64_t r = is_summed ? 0 : rows(b, s) - pivots(b, s);
        if (b->own[s] < r * r)
            b->own[s] = r * r;
        if (parent >= 0) {
            b->other[parent] += b->own[s];
            b->own[parent] += b->other[s];
        }
    }
    /* from the roots down: where the parts begin; `level` is the depth for now */
    for (int32_t q = tree->fronts; q-- > 0;) {
        const int32_t s = tree->visit[q], parent = above(b, s);
        int64_t *own = parent < 0 ? &even : b->other + parent,
                *other = parent < 0 ? &odd : b->own + parent;
        const int64_t own_size = b->own[s], other_size = b->other[s];
        b->level[s] = parent < 0 ? 0 : b->level[parent] + 1;
        b->own[s] = *own;
        b->other[s] = *other;
        *own += own_size;
        *other += other_size;
        g->front[s].block = b->own[s];
    }
    for (int32_t s = 0; s < tree->fronts; s++)
        if (b->level[s] % 2)
            g->front[s].block += even;
    g->arena_scalars = even + odd;
}

/* The first pivot of a front, or of the one that a group belongs to. */
static int32_t first_pivot(const builder *b, int32_t s)
{
    while (is_group(b, s))
        s = above(b, s);
    return b->pattern->first[s];
}

void builder_describe_fronts(builder *b)
{
    factor_program *g = b->program;
    for (int32_t s = 0; s < b->tree.fronts; s++) {
        factor_front *f = g->front + s;
        const int32_t m = rows(b, s);
        *f = (factor_front){.panel = g->panel_scalars,
                            .m = m,
                            .k = pivots(b, s),
                            .ld = is_small(b, s) ? m : (int32_t)round_up(m, 2),
                            .rows = is_group(b, s) ? 0 : b->pattern->row_start[s],
                            .first = first_pivot(b, s),
                            .tiles = (int32_t)g->tiles,
                            .inverse = (int32_t)g->inverses};
        g->panel_scalars += round_up((int64_t)f->ld * f->k, 2);
        if (is_small(b, s))
            continue;
        const int32_t nb = factor_pivot_blocks(f);
        g->tiled++;
        g->inverses += nb;
        g->tiles += factor_tile_number(f, nb, nb);
    }
}

/* ---- Pulls ----------------------------------------------------------------------------------- */

static void describe_child(builder *b, int32_t s, factor_child *c, const factor_front *parent)
{
    factor_program *g = b->program;
    const int64_t at = b->tree.row_start[s] + pivots(b, s);
    const int32_t *position = g->position + at;
    *c = (factor_child){
        .block = g->front[s].block, .position = at, .r = rows(b, s) - pivots(b, s), .begin = -1};
    if (is_small(b, above(b, s)))
        return;
    c->begin = (int32_t)g->begins;
    const int32_t blocks = factor_row_blocks(parent);
    int32_t i = 0;
    for (int32_t q = 0; q <= blocks; q++) {
        const int32_t from = factor_block_row(parent, q);
        while (i < c->r && position[i] < from)
            i++;
        if (g->begin)
            g->begin[g->begins + q] = i;
    }
    g->begins += blocks + 1;
}

/* Children of each front as they are visited, one front's after the other's. */
libsolver_status builder_describe_children(builder *b)
{
    const int32_t fronts = b->tree.fronts;
    factor_program *g = b->program;
    int64_t begins = 0;
    for (int32_t s = 0; s < fronts; s++)
        if (above(b, s) >= 0) {
            g->front[above(b, s)].children++;
            if (!is_small(b, above(b, s)))
                begins += factor_row_blocks(g->front + above(b, s)) + 1;
        }
    for (int32_t s = 0; s < fronts; s++) {
        g->front[s].child = (int32_t)g->children;
        g->children += g->front[s].children;
    }
    if (begins > INT32_MAX)
        return LIBSOLVER_NOT_BUILT;
    g->child = memory_new(b->m, g->children, sizeof(factor_child));
    g->begin = memory_new(b->m, begins, sizeof(int32_t));
    int32_t *next = memory_new(b->m, fronts, sizeof(int32_t));
    if (g->child && g->begin && next) {
        for (int32_t s = 0; s < fronts; s++)
            next[s] = g->front[s].child;
        for (int32_t q = 0; q < fronts; q++) {
            const int32_t s = b->tree.visit[q], parent = above(b, s);
            if (parent >= 0)
                describe_child(b, s, g->child + next[parent]++, g->front + parent);
        }
    }
    memory_free(b->m, next);
    return g->child && g->begin && next ? LIBSOLVER_OK : LIBSOLVER_OUT_OF_MEMORY;
}

/* ---- Entries of A ---------------------------------------------------------------------------- */

/* Where entry e of column j goes; returns its tile, -1 for a small front. */
static int64_t place_entry(const builder *b, int32_t s, int32_t j, int64_t e, factor_entry *to)
{
    const factor_front *f = b->program->front + s;
    const int32_t row = b->pattern->local[e], nb = factor_pivot_blocks(f);
    if (is_small(b, s)) {
        *to = (factor_entry){.row = (uint16_t)row, .column = (uint16_t)j};
        return -1;
    }
    const int32_t i = row < f->k ? row / FACTOR_TILE : nb + (row - f->k) / FACTOR_TILE;
    *to = (factor_entry){.row = (uint16_t)(row - factor_block_row(f, i)),
                         .column = (uint16_t)(j % FACTOR_TILE)};
    return f->tiles + factor_tile_number(f, i, j / FACTOR_TILE);
}

/* Counts the entries of a front's tiles. */
static void count_entries(const builder *b, int32_t s)
{
    const factor_pattern *p = b->pattern;
    const factor_front *f = b->program->front + s;
    factor_entry to;
    for (int32_t j = 0; j < f->k; j++)
        for (int64_t e = p->start[f->first + j]; e < p->start[f->first + j + 1]; e++)
            b->program->tile_end[place_entry(b, s, j, e, &to)]++;
}

/* The source of entry e, of column j. */
static factor_source source_of(const builder *b, int32_t j, int64_t e)
{
    const int32_t *diagonal = b->program->diagonal;
    return (factor_source){.value = b->given[e],
                           .row = (uint32_t)diagonal[b->pattern->row[e]],
                           .column = (uint32_t)diagonal[j]};
}

/* Entries of a front to their places: of a small one as they come, of a leaf by rows, of others
 * tile by tile. */
static void list_entries(const builder *b, int32_t s)
{
    const factor_pattern *p = b->pattern;
    const factor_program *g = b->program;
    const factor_front *f = g->front + s;
    const int is_leaf = factor_is_leaf(f);
    int64_t next = p->start[f->first];
    for (int32_t j = 0; j < f->k; j++)
        for (int64_t e = p->start[f->first + j]; e < p->start[f->first + j + 1]; e++) {
            factor_entry to;
            const int64_t tile = place_entry(b, s, j, e, &to), at = tile >= 0 ? b->cursor[tile]++
                                                                    : is_leaf ? next + to.row
                                                                              : next++;
            g->entry[at] = to;
            g->source[at] = source_of(b, f->first + j, e);
        }
}

/* Where the values of entries of P A P^T come from. */
static libsolver_status find_sources(builder *b)
{
    const factor_pattern *p = b->pattern;
    factor_program *g = b->program;
    b->given = memory_new(b->m, g->entries, sizeof(uint32_t));
    g->diagonal = memory_new(b->m, p->n, sizeof(int32_t));
    if (!b->given || !g->diagonal)
        return LIBSOLVER_OUT_OF_MEMORY;
    for (int64_t e = 0; e < g->entries; e++) {
        const int64_t at = p->place[e];
        b->given[at >= 0 ? at : -1 - at] = (uint32_t)e << 1 | (p->hermitian && at < 0);
    }
    for (int32_t k = 0; k < p->n; k++)
        g->diagonal[k] = (int32_t)(b->given[p->start[k]] >> 1);
    return LIBSOLVER_OK;
}

/* Entries between rows of the Schur complement, whose places in `entry` nobody reads. */
static void list_schur_entries(const builder *b)
{
    const factor_pattern *p = b->pattern;
    const factor_program *g = b->program;
    const int32_t first = p->n - p->schur_size;
    factor_schur_entry *to = g->schur;
    for (int32_t j = first; j < p->n; j++)
        for (int64_t e = p->start[j]; e < p->start[j + 1]; e++) {
            *to++ = (factor_schur_entry){b->given[e], p->row[e] - first, j - first};
            g->source[e] = source_of(b, j, e);
            g->entry[e] = (factor_entry){0};
        }
}

libsolver_status builder_describe_entries(builder *b)
{
    const factor_pattern *p = b->pattern;
    factor_program *g = b->program;
    g->entries = p->start[p->n];
    g->schur_entries = g->entries - p->start[p->n - p->schur_size];
    g->tile_end = memory_zeroed(b->m, g->tiles, sizeof(int64_t));
    g->entry = memory_new(b->m, g->entries, sizeof(factor_entry));
    g->source = memory_new(b->m, g->entries, sizeof(factor_source));
    g->schur = memory_new(b->m, g->schur_entries, sizeof(factor_schur_entry));
    b->cursor = memory_new(b->m, g->tiles, sizeof(int64_t));
    if (!g->tile_end || !g->entry || !g->source || !g->schur || !b->cursor)
        return LIBSOLVER_OUT_OF_MEMORY;
    TRY(find_sources(b));
    for (int32_t s = 0; s < p->nodes; s++) {
        factor_front *f = g->front + s;
        f->entry = p->start[f->first];
        f->entries = (int32_t)(p->start[f->first + f->k] - f->entry);
        if (!is_small(b, s)) {
            const int32_t nb = factor_pivot_blocks(f);
            int64_t at = f->entry;
            count_entries(b, s);
            for (int32_t t = f->tiles; t < f->tiles + factor_tile_number(f, nb, nb); t++) {
                b->cursor[t] = at;
                g->tile_end[t] = at += g->tile_end[t];
            }
        }
        list_entries(b, s);
    }
    list_schur_entries(b);
    memory_free(b->m, b->cursor);
    b->cursor = NULL;
    return LIBSOLVER_OK;
}
