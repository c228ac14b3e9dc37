/* gpu/plan/trace.h: what a traced solve has done, from the clock's readings and the plan's labels
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_PLAN_TRACE_H
#define GPU_PLAN_TRACE_H

#include "base/memory.h"
#include "gpu/plan/plan.h"

/* task(t) from label(t), times(t), length tasks; heights: of the plan's groups.  OUT_OF_MEMORY. */
libsolver_status trace_tasks(memory *m, const plan_label *label, const task_times *times,
                             int64_t tasks, int32_t heights, libsolver_task *task);

#endif
