/* gpu/invert/tasks.c: the tasks that invert groups in tiles, and the tiles of each
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Tasks come in steps, each of which waits for up to two others.  The order in which tasks are
 * drawn decides who waits: it is that of a list schedule with predicted times, whole nanoseconds,
 * so that it is the same on every machine.  Groups with columns of a root of the tree have an order
 * of their own: these columns are the last that a factorization makes. */
#include "gpu/invert/tables_builder.h"
#include "base/heap.h"

/* Nanoseconds.  Estimated: a whole group, and each column of each of its tiles below each other;
 * G of a root of a pair of strips.
 * Measured on an H100: a task of each other kind but products; what a product takes beside its
 * sums, and a sum over a strip; what a factorization takes for a block of columns of a root. */
enum {
    WHOLE_NS = 6000,
    WHOLE_COLUMN_NS = 40,
    ROOT_NS = 10000,
    GATHER_NS = 5000,
    GATHER_TILE_NS = 70,
    DIAGONAL_NS = 5000,
    STRIP_NS = 4000,
    PRODUCT_NS = 2500,
    SUM_NS = 1500,
    WAIT_NS = 1500, /* from the end of a step to the begin of the next one */
    COLUMNS_NS = 13000,
    COLUMNS = 64,
    SCHEDULE_BLOCKS = 264
};

/* Tasks [first, end) of a group, which wait for all those of up to two steps. */
typedef struct task_step {
    int32_t first, end;
    int32_t before[2]; /* numbers of steps, -1: none */
    int32_t is_late;
    int64_t begin; /* ns: when its columns of L are there, from the begin of a root's on */
    int64_t way;   /* ns, from its begin to the end of the group */
} task_step;

/* The tasks of a batch as they are made, group by group and step by step. */
typedef struct group_tasks {
    tables_builder *b;
    const tiled_group *group;   /* all tiled ones */
    buffer tasks, steps, times; /* invert_task; task_step; int64_t, ns of each task */
    int32_t first_word;         /* of the batch: that of step 0 */
    int32_t q;                  /* the group at hand */
    int32_t is_late;            /* it has columns of a root of the tree */
    int32_t made;               /* tasks */
    int32_t ended;              /* of these, in steps that are ended */
} group_tasks;

static int32_t strips_below(const tables_builder *b, int32_t q)
{
    return (group_rows(b->g, b->t->of_tiled[q]) + SQUARE - 1) / SQUARE;
}

static void add_task(group_tasks *t, invert_step step, int32_t number, int64_t ns)
{
    const invert_task task = {.step = (int32_t)step, .number = number, .group = t->q};
    buffer_put(&t->tasks, &task, (int64_t)sizeof task);
    buffer_put(&t->times, &ns, (int64_t)sizeof ns);
    t->made++;
}

static int32_t step_count(const group_tasks *t)
{
    return (int32_t)(t->steps.length / (int64_t)sizeof(task_step));
}

/* Ends a step with the tasks since the last one, which wait for two others, -1: for none; returns
 * its number, and that of the first where it has no tasks. */
static int32_t end_step(group_tasks *t, int32_t before, int32_t other)
{
    const task_step step = {
        .first = t->ended, .end = t->made, .before = {before, other}, .is_late = t->is_late};
    if (t->made == t->ended)
        return before;
    buffer_put(&t->steps, &step, (int64_t)sizeof step);
    t->ended = t->made;
    return step_count(t) - 1;
}

static task_step *step_at(const group_tasks *t, int32_t number)
{
    return (task_step *)(void *)t->steps.data + number;
}

static int is_of_root(const tables_builder *b, int32_t node)
{
    return b->tree->row_start[node + 1] == b->tree->row_start[node];
}

/* Whether tiled group q has columns of a root of the tree, which a factorization tells of last. */
static int is_late(const tables_builder *b, int32_t q)
{
    const int32_t i = b->t->of_tiled[q], top = b->g->piece[b->g->piece_start[i + 1] - 1];
    return b->progress && is_of_root(b, b->p->node[top]);
}

/* When a factorization has the columns of strip s. */
static int64_t begin_of(const group_tasks *t, int32_t s)
{
    const tables_builder *b = t->b;
    const int32_t i = b->t->of_tiled[t->q];
    const invert_strip *strip =
        (const invert_strip *)(const void *)b->t->strips.data + t->group[t->q].first_strip + s;
    const int32_t column = b->g->column[b->g->column_start[i] + strip->column + strip->width - 1];
    const int32_t top = b->p->node[b->g->piece[b->g->piece_start[i + 1] - 1]],
                  local = column - b->tree->first[top];
    return local < 0 || !is_of_root(b, top) ? 0 : (int64_t)COLUMNS_NS * (local / COLUMNS + 1);
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

/* T or X of the blocks of strips [first, middle) and [middle, end), those with the longest sums
 * first; tiles: of all such blocks. */
static void add_doubling(group_tasks *t, int kind, int32_t first, int32_t middle, int32_t end,
                         int64_t tiles)
{
    const int32_t rows = item_rows(tiles), blocks = (end - middle + rows - 1) / rows,
                  columns = (middle - first) / PRODUCT_ITEM_COLUMNS;
    product_item item = {.group = t->q, .kind = kind, .columns = PRODUCT_ITEM_COLUMNS};
    for (int32_t u = 0; u < blocks * columns; u++) {
        const int32_t row = kind == PRODUCT_T ? u % blocks : blocks - 1 - u / columns;
        item.row = middle + row * rows;
        item.column = first + PRODUCT_ITEM_COLUMNS * (kind == PRODUCT_T ? u / blocks : u % columns);
        item.rows = end - item.row < rows ? end - item.row : rows;
        item.from = kind == PRODUCT_T ? item.column : middle;
        item.to = kind == PRODUCT_T ? middle : item.row + item.rows;
        add_item(t, &item);
    }
}

/* L of a pair of strips, from strip s on; returns the last step, here and below. */
static int32_t add_gathers(group_tasks *t, int32_t s)
{
    const tiled_group *g = t->group + t->q;
    const int32_t strips = g->nb - s < 2 ? 1 : 2;
    for (int32_t part = 0; part < strips * INVERT_STRIP_PARTS; part++)
        add_task(t, INVERT_GATHER, (g->first_strip + s) * INVERT_STRIP_PARTS + part,
                 GATHER_NS + GATHER_TILE_NS * (int64_t)(g->tile_rows - s));
    const int32_t gathered = end_step(t, -1, -1);
    if (!t->steps.failed)
        step_at(t, gathered)->begin = begin_of(t, s + strips - 1);
    return gathered;
}

/* That, and the inverse of its diagonal block. */
static int32_t add_pair(group_tasks *t, int32_t s)
{
    const int32_t gathered = add_gathers(t, s);
    add_task(t, INVERT_DIAGONAL, t->group[t->q].first_strip + s, DIAGONAL_NS);
    return end_step(t, gathered, -1);
}

/* Where strips [first, end), more than two, are cut: behind half of them, or more. */
static int32_t middle_of(int32_t first, int32_t end)
{
    int32_t size = 2;
    while (2 * size < end - first)
        size *= 2;
    return first + size;
}

/* M of strips [first, end) from that of those before and behind the middle, whose last steps are
 * left and right. */
static int32_t add_join(group_tasks *t, int32_t first, int32_t end, int32_t left, int32_t right)
{
    const int32_t middle = middle_of(first, end);
    const int64_t tiles = (int64_t)t->group[t->q].nb / 2 * (middle - first);
    add_doubling(t, PRODUCT_T, first, middle, end, tiles);
    const int32_t product = end_step(t, left, -1);
    add_doubling(t, PRODUCT_X, first, middle, end, tiles);
    return end_step(t, product, right);
}

static int32_t add_triangle(group_tasks *t, int32_t first, int32_t end)
{
    if (end - first <= 2)
        return add_pair(t, first);
    const int32_t middle = middle_of(first, end), left = add_triangle(t, first, middle),
                  right = add_triangle(t, middle, end);
    return add_join(t, first, end, left, right);
}

/* The item of W or G at that place, with rows before `end` and sums over the strips [from, to). */
static void add_item_at(group_tasks *t, int kind, int32_t row, int32_t rows, int32_t end,
                        int32_t column, int32_t from, int32_t to)
{
    const int32_t columns = t->group[t->q].nb - column;
    const product_item item = {.group = t->q,
                               .kind = kind,
                               .row = row,
                               .rows = end - row < rows ? end - row : rows,
                               .column = column,
                               .columns =
                                   columns < PRODUCT_ITEM_COLUMNS ? columns : PRODUCT_ITEM_COLUMNS,
                               .from = from,
                               .to = to};
    add_item(t, &item);
}

static void add_below(group_tasks *t)
{
    const int32_t nb = t->group[t->q].nb, end = t->group[t->q].tile_rows,
                  rows = item_rows((int64_t)nb * (end - nb));
    for (int32_t column = 0; column < nb; column += PRODUCT_ITEM_COLUMNS)
        for (int32_t row = nb; row < end; row += rows)
            add_item_at(t, PRODUCT_W, row, rows, end, column, column, nb);
}

/* The lower triangle of G, and what of its upper one shares items with it: sums over strips
 * [from, to), those over the ones before `from` being there. */
static void add_gram(group_tasks *t, int32_t from, int32_t to)
{
    const int32_t nb = t->group[t->q].nb, rows = item_rows((int64_t)nb * (nb + 1) / 4);
    for (int32_t row = 0; row < to; row += rows)
        for (int32_t column = 0; column < row + rows && column < to; column += PRODUCT_ITEM_COLUMNS)
            add_item_at(t, PRODUCT_G, row, rows, to, column, row > from ? row : from, to);
}

/* M of all strips, blocks of a size at once: tiles of a group are in the second-level cache
 * together. */
static int32_t add_levels(group_tasks *t)
{
    const tiled_group *g = t->group + t->q;
    add_strip_parts(t, INVERT_GATHER, GATHER_NS + GATHER_TILE_NS * (int64_t)g->tile_rows);
    int32_t last = end_step(t, -1, -1);
    for (int32_t s = 0; s < g->nb; s += 2)
        add_task(t, INVERT_DIAGONAL, g->first_strip + s, DIAGONAL_NS);
    last = end_step(t, last, -1);
    for (int32_t s = 2; s < g->nb; s *= 2)
        for (int kind = PRODUCT_T; kind <= PRODUCT_X; kind++) {
            for (int32_t first = 0; first + s < g->nb; first += 2 * s)
                add_doubling(t, kind, first, first + s,
                             first + 2 * s < g->nb ? first + 2 * s : g->nb, (int64_t)g->nb / 2 * s);
            last = end_step(t, last, -1);
        }
    return last;
}

/* M: of a late group as its columns come. */
static int32_t add_inverse(group_tasks *t)
{
    return t->is_late ? add_triangle(t, 0, t->group[t->q].nb) : add_levels(t);
}

/* Up to which strip rows of M are there early enough for sums of G over them to be formed before
 * the end, in the place of partial sums, which for L D L^T D^-1 M takes; 0: not worth it. */
static int32_t gram_middle(const group_tasks *t)
{
    const int32_t nb = t->group[t->q].nb;
    return t->is_late && t->b->tree->cholesky && nb > PRODUCT_ITEM_ROWS ? middle_of(0, nb) : 0;
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
    const int32_t inverted = end_step(t, -1, -1);
    add_packs(t);
    end_step(t, inverted, -1);
}

static void add_pair_root(group_tasks *t)
{
    const int32_t gathered = add_gathers(t, 0);
    add_task(t, INVERT_ROOT, t->group[t->q].first_strip, ROOT_NS);
    end_step(t, gathered, -1);
}

/* M of a root, and G as far as the first half of M's rows goes, whose last step is *gram; -1: that
 * is left for the end. */
static int32_t add_root_inverse(group_tasks *t, int32_t *gram)
{
    const int32_t nb = t->group[t->q].nb, middle = gram_middle(t);
    *gram = -1;
    if (middle == 0)
        return add_inverse(t);
    const int32_t left = add_triangle(t, 0, middle), right = add_triangle(t, middle, nb);
    add_gram(t, 0, middle);
    *gram = end_step(t, left, -1);
    return add_join(t, 0, nb, left, right);
}

/* The steps of other groups. */
static void add_steps(group_tasks *t)
{
    const tiled_group *g = t->group + t->q;
    int32_t gram = -1, last = g->root >= 0 ? add_root_inverse(t, &gram) : add_inverse(t);
    add_below(t);
    last = end_step(t, last, -1);
    if (g->root >= 0 && !t->b->tree->cholesky) {
        add_strips(t, INVERT_SCALE);
        last = end_step(t, last, -1);
    }
    if (g->root >= 0)
        add_gram(t, gram_middle(t), g->nb);
    add_strips(t, INVERT_FINISH);
    last = end_step(t, last, gram);
    add_packs(t);
    if (g->root >= 0)
        add_strip_parts(t, INVERT_ROOT_SUMS, STRIP_NS);
    add_strips(t, INVERT_GROWTH);
    last = end_step(t, last, -1);
    for (invert_step step = INVERT_ROOT_TRANSPOSED; g->root >= 0 && step <= INVERT_ROOT_GROWTH;
         step++) {
        add_strips(t, step);
        last = end_step(t, last, -1);
    }
}

/* The tasks of group q. */
static void add_group(group_tasks *t)
{
    t->is_late = is_late(t->b, t->q);
    if (invert_is_whole(t->group + t->q))
        add_whole(t);
    else if (invert_is_pair_root(t->group + t->q))
        add_pair_root(t);
    else
        add_steps(t);
}

/* ---- The order ------------------------------------------------------------------------------- */

/* From the last step to the first: those that wait for a step come behind it. */
static void find_ways(task_step *step, int32_t steps, const int64_t *ns)
{
    for (int32_t s = steps - 1; s >= 0; s--) {
        int64_t longest = 0;
        for (int32_t q = step[s].first; q < step[s].end; q++)
            longest = ns[q] > longest ? ns[q] : longest;
        step[s].way += longest + WAIT_NS;
        for (int32_t q = 0; q < 2; q++)
            if (step[s].before[q] >= 0 && step[step[s].before[q]].way < step[s].way)
                step[step[s].before[q]].way = step[s].way;
    }
}

/* ready: steps with tasks that may begin; coming: steps whose columns are not there yet; running:
 * tasks. */
typedef struct scheduler {
    const int64_t *ns;
    const task_step *step;
    int32_t steps, tasks;
    int32_t *left, *next; /* of each step: tasks that have not ended; the next to begin */
    int32_t *waits;       /* of each step: for how many others */
    int32_t *behind;      /* of each step: one that waits for it, -1: none, ... */
    int32_t *other;       /* ... and of each step twice: the next one that waits for before[q] */
    int32_t *of;          /* of each task: its step */
    int32_t *order;       /* out: tasks as they are begun */
    heap ready, coming, running;
} scheduler;

static void be_ready(scheduler *s, int32_t q)
{
    heap_push(&s->ready, (heap_entry){-s->step[q].way, q});
}

static void end_task(scheduler *s, int32_t task)
{
    const int32_t q = s->of[task];
    if (--s->left[q] > 0)
        return;
    for (int32_t e = s->behind[q]; e >= 0; e = s->other[e])
        if (--s->waits[e / 2] == 0)
            be_ready(s, e / 2);
}

/* Who waits for whom. */
static void link_steps(scheduler *s)
{
    for (int32_t q = 0; q < s->steps; q++)
        s->behind[q] = -1;
    for (int32_t q = 0; q < s->steps; q++) {
        s->left[q] = s->step[q].end - s->step[q].first;
        s->next[q] = s->step[q].first;
        s->waits[q] = 0;
        for (int32_t t = s->step[q].first; t < s->step[q].end; t++)
            s->of[t] = q;
        for (int32_t e = 0; e < 2; e++)
            if (s->step[q].before[e] >= 0) {
                s->other[2 * q + e] = s->behind[s->step[q].before[e]];
                s->behind[s->step[q].before[e]] = 2 * q + e;
                s->waits[q]++;
            }
    }
}

/* The tasks of late groups, or of the others; returns how many there are. */
static int32_t schedule(scheduler *s, int is_late)
{
    int32_t begun = 0;
    int64_t now = 0;
    for (int32_t q = 0; q < s->steps; q++)
        if (s->waits[q] == 0 && s->step[q].is_late == is_late)
            heap_push(&s->coming, (heap_entry){s->step[q].begin, q});
    while (s->ready.count > 0 || s->running.count > 0 || s->coming.count > 0) {
        while (s->coming.count > 0 && s->coming.entry[0].key <= now)
            be_ready(s, heap_pop(&s->coming).number);
        while (s->ready.count > 0 && s->running.count < SCHEDULE_BLOCKS) {
            const int32_t q = s->ready.entry[0].number, t = s->next[q]++;
            if (s->next[q] == s->step[q].end)
                heap_pop(&s->ready);
            s->order[begun++] = t;
            heap_push(&s->running, (heap_entry){now + s->ns[t], t});
        }
        if (s->coming.count > 0 &&
            (s->running.count == 0 || s->coming.entry[0].key < s->running.entry[0].key))
            now = s->coming.entry[0].key;
        else if (s->running.count > 0) {
            const heap_entry ended = heap_pop(&s->running);
            now = ended.key;
            end_task(s, ended.number);
        }
    }
    return begun;
}

/* By what words the factorization tells of the last column of part `part` of a strip, -1: of
 * nothing. */
static void find_columns(const tables_builder *b, int32_t part, invert_task *task)
{
    const invert_strip *strip =
        (const invert_strip *)(const void *)b->t->strips.data + part / INVERT_STRIP_PARTS;
    const int32_t i = b->t->of_tiled[strip->group],
                  at = b->g->column_start[i] + strip->column + strip->width - 1;
    if (!b->progress)
        return;
    const column_words *w =
        (const column_words *)(const void *)b->t->waits.data + b->t->column_wait[at];
    task->waits[0] = w->first;
    task->least[0] = (int32_t)w->least;
    if (w->count > 1) {
        task->waits[1] = w->first + w->count - 1;
        task->least[1] = (int32_t)w->least - 1;
    }
}

/* The tasks of a schedule, with the words that they wait for and tell: that of step q counts its
 * tasks that are done. */
static void put_tasks(const group_tasks *t, const scheduler *s, int32_t count)
{
    for (int32_t q = 0; q < count; q++) {
        invert_task task = ((const invert_task *)(const void *)t->tasks.data)[s->order[q]];
        const task_step *step = s->step + s->of[s->order[q]];
        task.tells = t->first_word + s->of[s->order[q]];
        for (int32_t e = 0; e < 2; e++) {
            const int32_t before = step->before[e];
            task.waits[e] = before < 0 ? -1 : t->first_word + before;
            task.least[e] = before < 0 ? 0 : s->step[before].end - s->step[before].first;
        }
        if (task.step == INVERT_GATHER)
            find_columns(t->b, task.number, &task);
        buffer_put(&t->b->t->tasks, &task, (int64_t)sizeof task);
    }
}

/* The tasks of a batch in the order of a schedule, late ones behind the others, in one of theirs.
 */
static libsolver_status put_in_order(group_tasks *t, int32_t *late)
{
    memory *m = t->b->m;
    task_step *const step = (task_step *)(void *)t->steps.data;
    scheduler s = {.ns = (const int64_t *)(const void *)t->times.data,
                   .step = step,
                   .steps = step_count(t),
                   .tasks = t->made};
    s.left = memory_new(m, s.steps, sizeof(int32_t));
    s.next = memory_new(m, s.steps, sizeof(int32_t));
    s.waits = memory_new(m, s.steps, sizeof(int32_t));
    s.behind = memory_new(m, s.steps, sizeof(int32_t));
    s.other = memory_new(m, 2 * (int64_t)s.steps, sizeof(int32_t));
    s.of = memory_new(m, s.tasks, sizeof(int32_t));
    s.order = memory_new(m, s.tasks, sizeof(int32_t));
    s.ready.entry = memory_new(m, s.steps, sizeof(heap_entry));
    s.coming.entry = memory_new(m, s.steps, sizeof(heap_entry));
    s.running.entry = memory_new(m, SCHEDULE_BLOCKS, sizeof(heap_entry));
    const int has_room = s.left && s.next && s.waits && s.behind && s.other && s.of && s.order &&
                         s.ready.entry && s.coming.entry && s.running.entry;
    if (has_room) {
        find_ways(step, s.steps, s.ns);
        link_steps(&s);
        put_tasks(t, &s, schedule(&s, 0));
        *late = schedule(&s, 1);
        put_tasks(t, &s, *late);
    }
    memory_free(m, s.left);
    memory_free(m, s.next);
    memory_free(m, s.waits);
    memory_free(m, s.behind);
    memory_free(m, s.other);
    memory_free(m, s.of);
    memory_free(m, s.order);
    memory_free(m, s.ready.entry);
    memory_free(m, s.coming.entry);
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
    invert_pattern *p = &b->t->pattern;
    group_tasks made = {.b = b,
                        .group = t->group,
                        .tasks.m = b->m,
                        .steps.m = b->m,
                        .times.m = b->m,
                        .first_word = p->words};
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
    p->workspace = at > p->workspace ? at : p->workspace;
    invert_batch entry = {.first = (int32_t)(b->t->tasks.length / (int64_t)sizeof(invert_task)),
                          .count = made.made};
    if (made.tasks.failed || made.steps.failed || made.times.failed ||
        put_in_order(&made, &entry.late) != LIBSOLVER_OK)
        b->t->batches.failed = 1;
    buffer_put(&b->t->batches, &entry, (int64_t)sizeof entry);
    p->words += step_count(&made);
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
