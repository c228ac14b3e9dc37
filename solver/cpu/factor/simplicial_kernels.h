/* solver/cpu/factor/simplicial_kernels.h: the inner loops of a Cholesky factor by columns
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Compiled for several instruction sets; which are taken depends on the processor alone.  v: the
 * factor, in the places of simplicial.h.  x: c right-hand sides by rows. */
#ifndef SOLVER_CPU_FACTOR_SIMPLICIAL_KERNELS_H
#define SOLVER_CPU_FACTOR_SIMPLICIAL_KERNELS_H

#include "base/scalar.h"
#include "solver/cpu/plan/simplicial.h"

/* A factorization that goes on from column to column. */
typedef struct simplicial_run {
    const real *diagonal; /* of the scaled A, by its rows */
    real doubt;
    scalar *v;             /* A, becomes U and D */
    real *root;            /* root(k) := D(k)^(-1/2) */
    const int32_t *target; /* where the targets of the next column begin */
    real smallest;         /* least D */
    int32_t uncertain;     /* pivots <= doubt diagonal(row) */
} simplicial_run;

typedef struct simplicial_kernels {
    /* Columns [from, to).  A pivot <= 16 eps diagonal(row) is refused; returns `to`, or the number
     * of the first column with such a one. */
    int32_t (*factorize)(const simplicial *s, int32_t from, int32_t to, simplicial_run *run);
    /* x := L^-1 x */
    void (*forward)(const simplicial *s, const scalar *v, const real *root, int c, scalar *x);
    /* x := L^-H x */
    void (*backward)(const simplicial *s, const scalar *v, const real *root, int c, scalar *x);
} simplicial_kernels;

/* The kernels for this processor. */
const simplicial_kernels *NAME(simplicial_kernels_here)(void);

extern const simplicial_kernels NAME(simplicial_kernels_plain), NAME(simplicial_kernels_avx2),
    NAME(simplicial_kernels_avx512);

#endif
