/* solver/gpu/numeric.h: a factor of the GPU backend and what its solves write to, of one precision
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOLVER_GPU_NUMERIC_H
#define SOLVER_GPU_NUMERIC_H

#include "base/scalar.h"
#include "gpu/refine/tree_refine.h"
#include "solver/cpu/backend.h"

#define CPU (&NAME(cpu_backend))

typedef struct device_plan {
    void *cpu;
    environment *env;
    double entries_factor;
    int substitutes; /* with the factor as it is */
    int may_fall_back;
} device_plan;

typedef struct device_numeric {
    environment *env;
    int32_t n;
    void *cpu;           /* the factor, */
    tree_solver *solver; /* what was packed of it, */
    tree_matrix *a;      /* and A; NULL: the device could not be had */
    int packed;
    int may_fall_back; /* to solves on the CPU, silently but for the log: solves_on_device tells */
} device_numeric;

typedef struct device_space {
    int64_t columns;
    void *cpu;            /* for what runs on the host */
    tree_workspace *tree; /* NULL: solves here run on the CPU */
    tree_refiner *refiner;
    scalar *b, *x, *block; /* n columns each, on the host: blocks whose refinement goes on there,
                              and one that is solved for */
} device_space;

/* refine_tmpl.c: in a workspace that fits the factor, solving on the device */
libsolver_status NAME(gpu_refine)(const void *numeric, void *workspace, const libsolver_vectors *b,
                                  const libsolver_vectors *x, backend_refinement *refinement,
                                  double *backward_error, message *why);
libsolver_status NAME(gpu_solve_async)(const void *numeric, void *workspace,
                                       const libsolver_vectors *b, const libsolver_vectors *x,
                                       const backend_refinement *refinement, int remarks,
                                       double *backward_error, libsolver_status *status,
                                       message *why);

#endif
