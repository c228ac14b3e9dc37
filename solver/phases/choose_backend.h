/* solver/phases/choose_backend.h: where AUTO factorizes and solves
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOLVER_PHASES_CHOOSE_BACKEND_H
#define SOLVER_PHASES_CHOOSE_BACKEND_H

#include "solver/libsolver.h"

/* What is known of a factor before there is one. */
typedef struct problem_size {
    int64_t n, factor_nnz, levels; /* levels: supernodes on the longest path */
    int64_t chain;                 /* most columns on a path */
    double factor_flops;
    int is_cholesky;  /* as far as is known; otherwise the CPU factorizes for the GPU too */
    int scalar_bytes; /* of the factor */
    int is_complex, is_mixed;
    int threads; /* of the CPU */
} problem_size;

/* Predicted seconds on one side: of one factorization, which is ready to be solved with, of one
 * solve of one right-hand side on the host, and of what only the first factorization takes. */
typedef struct side_forecast {
    double factorization, solve, first;
} side_forecast;

/* for_few: the GPU solves with the factor as it is. */
typedef struct backend_forecast {
    side_forecast cpu, gpu;
} backend_forecast;

backend_forecast forecast_backends(const problem_size *size, int for_few);

/* Solves of each factor that the forecast is for: with PURPOSE_DEFAULT and with PURPOSE_FEW. */
#define DEFAULT_SOLVES 50
#define FEW_SOLVES 10

/* GPU where the forecast is for it: for PURPOSE_LATENCY if a solve is faster there, otherwise if
 * the first factorization with its solves is. */
libsolver_backend choose_backend(const problem_size *size, libsolver_purpose purpose);

#endif
