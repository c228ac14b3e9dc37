/* solver/cpu/plan/slots.c: places for contribution blocks under a schedule
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * need(q, s): entries that the subtree of s uses in arena q.  Inside a range, children come one
 * after the other, so the second may reuse everything of the first but its block; different ranges
 * and upper supernodes may run at the same time, so they lie side by side:
 *
 *      children in sequence    | block 1 | block 2 | ... subtree 3 ... |
 *      children at once        | ... subtree 1 ... | ... subtree 2 ... |
 */
#include "solver/cpu/plan/plan.h"
#include <string.h>

/* State of a parent while its children are placed, for both arenas. */
typedef struct placement {
    int64_t need[2];  /* of the whole subtree so far */
    int64_t base[2];  /* where the current run of children in sequence begins */
    int64_t used[2];  /* blocks of the run's earlier children */
    int64_t reach[2]; /* need of the run, from base */
    int32_t run;      /* range of the run, -1: none, or an upper child */
} placement;

/* Finishes the current run: what follows lies beside it. */
static void close_run(placement *p)
{
    for (int q = 0; q < 2; q++) {
        p->base[q] += p->reach[q];
        p->need[q] = p->base[q] > p->need[q] ? p->base[q] : p->need[q];
        p->used[q] = p->reach[q] = 0;
    }
}

/* Puts child c, complete, below p; start: its place relative to its parent's in both arenas. */
static void place_child(placement *p, int32_t run, const placement *child, int64_t block, int depth,
                        int64_t start[2])
{
    if (run < 0 || run != p->run)
        close_run(p);
    p->run = run;
    for (int q = 0; q < 2; q++) {
        start[q] = p->base[q] + p->used[q];
        const int64_t end = p->used[q] + child->need[q];
        p->reach[q] = end > p->reach[q] ? end : p->reach[q];
    }
    p->used[depth & 1] += block;
}

libsolver_status slots_plan(memory *m, const partition *part, const schedule *tasks,
                            const int64_t *size, int64_t *offset, int64_t *total)
{
    const int32_t n = part->supernodes;
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    /* the last is above all roots */
    placement *place = memory_zeroed(m, (int64_t)n + 1, sizeof(placement));
    int64_t(*start)[2] = memory_new(m, n, sizeof(int64_t[2]));
    int32_t *depth = memory_new(m, (int64_t)n + 1, sizeof(int32_t));
    int32_t *run_of = memory_new(m, n, sizeof(int32_t));
    if (!place || !start || !depth || !run_of)
        goto done;
    depth[n] = -1;
    for (int32_t s = n - 1; s >= 0; s--) {
        depth[s] = depth[part->above[s] < 0 ? n : part->above[s]] + 1;
        run_of[s] = -1;
    }
    for (int32_t r = 0; r < tasks->ranges; r++)
        for (int32_t s = tasks->range[r].first; s < tasks->range[r].last; s++)
            run_of[s] = r;
    for (int32_t s = 0; s <= n; s++)
        place[s].run = -1;

    /* bottom-up: sizes and relative places */
    for (int32_t s = 0; s < n; s++) {
        close_run(&place[s]);
        const int q = depth[s] & 1;
        if (size[s] > place[s].need[q])
            place[s].need[q] = size[s];
        place_child(&place[part->above[s] < 0 ? n : part->above[s]], run_of[s], &place[s], size[s],
                    depth[s], start[s]);
    }
    close_run(&place[n]);
    /* top-down: absolute places; start becomes absolute */
    for (int32_t s = n - 1; s >= 0; s--) {
        if (part->above[s] >= 0)
            for (int q = 0; q < 2; q++)
                start[s][q] += start[part->above[s]][q];
        offset[s] = start[s][depth[s] & 1] + (depth[s] & 1 ? place[n].need[0] : 0);
    }
    *total = place[n].need[0] + place[n].need[1];
    status = LIBSOLVER_OK;
done:
    memory_free(m, place);
    memory_free(m, start);
    memory_free(m, depth);
    memory_free(m, run_of);
    return status;
}
