/* gpu/factor/order.c: the order in which the tasks of a factorization are drawn, from a schedule
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Blocks draw tasks in a fixed order and wait for what a task needs, so that the order decides who
 * waits: it is that of a list schedule with predicted times.  Times are whole nanoseconds, so that
 * it is the same on every machine.  Where there is far more work than the longest way, tasks are
 * drawn level by level.
 *
 * Steps of the schedule are tasks and, behind them, a gate for each front, which opens when all of
 * its children's blocks are there. */
#include "gpu/factor/order.h"
#include "base/heap.h"
#include "gpu/factor/waits.h"

/* Measured on an H200, nanoseconds: what a task takes beside its products, and a product of a panel
 * of 64 columns. */
enum {
    ASSEMBLE_NS = 5000,
    PIVOT_NS = 10000,
    ROWS_NS = 7000,
    UPDATE_NS = 3000,
    CONTRIBUTION_NS = 5000,
    PANEL_NS = 2600,
    TALL_PANEL_NS = 4600, /* of 128 x 64 */
    CHILD_NS = 250,       /* of a group: its block, added */
    SUMMED_NS = 250,      /* of a group of leaves: one of these */
    DIVIDE_NS = 4000,
    WAIT_NS = 1500 /* from the end of a task to the begin of one that waits for it */
};

double factor_small_seconds(const factor_front *f, int32_t leaves)
{
    const int32_t m = f->m, k = f->k;
    if (k == 0) /* a group */
        return 4e-6 + CHILD_NS * 1e-9 * f->children;
    if (factor_is_leaf(f) && leaves >= 0)
        return (leaves == 0 ? 4e-6 : 0) + 0.8e-6;
    return m <= FACTOR_TINY_ROWS ? 4e-6 + 0.2e-6 * k : 5e-6 + 0.15e-6 * k + 2e-10 * m * m;
}

int32_t factor_leaves(const factor_program *g, int32_t first, int32_t end)
{
    int32_t s = first;
    while (s < end && factor_is_leaf(g->front + s))
        s++;
    return s - first;
}

double factor_run_seconds(const factor_program *g, int32_t first, int32_t end)
{
    const int32_t leaves = factor_leaves(g, first, end);
    double seconds = 0;
    for (int32_t s = first; s < end; s++)
        seconds += factor_small_seconds(g->front + s, s - first < leaves ? s - first : -1);
    return seconds;
}

double factor_range_seconds(const factor_program *g, const factor_range *range)
{
    return range->group >= 0 ? 5e-6 + SUMMED_NS * 1e-9 * range->leaves
                             : factor_run_seconds(g, range->first, range->end);
}

typedef struct scheduler {
    const int32_t *above; /* of each front */
    const factor_program *program;
    int32_t tasks, steps;
    int32_t *raised;     /* tiles: the last task so far that raises the word, -1: none */
    int32_t *next;       /* of each step: those that wait for it; ... */
    int64_t *next_start; /* ... steps + 1 */
    int32_t *left;       /* of each step: how many it still waits for */
    int64_t *ns, *way;   /* of each task: its time; of each step: from its begin to the end of all,
                            -1: not known yet */
    heap ready, running;
    int64_t work;   /* ns of all tasks on all blocks */
    int64_t bucket; /* ns; ways are told apart by so much */
    int32_t *order; /* out: as they are begun */
} scheduler;

/* ---- Who waits for whom ---------------------------------------------------------------------- */

/* Counts an edge, or, once next is there, lists it. */
static void add_edge(scheduler *s, int32_t from, int32_t to)
{
    if (s->next) {
        s->next[s->next_start[from]++] = to;
        s->left[to]++;
    } else
        s->next_start[from + 1]++;
}

/* Behind the children of a front; behind its contribution block, with signs. */
static int32_t gate_of(const scheduler *s, int32_t front)
{
    return s->tasks + front;
}
static int32_t end_of(const scheduler *s, int32_t front)
{
    return s->tasks + s->program->fronts + front;
}

/* Fronts [first, end) of a run, task t. */
static void add_run_edges(scheduler *s, int32_t t, int32_t first, int32_t end)
{
    for (int32_t f = first; f < end; f++) {
        const int32_t above = s->above[f];
        if (s->program->front[f].outside > 0)
            add_edge(s, gate_of(s, f), t);
        if (above >= end || (above >= 0 && above < first))
            add_edge(s, t, gate_of(s, above));
    }
}

static void add_tile_edges(scheduler *s, int32_t t)
{
    const factor_task *task = s->program->task + t;
    const factor_front *f = s->program->front + task->front;
    for (int32_t q = 0; q < FACTOR_WAITS; q++) {
        const factor_wait w = factor_wait_of(f, task, q);
        if (w.word >= 0)
            add_edge(s, s->raised[w.word], t);
    }
    if (factor_is_gated(task))
        add_edge(s, gate_of(s, task->front), t);
    if (factor_waits_for_block(f, task))
        add_edge(s, end_of(s, task->front), t);
    for (int32_t q = 0; q < 2; q++) {
        const factor_wait w = factor_tell_of(f, task, q);
        if (w.word >= 0)
            s->raised[w.word] = t;
    }
    if (factor_is_contribution(task) && s->above[task->front] >= 0)
        add_edge(s, t, gate_of(s, s->above[task->front]));
    if (factor_is_contribution(task) && s->program->has_signs)
        add_edge(s, t, end_of(s, task->front));
}

/* Tasks are level by level, so that what a word is waited for was raised last by the task that is
 * meant. */
static void add_edges(scheduler *s)
{
    const factor_program *g = s->program;
    for (int64_t q = 0; q < g->tiles; q++)
        s->raised[q] = -1;
    for (int32_t t = 0; t < s->tasks; t++) {
        const factor_task *task = g->task + t;
        if (task->kind == FACTOR_SMALL)
            add_run_edges(s, t, task->i, task->j);
        else if (task->kind == FACTOR_TINY)
            for (int32_t q = task->i; q < task->i + task->j; q++) {
                const factor_range *range = g->range + q;
                if (range->group >= 0)
                    add_edge(s, t, gate_of(s, s->above[range->group]));
                else
                    add_run_edges(s, t, range->first, range->end);
            }
        else
            add_tile_edges(s, t);
    }
}

static libsolver_status list_edges(memory *m, scheduler *s)
{
    s->raised = memory_new(m, s->program->tiles, sizeof(int32_t));
    s->next_start = memory_zeroed(m, (int64_t)s->steps + 1, sizeof(int64_t));
    s->left = memory_zeroed(m, s->steps, sizeof(int32_t));
    if (!s->raised || !s->next_start || !s->left)
        return LIBSOLVER_OUT_OF_MEMORY;
    add_edges(s);
    for (int32_t q = 0; q < s->steps; q++)
        s->next_start[q + 1] += s->next_start[q];
    s->next = memory_new(m, s->next_start[s->steps], sizeof(int32_t));
    if (!s->next)
        return LIBSOLVER_OUT_OF_MEMORY;
    add_edges(s); /* which leaves each start where the next one's was */
    for (int32_t q = s->steps; q > 0; q--)
        s->next_start[q] = s->next_start[q - 1];
    s->next_start[0] = 0;
    return LIBSOLVER_OK;
}

/* ---- Times ----------------------------------------------------------------------------------- */

static int64_t task_ns(const factor_program *g, const factor_task *t)
{
    double longest = 0;
    switch ((factor_kind)t->kind) {
    case FACTOR_TINY:
        for (int32_t q = t->i; q < t->i + t->j; q++) {
            const double seconds = factor_range_seconds(g, g->range + q);
            longest = seconds > longest ? seconds : longest;
        }
        return (int64_t)(1e9 * longest);
    case FACTOR_SMALL:
        return (int64_t)(1e9 * factor_run_seconds(g, t->i, t->j));
    case FACTOR_ASSEMBLE:
        return ASSEMBLE_NS;
    case FACTOR_PIVOT:
        return PIVOT_NS;
    case FACTOR_ROWS:
        return ROWS_NS;
    case FACTOR_UPDATE:
        return UPDATE_NS + (int64_t)PANEL_NS * (t->to - t->from);
    case FACTOR_CONTRIBUTION:
        return CONTRIBUTION_NS + (int64_t)PANEL_NS * t->to;
    case FACTOR_DIVIDE:
        return DIVIDE_NS;
    case FACTOR_TALL_UPDATE:
        return 2 * UPDATE_NS + (int64_t)TALL_PANEL_NS * (t->to - t->from);
    case FACTOR_TALL_CONTRIBUTION:
        return 2 * CONTRIBUTION_NS + (int64_t)TALL_PANEL_NS * t->to;
    }
    return 0;
}

/* The longest way from what waits for a step to the end.  Tasks are asked from the last level to
 * the first, so that those of later ones are known. */
static int64_t way_behind(scheduler *s, int32_t step)
{
    int64_t way = 0;
    for (int64_t q = s->next_start[step]; q < s->next_start[step + 1]; q++) {
        const int32_t to = s->next[q];
        if (s->way[to] < 0) /* a gate, behind which are tasks */
            s->way[to] = way_behind(s, to);
        if (s->way[to] > way)
            way = s->way[to];
    }
    return way;
}

/* Of all tasks, and what they take on so many blocks; returns the longest tasks of all levels one
 * after the other, which no way is longer than. */
static int64_t find_times(scheduler *s, int32_t blocks)
{
    const factor_program *g = s->program;
    int64_t levels = 0;
    for (int32_t level = 0; level < g->levels; level++) {
        int64_t longest = 0;
        for (int64_t t = g->level_start[level]; t < g->level_start[level + 1]; t++) {
            s->ns[t] = task_ns(g, g->task + t);
            s->work += s->ns[t];
            longest = s->ns[t] > longest ? s->ns[t] : longest;
        }
        levels += longest + WAIT_NS;
    }
    s->work /= blocks;
    return levels;
}

/* Returns the longest way. */
static int64_t find_ways(scheduler *s)
{
    int64_t longest = 0;
    for (int32_t q = 0; q < s->steps; q++)
        s->way[q] = -1;
    for (int32_t t = s->tasks; t-- > 0;) {
        s->way[t] = s->ns[t] + WAIT_NS + way_behind(s, t);
        longest = s->way[t] > longest ? s->way[t] : longest;
    }
    return longest;
}

/* ---- The schedule ---------------------------------------------------------------------------- */

static void end_step(scheduler *s, int32_t step);

static void end_wait(scheduler *s, int32_t step)
{
    if (step >= s->tasks)
        end_step(s, step);
    else
        heap_push(&s->ready, (heap_entry){-(s->way[step] / s->bucket), step});
}

static void end_step(scheduler *s, int32_t step)
{
    for (int64_t q = s->next_start[step]; q < s->next_start[step + 1]; q++)
        if (--s->left[s->next[q]] == 0)
            end_wait(s, s->next[q]);
}

static void schedule(scheduler *s, int32_t blocks)
{
    int32_t begun = 0;
    int64_t now = 0;
    for (int32_t q = 0; q < s->steps; q++) /* tasks before gates: each is begun once */
        if (s->left[q] == 0)
            end_wait(s, q);
    while (s->ready.count > 0 || s->running.count > 0) {
        while (s->ready.count > 0 && s->running.count < blocks) {
            const int32_t t = heap_pop(&s->ready).number;
            s->order[begun++] = t;
            heap_push(&s->running, (heap_entry){now + s->ns[t] + WAIT_NS, t});
        }
        const heap_entry ended = heap_pop(&s->running);
        now = ended.key;
        end_step(s, ended.number);
    }
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* The order of the schedule, and where that puts each task of a level. */
static libsolver_status order_by_schedule(memory *m, scheduler *s, const factor_tuning *tuning,
                                          factor_program *g)
{
    TRY(list_edges(m, s));
    s->way = memory_new(m, s->steps, sizeof(int64_t));
    s->ready.entry = memory_new(m, s->tasks, sizeof(heap_entry));
    s->running.entry = memory_new(m, tuning->blocks, sizeof(heap_entry));
    s->order = memory_new(m, s->tasks, sizeof(int32_t));
    factor_task *task = memory_new(m, s->tasks, sizeof *task);
    if (!s->way || !s->ready.entry || !s->running.entry || !s->order || !task) {
        memory_free(m, task);
        return LIBSOLVER_OUT_OF_MEMORY;
    }
    const int64_t longest = find_ways(s), least = longest > s->work ? longest : s->work;
    g->crowd = 10 * s->work < 3 * longest ? FACTOR_SPARSE
               : s->work > 2 * longest    ? FACTOR_DENSE
                                          : FACTOR_MIXED;
    g->is_idle_at_end = 4 * s->work < 3 * longest;
    s->bucket = 1 + (int64_t)(tuning->bucket_part * (double)least);
    schedule(s, g->crowd == FACTOR_SPARSE ? (tuning->blocks + 1) / 2 : tuning->blocks);
    for (int32_t q = 0; q < s->tasks; q++) {
        task[q] = g->task[s->order[q]];
        g->by_level[s->order[q]] = q;
    }
    memory_free(m, g->task);
    g->task = task;
    return LIBSOLVER_OK;
}

static libsolver_status order_tasks(memory *m, scheduler *s, const factor_tuning *tuning,
                                    factor_program *g)
{
    s->ns = memory_new(m, s->tasks, sizeof(int64_t));
    g->by_level = memory_new(m, s->tasks, sizeof(int32_t));
    if (!s->ns || !g->by_level)
        return LIBSOLVER_OUT_OF_MEMORY;
    const int64_t levels = find_times(s, tuning->blocks);
    if (s->work <= 2 * levels)
        return order_by_schedule(m, s, tuning, g);
    g->crowd = FACTOR_DENSE; /* the order in which they are will do, and costs nothing */
    for (int32_t t = 0; t < s->tasks; t++)
        g->by_level[t] = t;
    return LIBSOLVER_OK;
}

libsolver_status factor_order_tasks(memory *m, const int32_t *above, const factor_tuning *tuning,
                                    factor_program *program)
{
    scheduler s = {.above = above,
                   .program = program,
                   .tasks = (int32_t)program->tasks,
                   .steps =
                       (int32_t)program->tasks + (program->has_signs ? 2 : 1) * program->fronts};
    const libsolver_status status = order_tasks(m, &s, tuning, program);
    memory_free(m, s.raised);
    memory_free(m, s.next);
    memory_free(m, s.next_start);
    memory_free(m, s.left);
    memory_free(m, s.ns);
    memory_free(m, s.way);
    memory_free(m, s.ready.entry);
    memory_free(m, s.running.entry);
    memory_free(m, s.order);
    return status;
}
