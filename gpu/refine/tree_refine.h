/* gpu/refine/tree_refine.h: refinement on a device with a packed factor: solve, residual, backward
 * error, correction
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_REFINE_TREE_REFINE_H
#define GPU_REFINE_TREE_REFINE_H

#include "gpu/packed/tree_solver.h"
#include "ordering/ordering.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A in full storage on the device of a solver, which outlives it. */
typedef struct tree_matrix tree_matrix;

/* The pattern.  lower: of A, columns with ascending rows; nothing is kept of it.  OUT_OF_MEMORY,
 * OUT_OF_DEVICE_MEMORY, CUDA, NOT_BUILT (2^31 entries or more). */
libsolver_status tree_matrix_create(environment *env, const tree_solver *solver,
                                    libsolver_type type, int hermitian, const pattern *lower,
                                    tree_matrix **a, message *why);
void tree_matrix_free(tree_matrix *a);
int64_t tree_matrix_bytes(const tree_matrix *a); /* on the device */
/* values: of the lower triangle, on the device.  Launched on the solver's stream, not waited
 * for. */
libsolver_status tree_matrix_set(tree_matrix *a, const void *values, int follows, message *why);

/* What refinement writes to, of as many columns together as tree_refiner_columns says. */
typedef struct tree_refiner tree_refiner;

/* Uses the solver's workspace too. */
libsolver_status tree_refiner_create(const tree_matrix *a, int64_t columns, tree_workspace *solves,
                                     tree_refiner **refiner, message *why);
void tree_refiner_free(tree_refiner *refiner);
int64_t tree_refiner_columns(const tree_refiner *refiner);

typedef struct tree_refinement {
    int solve_first;       /* x := A^-1 b before; otherwise x is refined */
    int steps;             /* most steps; out: made */
    double tolerance;      /* wanted backward error */
    double least_progress; /* a step that does not reduce the error to this part of it is the last
                              of its column */
    /* told of the largest error after each step, the first solution's being step 0; NULL: nobody */
    void (*observe)(void *user, int step, double error);
    void *observer;
} tree_refinement;

/* Refines one group of columns and waits for it.  _load: b and, unless solve_first, x, on the host
 * or on the device; b may be x.  _run: the best x seen, with error[j], and the first one's
 * initial[j]; both length columns.  _store: to x.  b and x are loaded once and stored once for each
 * group; between _run and _store they lie where _b and _x say, on the device.  OUT_OF_MEMORY, CUDA,
 * CANCELLED. */
libsolver_status tree_refine_load(tree_refiner *r, int solve_first, const libsolver_vectors *b,
                                  const libsolver_vectors *x, message *why);
libsolver_status tree_refine_run(tree_refiner *r, tree_refinement *how, double *error,
                                 double *initial, message *why);
libsolver_status tree_refine_store(tree_refiner *r, const libsolver_vectors *x, message *why);
const libsolver_vectors *tree_refine_b(const tree_refiner *r);
const libsolver_vectors *tree_refine_x(const tree_refiner *r);

/* b - A x of the last step, on the device. */
libsolver_vectors tree_refine_residual(const tree_refiner *r);

/* The same for blocks on the device without a wait: all steps are launched, and those after the
 * last that is needed change nothing.  Errors and status go to device memory; see
 * refine_outcome. */
struct refine_outcome;
libsolver_status tree_refine_launch(tree_refiner *r, const tree_refinement *how,
                                    const libsolver_vectors *b, const libsolver_vectors *x,
                                    const struct refine_outcome *outcome, message *why);

#ifdef __cplusplus
}
#endif
#endif
