/* test/support/typed_dense.h: small systems of one precision (-DPREC_x), and what plain loops in
 * long double make of them
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_SUPPORT_TYPED_DENSE_H
#define TEST_SUPPORT_TYPED_DENSE_H

#include "libsolver.h"
#include "typed_scalar.h"
#include <string.h>

#define MOST 160

/* Lower triangle; in its view an entry that is 0 is there if `stored` says so. */
typedef struct dense {
    int hermitian;
    int64_t n;
    scalar a[MOST][MOST];
    unsigned char stored[MOST][MOST];
} dense;

/* A view of the lower triangle as triplets, in any order, and its arrays; an entry may come in two
 * parts. */
typedef struct triplets {
    libsolver_matrix view;
    int64_t row[MOST * MOST], column[MOST * MOST];
    scalar value[MOST * MOST];
} triplets;

static inline exact dense_at(const dense *s, int64_t i, int64_t j)
{
    return i >= j ? (exact)s->a[i][j] : exact_mirror(s->a[j][i], s->hermitian);
}

/* Multiples of 1/16 in [-1, 1], so that small sums are exact. */
static inline scalar dense_scalar(random_stream *r)
{
    const double x = ldexp((double)random_below(r, 33) - 16, -4),
                 y = ldexp((double)random_below(r, 33) - 16, -4);
    return scalar_of(x, y);
}

/* Entries with the given probability off the diagonal; `diagonal` on it, or random ones if it is
 * 0. */
static inline dense dense_random(random_stream *r, int hermitian, int64_t n, double density,
                                 double diagonal)
{
    dense s = {.hermitian = hermitian, .n = n};
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j; i < n; i++)
            if (i == j)
                s.a[i][i] =
                    diagonal != 0 ? (scalar)diagonal : scalar_diagonal(dense_scalar(r), hermitian);
            else if (random_below(r, 1000) < density * 1000)
                s.a[i][j] = dense_scalar(r);
    return s;
}

/* Of s, of order 4 size, is left what belongs to three cliques and a hub, `size` rows each, the hub
 * last: no entry joins two cliques, and the first `waiting` columns of each have nonzeros in the
 * hub's rows only, so that their pivots wait for the hub. */
static inline void dense_keep_cliques(dense *s, int64_t size, int64_t waiting)
{
    const int64_t hub = 3 * size;
    for (int64_t j = 0; j < hub; j++)
        for (int64_t i = j; i < hub; i++)
            if (i / size != j / size || j % size < waiting) {
                s->a[i][j] = 0;
                s->stored[i][j] = i / size == j / size;
            }
}

/* r NULL: in order; otherwise shuffled, every third entry in two parts. */
static inline void dense_triplets(const dense *s, random_stream *r, triplets *t)
{
    int64_t k = 0;
    for (int64_t j = 0; j < s->n; j++)
        for (int64_t i = j; i < s->n; i++) {
            const scalar part = r && i != j ? dense_scalar(r) : 0;
            if (s->a[i][j] == 0 && !s->stored[i][j])
                continue;
            for (int twice = 0; twice < (r && k % 3 == 0 ? 2 : 1); twice++) {
                const int parts = r && k % 3 == 0;
                t->row[k + twice] = i;
                t->column[k + twice] = j;
                t->value[k + twice] = !parts ? s->a[i][j] : twice ? part : s->a[i][j] - part;
            }
            k += r && k % 3 == 0 ? 2 : 1;
        }
    for (int64_t p = k - 1; r && p > 0; p--) {
        const int64_t q = random_below(r, (int32_t)p + 1), i = t->row[p], j = t->column[p];
        const scalar v = t->value[p];
        t->row[p] = t->row[q], t->column[p] = t->column[q], t->value[p] = t->value[q];
        t->row[q] = i, t->column[q] = j, t->value[q] = v;
    }
    t->view =
        (libsolver_matrix){.n = s->n,
                           .nnz = k,
                           .pointers = t->column,
                           .indices = t->row,
                           .values = t->value,
                           .type = SCALAR_TYPE,
                           .symmetry = s->hermitian ? LIBSOLVER_HERMITIAN : LIBSOLVER_SYMMETRIC,
                           .format = LIBSOLVER_TRIPLETS,
                           .pointer_type = LIBSOLVER_INT64,
                           .index_type = LIBSOLVER_INT64};
}

static inline libsolver_vectors dense_block(scalar *values, int64_t n, int64_t columns)
{
    return (libsolver_vectors){
        .values = values, .rows = n, .columns = columns, .ld = n, .type = SCALAR_TYPE};
}

/* x := A^-1 x for c columns, n x n and n x c by columns (a is destroyed), by Gaussian elimination
 * with row interchanges; returns det A. */
static inline exact exact_solve(int64_t n, exact *a, int64_t c, exact *x)
{
    exact determinant = 1;
    for (int64_t k = 0; k < n; k++) {
        int64_t pivot = k;
        for (int64_t i = k; i < n; i++)
            pivot = cabsl(a[i + k * n]) > cabsl(a[pivot + k * n]) ? i : pivot;
        determinant *= pivot == k ? a[k + k * n] : -a[pivot + k * n];
        for (int64_t j = 0; j < n + c; j++) {
            exact *column = j < n ? a + j * n : x + (j - n) * n;
            const exact t = column[k];
            column[k] = column[pivot];
            column[pivot] = t;
        }
        for (int64_t i = k + 1; i < n; i++) {
            const exact l = a[i + k * n] / a[k + k * n];
            for (int64_t j = k; j < n; j++)
                a[i + j * n] -= l * a[k + j * n];
            for (int64_t j = 0; j < c; j++)
                x[i + j * n] -= l * x[k + j * n];
        }
    }
    for (int64_t j = 0; j < c; j++)
        for (int64_t k = n - 1; k >= 0; k--) {
            for (int64_t i = k + 1; i < n; i++)
                x[k + j * n] -= a[k + i * n] * x[i + j * n];
            x[k + j * n] /= a[k + k * n];
        }
    return determinant;
}

/* a := A, n x n by columns. */
static inline void exact_matrix(const dense *s, exact *a)
{
    for (int64_t j = 0; j < s->n; j++)
        for (int64_t i = 0; i < s->n; i++)
            a[i + j * s->n] = dense_at(s, i, j);
}

/* Largest column sum of |a|, n x n by columns; infinite if one is not a number. */
static inline long double exact_norm(int64_t n, const exact *a)
{
    long double most = 0;
    for (int64_t j = 0; j < n; j++) {
        long double sum = 0;
        for (int64_t i = 0; i < n; i++)
            sum += cabsl(a[i + j * n]);
        if (!isfinite(sum))
            return INFINITY;
        most = fmaxl(most, sum);
    }
    return most;
}

/* omega1 + omega2 of one column */
static inline double dense_backward_error(const dense *s, const scalar *x, const scalar *b)
{
    long double norm = 0, omega[2] = {0, 0};
    for (int64_t i = 0; i < s->n; i++)
        norm = fmaxl(norm, cabsl((exact)x[i]));
    for (int64_t i = 0; i < s->n; i++) {
        exact r = b[i];
        long double sum = 0, row = 0;
        for (int64_t j = 0; j < s->n; j++) {
            const exact a = dense_at(s, i, j);
            r -= a * x[j];
            sum += cabsl(a * x[j]);
            row += cabsl(a);
        }
        const long double right = cabsl((exact)b[i]);
        const int small = !(sum + right > 1000.0L * s->n * EPS * (row * norm + right));
        if (!(cabsl(r) <= 0))
            omega[small] = fmaxl(omega[small], cabsl(r) / (small ? sum + row * norm : sum + right));
    }
    return (double)(omega[0] + omega[1]);
}

#endif
