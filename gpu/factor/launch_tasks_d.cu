/* gpu/factor/launch_tasks_d.cu: the tasks of factorizations, real, double precision
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/factor/launch_tasks.cuh"

LAUNCHES_OF_TASKS(double, definite)
LAUNCHES_OF_TASKS(double, quasi_definite<true>)
