/* cli/clock.h: the clock by which the tool times
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_CLOCK_H
#define CLI_CLOCK_H

/* Seconds since a fixed time. */
double seconds_now(void);

#endif
