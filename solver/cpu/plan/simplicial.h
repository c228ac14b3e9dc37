/* solver/cpu/plan/simplicial.h: the pattern of a Cholesky factor by columns, for matrices whose
 * fronts would be tiny
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A front costs some hundred instructions before it does anything, and merging columns into larger
 * ones fills L with zeros.  Where columns have few entries, they are eliminated one by one instead,
 * A = U D U^H with a unit diagonal of U and L = U D^1/2, by lists of what is subtracted from
 * where.  L D L^T with pivoting, which the pattern does not foresee, keeps to fronts.
 *
 * Places in the factor: D(k) at k, entry p below the diagonal at n + p. */
#ifndef SOLVER_CPU_PLAN_SIMPLICIAL_H
#define SOLVER_CPU_PLAN_SIMPLICIAL_H

#include "ordering/ordering.h"

typedef struct simplicial {
    int32_t n;
    int32_t alone;  /* columns [0, alone) have nothing beside their diagonal entry: order, start and
                       place are k, 0 and k there */
    int32_t *order; /* n: the k-th column is column order[k] of P A P^T; by height in the
                       elimination tree, so that neighbours mostly do not wait for each other */
    int32_t *start; /* n + 1: column k of U below its diagonal is [start[k], start[k + 1]) */
    int32_t *row;   /* rows of P A P^T, ascending inside a column */
    int32_t *target; /* for each column, each entry b of it and each entry a from b on: the place
                        from which a conj(b) is subtracted */
    int32_t *place;  /* places of the entries of P A P^T, the lower triangle by columns */
} simplicial;

/* Whether columns one by one are predicted to be faster than fronts. */
int simplicial_pays(const forest *f);

/* a: lower triangle of P A P^T, each column beginning with its diagonal; factor_nnz, factor_flops:
 * of its factor, as in forest.  OUT_OF_MEMORY. */
libsolver_status simplicial_build(memory *m, const pattern *a, int64_t factor_nnz,
                                  double factor_flops, simplicial **s);
void simplicial_free(memory *m, simplicial *s);

#endif
