/* gpu/invert/tasks.c: the tasks that invert groups in tiles, and the tiles of each
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A group's tasks come in steps, each of which waits for all before it.  The order in which tasks
 * are drawn decides who waits: it is that of a list schedule with predicted times, whole
 * nanoseconds, so that it is the same on every machine. */
#include "gpu/invert/tables_builder.h"
#include "base/heap.h"

/* Nanoseconds.  Estimated: a whole group, and each column of each of its tiles below each other.
 * Measured on an H100: a task of each other kind but products; what a product takes beside its
 * sums, and a sum over a strip. */
enum {
    WHOLE_NS = 6000,
    WHOLE_COLUMN_NS = 40,
    GATHER_NS = 5000,
    GATHER_TILE_NS = 70,
    DIAGONAL_NS = 5000,
    STRIP_NS = 4000,
    PRODUCT_NS = 2500,
    SUM_NS = 1500,
    WAIT_NS = 1500, /* from the end of a step to the begin of the next one */
    SCHEDULE_BLOCKS = 264
};

/* Tasks [first, end) of a group, which wait for nothing but the steps before. */
typedef struct task_step {
    int32_t first, end;
    int32_t is_last; /* of its group; otherwise the next one follows it */
    int64_t way;     /* ns, from the begin of the step to the end of the group */
} task_step;

/* The tasks of a batch as they are made, group by group and step by step. */
typedef struct group_tasks {
    tables_builder *b;
    const tiled_group *group;   /* all tiled ones */
    buffer tasks, steps, times; /* invert_task; task_step; int64_t, ns of each task */
    int32_t q;                  /* the group at hand */
    int32_t before;             /* tasks of the groups before */
    int32_t done, made;         /* of the group: in steps that are ended; all */
} group_tasks;

static int32_t strips_below(const tables_builder *b, int32_t q)
{
    return (group_rows(b->g, b->t->of_tiled[q]) + SQUARE - 1) / SQUARE;
}

static void add_task(group_tasks *t, invert_step step, int32_t number, int64_t ns)
{
    const invert_task task = {
        .step = (int32_t)step, .number = number, .group = t->q, .waits = t->done};
    buffer_put(&t->tasks, &task, (int64_t)sizeof task);
    buffer_put(&t->times, &ns, (int64_t)sizeof ns);
    t->made++;
}

static void end_step(group_tasks *t)
{
    const task_step step = {.first = t->before + t->done, .end = t->before + t->made};
    if (t->made > t->done)
        buffer_put(&t->steps, &step, (int64_t)sizeof step);
    t->done = t->made;
}

static void end_group(group_tasks *t)
{
    if (!t->steps.failed)
        ((task_step *)(void *)(t->steps.data + t->steps.length))[-1].is_last = 1;
    t->before += t->made;
    t->done = t->made = 0;
}

static void add_strips(group_tasks *t, invert_step step)
{
    const tiled_group *g = t->group + t->q;
    for (int32_t s = 0; s < g->nb; s++)
        add_task(t, step, g->first_strip + s, STRIP_NS);
}

/* For each part of each strip. */
static void add_strip_parts(group_tasks *t, invert_step step, int64_t ns)
{
    const tiled_group *g = t->group + t->q;
    for (int32_t part = 0; part < g->nb * INVERT_STRIP_PARTS; part++)
        add_task(t, step, g->first_strip * INVERT_STRIP_PARTS + part, ns);
}

static void add_item(group_tasks *t, const product_item *item)
{
    const int32_t number = (int32_t)(t->b->t->items.length / (int64_t)sizeof *item);
    buffer_put(&t->b->t->items, item, (int64_t)sizeof *item);
    add_task(t, item->kind == PRODUCT_G ? INVERT_GRAM : INVERT_MULTIPLY, number,
             PRODUCT_NS + (int64_t)SUM_NS * (item->to - item->from));
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

/* The item of W or G at that place, with rows before `end` and sums from strip `from` on. */
static void add_item_at(group_tasks *t, int kind, int32_t row, int32_t rows, int32_t end,
                        int32_t column, int32_t from)
{
    const int32_t nb = t->group[t->q].nb, columns = nb - column;
    const product_item item = {.group = t->q,
                               .kind = kind,
                               .row = row,
                               .rows = end - row < rows ? end - row : rows,
                               .column = column,
                               .columns =
                                   columns < PRODUCT_ITEM_COLUMNS ? columns : PRODUCT_ITEM_COLUMNS,
                               .from = from,
                               .to = nb};
    add_item(t, &item);
}

static void add_below(group_tasks *t)
{
    const int32_t nb = t->group[t->q].nb, end = t->group[t->q].tile_rows,
                  rows = item_rows((int64_t)nb * (end - nb));
    for (int32_t column = 0; column < nb; column += PRODUCT_ITEM_COLUMNS)
        for (int32_t row = nb; row < end; row += rows)
            add_item_at(t, PRODUCT_W, row, rows, end, column, column);
}

/* The lower triangle of G, and what of its upper one shares items with it. */
static void add_gram(group_tasks *t)
{
    const int32_t nb = t->group[t->q].nb, rows = item_rows((int64_t)nb * (nb + 1) / 4);
    for (int32_t row = 0; row < nb; row += rows)
        for (int32_t column = 0; column < row + rows && column < nb; column += PRODUCT_ITEM_COLUMNS)
            add_item_at(t, PRODUCT_G, row, rows, nb, column, row);
}

static void add_packs(group_tasks *t)
{
    const tiled_group *g = t->group + t->q;
    for (int32_t part = 0; part < g->parts; part += INVERT_PARTS)
        add_task(t, INVERT_PACK, g->part + part, STRIP_NS);
}

static void add_whole(group_tasks *t)
{
    const tiled_group *g = t->group + t->q;
    add_task(t, INVERT_WHOLE, g->first_strip,
             WHOLE_NS + WHOLE_COLUMN_NS * (int64_t)g->k * g->tile_rows);
    end_step(t);
    add_packs(t);
    end_step(t);
}

/* The steps of a group that is not whole. */
static void add_steps(group_tasks *t)
{
    const tiled_group *g = t->group + t->q;
    add_strip_parts(t, INVERT_GATHER, GATHER_NS + GATHER_TILE_NS * (int64_t)g->tile_rows);
    end_step(t);
    for (int32_t s = 0; s < g->nb; s += 2)
        add_task(t, INVERT_DIAGONAL, g->first_strip + s, DIAGONAL_NS);
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
    add_packs(t);
    if (g->root >= 0)
        add_strip_parts(t, INVERT_ROOT_SUMS, STRIP_NS);
    add_strips(t, INVERT_GROWTH);
    end_step(t);
    for (invert_step step = INVERT_ROOT_TRANSPOSED; g->root >= 0 && step <= INVERT_ROOT_GROWTH;
         step++) {
        add_strips(t, step);
        end_step(t);
    }
}

/* The tasks of group q. */
static void add_group(group_tasks *t)
{
    if (invert_is_whole(t->group + t->q))
        add_whole(t);
    else
        add_steps(t);
    end_group(t);
}

/* ---- The order ------------------------------------------------------------------------------- */

/* From the last step to the first of each group. */
static void find_ways(task_step *step, int32_t steps, const int64_t *ns)
{
    for (int32_t s = steps - 1; s >= 0; s--) {
        int64_t longest = 0;
        for (int32_t q = step[s].first; q < step[s].end; q++)
            longest = ns[q] > longest ? ns[q] : longest;
        step[s].way = longest + WAIT_NS + (step[s].is_last ? 0 : step[s + 1].way);
    }
}

/* ready: steps with tasks that may begin, running: tasks. */
typedef struct scheduler {
    const int64_t *ns;
    const task_step *step;
    int32_t steps, tasks;
    int32_t *left, *next; /* of each step: tasks that have not ended; the next to begin */
    int32_t *of;          /* of each task: its step */
    int32_t *order;       /* out: tasks as they are begun */
    heap ready, running;
} scheduler;

static void schedule(scheduler *s)
{
    int32_t begun = 0;
    int64_t now = 0;
    for (int32_t q = 0; q < s->steps; q++) {
        s->left[q] = s->step[q].end - s->step[q].first;
        s->next[q] = s->step[q].first;
        for (int32_t t = s->step[q].first; t < s->step[q].end; t++)
            s->of[t] = q;
        if (q == 0 || s->step[q - 1].is_last)
            heap_push(&s->ready, (heap_entry){-s->step[q].way, q});
    }
    while (s->ready.count > 0 || s->running.count > 0) {
        while (s->ready.count > 0 && s->running.count < SCHEDULE_BLOCKS) {
            const int32_t q = s->ready.entry[0].number, t = s->next[q]++;
            if (s->next[q] == s->step[q].end)
                heap_pop(&s->ready);
            s->order[begun++] = t;
            heap_push(&s->running, (heap_entry){now + s->ns[t], t});
        }
        const heap_entry ended = heap_pop(&s->running);
        const int32_t q = s->of[ended.number];
        now = ended.key;
        if (--s->left[q] == 0 && !s->step[q].is_last)
            heap_push(&s->ready, (heap_entry){-s->step[q + 1].way, q + 1});
    }
}

/* The tasks of a batch in the order of a schedule. */
static libsolver_status put_in_order(group_tasks *t)
{
    memory *m = t->b->m;
    task_step *const step = (task_step *)(void *)t->steps.data;
    scheduler s = {.ns = (const int64_t *)(const void *)t->times.data,
                   .step = step,
                   .steps = (int32_t)(t->steps.length / (int64_t)sizeof(task_step)),
                   .tasks = t->before};
    s.left = memory_new(m, s.steps, sizeof(int32_t));
    s.next = memory_new(m, s.steps, sizeof(int32_t));
    s.of = memory_new(m, s.tasks, sizeof(int32_t));
    s.order = memory_new(m, s.tasks, sizeof(int32_t));
    s.ready.entry = memory_new(m, s.steps, sizeof(heap_entry));
    s.running.entry = memory_new(m, SCHEDULE_BLOCKS, sizeof(heap_entry));
    const int has_room = s.left && s.next && s.of && s.order && s.ready.entry && s.running.entry;
    if (has_room) {
        find_ways(step, s.steps, s.ns);
        schedule(&s);
        for (int32_t q = 0; q < s.tasks; q++)
            buffer_put(&t->b->t->tasks,
                       (const invert_task *)(const void *)t->tasks.data + s.order[q],
                       (int64_t)sizeof(invert_task));
    }
    memory_free(m, s.left);
    memory_free(m, s.next);
    memory_free(m, s.of);
    memory_free(m, s.order);
    memory_free(m, s.ready.entry);
    memory_free(m, s.running.entry);
    return has_room ? LIBSOLVER_OK : LIBSOLVER_OUT_OF_MEMORY;
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

/* What l and t do: nothing of a group that is whole. */
static int64_t tile_scalars(const tiled_group *g)
{
    return invert_is_whole(g) ? 0 : l_scalars(g) + triangle_scalars(g);
}

static int64_t workspace_scalars(const tiled_group *g)
{
    return tile_scalars(g) + x_scalars(g);
}

/* Places in the workspace and tasks of one batch. */
static void end_batch(const batch *t)
{
    tables_builder *b = t->b;
    group_tasks made = {
        .b = b, .group = t->group, .tasks.m = b->m, .steps.m = b->m, .times.m = b->m};
    int64_t at = 0;
    for (made.q = t->from; made.q < t->to; made.q++) {
        tiled_group *g = t->group + made.q;
        g->l = at;
        g->t = g->l + l_scalars(g);
        if (x_scalars(g) > 0)
            g->x = at + tile_scalars(g);
        at += workspace_scalars(g);
        add_group(&made);
    }
    b->t->pattern.workspace = at > b->t->pattern.workspace ? at : b->t->pattern.workspace;
    const invert_batch entry = {.first =
                                    (int32_t)(b->t->tasks.length / (int64_t)sizeof(invert_task)),
                                .count = made.before};
    buffer_put(&b->t->batches, &entry, (int64_t)sizeof entry);
    if (made.tasks.failed || made.steps.failed || made.times.failed ||
        put_in_order(&made) != LIBSOLVER_OK)
        b->t->batches.failed = 1;
    buffer_free(&made.tasks);
    buffer_free(&made.steps);
    buffer_free(&made.times);
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
