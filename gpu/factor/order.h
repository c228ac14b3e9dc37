/* gpu/factor/order.h: the order in which the tasks of a factorization are drawn
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_FACTOR_ORDER_H
#define GPU_FACTOR_ORDER_H

#include "gpu/factor/build.h"
#include "libsolver_types.h"

/* Predicted seconds of a front in shared memory, by a warp or a block, in a run behind so many
 * leaves, -1: and others; of a run by a block; of a warp's. */
double factor_small_seconds(const factor_front *front, int32_t leaves);
double factor_run_seconds(const factor_program *program, int32_t first, int32_t end);
double factor_range_seconds(const factor_program *program, const factor_range *range);
/* How many of fronts [first, end) are leaves, before one that is not. */
int32_t factor_leaves(const factor_program *program, int32_t first, int32_t end);

/* Puts tasks, which are level by level, in the order in which a schedule of them begins them, and
 * lists them by levels (by_level).  The schedule is one for tuning->blocks blocks, by predicted
 * times: of the tasks whose predecessors are done, that with the longest way to the end comes
 * first.  Where there is far more work than the longest way, tasks stay as they are.  Sets crowd.
 * above: of each front of the program.  O(tasks log tasks).  OUT_OF_MEMORY. */
libsolver_status factor_order_tasks(memory *m, const int32_t *above, const factor_tuning *tuning,
                                    factor_program *program);

#endif
