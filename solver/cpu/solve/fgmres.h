/* solver/cpu/solve/fgmres.h: flexible GMRES, of one precision
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOLVER_CPU_SOLVE_FGMRES_H
#define SOLVER_CPU_SOLVE_FGMRES_H

#include "base/environment.h"
#include "base/scalar.h"

/* A system A d = r of order n, and what stands for the inverse of A. */
typedef struct fgmres {
    int32_t n;
    int length;             /* most steps of a cycle */
    scalar *memory;         /* fgmres_entries(n, length) */
    const environment *env; /* asked once a step whether to go on */
    void *user;             /* argument of both: */
    void (*multiply)(void *user, const scalar *z, scalar *y);     /* y := A z */
    void (*precondition)(void *user, const scalar *v, scalar *z); /* z := M^-1 v */
} fgmres;

static inline int64_t fgmres_entries(int64_t n, int64_t length)
{
    return (2 * length + 1) * n + (length + 1) * (length + 4);
}

/* One cycle from d = 0: d minimises |r - A d| in the 2-norm over the span of what the
 * preconditioner gave.  It ends after `length` steps, when the norm is at most `enough`, or when
 * the space grows no more.  r: the right-hand side, as the first n entries of memory, where d comes
 * to stand.  steps: the dimension of the space; 0: d = 0.  CANCELLED. */
libsolver_status NAME(fgmres_cycle)(const fgmres *g, double enough, int *steps, message *why);

#endif
