/* test/support/fake/factor_run_tmpl.c: carries out the program of a factorization, level by level,
 * the tasks of each in random order, or by blocks that draw tasks, wait, and go on in random order
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Panels, arena and inverses hold NaN before, and what the tasks do with them is looked after
 * (factor_tmpl.c).  What was read too early otherwise shows in the bits of the factor. */
#include "factor_emulator.h"
#include "factor_values.h"
#include "test/support/random.h"
#include <math.h>
#include <stdlib.h>

enum { T = FACTOR_TILE };

static int watched_open(watched *w, scalar *v, int64_t size)
{
    *w = (watched){.v = v ? v : malloc(sizeof(scalar) * (size_t)(size + 1)), .size = size};
    w->writer = malloc(sizeof(int32_t) * (size_t)(size + 1));
    w->reader = malloc(sizeof(int32_t) * (size_t)(size + 1));
    w->owner = malloc(sizeof(int32_t) * (size_t)(size + 1));
    if (!w->v || !w->writer || !w->reader || !w->owner)
        return 0;
    for (int64_t k = 0; k < size; k++) {
        w->v[k] = (scalar)NAN;
        w->writer[k] = w->reader[k] = w->owner[k] = -1;
    }
    return 1;
}

static void watched_close(watched *w, int is_own)
{
    if (is_own)
        free(w->v);
    free(w->writer);
    free(w->reader);
    free(w->owner);
}

static void carry_out_timed(emulator *e, random_stream *r)
{
    uint64_t *times = e->f->trace ? e->f->trace + 2 * (int64_t)e->task : NULL;
    if (times)
        times[0] = e->now;
    NAME(emulate_task)(e, e->g->task + e->task);
    if (times)
        times[1] = e->now += 1 + (uint64_t)random_below(r, 20000);
}

/* ---- Levels ---------------------------------------------------------------------------------- */

static void run_levels(emulator *e, random_stream *r, int32_t *order)
{
    const factor_program *g = e->g;
    for (int32_t level = 0; level < g->levels; level++)
        for (int64_t q = g->level_start[level]; q < g->level_start[level + 1]; q++)
            e->level[g->by_level[q]] = level;
    for (int32_t level = 0; level < g->levels && !e->wrong; level++) {
        const int64_t begin = g->level_start[level], count = g->level_start[level + 1] - begin;
        random_permutation(r, (int32_t)count, order);
        for (int64_t q = 0; q < count && !e->wrong; q++) {
            e->task = g->by_level[begin + order[q]];
            carry_out_timed(e, r);
        }
    }
}

/* ---- Blocks that draw tasks ------------------------------------------------------------------ */

/* What a block is at, or one of its warps with a run of its own: a task on tiles, or a run of which
 * fronts [front, end) are left. */
typedef struct worker {
    int32_t task, front, end, word; /* task < 0: nothing; word: of a run */
    const factor_range *leaves;     /* NULL: it is no group of leaves */
} worker;

enum { MOST_BLOCKS = 12 };

static int has_children(const emulator *e, const factor_front *f)
{
    for (int32_t c = 0; c < f->children; c++) {
        const factor_child *child = e->g->child + f->child + c;
        if (child->word >= 0 && e->word[child->word] < child->tells)
            return 0;
    }
    return 1;
}

static int may_go_on(const emulator *e, const worker *w)
{
    if (w->end > 0)
        return has_children(e, e->g->front + w->front);
    const factor_task *t = e->g->task + w->task;
    const factor_front *f = e->g->front + t->front;
    for (int32_t q = 0; q < FACTOR_WAITS; q++) {
        const factor_wait wait = factor_wait_of(f, t, q);
        if (wait.word >= 0 && e->word[wait.word] < wait.least)
            return 0;
    }
    if (factor_waits_for_block(f, t) && e->word[e->g->tiles + t->front] < factor_contributions(f))
        return 0;
    return !factor_is_gated(t) || has_children(e, f);
}

static void go_on(emulator *e, worker *w, random_stream *r)
{
    const factor_task *t = e->g->task + w->task;
    const factor_front *f = e->g->front + t->front;
    e->task = w->task;
    if (w->end > 0) {
        const int is_tiny = t->kind == FACTOR_TINY;
        uint64_t *times = e->f->trace ? e->f->trace + 2 * e->task : NULL;
        if (times && times[0] == 0)
            times[0] = e->now;
        if (w->leaves) {
            NAME(emulate_group_of_leaves)(e, w->leaves);
            w->front = w->end - 1;
        } else
            NAME(emulate_fronts)(e, w->front, w->front + 1,
                                 is_tiny ? FACTOR_TINY_ROWS : factor_small_rows(SCALAR_TYPE));
        if (times)
            times[1] = e->now += 1 + (uint64_t)random_below(r, 20000);
        if (++w->front < w->end)
            return;
        e->word[w->word] = 1;
    } else {
        carry_out_timed(e, r);
        for (int32_t q = t->kind == FACTOR_PIVOT ? 2 : 0; q < FACTOR_TELLS; q++)
            NAME(emulate_tell)(e, f, t, q);
        e->word[e->g->tiles + t->front] +=
            (uint32_t)factor_contributed(t) + (t->kind == FACTOR_DIVIDE);
    }
    w->task = -1;
}

static worker run_of(const emulator *e, int32_t task, int32_t first, int32_t end)
{
    return (worker){task, first, end, (int32_t)e->g->tiles + first, NULL};
}

/* A block takes a task; its workers, one for each warp. */
static void take(const emulator *e, int32_t task, worker *w)
{
    const factor_task *t = e->g->task + task;
    for (int32_t q = 0; q < FACTOR_WARPS; q++)
        w[q] = (worker){.task = -1};
    if (t->kind == FACTOR_TINY)
        for (int32_t q = 0; q < t->j; q++) {
            const factor_range *range = e->g->range + t->i + q;
            w[q] = run_of(e, task, range->first, range->end);
            w[q].leaves = range->group >= 0 ? range : NULL;
        }
    else if (t->kind == FACTOR_SMALL)
        w[0] = run_of(e, task, t->i, t->j);
    else
        w[0] = (worker){.task = task};
}

static int is_idle(const worker *w)
{
    for (int32_t q = 0; q < FACTOR_WARPS; q++)
        if (w[q].task >= 0)
            return 0;
    return 1;
}

static void run_blocks(emulator *e, random_stream *r)
{
    const int32_t blocks = 1 + random_below(r, MOST_BLOCKS), workers = blocks * FACTOR_WARPS;
    worker block[MOST_BLOCKS][FACTOR_WARPS];
    int32_t drawn = 0;
    for (int32_t b = 0; b < blocks; b++)
        for (int32_t q = 0; q < FACTOR_WARPS; q++)
            block[b][q].task = -1;
    while (!e->wrong) {
        int is_stuck = 1;
        for (int32_t b = 0; b < blocks; b++)
            if (is_idle(block[b]) && drawn < (int32_t)e->g->tasks)
                take(e, drawn++, block[b]);
        const int32_t begin = random_below(r, workers);
        for (int32_t q = 0; q < workers && is_stuck; q++) {
            worker *w = block[0] + (begin + q) % workers;
            if (w->task >= 0 && may_go_on(e, w)) {
                go_on(e, w, r);
                is_stuck = 0;
            }
        }
        if (is_stuck) {
            for (int32_t q = 0; q < workers; q++)
                complain(e, block[0][q].task >= 0, "all blocks wait");
            return;
        }
    }
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* Leaves have their entries by rows. */
static void check_leaves(emulator *e)
{
    const factor_program *g = e->g;
    for (int64_t q = 0; q < g->ranges; q++)
        for (int32_t s = g->range[q].first; s < g->range[q].first + g->range[q].leaves; s++) {
            const factor_front *f = g->front + s;
            complain(e, s >= g->range[q].end || f->k != 1 || f->children > 0 || f->entries != f->m,
                     "a leaf is none");
            for (int32_t i = 0; i < f->m && !e->wrong; i++)
                complain(e, g->entry[f->entry + i].row != i, "a leaf's entries are not by rows");
        }
}

const char *NAME(emulate_factorization)(const emulated_factorization *f)
{
    const factor_program *g = f->program;
    emulator e = {.f = f,
                  .g = g,
                  .now = UINT64_C(1) << 60,
                  .outcome = {.failed = g->n, .nonpositive = g->n, .smallest = INFINITY}};
    random_stream r = random_seeded(f->seed);
    int32_t *order = malloc(sizeof(int32_t) * (size_t)(g->tasks + 1));
    uint32_t *words = calloc((size_t)g->words + 1, sizeof *words);
    const int is_open = order && words &&
                        watched_open(&e.panel, f->panel, g->panel_scalars) +
                                watched_open(&e.arena, f->arena, g->arena_scalars) +
                                watched_open(&e.inverse, NULL, g->inverses * T * T) ==
                            3;
    complain(&e, !is_open, "no memory");
    e.values = malloc(sizeof(scalar) * (size_t)(g->entries + 1));
    e.diagonal = malloc(sizeof(real) * (size_t)(g->n + 1));
    complain(&e,
             !e.values || !e.diagonal ||
                 !NAME(emulate_scaling)(f, e.values, e.diagonal, &e.outcome),
             "no memory");
    check_leaves(&e);
    if (f->by_levels) {
        e.level = malloc(sizeof(int32_t) * (size_t)(g->tasks + 1));
        complain(&e, !e.level, "no memory");
        if (!e.wrong)
            run_levels(&e, &r, order);
    } else {
        e.word = words;
        for (int64_t q = 0; f->trace && q < 2 * g->tasks; q++)
            f->trace[q] = 0;
        memory m;
        factor_columns columns;
        memory_init(&m, NULL, NULL, NULL, 0);
        complain(&e, factor_columns_build(&m, g, &columns) != LIBSOLVER_OK, "no memory");
        if (!e.wrong)
            e.told = factor_columns_progress(&columns);
        run_blocks(&e, &r);
        for (int32_t s = 0; s < g->nodes && !e.wrong; s++)
            for (int32_t c = 0; c < g->front[s].k; c++)
                complain(&e, !is_told(&e, s, c), "nobody tells of a column");
        factor_columns_free(&m, &columns);
    }
    if (f->signs && !e.wrong)
        complain(&e, !NAME(emulate_judgement)(f, e.diagonal, &e.outcome), "no memory");
    *f->outcome = e.outcome;
    watched_close(&e.panel, 0);
    watched_close(&e.arena, !f->arena);
    watched_close(&e.inverse, 1);
    free(e.values);
    free(e.diagonal);
    free(e.level);
    free(words);
    free(order);
    return e.wrong;
}
