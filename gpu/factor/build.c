/* gpu/factor/build.c: the program of a factorization: places, pulls, entries, tasks and their
 * levels
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/factor/build.h"
#include "gpu/factor/groups.h"
#include "gpu/factor/order.h"
#include "gpu/factor/waits.h"
#include <string.h>

typedef struct builder {
    memory *m;
    const factor_pattern *pattern;
    factor_program *program;
    factor_tuning tuning;
    factor_groups tree; /* fronts: those of the pattern, `nodes`, then groups; f-long arrays below
                           are of all of them */
    double run_seconds, apart_seconds; /* most of a run; of one that goes on beside its fronts */
    int32_t *level;                    /* f: of the last task of a front */
    int32_t *run_end; /* f: at the first front of a run, the front behind its last; 0: in tiles,
                         or not the first */
    int32_t *last_child, *sibling; /* f: the sibling visited before it, -1: none */
    int32_t *ranges_end;           /* levels: behind the ranges of tiny fronts of each */
    int64_t *own, *other; /* f: scalars that the contribution blocks of a subtree take in the arena
                             of its root and in the other one; then where these begin */
    uint8_t *is_crowded;  /* levels: see is_crowded; NULL: none is */
    int64_t *cursor;      /* of lists that are filled, by level or list */
    uint32_t *given;      /* entries: factor_source.value of those of P A P^T */
} builder;

static int is_group(const builder *b, int32_t s)
{
    return s >= b->tree.nodes;
}

static int32_t pivots(const builder *b, int32_t s)
{
    const int32_t *first = b->pattern->first;
    return is_group(b, s) ? 0 : first[s + 1] - first[s];
}

static int32_t rows(const builder *b, int32_t s)
{
    return b->tree.rows[s];
}

static int32_t above(const builder *b, int32_t s)
{
    return b->tree.above[s];
}

static int is_small(const builder *b, int32_t s)
{
    return is_group(b, s) || rows(b, s) <= b->tuning.small_rows;
}

/* Seconds of a front in shared memory. */
static double small_seconds(const builder *b, int32_t s)
{
    return factor_small_seconds(b->program->front + s);
}

/* ---- Fronts and the arena -------------------------------------------------------------------- */

/* Contribution blocks of even and of odd depth lie in two arenas, so that a block may take the
 * place of those of its grandchildren, which are done with before their grandparent is begun, but
 * never that of its children's.  Whatever order the fronts of different subtrees come in, no two
 * blocks that are wanted at a time overlap. */
static void place_blocks(builder *b)
{
    const factor_groups *tree = &b->tree;
    factor_program *g = b->program;
    int64_t even = 0, odd = 0;
    for (int32_t s = 0; s < tree->fronts; s++)
        b->own[s] = b->other[s] = 0;
    for (int32_t q = 0; q < tree->fronts; q++) {
        const int32_t s = tree->visit[q], parent = above(b, s);
        const int64_t r = rows(b, s) - pivots(b, s);
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

static void describe_fronts(builder *b)
{
    factor_program *g = b->program;
    for (int32_t s = 0; s < b->tree.fronts; s++) {
        factor_front *f = g->front + s;
        const int32_t m = rows(b, s);
        *f = (factor_front){.panel = g->panel_scalars,
                            .m = m,
                            .k = pivots(b, s),
                            .ld = is_small(b, s) ? m : (int32_t)round_up(m, 2),
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
static libsolver_status describe_children(builder *b)
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

/* Entries of a front to their places: of a small one as they come, of others tile by tile. */
static void list_entries(const builder *b, int32_t s)
{
    const factor_pattern *p = b->pattern;
    const factor_program *g = b->program;
    const factor_front *f = g->front + s;
    int64_t next = p->start[f->first];
    for (int32_t j = 0; j < f->k; j++)
        for (int64_t e = p->start[f->first + j]; e < p->start[f->first + j + 1]; e++) {
            factor_entry to;
            const int64_t tile = place_entry(b, s, j, e, &to),
                          at = tile < 0 ? next++ : b->cursor[tile]++;
            g->entry[at] = to;
            g->source[at] = (factor_source){.value = b->given[e],
                                            .row = (uint32_t)g->diagonal[p->row[e]],
                                            .column = (uint32_t)g->diagonal[f->first + j]};
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
        b->given[at >= 0 ? at : -1 - at] = (uint32_t)e << 1 | (at < 0);
    }
    for (int32_t k = 0; k < p->n; k++)
        g->diagonal[k] = (int32_t)(b->given[p->start[k]] >> 1);
    return LIBSOLVER_OK;
}

static libsolver_status describe_entries(builder *b)
{
    const factor_pattern *p = b->pattern;
    factor_program *g = b->program;
    g->entries = p->start[p->n];
    g->tile_end = memory_zeroed(b->m, g->tiles, sizeof(int64_t));
    g->entry = memory_new(b->m, g->entries, sizeof(factor_entry));
    g->source = memory_new(b->m, g->entries, sizeof(factor_source));
    b->cursor = memory_new(b->m, g->tiles, sizeof(int64_t));
    if (!g->tile_end || !g->entry || !g->source || !b->cursor)
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
    memory_free(b->m, b->cursor);
    b->cursor = NULL;
    return LIBSOLVER_OK;
}

/* ---- Levels ---------------------------------------------------------------------------------- */

/* The level at which front s could begin behind those of its children that are not in [from, s). */
static int32_t level_behind(const builder *b, int32_t s, int32_t from)
{
    int32_t level = 0;
    for (int32_t c = b->last_child[s]; c >= 0; c = b->sibling[c])
        if ((c < from || c > s) && b->level[c] >= level)
            level = b->level[c] + 1;
    return level;
}

static int is_tiny(const builder *b, int32_t s)
{
    const int32_t m = rows(b, s);
    return m <= FACTOR_TINY_ROWS && (is_group(b, s) || m <= b->tuning.small_rows);
}

/* Cuts the small fronts into runs and gives every front its level.  A run goes on while it is short
 * and its fronts could not begin earlier elsewhere: with the parent of its last front, which would
 * have to wait elsewhere, but with another subtree only where there are more of them than warps.
 * One of tiny fronts is for a warp and has no others, and groups, whose numbers are elsewhere, have
 * runs of their own, short ones: what waits for them is nearer to the end. */
static void find_levels(builder *b)
{
    factor_program *g = b->program;
    int32_t begin = -1, level = 0; /* of the run at hand, -1: none */
    double seconds = 0;
    for (int32_t q = 0; q < b->tree.fronts; q++) {
        const int32_t s = b->tree.visit[q];
        const factor_front *f = g->front + s;
        b->run_end[s] = 0;
        if (!is_small(b, s)) {
            begin = -1;
            b->level[s] = level_behind(b, s, s) + factor_pivot_blocks(f) + (f->m > f->k ? 1 : -1);
        } else {
            const double own = small_seconds(b, s);
            const int is_next =
                begin >= 0 && b->tree.visit[q - 1] == s - 1 && is_group(b, begin) == is_group(b, s);
            const int32_t outside = is_next ? level_behind(b, s, begin) : 0;
            const int is_led_here = is_next && b->last_child[s] >= begin && b->last_child[s] < s;
            const double most = is_group(b, s) ? b->tuning.run_seconds
                                : is_led_here  ? b->run_seconds
                                               : b->apart_seconds;
            if (!is_next || seconds + own > most || outside > level ||
                (outside < level && !is_led_here) || is_tiny(b, begin) != is_tiny(b, s)) {
                begin = s;
                level = level_behind(b, s, s);
                seconds = 0;
            }
            seconds += own;
            b->level[s] = level;
            b->run_end[begin] = s + 1;
        }
        if (b->level[s] >= g->levels)
            g->levels = b->level[s] + 1;
    }
}

/* What says that a child's block is there, and the children that small fronts wait for. */
static libsolver_status name_words(builder *b)
{
    const int32_t fronts = b->tree.fronts;
    factor_program *g = b->program;
    int32_t *run = memory_new(b->m, fronts, sizeof(int32_t)),
            *next = memory_new(b->m, fronts, sizeof(int32_t));
    const int has_memory = run && next;
    for (int32_t s = 0; s < fronts && has_memory; s++)
        next[s] = g->front[s].child;
    for (int32_t q = 0; q < fronts && has_memory; q++) {
        const int32_t s = b->tree.visit[q], parent = above(b, s);
        factor_front *f = g->front + s;
        run[s] = is_small(b, s) && b->run_end[s] == 0 ? run[s - 1] : s;
        for (int32_t c = 0; c < f->children && is_small(b, s); c++) {
            factor_child *child = g->child + f->child + c;
            if (child->word == g->tiles + run[s])
                child->word = -1;
            f->outside += child->word >= 0;
        }
        if (parent >= 0) {
            factor_child *child = g->child + next[parent]++;
            child->word = (int32_t)g->tiles + run[s];
            child->tells = is_small(b, s) ? 1 : factor_contributions(f);
        }
    }
    memory_free(b->m, run);
    memory_free(b->m, next);
    return has_memory ? LIBSOLVER_OK : LIBSOLVER_OUT_OF_MEMORY;
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

/* Counts a task of this level, or puts it there. */
static void add(builder *b, int32_t level, factor_task task)
{
    factor_program *g = b->program;
    if (g->task)
        g->task[b->cursor[level]++] = task;
    else
        g->level_start[level + 1]++;
}

/* Panels whose product is subtracted at once from a tile so many columns behind the last of them:
 * the further behind the more, as a tile is then read and written less often; those near are wanted
 * soon.  Each is a multiple of the ones before. */
static int32_t panels_at_once(int32_t distance)
{
    return distance <= 3 ? 1 : distance <= 7 ? 2 : distance <= 15 ? 4 : 8;
}

/* Whether tile (i, j) gets a product as soon as panel q is there. */
static int is_updated(int32_t i, int32_t j, int32_t q)
{
    return (q + 1) % panels_at_once(j - q - (i == j)) == 0;
}

/* Whether products of a level go to two tiles at once: where they are so many that no block is
 * without work for it. */
static int is_crowded(const builder *b, int32_t level)
{
    return b->is_crowded && b->is_crowded[level];
}

/* What panel q changes of the columns behind it, at a level where all of its rows are done.  The
 * next column and two more diagonal blocks get it by the tasks that finish rows. */
static void add_updates(builder *b, int32_t s, int32_t level, int32_t q)
{
    const factor_front *f = b->program->front + s;
    const int32_t nb = factor_pivot_blocks(f), blocks = factor_row_blocks(f);
    for (int32_t j = q + 2; j < nb; j++)
        for (int32_t i = j <= q + 3 ? j + 1 : j; i < blocks; i++) {
            int32_t from = q;
            if (!is_updated(i, j, q))
                continue;
            while (from > 0 && !is_updated(i, j, from - 1))
                from--;
            const int tall = i > j && i + 1 < blocks && is_crowded(b, level);
            add(b, level,
                (factor_task){.kind = tall ? FACTOR_TALL_UPDATE : FACTOR_UPDATE,
                              .front = s,
                              .i = i,
                              .j = j,
                              .from = from,
                              .to = q + 1});
            i += tall;
        }
}

/* The level of the front's first diagonal block; that of its q-th is q later. */
static int32_t pivot_level(const builder *b, int32_t s)
{
    return level_behind(b, s, s);
}

static void add_pivots(builder *b, int32_t s)
{
    const int32_t nb = factor_pivot_blocks(b->program->front + s), level = pivot_level(b, s);
    for (int32_t q = 0; q < nb; q++)
        add(b, level + q, (factor_task){.kind = FACTOR_PIVOT, .front = s, .i = q});
}

static void add_rows(builder *b, int32_t s)
{
    const factor_front *f = b->program->front + s;
    const int32_t nb = factor_pivot_blocks(f), blocks = factor_row_blocks(f),
                  level = pivot_level(b, s);
    for (int32_t q = 0; q < nb; q++)
        for (int32_t i = q + 1 < nb ? q + 2 : nb; i < blocks; i++)
            add(b, level + q + 1, (factor_task){.kind = FACTOR_ROWS, .front = s, .i = i, .j = q});
}

/* Tiles from (i0, j0) on of the contribution block, a square of them: those at work at a time read
 * few rows of the panels, which may be more than the second-level cache holds. */
static void add_contributions(builder *b, int32_t s, int32_t level, int32_t i0, int32_t j0)
{
    const factor_front *f = b->program->front + s;
    const int32_t blocks = factor_row_blocks(f), nb = factor_pivot_blocks(f),
                  end = i0 + FACTOR_NEIGHBOURS < blocks ? i0 + FACTOR_NEIGHBOURS : blocks;
    for (int32_t j = j0; j < blocks && j < j0 + FACTOR_NEIGHBOURS; j++)
        for (int32_t i = i0 > j ? i0 : j; i < end; i++) {
            const int tall = i + 1 < end && is_crowded(b, level);
            add(b, level,
                (factor_task){.kind = tall ? FACTOR_TALL_CONTRIBUTION : FACTOR_CONTRIBUTION,
                              .front = s,
                              .i = i,
                              .j = j,
                              .to = nb});
            i += tall;
        }
}

static void add_tiles(builder *b, int32_t s)
{
    const factor_front *f = b->program->front + s;
    const int32_t nb = factor_pivot_blocks(f), blocks = factor_row_blocks(f),
                  level = pivot_level(b, s);
    for (int32_t j = 1; j < nb; j++)
        for (int32_t i = j; i < blocks; i++)
            add(b, level, (factor_task){.kind = FACTOR_ASSEMBLE, .front = s, .i = i, .j = j});
    for (int32_t q = 0; q < nb; q++)
        add_updates(b, s, level + q + 2, q);
    for (int32_t j0 = nb; j0 < blocks; j0 += FACTOR_NEIGHBOURS)
        for (int32_t i0 = j0; i0 < blocks; i0 += FACTOR_NEIGHBOURS)
            add_contributions(b, s, level + nb + 1, i0, j0);
}

/* Ranges of tiny fronts, level by level, in tasks for as many warps as a block has. */
static void add_tiny(builder *b)
{
    factor_program *g = b->program;
    int32_t at = 0;
    for (int32_t level = 0; level < g->levels; level++) {
        const int32_t end = b->ranges_end[level];
        for (; at < end; at += FACTOR_WARPS)
            add(b, level,
                (factor_task){.kind = FACTOR_TINY,
                              .i = at,
                              .j = end - at < FACTOR_WARPS ? end - at : FACTOR_WARPS});
        at = end;
    }
}

/* In each level what takes long comes first. */
static void add_all(builder *b)
{
    const int32_t fronts = b->tree.fronts;
    for (int32_t s = 0; s < fronts; s++)
        if (!is_small(b, s))
            add_pivots(b, s);
    for (int32_t s = 0; s < fronts; s++)
        if (b->run_end[s] > 0 && !is_tiny(b, s))
            add(b, b->level[s],
                (factor_task){.kind = FACTOR_SMALL,
                              .front = s,
                              .i = s,
                              .j = b->run_end[s],
                              .from = b->program->front[s].child,
                              .to = b->program->front[s].child + b->program->front[s].children});
    add_tiny(b);
    for (int32_t s = 0; s < fronts; s++)
        if (!is_small(b, s))
            add_rows(b, s);
    for (int32_t s = 0; s < fronts; s++)
        if (!is_small(b, s))
            add_tiles(b, s);
}

/* Ranges of a level in windows, in each of them by their time, longest first, so that those which a
 * task has take alike long.  Windows are small, since what is near in the tree is wanted together.
 */
static void even_out_ranges(const builder *b, int32_t first, int32_t end)
{
    enum { WINDOW = 16 * FACTOR_WARPS };
    const factor_program *g = b->program;
    double seconds[WINDOW];
    for (int32_t from = first; from < end; from += WINDOW)
        for (int32_t q = from; q < end && q < from + WINDOW; q++) {
            const factor_range range = g->range[q];
            double own = 0;
            int32_t at = q - from; /* by insertion: those that are equal stay in their order */
            for (int32_t s = range.first; s < range.end; s++)
                own += small_seconds(b, s);
            for (; at > 0 && seconds[at - 1] < own; at--) {
                seconds[at] = seconds[at - 1];
                g->range[from + at] = g->range[from + at - 1];
            }
            seconds[at] = own;
            g->range[from + at] = range;
        }
}

/* The ranges of tiny fronts by levels. */
static libsolver_status list_ranges(builder *b)
{
    factor_program *g = b->program;
    const int32_t fronts = b->tree.fronts;
    b->ranges_end = memory_zeroed(b->m, (int64_t)g->levels + 1, sizeof(int32_t));
    if (!b->ranges_end)
        return LIBSOLVER_OUT_OF_MEMORY;
    for (int32_t s = 0; s < fronts; s++)
        if (b->run_end[s] > 0 && is_tiny(b, s)) {
            b->ranges_end[b->level[s] + 1]++; /* of the level before, for now */
            g->ranges++;
        }
    for (int32_t q = 0; q < g->levels; q++)
        b->ranges_end[q + 1] += b->ranges_end[q];
    g->range = memory_new(b->m, g->ranges, sizeof(factor_range));
    if (!g->range)
        return LIBSOLVER_OUT_OF_MEMORY;
    for (int32_t s = 0; s < fronts; s++)
        if (b->run_end[s] > 0 && is_tiny(b, s))
            g->range[b->ranges_end[b->level[s]]++] =
                (factor_range){.first = s, .end = b->run_end[s]};
    for (int32_t q = 0; q < g->levels; q++) /* each end is where it should be now */
        even_out_ranges(b, q > 0 ? b->ranges_end[q - 1] : 0, b->ranges_end[q]);
    return LIBSOLVER_OK;
}

/* The levels that have many tasks, then how many are left when two tiles share one. */
static libsolver_status find_crowds(builder *b)
{
    factor_program *g = b->program;
    uint8_t *is_crowded = memory_zeroed(b->m, g->levels, sizeof *is_crowded);
    if (!is_crowded)
        return LIBSOLVER_OUT_OF_MEMORY;
    for (int32_t q = 0; q < g->levels; q++) {
        is_crowded[q] = g->level_start[q + 1] >= b->tuning.crowded;
        g->level_start[q + 1] = 0;
    }
    b->is_crowded = is_crowded;
    add_all(b);
    return LIBSOLVER_OK;
}

static libsolver_status list_tasks(builder *b)
{
    factor_program *g = b->program;
    g->level_start = memory_zeroed(b->m, (int64_t)g->levels + 1, sizeof(int64_t));
    b->cursor = memory_new(b->m, g->levels, sizeof(int64_t));
    if (!g->level_start || !b->cursor)
        return LIBSOLVER_OUT_OF_MEMORY;
    add_all(b);
    if (b->tuning.crowded > 0)
        TRY(find_crowds(b));
    for (int32_t q = 0; q < g->levels; q++) {
        g->level_start[q + 1] += g->level_start[q];
        b->cursor[q] = g->level_start[q];
    }
    g->tasks = g->level_start[g->levels];
    if (g->tasks + g->fronts > INT32_MAX)
        return LIBSOLVER_NOT_BUILT;
    g->task = memory_new(b->m, g->tasks, sizeof(factor_task));
    if (!g->task)
        return LIBSOLVER_OUT_OF_MEMORY;
    add_all(b);
    return factor_order_tasks(b->m, b->tree.above, &b->tuning, g);
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* Of 10 to 80 us and a 500th to a 2000th, one H200, seven systems: within 3 % of each one's best
 * but for 494_bus, where 20 us are 30 % slower than 15.  crowded: of 264 to 2112 on an H100, which
 * lap3d:50 tells apart. */
static const factor_tuning tuned = {.small_rows = INT32_MAX,
                                    .blocks = 264, /* two for each of an H100's multiprocessors */
                                    .bucket_part = .02,
                                    .run_seconds = 15e-6,
                                    .run_part = 1.0 / 2000,
                                    .apart = 1,
                                    .wide = 24,
                                    .together = 16,
                                    .crowded = 528};

static libsolver_status take_arrays(builder *b)
{
    const int64_t fronts = b->tree.fronts;
    b->level = memory_new(b->m, fronts, sizeof(int32_t));
    b->run_end = memory_new(b->m, fronts, sizeof(int32_t));
    b->last_child = memory_new(b->m, fronts, sizeof(int32_t));
    b->sibling = memory_new(b->m, fronts, sizeof(int32_t));
    b->own = memory_new(b->m, fronts, sizeof(int64_t));
    b->other = memory_new(b->m, fronts, sizeof(int64_t));
    b->program->front = memory_new(b->m, fronts, sizeof(factor_front));
    return b->level && b->run_end && b->last_child && b->sibling && b->own && b->other &&
                   b->program->front
               ? LIBSOLVER_OK
               : LIBSOLVER_OUT_OF_MEMORY;
}

static void link_children(builder *b)
{
    for (int32_t s = 0; s < b->tree.fronts; s++)
        b->last_child[s] = -1;
    for (int32_t q = 0; q < b->tree.fronts; q++) {
        const int32_t s = b->tree.visit[q], parent = above(b, s);
        b->sibling[s] = -1;
        if (parent >= 0) {
            b->sibling[s] = b->last_child[parent];
            b->last_child[parent] = s;
        }
    }
}

static void limit_runs(builder *b)
{
    double seconds = 0;
    for (int32_t s = 0; s < b->tree.fronts; s++)
        if (is_small(b, s))
            seconds += small_seconds(b, s);
    b->apart_seconds = b->run_seconds = b->tuning.run_part * seconds;
    if (b->run_seconds < b->tuning.run_seconds) {
        b->run_seconds = b->tuning.run_seconds;
        b->apart_seconds = b->tuning.apart ? b->apart_seconds : b->run_seconds;
    }
}

/* The tree with its groups, whose positions the program keeps. */
static libsolver_status find_tree(builder *b)
{
    const factor_pattern *p = b->pattern;
    factor_program *g = b->program;
    TRY(factor_groups_find(b->m, p, b->tuning.wide, b->tuning.together, &b->tree));
    g->fronts = b->tree.fronts;
    g->positions = b->tree.positions;
    g->own_position = b->tree.position;
    b->tree.position = NULL;
    g->position = g->own_position ? g->own_position : p->position;
    return LIBSOLVER_OK;
}

static libsolver_status build(builder *b, message *why)
{
    const factor_pattern *p = b->pattern;
    if (p->start[p->n] > INT32_MAX)
        return FAIL(why, LIBSOLVER_NOT_BUILT, "2^31 entries or more on the GPU");
    libsolver_status status = find_tree(b);
    if (status == LIBSOLVER_NOT_BUILT)
        return FAIL(why, status, "2^31 fronts or more on the GPU");
    TRY(status);
    TRY(take_arrays(b));
    link_children(b);
    describe_fronts(b);
    b->program->words = b->program->tiles + b->program->fronts;
    if (b->program->words > INT32_MAX || b->program->inverses > INT32_MAX)
        return FAIL(why, LIBSOLVER_NOT_BUILT, "2^31 tiles or more on the GPU");
    place_blocks(b);
    status = describe_children(b);
    if (status == LIBSOLVER_NOT_BUILT)
        return FAIL(why, status, "2^31 tiles or more on the GPU");
    TRY(status);
    TRY(describe_entries(b));
    limit_runs(b);
    find_levels(b);
    TRY(name_words(b));
    TRY(list_ranges(b));
    status = list_tasks(b);
    return status == LIBSOLVER_NOT_BUILT ? FAIL(why, status, "2^31 tasks or more on the GPU")
                                         : status;
}

libsolver_status factor_program_build(environment *env, const factor_pattern *pattern,
                                      libsolver_type type, const factor_tuning *tuning,
                                      factor_program *program, message *why)
{
    memory *m = &env->memory;
    memset(program, 0, sizeof *program);
    program->n = pattern->n;
    program->nodes = pattern->nodes;
    builder b = {
        .m = m, .pattern = pattern, .program = program, .tuning = tuning ? *tuning : tuned};
    if (b.tuning.small_rows > factor_small_rows(type))
        b.tuning.small_rows = factor_small_rows(type);
    if (type != LIBSOLVER_D || pattern->signs)
        b.tuning.crowded = 0;
    const libsolver_status status = build(&b, why);
    memory_free(m, b.level);
    memory_free(m, b.run_end);
    memory_free(m, b.last_child);
    memory_free(m, b.sibling);
    memory_free(m, b.ranges_end);
    memory_free(m, b.is_crowded);
    memory_free(m, b.own);
    memory_free(m, b.other);
    memory_free(m, b.cursor);
    memory_free(m, b.given);
    factor_groups_free(m, &b.tree);
    if (status != LIBSOLVER_OK)
        factor_program_free(m, program);
    return status == LIBSOLVER_OUT_OF_MEMORY
               ? NO_MEMORY(env, "the program of the factorization", why)
               : status;
}

void factor_program_free(memory *m, factor_program *g)
{
    memory_free(m, g->front);
    memory_free(m, g->own_position);
    memory_free(m, g->child);
    memory_free(m, g->begin);
    memory_free(m, g->tile_end);
    memory_free(m, g->entry);
    memory_free(m, g->source);
    memory_free(m, g->diagonal);
    memory_free(m, g->level_start);
    memory_free(m, g->range);
    memory_free(m, g->task);
    memory_free(m, g->by_level);
    memset(g, 0, sizeof *g);
}
