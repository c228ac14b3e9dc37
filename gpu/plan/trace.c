/* gpu/plan/trace.c: what a traced solve has done, from the clock's readings and the plan's labels
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/plan/trace.h"
#include "gpu/plan/planner.h"

/* index(number) of the levels that there are, in order. */
static void number_levels(const plan_label *label, int64_t tasks, int32_t numbers, int32_t *index)
{
    for (int64_t t = 0; t < tasks; t++)
        index[label[t].level] = 1;
    for (int32_t number = 0, level = 0; number < numbers; number++)
        if (index[number])
            index[number] = level++;
}

libsolver_status trace_tasks(memory *m, const plan_label *label, const task_times *times,
                             int64_t tasks, int32_t heights, libsolver_task *task)
{
    const int32_t numbers = (2 * heights + 1) * LEVELS;
    int32_t *index = memory_zeroed(m, numbers, sizeof(int32_t));
    if (!index)
        return LIBSOLVER_OUT_OF_MEMORY;
    number_levels(label, tasks, numbers, index);
    uint64_t start = UINT64_MAX;
    for (int64_t t = 0; t < tasks; t++)
        start = times[t].come < start ? times[t].come : start;
    for (int64_t t = 0; t < tasks; t++) {
        const int32_t height = label[t].level / LEVELS; /* counted on, past the top */
        const int backward = height > heights;
        task[t] = (libsolver_task){.kind = label[t].kind,
                                   .level = index[label[t].level],
                                   .height = backward ? 2 * heights - height : height,
                                   .backward = backward,
                                   .block = label[t].block,
                                   .bytes = label[t].bytes,
                                   .begin = 1e-9 * (double)(times[t].come - start),
                                   .staged = 1e-9 * (double)(times[t].staged - start),
                                   .gathered = 1e-9 * (double)(times[t].gathered - start),
                                   .end = 1e-9 * (double)(times[t].done - start)};
    }
    memory_free(m, index);
    return LIBSOLVER_OK;
}
