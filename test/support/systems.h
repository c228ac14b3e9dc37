/* test/support/systems.h: sparse systems with known answers, and checks that share nothing with the
 * library
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_SUPPORT_SYSTEMS_H
#define TEST_SUPPORT_SYSTEMS_H

#include "libsolver.h"
#include "random.h"
#include <stdatomic.h>

/* count zeros; freed by free */
double *doubles(int64_t count);

/* Lower triangle by columns, rows ascending, base 0. */
typedef struct sparse {
    int64_t n;
    int64_t *pointers, *indices;
    double *values;
} sparse;

/* The nonzero entries of the lower triangle of a, n x n by columns. */
sparse sparse_of_dense(int64_t n, const double *a);
/* x by y, or x by y by z, points, `diagonal` on the diagonal and -1 between neighbours. */
sparse sparse_grid(int64_t x, int64_t y, double diagonal);
sparse sparse_box(int64_t x, int64_t y, int64_t z, double diagonal);
/* [H G; G' 0]: H diagonal of order n, positive; G = [I; 0] + random entries, n x m.  Inertia (n, m,
 * 0). */
sparse sparse_saddle(random_stream *r, int64_t n, int64_t m);
/* A grid of side^2 points that comes last, each point k joined to a column k with 1e-13 on its
 * diagonal, and so its neighbour: those columns must wait for the grid.  Inertia (side^2, side^2,
 * 0). */
sparse sparse_delaying(int64_t side);
/* Q diag(values) Q with a reflection Q = I - 2 v v^T, v all equal: dense. */
sparse sparse_with_eigenvalues(int64_t n, const double *values);
/* Symmetric, entries in [-1, 1) with the given probability, zero diagonal entries as often. */
sparse sparse_random(random_stream *r, int64_t n, double density);
void sparse_free(sparse *a);

libsolver_matrix sparse_view(const sparse *a);
libsolver_vectors block_view(double *values, int64_t n, int64_t columns); /* column-major, ld n */

/* n x n by columns; to be freed */
double *dense_of_sparse(const sparse *a);
/* b := A x for each column, summed in long double; x, b: n x columns */
void sparse_multiply(const sparse *a, int64_t columns, const double *x, double *b);
/* omega1 + omega2 [Arioli, Demmel, Duff 1989], the largest of the columns; infinite if x is not
 * finite. */
double sparse_backward_error(const sparse *a, int64_t columns, const double *x, const double *b);

/* The least backward error that plain refinement with the factor comes to in so many steps, for b =
 * A x* with x* as the tool's, residuals summed in long double. */
double sparse_plain_refinement(const sparse *a, const libsolver_factor *f, int steps);

/* Signs of the eigenvalues of A, by Jacobi rotations of a dense copy; an eigenvalue is zero up to
 * 1e-13 times the largest.  Returns the least nonzero |eigenvalue| over the largest (1 if there is
 * none). */
typedef struct signs {
    int64_t positive, negative, zero;
} signs;
double sparse_signs(const sparse *a, signs *found);

/* Default options for that kind on the CPU. */
libsolver_options options_on_cpu(libsolver_kind kind);
/* Default options for that kind in the natural order and without a matching: pivots wait where they
 * stand. */
libsolver_options options_in_natural_order(libsolver_kind kind);

/* An allocator that keeps books. */
typedef struct ledger {
    _Atomic int64_t live;      /* blocks, */
    _Atomic int64_t bytes;     /* bytes in them, and */
    _Atomic int64_t peak;      /* the most of these so far (one thread) */
    _Atomic int64_t calls;     /* requests so far, */
    _Atomic int64_t refused;   /* and how many of them have failed */
    _Atomic int64_t refuse_at; /* the request with this number (from 0) fails, -1: none */
    int refuse_after;          /* so do all behind it */
} ledger;

void ledger_open(ledger *l, libsolver_options *options); /* default options that use it, on the CPU
                                                          */
void ledger_refuse(ledger *l, int64_t after, int all); /* the request after this many more fails; <
                                                          0: none */

#endif
