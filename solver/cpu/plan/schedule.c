/* solver/cpu/plan/schedule.c: the tree cut into tasks for a number of threads
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/cpu/plan/plan.h"
#include <string.h>

/* Ranges for each thread: enough to balance the load, few enough that each is worth a task. */
#define RANGES_PER_THREAD 8

/* Work of supernodes, summed over subtrees. */
static void subtree_work(const partition *part, front_cost cost, double *work)
{
    memset(work, 0, sizeof(double) * (size_t)part->supernodes);
    for (int32_t s = 0; s < part->supernodes; s++) {
        work[s] +=
            cost(part->first[s + 1] - part->first[s], part->row_start[s + 1] - part->row_start[s]);
        if (part->above[s] >= 0)
            work[part->above[s]] += work[s];
    }
}

/* Lists for each upper supernode the ranges below it, ascending. */
static void link_ranges(schedule *tasks, int32_t supernodes)
{
    for (int32_t s = 0; s < supernodes; s++)
        tasks->below[s] = -1;
    for (int32_t r = tasks->ranges - 1; r >= 0; r--) {
        task_range *range = &tasks->range[r];
        range->next = range->above >= 0 ? tasks->below[range->above] : -1;
        if (range->above >= 0)
            tasks->below[range->above] = r;
    }
}

libsolver_status schedule_build(memory *m, const partition *part, front_cost cost, double least,
                                int threads, schedule *tasks)
{
    const int32_t n = part->supernodes;
    *tasks = (schedule){0};
    double *work = memory_new(m, n, sizeof(double));
    tasks->range = memory_new(m, n, sizeof(task_range));
    tasks->upper = memory_zeroed(m, n, 1);
    tasks->pending = memory_zeroed(m, n, sizeof(int32_t));
    tasks->below = memory_new(m, n, sizeof(int32_t));
    tasks->upper_list = memory_new(m, n, sizeof(int32_t));
    if (!work || !tasks->range || !tasks->upper || !tasks->pending || !tasks->below ||
        !tasks->upper_list) {
        memory_free(m, work);
        schedule_free(m, tasks);
        return LIBSOLVER_OUT_OF_MEMORY;
    }
    subtree_work(part, cost, work);
    double total = 0;
    for (int32_t s = 0; s < n; s++)
        total += part->above[s] < 0 ? work[s] : 0;
    tasks->work = total;
    tasks->threads = total < least ? 1 : threads;
    const double most = tasks->threads > 1 ? total / (RANGES_PER_THREAD * tasks->threads) : total;

    /* upper: heavy and with something below, since a heavy leaf is a range like any other */
    for (int32_t s = 0; s < n; s++)
        if (part->above[s] >= 0 && work[part->above[s]] > most)
            tasks->upper[part->above[s]] = 1;
    /* ranges: subtrees hanging below upper supernodes, consecutive ones together as long as they
     * are light */
    double sum = 0;
    int32_t first = 0; /* of the subtree that s will end */
    for (int32_t s = 0; s < n; s++) {
        const int32_t above = part->above[s];
        if (tasks->upper[s]) {
            tasks->upper_list[tasks->uppers++] = s;
            if (above >= 0)
                tasks->pending[above]++;
            first = s + 1;
            continue;
        }
        if (above >= 0 && !tasks->upper[above])
            continue; /* inside a subtree */
        task_range *last = tasks->ranges > 0 ? &tasks->range[tasks->ranges - 1] : NULL;
        if (last && last->above == above && last->last == first && sum + work[s] <= most) {
            last->last = s + 1;
            sum += work[s];
        } else {
            tasks->range[tasks->ranges++] = (task_range){first, s + 1, above, -1};
            if (above >= 0)
                tasks->pending[above]++;
            sum = work[s];
        }
        first = s + 1;
    }
    link_ranges(tasks, n);
    memory_free(m, work);
    return LIBSOLVER_OK;
}

void schedule_free(memory *m, schedule *tasks)
{
    memory_free(m, tasks->range);
    memory_free(m, tasks->upper);
    memory_free(m, tasks->pending);
    memory_free(m, tasks->below);
    memory_free(m, tasks->upper_list);
    *tasks = (schedule){0};
}
