/* gpu/factor/launch_tasks_z.cu: the tasks of factorizations, complex, double precision
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/factor/launch_tasks.cuh"

LAUNCHES_OF_TASKS(complex_d, definite)
LAUNCHES_OF_TASKS(complex_d, quasi_definite<true>)
LAUNCHES_OF_TASKS(complex_d, quasi_definite<false>)
