/* dense/cpu/ldlt.h: pivots of LDL^T, shared by its three methods
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Rounding errors and zero.  g(i) bounds what was assembled into row i of the scaled matrix: the largest
 * entry of row i of A, plus the sum over all pivots so far of |l_ip| |(L D)_ip|.  By Cauchy and Schwarz the
 * products subtracted from entry (i, j) sum to at most sqrt(g(i) g(j)), so an entry below 8 eps of that is
 * rounding error; a column of such entries is a zero pivot. */
#ifndef DENSE_CPU_LDLT_H
#define DENSE_CPU_LDLT_H

#include "dense/cpu/front.h"

/* Columns of a block that is factorized with pivoting inside it only. */
#define LDLT_BLOCK 32

/* An entry is zero if it is at most this times sqrt(g(i) g(j)) ... */
#define LDLT_ZERO (8 * EPS)
/* ... and the sign of a pivot is not certain below this. */
#define LDLT_UNCERTAIN (1024 * EPS)

static inline int is_noise(real entry, real gi, real gj, real level)
{
    return (double)entry <= (double)level * sqrt((double)gi * (double)gj);
}

/* A 2x2 pivot [a b; b c] that may be inverted: its determinant has not been lost to cancellation. */
static inline int invertible(scalar a, scalar b, scalar c)
{
    const real off = scalar_abs(b);
    const scalar relative = (a / off) * (c / off) - (b / off) * (b / off);
    return scalar_abs(relative) >= (real)0.01;
}

/* [x y] := [x y] [a b; b c]^-1, scaled by b against overflow */
static inline void divide_2x2(scalar a, scalar b, scalar c, scalar *x, scalar *y)
{
    const scalar ab = a / b, cb = c / b, factor = 1 / (b * (ab * cb - 1));
    const scalar x0 = *x, y0 = *y;
    *x = (cb * x0 - y0) * factor;
    *y = (ab * y0 - x0) * factor;
}

/* Counts the pivot d, or the 2x2 pivot [d e; e d2] when e != 0, of rows with magnitudes g1 and g2. */
void NAME(ldlt_count)(front_report *report, scalar d, scalar e, scalar d2, real g1, real g2);

/* Swaps rows and columns i < j of the lower trapezoid (m x k panel, both candidates), with index and
 * magnitude. */
void NAME(ldlt_swap)(int m, scalar *panel, int i, int j, int32_t *index, real *magnitude);

/* LDL^T of the n x n lower triangle b (n <= LDLT_BLOCK, leading dimension n) with complete pivoting [Bunch,
 * Parlett 1971]: order[i] is the row that came to place i, d and e hold D.  Stops where what is left is
 * small; returns the pivots found. g, length n, in the original order, is permuted and increased. */
int NAME(ldlt_block)(int n, scalar *b, int *order, scalar *d, scalar *e, real *g);

/* Threshold partial pivoting, one pivot at a time, on candidates [p, k) [Duff, Reid 1983].  zero: the level
 * of is_noise. work: 2 m scalars.  Returns the new p. */
int NAME(ldlt_threshold)(int m, int k, int p, scalar *panel, int32_t *index, scalar *d, scalar *e,
                         real *magnitude, real u, real zero, scalar *work, front_report *report);

#endif
