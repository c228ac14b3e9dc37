/* solver/cpu/factor/single.h: mixed precision: a factor in single precision inside a numeric object
 * in double
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The object in double precision keeps A, chooses scaling and pivoting and computes residuals; S A
 * S, rounded, is factorized and solved with by an object of its own, of type s or c, made from the
 * same plan and reached through this table. */
#ifndef SOLVER_CPU_FACTOR_SINGLE_H
#define SOLVER_CPU_FACTOR_SINGLE_H

#include "base/backend.h"

struct cpu_plan;

typedef struct cpu_single {
    const backend *backend; /* create, destroy, workspaces and export are those of any factor */
    /* One factorization of S A S + shift diag(S A S).  value: of A, in double precision, in the
     * plan's order; scale: S, double; neither is read where the factor is made elsewhere.  Statuses
     * of cpu_attempt. */
    libsolver_status (*attempt)(void *factor, const void *value, const void *scale, double shift,
                                int cholesky, const backend_options *options,
                                backend_report *report);
    /* Last word on a factor.  What is zero up to rounding in single precision need not be zero in
     * A: but for empty rows of A (row_sum 0), zero pivots are replaced by small ones, and counted
     * as perturbed.  order: see numeric. */
    void (*finish)(void *factor, const void *row_sum, int32_t *order, backend_report *report);
    /* What such a factor takes, as backend.predict; elsewhere: but for its panels; OUT_OF_MEMORY.
     */
    libsolver_status (*predict)(const struct cpu_plan *plan, int cholesky, int elsewhere,
                                int64_t *bytes);
    libsolver_status (*workspace_fit)(const void *factor, void *workspace, message *why);
    void (*workspace_free)(memory *m, void *workspace); /* also when the factor is gone */
    /* x, c right-hand sides in double precision, by the parts asked for, in place: as
     * cpu_solve_block. */
    void (*solve_block)(const void *factor, int part, void *workspace, int c, void *x);
} cpu_single;

extern const cpu_single cpu_single_s, cpu_single_c;

/* The table for matrices of this type; NULL if they are in single precision themselves. */
static inline const cpu_single *single_for(libsolver_type type)
{
    return type == LIBSOLVER_D ? &cpu_single_s : type == LIBSOLVER_Z ? &cpu_single_c : NULL;
}

#endif
