/* gpu/factor/launch_tasks_c.cu: the tasks of factorizations, complex, single precision
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/factor/launch_tasks.cuh"

LAUNCHES_OF_TASKS(complex_s, definite)
LAUNCHES_OF_TASKS(complex_s, quasi_definite<true>)
LAUNCHES_OF_TASKS(complex_s, quasi_definite<false>)
