/* gpu/invert/launches.c: the launches that invert groups in tiles, and the blocks of tiles of each
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/invert/tables_builder.h"

/* Groups [from, to) of the tiled ones, which share launches and workspace. */
typedef struct batch {
    tables_builder *b;
    tiled_group *group;     /* all tiled ones */
    int32_t from, to, rows; /* rows: most rows of an item */
} batch;

static int32_t strips_below(const batch *t, int32_t q)
{
    return (group_rows(t->b->g, t->b->t->of_tiled[q]) + SQUARE - 1) / SQUARE;
}

/* How often a diagonal block of two strips has to be doubled. */
static int doublings(int32_t nb)
{
    int count = 0;
    for (int32_t s = 2; s < nb; s *= 2)
        count++;
    return count;
}

static int32_t items_so_far(const tables_builder *b)
{
    return (int32_t)(b->t->items.length / (int64_t)sizeof(product_item));
}

static void add_launch(tables_builder *b, invert_step step, int32_t first, int32_t count,
                       int64_t bytes)
{
    const invert_launch l = {.step = step, .first = first, .count = count, .bytes = bytes};
    if (count > 0 || bytes > 0)
        buffer_put(&b->t->launches, &l, (int64_t)sizeof l);
}

static void end_items(tables_builder *b, invert_step step, int32_t first)
{
    add_launch(b, step, first, items_so_far(b) - first, 0);
}

/* T or X of every pair of blocks of s strips, those with the longest sums first. */
static void add_doubling(const batch *t, int32_t q, int kind, int32_t s)
{
    const int32_t nb = t->group[q].nb;
    for (int32_t first = 0; first + s < nb; first += 2 * s) {
        const int32_t middle = first + s, end = middle + s < nb ? middle + s : nb,
                      blocks = (end - middle + t->rows - 1) / t->rows;
        product_item item = {.group = q, .kind = kind, .columns = PRODUCT_ITEM_COLUMNS};
        for (int32_t u = 0; u < blocks * (s / PRODUCT_ITEM_COLUMNS); u++) {
            const int32_t row =
                kind == PRODUCT_T ? u % blocks : blocks - 1 - u / (s / PRODUCT_ITEM_COLUMNS);
            item.row = middle + row * t->rows;
            item.column =
                first + PRODUCT_ITEM_COLUMNS *
                            (kind == PRODUCT_T ? u / blocks : u % (s / PRODUCT_ITEM_COLUMNS));
            item.rows = end - item.row < t->rows ? end - item.row : t->rows;
            item.from = kind == PRODUCT_T ? item.column : middle;
            item.to = kind == PRODUCT_T ? middle : item.row + item.rows;
            buffer_put(&t->b->t->items, &item, (int64_t)sizeof item);
        }
    }
}

static void add_below(const batch *t, int32_t q)
{
    const int32_t nb = t->group[q].nb, end = nb + strips_below(t, q);
    for (int32_t column = 0; column < nb; column += PRODUCT_ITEM_COLUMNS)
        for (int32_t row = nb; row < end; row += t->rows) {
            const product_item item = {.group = q,
                                       .kind = PRODUCT_W,
                                       .row = row,
                                       .rows = end - row < t->rows ? end - row : t->rows,
                                       .column = column,
                                       .columns = nb - column < PRODUCT_ITEM_COLUMNS
                                                      ? nb - column
                                                      : PRODUCT_ITEM_COLUMNS,
                                       .from = column,
                                       .to = nb};
            buffer_put(&t->b->t->items, &item, (int64_t)sizeof item);
        }
}

/* The lower triangle of G, and what of its upper one shares items with it. */
static void add_gram(const batch *t, int32_t q)
{
    const int32_t nb = t->group[q].nb;
    for (int32_t row = 0; row < nb; row += t->rows)
        for (int32_t column = 0; column < row + t->rows && column < nb;
             column += PRODUCT_ITEM_COLUMNS) {
            const product_item item = {.group = q,
                                       .kind = PRODUCT_G,
                                       .row = row,
                                       .rows = nb - row < t->rows ? nb - row : t->rows,
                                       .column = column,
                                       .columns = nb - column < PRODUCT_ITEM_COLUMNS
                                                      ? nb - column
                                                      : PRODUCT_ITEM_COLUMNS,
                                       .from = row,
                                       .to = nb};
            buffer_put(&t->b->t->items, &item, (int64_t)sizeof item);
        }
}

/* One more doubling of the groups whose blocks have to grow after `done` of them: T, then X21.  The
 * groups that need no more get their W in the launch of T. */
static void add_step(const batch *t, int done)
{
    const int32_t first = items_so_far(t->b);
    for (int32_t q = t->from; q < t->to; q++)
        if (doublings(t->group[q].nb) > done)
            add_doubling(t, q, PRODUCT_T, 2 << done);
    for (int32_t q = t->from; q < t->to; q++)
        if (doublings(t->group[q].nb) == done)
            add_below(t, q);
    end_items(t->b, INVERT_MULTIPLY, first);
    const int32_t second = items_so_far(t->b);
    for (int32_t q = t->from; q < t->to; q++)
        if (doublings(t->group[q].nb) > done)
            add_doubling(t, q, PRODUCT_X, 2 << done);
    end_items(t->b, INVERT_MULTIPLY, second);
}

static int64_t triangle_scalars(const batch *t, int32_t q)
{
    return (int64_t)SQUARE * SQUARE * tile_number(t->group[q].nb, t->group[q].nb, 0);
}

static int64_t l_scalars(const batch *t, int32_t q)
{
    return triangle_scalars(t, q) + (int64_t)SQUARE * SQUARE * strips_below(t, q) * t->group[q].nb;
}

/* What x takes of the workspace. */
static int64_t x_scalars(const batch *t, int32_t q)
{
    return t->group[q].root >= 0   ? triangle_scalars(t, q)
           : t->group[q].parts > 0 ? l_scalars(t, q)
                                   : 0;
}

static int64_t workspace_scalars(const batch *t, int32_t q)
{
    return l_scalars(t, q) + triangle_scalars(t, q) + x_scalars(t, q);
}

/* The parts of a batch are adjacent, since its groups are. */
static void add_pack(const batch *t)
{
    int32_t first = 0, parts = 0;
    for (int32_t q = t->from; q < t->to; q++)
        if (t->group[q].parts > 0) {
            first = parts > 0 ? first : t->group[q].part;
            parts += t->group[q].parts;
        }
    add_launch(t->b, INVERT_PACK, first, parts, 0);
}

/* Places in the workspace and launches of one batch. */
static void end_batch(const batch *t)
{
    tables_builder *b = t->b;
    const tiled_group *last = &t->group[t->to - 1];
    const int32_t first = t->group[t->from].first_strip,
                  strips = last->first_strip + last->nb - first;
    int64_t at = 0, cleared;
    int most = 0, roots = 0;
    for (int32_t q = t->from; q < t->to; q++) {
        t->group[q].l = at;
        at += l_scalars(t, q);
        most = doublings(t->group[q].nb) > most ? doublings(t->group[q].nb) : most;
    }
    cleared = at;
    for (int32_t q = t->from; q < t->to; q++) {
        const int root = t->group[q].root >= 0;
        t->group[q].t = at;
        at += triangle_scalars(t, q);
        if (x_scalars(t, q) > 0)
            t->group[q].x = at;
        at += x_scalars(t, q);
        roots += root;
    }
    b->t->pattern.workspace = at > b->t->pattern.workspace ? at : b->t->pattern.workspace;
    add_launch(b, INVERT_CLEAR, 0, 0, cleared * b->plan->scalar_bytes);
    add_launch(b, INVERT_GATHER, first, strips, 0);
    add_launch(b, INVERT_DIAGONAL, first, strips, 0);
    for (int done = 0; done <= most; done++)
        add_step(t, done);
    if (roots > 0 && !b->tree->cholesky)
        add_launch(b, INVERT_SCALE, first, strips, 0);
    add_launch(b, INVERT_FINISH, first, strips, 0);
    add_pack(t);
    add_launch(b, INVERT_GROWTH, first, strips, 0);
    const int32_t grams = items_so_far(b);
    for (int32_t q = t->from; q < t->to; q++)
        if (t->group[q].root >= 0)
            add_gram(t, q);
    end_items(b, INVERT_GRAM, grams);
    for (invert_step step = INVERT_ROOT_SUMS; roots > 0 && step <= INVERT_ROOT_GROWTH; step++)
        add_launch(b, step, first, strips, 0);
}

void tables_add_launches(tables_builder *b, int64_t limit)
{
    const int32_t count = b->g->count - b->smalls;
    batch t = {.b = b,
               .group = (tiled_group *)b->t->tiled.data,
               .rows = product_item_rows(b->tree->type)};
    int64_t held = 0;
    for (int32_t q = 0; q < count; q++) {
        const int64_t bytes = workspace_scalars(&t, q) * b->plan->scalar_bytes;
        if (q > t.from && held + bytes > limit) {
            t.to = q;
            end_batch(&t);
            t.from = q;
            held = 0;
        }
        held += bytes;
    }
    t.to = count;
    if (t.to > t.from)
        end_batch(&t);
}
