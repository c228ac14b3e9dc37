/* base/team.h: whether a team of threads is worth its while at the moment
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Where processors are busy with something else, a team waits until the system lets its last thread
 * run: several milliseconds, whatever there is to do.  A call that took so much longer than one
 * thread would have taken is followed by a while in which one thread does what is short. */
#ifndef BASE_TEAM_H
#define BASE_TEAM_H

#include <stdatomic.h>
#include <stdint.h>

/* What a context has met.  All zero at first; for any number of callers at a time. */
typedef struct team_rest {
    _Atomic int64_t until; /* microseconds of omp_get_wtime */
} team_rest;

/* `threads`, or 1 while teams rest.  alone: seconds that one thread takes, rather too many. */
int team_size(const team_rest *r, int threads, double alone);
/* A team of so many threads was at work since `begin`, of omp_get_wtime. */
void team_took(team_rest *r, int threads, double begin, double alone);

#endif
