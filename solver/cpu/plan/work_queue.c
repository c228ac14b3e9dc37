/* solver/cpu/plan/work_queue.c: what the threads of a team take from one another in a sweep over a
 * tree
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/cpu/plan/work_queue.h"
#include <sched.h>

/* Times that a thread looks for work before it lets others run: some ten microseconds. */
#define SPINS 1000

static inline void pause_spin(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

void work_queue_init(work_queue *q, const schedule *tasks, _Atomic int32_t *item)
{
    q->ranges = tasks->ranges;
    q->room = tasks->ranges + tasks->uppers;
    q->item = item;
    atomic_init(&q->range, 0);
    atomic_init(&q->taken, 0);
    atomic_init(&q->put, 0);
    atomic_init(&q->outstanding, 0);
    for (int32_t i = 0; i < q->room; i++)
        atomic_init(&item[i], 0);
}

int32_t work_queue_range(work_queue *q)
{
    const int32_t r = atomic_fetch_add(&q->range, 1);
    return r < q->ranges ? r : -1;
}

void work_queue_put(work_queue *q, int32_t item)
{
    atomic_fetch_add(&q->outstanding, 1);
    atomic_store(&q->item[atomic_fetch_add(&q->put, 1)], item);
}

int32_t work_queue_take(work_queue *q)
{
    const int32_t i = atomic_fetch_add(&q->taken, 1);
    if (i >= q->room)
        return 0;
    for (int tries = 0;; tries++) {
        const int32_t item = atomic_load(&q->item[i]);
        if (item != 0)
            return item;
        if (atomic_load(&q->outstanding) == 0)
            return 0;
        if (tries < SPINS)
            pause_spin();
        else
            sched_yield();
    }
}

void work_queue_done(work_queue *q)
{
    atomic_fetch_sub(&q->outstanding, 1);
}
