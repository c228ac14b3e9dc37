/* test/support/dense.h: dense matrices for tests of kernels, and running them with a number of
 * threads
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_SUPPORT_DENSE_H
#define TEST_SUPPORT_DENSE_H

#include "problems.h"

/* count doubles, each NaN; freed by free. */
double *nan_array(int64_t count);
/* A copy of count doubles. */
double *copy_of(const double *from, int64_t count);

/* Random lower trapezoid, m x k with leading dimension ld; everything else in it is NaN. */
double *random_trapezoid(random_stream *r, int m, int k, int ld);

/* Roundings (in EPS of |L||D||L^T|) that dividing by the 2x2 pivot E = [a b; b c] can add.  The
 * determinant, relative to b^2, is (a/b)(c/b) - 1 with an error of 2 EPS (|ac|/b^2 + 1), which the
 * quotient takes on, with a few more roundings, in each component of |E^-1||w|; multiplied back by
 * |E| that is |E||E^-1||E| at most. */
long double pair_weight(long double a, long double b, long double c);
/* Roundings that each of p pivots of L D L^T stands for: `sums`, and pair_weight for both of a 2x2
 * one, whose b is e(q); freed by free. */
long double *pivot_weights(int p, int sums, const double *d, const double *e);
/* sum: (L D L^T)(i, j) over the first p pivots; scale: its terms' magnitudes, each times the weight
 * of its pivot (weight NULL: 1).  d NULL: D = I. */
void ldlt_product(int p, const double *l, int64_t ld, const double *d, const double *e,
                  const long double *weight, int i, int j, long double *sum, long double *scale);

/* Calls work(arg) from one thread of a team of so many; the others take its tasks. */
void with_threads(int threads, void (*work)(void *arg), void *arg);

/* Sizes around those at which kernels change their ways. */
#define BORDER_SIZES 21
extern const int border_size[BORDER_SIZES];

#endif
