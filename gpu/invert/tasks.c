/* gpu/invert/tasks.c: the tasks that invert groups in tiles, and the tiles of each
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A group's tasks come in steps, each of which waits for all before it.  Steps of the same number
 * are next to each other in the order of the tasks, so that few wait; those of groups with most
 * columns, which have most steps, come first. */
#include "gpu/invert/tables_builder.h"
#include <stdlib.h>

/* A task with the number of its step. */
typedef struct numbered_task {
    int32_t step, place; /* place: among all, as they are made */
    invert_task task;
} numbered_task;

/* The tasks of a group as they are made. */
typedef struct group_tasks {
    tables_builder *b;
    const tiled_group *group; /* all tiled ones */
    buffer *out;              /* numbered_task */
    int32_t q;                /* the group */
    int32_t step, done, made; /* of the step at hand; tasks of the steps before, and with it */
} group_tasks;

static int32_t strips_below(const tables_builder *b, int32_t q)
{
    return (group_rows(b->g, b->t->of_tiled[q]) + SQUARE - 1) / SQUARE;
}

static void add_task(group_tasks *t, invert_step step, int32_t number)
{
    const int32_t place = (int32_t)(t->out->length / (int64_t)sizeof(numbered_task));
    const numbered_task task = {t->step,
                                place,
                                {.step = step, .number = number, .group = t->q, .waits = t->done}};
    buffer_put(t->out, &task, (int64_t)sizeof task);
    t->made++;
}

static void end_step(group_tasks *t)
{
    t->step += t->made > t->done;
    t->done = t->made;
}

static void add_strips(group_tasks *t, invert_step step)
{
    const tiled_group *g = t->group + t->q;
    for (int32_t s = 0; s < g->nb; s++)
        add_task(t, step, g->first_strip + s);
}

static void add_item(group_tasks *t, const product_item *item)
{
    const int32_t number = (int32_t)(t->b->t->items.length / (int64_t)sizeof *item);
    buffer_put(&t->b->t->items, item, (int64_t)sizeof *item);
    add_task(t, item->kind == PRODUCT_G ? INVERT_GRAM : INVERT_MULTIPLY, number);
}

/* Most rows of an item of a step that has so many tiles: where few blocks have something to do,
 * less for each. */
static int32_t item_rows(int64_t tiles)
{
    const int64_t multiprocessors = 132; /* of those that are measured; any number is right */
    return tiles < multiprocessors * PRODUCT_ITEM_ROWS * PRODUCT_ITEM_COLUMNS
               ? PRODUCT_ITEM_ROWS / 2
               : PRODUCT_ITEM_ROWS;
}

/* T or X of every pair of blocks of s strips, those with the longest sums first. */
static void add_doubling(group_tasks *t, int kind, int32_t s)
{
    const int32_t q = t->q, nb = t->group[q].nb, rows = item_rows((int64_t)nb / 2 * s);
    for (int32_t first = 0; first + s < nb; first += 2 * s) {
        const int32_t middle = first + s, end = middle + s < nb ? middle + s : nb,
                      blocks = (end - middle + rows - 1) / rows;
        product_item item = {.group = q, .kind = kind, .columns = PRODUCT_ITEM_COLUMNS};
        for (int32_t u = 0; u < blocks * (s / PRODUCT_ITEM_COLUMNS); u++) {
            const int32_t row =
                kind == PRODUCT_T ? u % blocks : blocks - 1 - u / (s / PRODUCT_ITEM_COLUMNS);
            item.row = middle + row * rows;
            item.column =
                first + PRODUCT_ITEM_COLUMNS *
                            (kind == PRODUCT_T ? u / blocks : u % (s / PRODUCT_ITEM_COLUMNS));
            item.rows = end - item.row < rows ? end - item.row : rows;
            item.from = kind == PRODUCT_T ? item.column : middle;
            item.to = kind == PRODUCT_T ? middle : item.row + item.rows;
            add_item(t, &item);
        }
    }
}

static void add_below(group_tasks *t)
{
    const int32_t q = t->q, nb = t->group[q].nb, end = t->group[q].tile_rows,
                  rows = item_rows((int64_t)nb * (end - nb));
    for (int32_t column = 0; column < nb; column += PRODUCT_ITEM_COLUMNS)
        for (int32_t row = nb; row < end; row += rows) {
            const product_item item = {.group = q,
                                       .kind = PRODUCT_W,
                                       .row = row,
                                       .rows = end - row < rows ? end - row : rows,
                                       .column = column,
                                       .columns = nb - column < PRODUCT_ITEM_COLUMNS
                                                      ? nb - column
                                                      : PRODUCT_ITEM_COLUMNS,
                                       .from = column,
                                       .to = nb};
            add_item(t, &item);
        }
}

/* The lower triangle of G, and what of its upper one shares items with it. */
static void add_gram(group_tasks *t)
{
    const int32_t q = t->q, nb = t->group[q].nb, rows = item_rows((int64_t)nb * (nb + 1) / 2);
    for (int32_t row = 0; row < nb; row += rows)
        for (int32_t column = 0; column < row + rows && column < nb;
             column += PRODUCT_ITEM_COLUMNS) {
            const product_item item = {.group = q,
                                       .kind = PRODUCT_G,
                                       .row = row,
                                       .rows = nb - row < rows ? nb - row : rows,
                                       .column = column,
                                       .columns = nb - column < PRODUCT_ITEM_COLUMNS
                                                      ? nb - column
                                                      : PRODUCT_ITEM_COLUMNS,
                                       .from = row,
                                       .to = nb};
            add_item(t, &item);
        }
}

/* The tasks of group q. */
static void add_group(group_tasks *t)
{
    const tiled_group *g = t->group + t->q;
    for (int32_t part = 0; part < g->nb * INVERT_GATHER_PARTS; part++)
        add_task(t, INVERT_GATHER, g->first_strip * INVERT_GATHER_PARTS + part);
    end_step(t);
    for (int32_t s = 0; s < g->nb; s += 2)
        add_task(t, INVERT_DIAGONAL, g->first_strip + s);
    end_step(t);
    for (int32_t s = 2; s < g->nb; s *= 2) {
        add_doubling(t, PRODUCT_T, s);
        end_step(t);
        add_doubling(t, PRODUCT_X, s);
        end_step(t);
    }
    add_below(t);
    end_step(t);
    if (g->root >= 0 && !t->b->tree->cholesky) {
        add_strips(t, INVERT_SCALE);
        end_step(t);
    }
    if (g->root >= 0)
        add_gram(t);
    add_strips(t, INVERT_FINISH);
    end_step(t);
    for (int32_t part = 0; part < g->parts; part += INVERT_PARTS)
        add_task(t, INVERT_PACK, g->part + part);
    if (g->root >= 0)
        add_strips(t, INVERT_ROOT_SUMS);
    add_strips(t, INVERT_GROWTH);
    end_step(t);
    for (invert_step step = INVERT_ROOT_TRANSPOSED; g->root >= 0 && step <= INVERT_ROOT_GROWTH;
         step++) {
        add_strips(t, step);
        end_step(t);
    }
}

/* ---- Batches --------------------------------------------------------------------------------- */

/* Groups [from, to) of the tiled ones, which share a workspace. */
typedef struct batch {
    tables_builder *b;
    tiled_group *group; /* all tiled ones */
    int32_t from, to;
} batch;

static int64_t triangle_scalars(const tiled_group *g)
{
    return (int64_t)SQUARE * SQUARE * tile_number(g->nb, g->nb, 0);
}

static int64_t l_scalars(const tiled_group *g)
{
    return (int64_t)SQUARE * SQUARE * tile_number(g->nb, g->tile_rows, 0);
}

/* What x takes of the workspace. */
static int64_t x_scalars(const tiled_group *g)
{
    return g->root >= 0 ? triangle_scalars(g) : g->parts > 0 ? l_scalars(g) : 0;
}

static int64_t workspace_scalars(const tiled_group *g)
{
    return l_scalars(g) + triangle_scalars(g) + x_scalars(g);
}

static int by_step(const void *a, const void *b)
{
    const numbered_task *x = a, *y = b;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return x->place < y->place ? -1 : 1;
}

/* Places in the workspace and tasks of one batch. */
static void end_batch(const batch *t)
{
    tables_builder *b = t->b;
    buffer list = {.m = b->m};
    int64_t at = 0;
    for (int32_t q = t->from; q < t->to; q++) {
        tiled_group *g = t->group + q;
        group_tasks tasks = {.b = b, .group = t->group, .out = &list, .q = q};
        g->l = at;
        g->t = g->l + l_scalars(g);
        if (x_scalars(g) > 0)
            g->x = g->t + triangle_scalars(g);
        at += workspace_scalars(g);
        add_group(&tasks);
    }
    b->t->pattern.workspace = at > b->t->pattern.workspace ? at : b->t->pattern.workspace;
    const int32_t count = (int32_t)(list.length / (int64_t)sizeof(numbered_task));
    const invert_batch made = {.first =
                                   (int32_t)(b->t->tasks.length / (int64_t)sizeof(invert_task)),
                               .count = count};
    if (!list.failed)
        qsort(list.data, (size_t)count, sizeof(numbered_task), by_step);
    for (int32_t q = 0; q < count && !list.failed; q++)
        buffer_put(&b->t->tasks, &((const numbered_task *)list.data)[q].task,
                   (int64_t)sizeof(invert_task));
    buffer_put(&b->t->batches, &made, (int64_t)sizeof made);
    b->t->batches.failed |= list.failed;
    buffer_free(&list);
}

void tables_add_tasks(tables_builder *b, int64_t limit)
{
    const int32_t count = b->g->count - b->smalls;
    batch t = {.b = b, .group = (tiled_group *)b->t->tiled.data};
    int64_t held = 0;
    for (int32_t q = 0; q < count; q++) {
        t.group[q].tile_rows = t.group[q].nb + strips_below(b, q);
        const int64_t bytes = workspace_scalars(t.group + q) * b->plan->scalar_bytes;
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
