/* gpu/substitute/device_substitution.h: solves by substitution with the factor that lies on a
 * device
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * It has no memory of its own: what is uploaded lies in the memory of a device_solver, which has
 * the stream, the scaling and the rows of A too, and whose workspaces serve it.  Statuses: CUDA,
 * OUT_OF_DEVICE_MEMORY, NOT_BUILT. */
#ifndef GPU_SUBSTITUTE_DEVICE_SUBSTITUTION_H
#define GPU_SUBSTITUTE_DEVICE_SUBSTITUTION_H

#include "gpu/solve/device_solver.h"
#include "gpu/substitute/substitution.h"

#ifdef __cplusplus
extern "C" {
#endif

/* factor: panels, then d and e by position (L D L^T).  Zeroed: nothing is loaded. */
typedef struct device_substitution {
    int hermitian, cholesky;
    int64_t panel_scalars, packets;
    const void *factor; /* with inverses above its diagonal blocks */
    const substitution_node *node;
    const int32_t *row, *source_start, *source, *table;
    const substitution_copy *copy;
    const substitution_task *task;
    const substitution_block *block;
    int32_t forward_tasks, tasks, narrow_blocks, blocks;
} device_substitution;

/* Solves with this factor from now on, which stays the caller's, in the place of a program; inverts
 * its diagonal blocks in the triangles above them, which nothing else uses.  plan:
 * NULL: the one before, whose arrays are here.  user_row: n, with a plan; scale: n reals, on the
 * host or on the device.  Waits. */
libsolver_status device_substitution_load(device_substitution *t, device_solver *s,
                                          const device_factor *factor, const substitution *plan,
                                          const int32_t *user_row, const void *scale, message *why);
/* Puts the inversion of the diagonal blocks on the solver's stream once more, for a factor that
 * comes to the same place; the scaling is the caller's to renew.  Waits for nothing. */
libsolver_status device_substitution_renew(const device_substitution *t, const device_solver *s,
                                           message *why);
static inline void device_substitution_counts(device_substitution *t, const substitution *plan)
{
    t->packets = substitution_packets(plan);
    t->forward_tasks = plan->forward_tasks;
    t->tasks = plan->tasks;
    t->narrow_blocks = plan->narrow_blocks;
    t->blocks = plan->blocks;
}
/* What of that is no array: the factor, and the counts of a plan. */
static inline void device_substitution_takes(device_substitution *t, device_solver *s,
                                             const device_factor *factor, const substitution *plan)
{
    s->packet_columns = SUBSTITUTE_COLUMNS;
    s->type = factor->shape.type;
    t->hermitian = factor->shape.hermitian;
    t->cholesky = factor->shape.cholesky;
    t->panel_scalars = factor->shape.panel_scalars;
    t->factor = factor->values.at;
    if (!plan)
        return;
    device_substitution_counts(t, plan);
    s->n = plan->n;
    s->packets = (int32_t)t->packets;
}

/* As device_solve. */
libsolver_status device_substitute(const device_substitution *t, const device_solver *s,
                                   const device_workspace *w, void *stream,
                                   const libsolver_vectors *b, const libsolver_vectors *x,
                                   message *why);

#ifdef __cplusplus
}
#endif
#endif
