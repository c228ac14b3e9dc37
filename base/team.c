/* base/team.c: whether a team of threads is worth its while at the moment
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/team.h"
#include <omp.h>

/* What takes one thread longer is a team's in any case: slices of the system's scheduler, of about
 * 4 ms each, are little of it. */
#define SECONDS_OF_TEAM 0.1

/* Teams rest when one has lost more than half a slice, and for so many times what was lost: not
 * more than a twentieth of the time is lost that way. */
#define SECONDS_LOST 2e-3
#define REST_FACTOR 20

int team_size(const team_rest *r, int threads, double alone)
{
    const int64_t until = atomic_load(&r->until);
    return threads == 1 || until == 0 || alone >= SECONDS_OF_TEAM ||
                   1e6 * omp_get_wtime() >= (double)until
               ? threads
               : 1;
}

void team_took(team_rest *r, int threads, double begin, double alone)
{
    const double now = omp_get_wtime(), lost = now - begin - alone;
    if (threads > 1 && alone < SECONDS_OF_TEAM && lost > SECONDS_LOST)
        atomic_store(&r->until, (int64_t)(1e6 * (now + REST_FACTOR * lost)));
}
