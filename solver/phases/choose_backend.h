/* solver/phases/choose_backend.h: where AUTO solves
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOLVER_PHASES_CHOOSE_BACKEND_H
#define SOLVER_PHASES_CHOOSE_BACKEND_H

#include "solver/libsolver.h"

/* What is known of a factor before there is one. */
typedef struct solve_size {
    int64_t n, factor_nnz, levels; /* levels: supernodes on the longest path */
    int scalar_bytes;
    int threads; /* that the CPU solves with */
} solve_size;

/* Predicted seconds of one solve of one right-hand side on the host, on the CPU and on the GPU, and
 * of preparing a factor made on the CPU for the GPU. */
typedef struct solve_forecast {
    double cpu, gpu, preparation;
} solve_forecast;

solve_forecast forecast_solve(const solve_size *size);

/* Solves that preparation must have paid after with PURPOSE_DEFAULT. */
#define DEFAULT_SOLVES 50

/* GPU where the forecast is for it: for PURPOSE_LATENCY if a solve is faster there, for
 * PURPOSE_DEFAULT if DEFAULT_SOLVES of them and the preparation are, for PURPOSE_FEW never, as the
 * factor would have to be prepared. */
libsolver_backend choose_backend(const solve_size *size, libsolver_purpose purpose);

#endif
