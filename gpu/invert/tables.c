/* gpu/invert/tables.c: tables of the groups, pieces and tiles that a device inverts
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/invert/tables_builder.h"
#include <stdlib.h>

/* ---- Groups by how they are inverted --------------------------------------------------------- */

/* The first tile of group i in the program; the others follow. */
static const plan_tile *tiles_of(const tables_builder *b, int32_t i)
{
    return &b->plan->tile[b->first_tile[i]];
}

/* One tile of the program has all of the group. */
static int is_whole(const tables_builder *b, int32_t i)
{
    const plan_tile *t = tiles_of(b, i);
    return t->kind == BY_COLUMNS && t->columns == group_columns(b->g, i) &&
           t->rows == t->columns + group_rows(b->g, i);
}

enum { RANK_ROOT = SMALL_CLASSES, RANK_TILES };

/* The class of a small group, or one of these. */
static int rank_of(const tables_builder *b, int32_t i)
{
    int c = 0;
    if (!is_whole(b, i))
        return RANK_TILES;
    if (group_is_root_with_inverse(b->g, i))
        return RANK_ROOT;
    while (tiles_of(b, i)->ld > small_class_rows(c))
        c++;
    return c;
}

typedef struct ranked {
    int32_t rank, columns, group;
} ranked;

static int by_rank(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->columns != y->columns)
        return x->columns > y->columns ? -1 : 1; /* the longest work first */
    return x->group < y->group ? -1 : 1;
}

static libsolver_status order_groups(tables_builder *b)
{
    const int32_t count = b->g->count;
    ranked *list = memory_new(b->m, count, sizeof(ranked));
    if (!list)
        return LIBSOLVER_OUT_OF_MEMORY;
    for (int32_t q = b->plan->tile_count - 1; q >= 0; q--)
        b->first_tile[b->plan->tile[q].group] = q;
    for (int32_t i = 0; i < count; i++) {
        list[i] = (ranked){rank_of(b, i), group_columns(b->g, i), i};
        b->smalls += list[i].rank < RANK_TILES;
    }
    qsort(list, (size_t)count, sizeof *list, by_rank);
    for (int32_t o = 0; o < count; o++)
        b->order[o] = list[o].group;
    memory_free(b->m, list);
    return LIBSOLVER_OK;
}

/* ---- Where the rows of panels go ------------------------------------------------------------- */

/* By what words the factorization tells of column `column` of node s; those of columns next to each
 * other are often the same. */
static int32_t wait_for(tables_builder *b, int32_t s, int32_t column)
{
    const column_words w = b->progress->of(b->progress->user, s, column);
    const int32_t count = (int32_t)(b->t->waits.length / (int64_t)sizeof w);
    const column_words *last = (const column_words *)(const void *)b->t->waits.data + count - 1;
    if (count > 0 && last->first == w.first)
        return count - 1;
    buffer_put(&b->t->waits, &w, (int64_t)sizeof w);
    return count;
}

/* Pieces of group i, with the numbers that their rows get in l: number[c] for the row of column c
 * (NULL: c), below + a for the a-th row below. */
static void add_pieces(tables_builder *b, int32_t i, const int32_t *number, int32_t below)
{
    const factor_tree *tree = b->tree;
    const groups *g = b->g;
    for (int32_t a = 0; a < group_rows(g, i); a++)
        b->place[g->row[g->row_start[i] + a]] = below + a;
    for (int32_t q = g->piece_start[i]; q < g->piece_start[i + 1]; q++) {
        const int32_t piece = g->piece[q], s = b->p->node[piece], begin = b->p->begin[piece],
                      first = tree->first[s];
        const int32_t p = tree->first[s + 1] - first, columns = b->p->end[piece] - begin;
        const int32_t rows = (int32_t)(columns + piece_rows(tree, b->p, piece));
        const int32_t *row = tree->row + tree->row_start[s];
        const invert_piece entry = {.panel = b->panel_at[s] + begin + (int64_t)begin * tree->ld[s],
                                    .map = b->t->map.length / (int64_t)sizeof(int32_t),
                                    .ld = tree->ld[s],
                                    .rows = rows,
                                    .column = g->local[first + begin]};
        const int32_t place = (int32_t)(b->t->pieces.length / (int64_t)sizeof entry);
        buffer_put(&b->t->pieces, &entry, (int64_t)sizeof entry);
        int32_t *map = buffer_grow(&b->t->map, rows * (int64_t)sizeof(int32_t));
        for (int32_t a = 0; a < rows && map; a++) {
            const int32_t position = begin + a < p ? first + begin + a : row[begin + a - p],
                          local = g->local[position];
            map[a] = g->group_of[position] != i ? b->place[position]
                     : number                   ? number[local]
                                                : local;
        }
        for (int32_t c = 0; c < columns; c++) {
            const int32_t at = g->column_start[i] + entry.column + c;
            b->t->column_piece[at] = place;
            if (b->progress && !b->t->waits.failed)
                b->t->column_wait[at] = wait_for(b, s, begin + c);
        }
    }
}

/* Where the row of D^-1 for each entry of z goes; entry q of z belongs to column z_row[q]. */
static void place_pivots(tables_builder *b)
{
    const groups *g = b->g;
    const int64_t step16 = plan_pivot_bytes(b->plan->scalar_bytes) / 16;
    for (int32_t i = 0; i < g->count; i++)
        for (int32_t q = 0; q < group_columns(g, i); q++) {
            const int64_t at = b->plan->pivots_at16[i];
            const int32_t start = g->column_start[i];
            b->t->pivot_at16[start + q] = at < 0 ? -1 : (int32_t)(at + q * step16);
            b->t->pivot_position[start + q] =
                at < 0 ? -1 : g->column[start + b->plan->z_row[start + q]];
        }
}

static void add_small(tables_builder *b, int32_t i)
{
    const int32_t k = group_columns(b->g, i), r = group_rows(b->g, i), rank = rank_of(b, i);
    const plan_tile *tile = tiles_of(b, i);
    small_groups *of =
        rank == RANK_ROOT ? &b->t->pattern.small_roots : &b->t->pattern.of_class[rank];
    const small_group s = {
        .at16 = tile->at16, .k = k, .r = r, .ld = tile->ld, .column_start = b->g->column_start[i]};
    buffer_put(&b->t->smalls, &s, (int64_t)sizeof s);
    add_pieces(b, i, NULL, k);
    of->count++;
    of->columns = k > of->columns ? k : of->columns;
    of->scalars = k * (k + r) > of->scalars ? k * (k + r) : of->scalars;
}

/* ---- Groups in tiles ------------------------------------------------------------------------- */

static int joined_after(const tables_builder *b, int32_t i, int32_t c)
{
    return b->joined && b->joined[b->g->column[b->g->column_start[i] + c]];
}

/* Cuts the columns at the borders that plan_borders chooses; returns the number of strips. */
static int32_t add_strips(tables_builder *b, int32_t i, int32_t number)
{
    const int32_t k = group_columns(b->g, i), start = b->g->column_start[i];
    const int root = group_is_root_with_inverse(b->g, i);
    int32_t nb = 0;
    for (int32_t c = 0; c < k; nb++) {
        int32_t next = c + SQUARE < k ? c + SQUARE : k;
        next -= next < k && joined_after(b, i, next - 1);
        invert_strip s = {.group = number, .number = nb, .column = c, .width = next - c};
        for (int32_t q = c; q < next; q++) {
            b->padded[start + q] = SQUARE * nb + q - c;
            s.reordered |= !root && b->plan->z_row[start + q] != q;
        }
        buffer_put(&b->t->strips, &s, (int64_t)sizeof s);
        c = next;
    }
    return nb;
}

/* Tiles of a root's G in the values. */
static void add_root_tiles(tables_builder *b, int32_t i, tiled_group *entry)
{
    const plan_tile *tile = tiles_of(b, i);
    const int32_t last = b->plan->tile_count - b->first_tile[i];
    entry->root = (int32_t)(b->t->roots.length / (int64_t)sizeof(root_tile));
    entry->root_rows = tile->rows;
    for (int32_t q = 0; q < last && tile[q].group == i; q++) {
        const root_tile t = {
            .at16 = tile[q].at16, .row = tile[q].row, .column = tile[q].column, .ld = tile[q].ld};
        entry->root_blocks += tile[q].row == 0;
        buffer_put(&b->t->roots, &t, (int64_t)sizeof t);
    }
}

/* Padded row (column) of row (column) q of group i. */
static int32_t padded_at(const tables_builder *b, int32_t i, int32_t nb, int32_t q)
{
    const int32_t k = group_columns(b->g, i);
    return q < k ? b->padded[b->g->column_start[i] + q] : SQUARE * nb + q - k;
}

/* How many rows (columns) from q on, before `end`, lie in one tile of l. */
static int32_t run_at(const tables_builder *b, int32_t i, int32_t nb, int32_t q, int32_t end)
{
    const int32_t square = padded_at(b, i, nb, q) / SQUARE;
    int32_t length = 1;
    while (q + length < end && padded_at(b, i, nb, q + length) / SQUARE == square)
        length++;
    return length;
}

/* Tile t of a group of middle size, cut where the tiles of x are cut. */
static void add_parts_of(tables_builder *b, int32_t number, int32_t nb, const plan_tile *t)
{
    const int by_rows = t->kind == BY_ROWS;
    const int32_t i = t->group, row_end = t->row + t->rows, column_end = t->column + t->columns;
    const int32_t zeros = t->ld - (by_rows ? t->columns : t->rows);
    for (int32_t row = t->row, rows; row < row_end; row += rows) {
        const int32_t a = padded_at(b, i, nb, row);
        rows = run_at(b, i, nb, row, row_end);
        for (int32_t column = t->column, columns; column < column_end; column += columns) {
            const int32_t c = padded_at(b, i, nb, column), last = by_rows ? column : row;
            columns = run_at(b, i, nb, column, column_end);
            const int64_t offset = by_rows ? (int64_t)(row - t->row) * t->ld + column - t->column
                                           : row - t->row + (int64_t)(column - t->column) * t->ld;
            const int ends = by_rows ? last + columns == column_end : last + rows == row_end;
            const invert_part part = {.to = 16 * (int64_t)t->at16 / b->plan->scalar_bytes + offset,
                                      .group = number,
                                      .tile = (int32_t)tile_number(nb, a / SQUARE, c / SQUARE),
                                      .row_step = by_rows ? t->ld : 1,
                                      .column_step = by_rows ? 1 : t->ld,
                                      .row = (uint8_t)(a % SQUARE),
                                      .rows = (uint8_t)rows,
                                      .column = (uint8_t)(c % SQUARE),
                                      .columns = (uint8_t)columns,
                                      .zeros = (uint8_t)(ends ? zeros : 0)};
            buffer_put(&b->t->parts, &part, (int64_t)sizeof part);
        }
    }
}

static void add_parts(tables_builder *b, int32_t i, int32_t number, tiled_group *entry)
{
    const plan_tile *tile = tiles_of(b, i), *end = b->plan->tile + b->plan->tile_count;
    entry->part = (int32_t)(b->t->parts.length / (int64_t)sizeof(invert_part));
    for (; tile < end && tile->group == i; tile++)
        add_parts_of(b, number, entry->nb, tile);
    entry->parts = (int32_t)(b->t->parts.length / (int64_t)sizeof(invert_part)) - entry->part;
}

static void add_tiled(tables_builder *b, int32_t i)
{
    invert_pattern *pattern = &b->t->pattern;
    const plan_tile *tile = tiles_of(b, i);
    const int32_t number = (int32_t)(b->t->tiled.length / (int64_t)sizeof(tiled_group));
    tiled_group entry = {.k = group_columns(b->g, i),
                         .column_start = b->g->column_start[i],
                         .first_strip = pattern->strips,
                         .root = -1};
    entry.nb = add_strips(b, i, number);
    pattern->strips += entry.nb;
    if (group_is_root_with_inverse(b->g, i))
        add_root_tiles(b, i, &entry);
    else if (tile->kind != IN_SQUARE)
        add_parts(b, i, number, &entry);
    else
        entry.x = 16 * (int64_t)tile->at16 / b->plan->scalar_bytes;
    buffer_put(&b->t->tiled, &entry, (int64_t)sizeof entry);
    add_pieces(b, i, b->padded + entry.column_start, SQUARE * entry.nb);
}

/* ---- All of it ------------------------------------------------------------------------------- */

static libsolver_status fill(tables_builder *b, int64_t limit)
{
    invert_tables *t = b->t;
    const int32_t count = b->g->count;
    TRY(order_groups(b));
    place_pivots(b);
    for (int32_t o = 0; o < b->smalls; o++) {
        t->of_small[o] = b->order[o];
        add_small(b, b->order[o]);
    }
    for (int32_t o = b->smalls; o < count; o++) {
        t->of_tiled[o - b->smalls] = b->order[o];
        add_tiled(b, b->order[o]);
    }
    if (t->tiled.failed)
        return LIBSOLVER_OUT_OF_MEMORY;
    tables_add_tasks(b, limit);
    const buffer *all[] = {&t->pieces, &t->map,   &t->smalls, &t->strips,  &t->roots,
                           &t->items,  &t->parts, &t->tasks,  &t->batches, &t->waits};
    for (size_t q = 0; q < sizeof all / sizeof all[0]; q++)
        if (all[q]->failed)
            return LIBSOLVER_OUT_OF_MEMORY;
    return LIBSOLVER_OK;
}

static int32_t entries(const buffer *b, size_t size)
{
    return (int32_t)(b->length / (int64_t)size);
}

/* Points the pattern to the arrays. */
static void point(tables_builder *b)
{
    invert_tables *t = b->t;
    invert_pattern *p = &t->pattern;
    p->n = b->tree->n;
    p->smalls = b->smalls;
    p->tiled_groups = b->g->count - b->smalls;
    p->pieces = entries(&t->pieces, sizeof(invert_piece));
    p->maps = t->map.length / (int64_t)sizeof(int32_t);
    p->root_tiles = entries(&t->roots, sizeof(root_tile));
    p->items = entries(&t->items, sizeof(product_item));
    p->parts = entries(&t->parts, sizeof(invert_part));
    p->tasks = entries(&t->tasks, sizeof(invert_task));
    p->batches = entries(&t->batches, sizeof(invert_batch));
    p->piece = (const invert_piece *)t->pieces.data;
    p->map = (const int32_t *)t->map.data;
    p->waits = entries(&t->waits, sizeof(column_words));
    p->all_word = b->progress ? b->progress->all : -1;
    p->column_wait = t->column_wait;
    p->wait = (const column_words *)t->waits.data;
    p->column_piece = t->column_piece;
    p->column = b->g->column;
    p->z_row = b->plan->z_row;
    p->pivot_at16 = t->pivot_at16;
    p->pivot_position = t->pivot_position;
    p->small = (const small_group *)t->smalls.data;
    p->tiled = (const tiled_group *)t->tiled.data;
    p->strip = (const invert_strip *)t->strips.data;
    p->root = (const root_tile *)t->roots.data;
    p->item = (const product_item *)t->items.data;
    p->part = (const invert_part *)t->parts.data;
    p->task = (const invert_task *)t->tasks.data;
    p->batch = (const invert_batch *)t->batches.data;
}

libsolver_status invert_tables_build(memory *m, const invert_input *input, int64_t limit,
                                     invert_tables *t)
{
    memset(t, 0, sizeof *t);
    const groups *g = input->g;
    const int32_t n = input->tree->n;
    tables_builder b = {.m = m,
                        .tree = input->tree,
                        .joined = input->joined,
                        .p = input->p,
                        .g = g,
                        .plan = input->plan,
                        .panel_at = input->panel_at,
                        .progress = input->progress,
                        .t = t};
    b.first_tile = memory_zeroed(m, g->count, sizeof(int32_t));
    b.order = memory_new(m, g->count, sizeof(int32_t));
    b.place = memory_new(m, n, sizeof(int32_t));
    b.padded = memory_new(m, n, sizeof(int32_t));
    t->of_small = memory_new(m, g->count, sizeof(int32_t));
    t->of_tiled = memory_new(m, g->count, sizeof(int32_t));
    t->column_piece = memory_new(m, n, sizeof(int32_t));
    t->pivot_at16 = memory_new(m, n, sizeof(int32_t));
    t->pivot_position = memory_new(m, n, sizeof(int32_t));
    if (b.progress)
        t->column_wait = memory_new(m, n, sizeof(int32_t));
    t->pieces.m = t->map.m = t->smalls.m = t->tiled.m = t->strips.m = t->roots.m = t->items.m =
        t->parts.m = t->tasks.m = t->batches.m = t->waits.m = m;
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    if (b.first_tile && b.order && b.place && b.padded && t->of_small && t->of_tiled &&
        t->column_piece && t->pivot_at16 && t->pivot_position && (t->column_wait || !b.progress))
        status = fill(&b, limit);
    memory_free(m, b.first_tile);
    memory_free(m, b.order);
    memory_free(m, b.place);
    memory_free(m, b.padded);
    if (status == LIBSOLVER_OK)
        point(&b);
    else
        invert_tables_free(m, t);
    return status;
}

void invert_tables_trim(memory *m, invert_tables *t)
{
    buffer *all[] = {&t->pieces, &t->map,   &t->smalls, &t->strips, &t->roots,
                     &t->items,  &t->parts, &t->tasks,  &t->waits};
    for (size_t q = 0; q < sizeof all / sizeof all[0]; q++)
        if (all[q]->m)
            buffer_free(all[q]);
    memory_free(m, t->column_piece);
    memory_free(m, t->pivot_at16);
    memory_free(m, t->pivot_position);
    memory_free(m, t->column_wait);
    t->column_piece = t->pivot_at16 = t->pivot_position = t->column_wait = NULL;
}

void invert_tables_free(memory *m, invert_tables *t)
{
    invert_tables_trim(m, t);
    buffer *all[] = {&t->tiled, &t->batches};
    for (size_t q = 0; q < sizeof all / sizeof all[0]; q++)
        if (all[q]->m)
            buffer_free(all[q]);
    memory_free(m, t->of_small);
    memory_free(m, t->of_tiled);
    memset(t, 0, sizeof *t);
}
