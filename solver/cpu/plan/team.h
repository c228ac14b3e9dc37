/* solver/cpu/plan/team.h: whether a team of threads is worth its while at the moment
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Where processors are busy with something else, a team waits until the system lets its last thread
 * run: several milliseconds, whatever there is to do.  So a team that took so much longer than one
 * thread would have taken rests for a while, in which one thread does what is short. */
#ifndef SOLVER_CPU_PLAN_TEAM_H
#define SOLVER_CPU_PLAN_TEAM_H

/* What the calls of one kind on one object have met: all zero at first. */
typedef struct team_pace {
    double until; /* of omp_get_wtime: teams rest */
    double alone; /* what one thread took, over what was predicted; 0: it has not been tried */
    double team;  /* the same of the latest team */
} team_pace;

/* `threads`, or 1 while teams rest.  predicted: seconds that one thread takes; where that is far
 * too little, one call is made by one thread, which shows it. */
int team_size(const team_pace *p, int threads, double predicted);
/* `used` threads took so many seconds for a call for which a team has `threads`. */
void team_took(team_pace *p, int threads, int used, double seconds, double predicted);

#endif
