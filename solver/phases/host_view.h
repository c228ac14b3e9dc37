/* solver/phases/host_view.h: a matrix whose arrays lie in device memory, copied to the host
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOLVER_PHASES_HOST_VIEW_H
#define SOLVER_PHASES_HOST_VIEW_H

#include "solver/phases/context.h"

typedef struct host_view {
    libsolver_matrix a;
    void *array[3]; /* what was copied */
} host_view;

/* The view of a matrix that lies on the host, or of a copy of one that lies on the context's device
 * (without its indices: what is there of them; without values: NULL).  INVALID, NOT_BUILT, CUDA,
 * OUT_OF_MEMORY; nothing is owned then. */
libsolver_status host_view_indices(libsolver_context *context, const libsolver_matrix *a,
                                   host_view *view, message *why);
/* The same with `entries` values. */
libsolver_status host_view_values(libsolver_context *context, const libsolver_matrix *a,
                                  int64_t entries, host_view *view, message *why);
/* The same with both, values if there are some. */
libsolver_status host_view_all(libsolver_context *context, const libsolver_matrix *a,
                               host_view *view, message *why);
void host_view_free(libsolver_context *context, host_view *view);

#endif
