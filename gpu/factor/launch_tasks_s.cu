/* gpu/factor/launch_tasks_s.cu: the tasks of factorizations, real, single precision
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/factor/launch_tasks.cuh"

LAUNCHES_OF_TASKS(float, definite)
LAUNCHES_OF_TASKS(float, quasi_definite<true>)
