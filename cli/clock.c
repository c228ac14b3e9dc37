/* cli/clock.c: the clock by which the tool times
 * SPDX-License-Identifier: BSD-3-Clause */
#include "clock.h"
#include <time.h>

double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
