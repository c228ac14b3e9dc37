/* gpu/plan/assign.c: which block works through which units
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Level by level, the dearest unit first, each to the block that has least to do.  Of what a block
 * has more than the mean when a level ends, half counts in the next, since part of it is done while
 * others wait for inputs: 3 % of a solve (H200, geometric mean of ten matrices; a quarter or three
 * quarters are as good to 1 %).  Every block runs its units in ascending levels, so a unit only
 * ever waits for units that no block runs after it: with all blocks resident, the solve ends. */
#include "gpu/plan/plan.h"
#include <stdlib.h>

/* Fewer are not worth a second thread. */
#define FEW_UNITS 2000

static int by_cost(const void *a, const void *b)
{
    const plan_unit *u = a, *v = b;
    if (u->cost != v->cost)
        return u->cost > v->cost ? -1 : 1;
    return (u->order > v->order) - (u->order < v->order);
}

/* Heap of blocks by (load, number), least first. */
typedef struct load {
    int64_t cost;
    int32_t block;
} load;

static int less(const load *a, const load *b)
{
    return a->cost < b->cost || (a->cost == b->cost && a->block < b->block);
}

static void sink_from(load *heap, int32_t i, int32_t count)
{
    for (int32_t c; (c = 2 * i + 1) < count; i = c) {
        if (c + 1 < count && less(&heap[c + 1], &heap[c]))
            c++;
        if (!less(&heap[c], &heap[i]))
            break;
        const load swap = heap[c];
        heap[c] = heap[i];
        heap[i] = swap;
    }
}

/* What a level leaves of the loads. */
static void begin_level(load *heap, int32_t blocks)
{
    int64_t mean = 0;
    for (int32_t b = 0; b < blocks; b++)
        mean += heap[b].cost;
    mean /= blocks;
    for (int32_t b = 0; b < blocks; b++)
        heap[b].cost = heap[b].cost > mean ? (heap[b].cost - mean) / 2 : 0;
    for (int32_t b = blocks / 2; b-- > 0;)
        sink_from(heap, b, blocks);
}

/* block_of(u) for the units of one level, the dearest first. */
static void assign_level(const plan_unit *unit, int32_t count, load *heap, int32_t blocks,
                         int32_t *block_of)
{
    begin_level(heap, blocks);
    for (int32_t u = 0; u < count; u++) {
        block_of[u] = heap[0].block;
        heap[0].cost += unit[u].cost;
        sink_from(heap, 0, blocks);
    }
}

/* Where each block's copies begin, then the copies. */
static void write_lists(solve_plan *plan, const int32_t *block_of)
{
    for (int32_t u = 0; u < plan->unit_count; u++) {
        plan->block[block_of[u]].copies += plan->unit[u].list.copies;
        plan->block[block_of[u]].tasks += plan->unit[u].list.tasks;
    }
    for (int32_t b = 0, at = 0, task = 0; b < plan->blocks; b++) {
        plan->block[b].copy = at;
        plan->block[b].first = task;
        at += plan->block[b].copies;
        task += plan->block[b].tasks;
        plan->block[b].copies = plan->block[b].tasks = 0;
    }
    for (int32_t u = 0; u < plan->unit_count; u++) {
        task_list *to = &plan->block[block_of[u]];
        const task_list *from = &plan->unit[u].list;
        memcpy(plan->block_copy + to->copy + to->copies, plan->copy + from->copy,
               (size_t)from->copies * sizeof(task_copy));
        for (int32_t c = from->copy; c < from->copy + from->copies; c++)
            if (plan->copy[c].task_bytes > 0)
                plan->label[to->first + to->tasks++] =
                    (plan_label){.level = plan->unit[u].level,
                                 .kind = plan->unit[u].kind,
                                 .block = block_of[u],
                                 .bytes = plan->copy[c].task_bytes};
        to->copies += from->copies;
    }
}

libsolver_status plan_assign(memory *m, solve_plan *plan, int threads)
{
    load *heap = memory_new(m, plan->blocks, sizeof(load));
    int32_t *start = memory_new(m, plan->level_count + 1, sizeof(int32_t));
    int32_t *block_of = memory_new(m, plan->unit_count, sizeof(int32_t));
    plan->block = memory_zeroed(m, plan->blocks, sizeof(task_list));
    plan->block_copy = memory_new(m, plan->copy_count, sizeof(task_copy));
    plan->label = memory_new(m, plan->task_count, sizeof(plan_label));
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    if (heap && start && block_of && plan->block && plan->block_copy && plan->label) {
        for (int32_t u = 0, level = 0; u < plan->unit_count; u++)
            if (u == 0 || plan->unit[u].level != plan->unit[u - 1].level)
                start[level++] = u;
        start[plan->level_count] = plan->unit_count;
#pragma omp parallel for schedule(dynamic, 1) \
    num_threads(plan->unit_count < FEW_UNITS ? 1 : threads)
        for (int32_t l = 0; l < plan->level_count; l++)
            qsort(plan->unit + start[l], (size_t)(start[l + 1] - start[l]), sizeof(plan_unit),
                  by_cost);
        for (int32_t b = 0; b < plan->blocks; b++)
            heap[b] = (load){.block = b};
        for (int32_t l = 0; l < plan->level_count; l++)
            assign_level(plan->unit + start[l], start[l + 1] - start[l], heap, plan->blocks,
                         block_of + start[l]);
        write_lists(plan, block_of);
        status = LIBSOLVER_OK;
    }
    memory_free(m, heap);
    memory_free(m, start);
    memory_free(m, block_of);
    return status;
}
