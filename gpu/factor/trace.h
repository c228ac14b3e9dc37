/* gpu/factor/trace.h: what the tasks of a traced factorization are and did, from the program and
 * the clock's readings
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_FACTOR_TRACE_H
#define GPU_FACTOR_TRACE_H

#include "gpu/factor/program.h"

/* task(t), length program->tasks, from when each began and ended, in ns: 2 words a task, see
 * device_factorizer_timed.  O(tasks + fronts). */
void factor_trace(const factor_program *program, const uint64_t *times,
                  libsolver_factor_task *task);

#endif
