/* solver/cpu/plan/team.c: whether a team of threads is worth its while at the moment
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/cpu/plan/team.h"
#include <omp.h>

/* What takes one thread longer is a team's in any case: slices of the system's scheduler, of about
 * 4 ms each, are little of it. */
#define SECONDS_OF_TEAM 0.1

/* Teams rest when one has lost more than half a slice, and for so many times what was lost: not
 * more than a twentieth of the time is lost that way. */
#define SECONDS_LOST 2e-3
#define REST_FACTOR 20

static double seconds_alone(const team_pace *p, double predicted)
{
    return p->alone > 0 ? p->alone * predicted : predicted;
}

int team_size(const team_pace *p, int threads, double predicted)
{
    return threads == 1 || p->until == 0 || seconds_alone(p, predicted) >= SECONDS_OF_TEAM ||
                   omp_get_wtime() >= p->until
               ? threads
               : 1;
}

void team_took(team_pace *p, int threads, int used, double seconds, double predicted)
{
    if (threads == 1)
        return;
    if (used == 1) {
        p->alone = seconds / predicted;
        if (p->team < p->alone) /* the prediction was wrong */
            p->until = 0;
        return;
    }
    const double alone = seconds_alone(p, predicted), lost = seconds - alone;
    p->team = seconds / predicted;
    if (alone < SECONDS_OF_TEAM && lost > SECONDS_LOST)
        p->until = omp_get_wtime() + REST_FACTOR * lost;
}
