/* dense/cpu/ldlt.h: pivots of LDL^T, shared by its three methods
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Rounding errors and zero.  g(i) bounds what was assembled into row i of the scaled matrix: the
 * largest entry of row i of A, plus the sum over all pivots so far of l_i R l_i^T, where R is |d|
 * for a 1x1 pivot and, for a 2x2 one, the diagonal of the sums of |D| along its rows.  As |x D y^T|
 * is at most the root of x R x^T y R y^T, the products subtracted from entry (i, j) sum by Cauchy
 * and Schwarz to at most sqrt(g(i) g(j)), so an entry below 8 eps of that is rounding error; a
 * column of such entries is a zero pivot.  (|l_ip| |(L D)_ip| instead would be less for 2x2 pivots,
 * and too little: of a pair with a zero diagonal l and L D have their large entries in different
 * columns.) */
#ifndef DENSE_CPU_LDLT_H
#define DENSE_CPU_LDLT_H

#include "dense/cpu/front.h"

/* An entry is zero if it is at most this times sqrt(g(i) g(j)), unless the caller's level is
 * another. */
#define LDLT_ZERO (8 * EPS)

/* Nothing is known of entries whose magnitudes have overflowed: they are no noise, and pivots there
 * are uncertain. */
static inline int is_noise(real entry, real gi, real gj, real level)
{
    /* gi gj may overflow */
    const double bound = (double)level * (sqrt((double)gi) * sqrt((double)gj));
    return (double)entry <= bound && bound < INFINITY;
}

/* A 2x2 pivot is [a b'; b c] with b' = scalar_mirror(b). */

/* |det| / |b|^2 */
static inline real relative_determinant(int hermitian, scalar a, scalar b, scalar c)
{
    const real off = scalar_abs(b);
    return scalar_abs((a / off) * (c / off) - (b / off) * (scalar_mirror(b, hermitian) / off));
}

/* Whether it may be inverted: its determinant has not been lost to cancellation. */
static inline int invertible(int hermitian, scalar a, scalar b, scalar c)
{
    return relative_determinant(hermitian, a, b, c) >= (real)0.01;
}

/* [x y] := [x y] [a b'; b c]^-1, scaled by b against overflow */
static inline void divide_2x2(int hermitian, scalar a, scalar b, scalar c, scalar *x, scalar *y)
{
    const scalar above = scalar_mirror(b, hermitian), ab = a / above, cb = c / b, det = ab * cb - 1;
    const scalar x0 = *x, y0 = *y;
    *x = (cb * x0 - y0) * (1 / (above * det));
    *y = (ab * y0 - x0) * (1 / (b * det));
}

/* R for the pivots in d and e, the first of which begins one. */
static inline void ldlt_weights(int pivots, const scalar *d, const scalar *e, real *weight)
{
    for (int p = 0; p < pivots; p++) {
        const real before = p > 0 ? scalar_abs(e[p - 1]) : 0;
        weight[p] = before + scalar_abs(d[p]) + scalar_abs(e[p]);
    }
}

/* l r l^T */
static inline real ldlt_growth(scalar l, real weight)
{
    return scalar_abs(l) * scalar_abs(l) * weight;
}

/* Counts the pivot d, or the 2x2 pivot [d e'; e d2] when e != 0, of rows with magnitudes g1 and
 * g2. */
void NAME(ldlt_count)(int hermitian, front_report *report, scalar d, scalar e, scalar d2, real g1,
                      real g2);

/* Swaps candidates i < j: rows and columns of the panel, with index and magnitude. */
void NAME(ldlt_swap)(const front_candidates *front, int i, int j);

/* Threshold partial pivoting, one pivot at a time, on candidates [p, k) [Duff, Reid 1983].  zero:
 * the level of is_noise.  Returns the new p. */
int NAME(ldlt_threshold)(const front_candidates *front, int p, real u, real zero);

/* When more than `leave` candidates of [p, k) are left that no stable pivot was found for:
 * eliminates as many as must be, each by the first pivot that keeps |L| <= 1/sqrt(eps), or else the
 * candidate of largest |diagonal| beside its column's largest entry, whose diagonal is raised until
 * it does [static pivoting: Duff, Pralet 2007, section 4].  All count as perturbed, but zero
 * columns.  Returns the new p. */
int NAME(ldlt_forced)(const front_candidates *front, int p, int leave);

#endif
