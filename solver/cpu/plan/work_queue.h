/* solver/cpu/plan/work_queue.h: what the threads of a team take from one another in a sweep over a
 * tree
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * An OpenMP task for each range and upper supernode of a schedule costs more than solving with most
 * of them, where many threads take tasks from under one lock. */
#ifndef SOLVER_CPU_PLAN_WORK_QUEUE_H
#define SOLVER_CPU_PLAN_WORK_QUEUE_H

#include "solver/cpu/plan/plan.h"
#include <stdatomic.h>

typedef struct work_queue {
    int32_t ranges;              /* of the schedule */
    int32_t room;                /* items that there can be */
    _Atomic int32_t range;       /* the next one of a sweep from the leaves up */
    _Atomic int32_t *item;       /* of a sweep from the roots down: what may begin, in the order in
                                    which it was put here; 0: not yet */
    _Atomic int32_t taken, put;  /* items; some that are taken may not have been put yet */
    _Atomic int32_t outstanding; /* items put and not done */
} work_queue;

/* Empty.  item: as many as the schedule has ranges and upper supernodes, workspace. */
void work_queue_init(work_queue *q, const schedule *tasks, _Atomic int32_t *item);
/* Each range once, ascending; -1: there are no more. */
int32_t work_queue_range(work_queue *q);
/* An item, not 0, which may begin. */
void work_queue_put(work_queue *q, int32_t item);
/* The next item, for which the caller may have to wait; 0: all are done.  Whoever takes one puts
 * what may begin after it, and then calls work_queue_done. */
int32_t work_queue_take(work_queue *q);
void work_queue_done(work_queue *q);

#endif
