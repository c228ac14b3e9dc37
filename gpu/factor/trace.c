/* gpu/factor/trace.c: what the tasks of a traced factorization are and did
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Operations are counted as for the factor: column j of L with c entries stands for c^2 of them,
 * the root, c - 1 divisions and (c - 1) c / 2 products that are subtracted.  Each is given to the
 * task that carries it out; what the inverses of diagonal blocks take beyond that, and the
 * divisions at the end with signs, is not counted, so that all tasks together have the operations
 * of their fronts. */
#include "gpu/factor/trace.h"

_Static_assert((int)FACTOR_TINY == (int)LIBSOLVER_FACTOR_TASK_TINY &&
                   (int)FACTOR_DIVIDE == (int)LIBSOLVER_FACTOR_TASK_DIVIDE,
               "kinds of tasks are public in the same order");

/* 1 + 4 + ... + count^2 */
static double sum_of_squares(double count)
{
    return count * (count + 1) * (2 * count + 1) / 6;
}

/* k columns of a front of m rows, or of a diagonal block. */
static double column_flops(int32_t m, int32_t k)
{
    return sum_of_squares(m) - sum_of_squares(m - k);
}

static double block_rows(const factor_front *f, int32_t i)
{
    return factor_block_row(f, i + 1) - factor_block_row(f, i);
}

/* Tile (i, j) -= product of panels [from, to); of a diagonal tile the lower triangle. */
static double product_flops(const factor_front *f, int32_t i, int32_t j, int32_t from, int32_t to)
{
    const double rows = block_rows(f, i),
                 inner = factor_block_row(f, to) - factor_block_row(f, from);
    return i == j ? rows * (rows + 1) * inner : 2 * rows * block_rows(f, j) * inner;
}

/* What FACTOR_ROWS does to tile (i, j). */
static double rows_flops(const factor_front *f, int32_t i, int32_t j)
{
    return product_flops(f, i, j, j > 0 ? j - 1 : 0, j) +
           block_rows(f, i) * block_rows(f, j) * block_rows(f, j);
}

/* Of a task on tiles of a front. */
static double tile_flops(const factor_front *f, const factor_task *t)
{
    const int32_t i = t->i, j = t->j;
    switch ((factor_kind)t->kind) {
    case FACTOR_PIVOT:
        return (i > 0 ? rows_flops(f, i, i - 1) + product_flops(f, i, i, i - 1, i) : 0) +
               column_flops((int32_t)block_rows(f, i), (int32_t)block_rows(f, i));
    case FACTOR_ROWS:
        return rows_flops(f, i, j) + (i == j + 2 && i < factor_pivot_blocks(f)
                                          ? product_flops(f, i, i, j > 0 ? j - 1 : 0, j + 1)
                                          : 0);
    case FACTOR_UPDATE:
    case FACTOR_CONTRIBUTION:
        return product_flops(f, i, j, t->from, t->to);
    case FACTOR_TALL_UPDATE:
    case FACTOR_TALL_CONTRIBUTION:
        return product_flops(f, i, j, t->from, t->to) + product_flops(f, i + 1, j, t->from, t->to);
    default:
        return 0;
    }
}

/* Adds fronts [first, end) to a run. */
static void add_fronts(const factor_program *g, int32_t first, int32_t end,
                       libsolver_factor_task *task)
{
    for (int32_t s = first; s < end; s++) {
        const factor_front *f = g->front + s;
        if (task->fronts == 0)
            task->first = f->first;
        if (f->m > task->rows) {
            task->rows = f->m;
            task->columns = f->k;
        }
        task->fronts++;
        task->flops += column_flops(f->m, f->k);
    }
}

static libsolver_factor_task describe(const factor_program *g, const factor_task *t)
{
    libsolver_factor_task task = {.kind = (libsolver_factor_task_kind)factor_kind_of(t)};
    if (t->kind == FACTOR_TINY)
        for (int32_t q = t->i; q < t->i + t->j; q++) {
            add_fronts(g, g->range[q].first, g->range[q].end, &task);
            if (g->range[q].group >= 0)
                add_fronts(g, g->range[q].group, g->range[q].group + 1, &task);
        }
    else if (t->kind == FACTOR_SMALL)
        add_fronts(g, t->i, t->j, &task);
    else {
        const factor_front *f = g->front + t->front;
        task.fronts = 1;
        task.first = f->first;
        task.rows = f->m;
        task.columns = f->k;
        task.row_block = t->i;
        task.column_block = t->kind == FACTOR_PIVOT ? t->i : t->j;
        task.flops = tile_flops(f, t);
    }
    return task;
}

void factor_trace(const factor_program *g, const uint64_t *times, libsolver_factor_task *task)
{
    uint64_t start = UINT64_MAX;
    for (int64_t t = 0; t < g->tasks; t++)
        start = times[2 * t] < start ? times[2 * t] : start;
    for (int32_t level = 0; level < g->levels; level++)
        for (int64_t q = g->level_start[level]; q < g->level_start[level + 1]; q++) {
            const int32_t t = g->by_level[q];
            task[t] = describe(g, g->task + t);
            task[t].level = level;
            task[t].begin = 1e-9 * (double)(times[2 * t] - start);
            task[t].end = 1e-9 * (double)(times[2 * t + 1] - start);
        }
}
