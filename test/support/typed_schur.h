/* test/support/typed_schur.h: Schur complements in one precision (-DPREC_x), beside those of plain
 * loops in long double
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_SUPPORT_TYPED_SCHUR_H
#define TEST_SUPPORT_TYPED_SCHUR_H

#include "systems.h"
#include "typed_dense.h"
#include <stdlib.h>

#define COLUMNS 3

static inline void *room(int64_t count, size_t size)
{
    void *block = calloc((size_t)count + 1, size);
    assert_non_null(block);
    return block;
}

/* A, a set of its rows, and what follows from them. */
typedef struct parted {
    dense s;
    int64_t n, size, rest, row[MOST], other[MOST]; /* the set, and the rows that are not in it */
    exact *complement, determinant;                /* S; det A11 */
    long double condition;                         /* of A11 */
    long double largest, carried;                  /* entry of A; row sum of A11^-1 A12 */
} parted;

static inline void part(parted *t, random_stream *r, int64_t size)
{
    int32_t order[MOST];
    const int64_t n = t->n = t->s.n;
    random_permutation(r, (int32_t)n, order);
    t->size = size;
    t->rest = 0;
    unsigned char in_set[MOST] = {0};
    for (int64_t k = 0; k < size; k++) {
        t->row[k] = order[k];
        in_set[order[k]] = 1;
    }
    for (int64_t i = 0; i < n; i++)
        if (!in_set[i])
            t->other[t->rest++] = i;
}

/* The set is the last `size` rows. */
static inline void keep_last(parted *t, int64_t size)
{
    t->n = t->s.n;
    t->size = size;
    t->rest = t->n - size;
    for (int64_t k = 0; k < size; k++)
        t->row[k] = t->n - 1 - k;
    for (int64_t i = 0; i < t->rest; i++)
        t->other[i] = i;
}

/* S = A22 - A21 A11^-1 A12 */
static inline void work_out(parted *t)
{
    const int64_t p = t->rest, q = t->size;
    exact *a11 = room(p * p, sizeof(exact)), *x = room(p * (p + q), sizeof(exact));
    for (int64_t j = 0; j < p; j++) {
        for (int64_t i = 0; i < p; i++)
            a11[i + j * p] = dense_at(&t->s, t->other[i], t->other[j]);
        x[j + j * p] = 1;
        for (int64_t k = 0; k < q; k++)
            x[j + (p + k) * p] = dense_at(&t->s, t->other[j], t->row[k]);
    }
    t->condition = exact_norm(p, a11);
    t->determinant = exact_solve(p, a11, p + q, x);
    t->condition *= exact_norm(p, x);
    t->largest = t->carried = 0;
    for (int64_t i = 0; i < t->n; i++)
        for (int64_t j = 0; j <= i; j++)
            t->largest = fmaxl(t->largest, cabsl((exact)t->s.a[i][j]));
    for (int64_t i = 0; i < p; i++) {
        long double sum = 0;
        for (int64_t j = 0; j < q; j++)
            sum += cabsl(x[i + (p + j) * p]);
        t->carried = fmaxl(t->carried, sum);
    }
    t->complement = room(q * q, sizeof(exact));
    for (int64_t j = 0; j < q; j++)
        for (int64_t i = 0; i < q; i++) {
            t->complement[i + j * q] = dense_at(&t->s, t->row[i], t->row[j]);
            for (int64_t k = 0; k < p; k++)
                t->complement[i + j * q] -=
                    dense_at(&t->s, t->row[i], t->other[k]) * x[k + (p + j) * p];
        }
    free(a11);
    free(x);
}

static inline libsolver_status factorize(const parted *t, libsolver_options *o,
                                         libsolver_factor **f)
{
    triplets *v = room(1, sizeof *v);
    o->schur_rows = t->row;
    o->schur_size = t->size;
    dense_triplets(&t->s, NULL, v);
    const libsolver_status status = libsolver_factor_matrix(&v->view, o, f);
    free(v);
    return status;
}

/* What a well-made S may be off by: A11 + dA11 is factorized with dA11 of some n eps |A| and S
 * changes by X^T dA11 X, X = A11^-1 A12; GROWTH is what the entries may grow by on the way.  */
#define GROWTH 4
static inline long double allowed(const parted *t)
{
    const long double x = 1 + t->carried;
    return GROWTH * t->n * ROUNDING * t->largest * x * x;
}

static inline void check_complement(const parted *t, const libsolver_factor *f)
{
    const int64_t q = t->size;
    scalar *s = room(2 * q * q, sizeof(scalar)), *by_rows = s + q * q;
    libsolver_vectors sv = dense_block(s, q, q), rv = dense_block(by_rows, q, q);
    rv.layout = LIBSOLVER_ROW_MAJOR;
    assert_int_equal(libsolver_schur_complement(f, &sv), LIBSOLVER_OK);
    assert_int_equal(libsolver_schur_complement(f, &rv), LIBSOLVER_OK);
    for (int64_t j = 0; j < q; j++)
        for (int64_t i = 0; i < q; i++) {
            const exact right = t->complement[i + j * q];
            if (!(cabsl(right - s[i + j * q]) <= allowed(t)))
                fail_msg("n %d, size %d: S(%d, %d) is off by %Lg, allowed %Lg", (int)t->n, (int)q,
                         (int)i, (int)j, cabsl(right - s[i + j * q]), allowed(t));
            assert_true(s[i + j * q] == by_rows[i * q + j]);
            assert_true(s[i + j * q] == scalar_mirror(s[j + i * q], t->s.hermitian));
        }
    free(s);
}

static inline int is_in(const parted *t, int64_t row)
{
    for (int64_t k = 0; k < t->size; k++)
        if (t->row[k] == row)
            return 1;
    return 0;
}

/* Condense, solve with S, expand: a solution of A X = B. */
static inline void check_half_solves(const parted *t, const libsolver_factor *f, random_stream *r)
{
    const int64_t n = t->n, q = t->size;
    scalar *b = room(2 * n * COLUMNS, sizeof(scalar)), *x = b + n * COLUMNS;
    exact *s = room(q * q, sizeof(exact)), *y = room(q * COLUMNS, sizeof(exact));
    const libsolver_vectors bv = dense_block(b, n, COLUMNS), xv = dense_block(x, n, COLUMNS);
    libsolver_workspace *w = NULL;
    for (int64_t i = 0; i < n * COLUMNS; i++)
        b[i] = dense_scalar(r);
    /* COLUMNS come in two panels */
    assert_int_equal(libsolver_workspace_create(f, 2, &w), LIBSOLVER_OK);
    assert_int_equal(libsolver_schur_condense(f, w, &bv, &xv), LIBSOLVER_OK);
    memcpy(s, t->complement, sizeof(exact) * (size_t)(q * q));
    for (int64_t c = 0; c < COLUMNS; c++)
        for (int64_t k = 0; k < q; k++)
            y[k + c * q] = x[t->row[k] + c * n];
    exact_solve(q, s, COLUMNS, y);
    int regular = 1;
    for (int64_t i = 0; i < q * COLUMNS; i++)
        regular = regular && cabsl(y[i]) < 1e4L;
    for (int64_t i = 0; i < q * COLUMNS && !regular; i++)
        y[i] = 1; /* S is next to singular: any y will do for the rows of A11 */
    for (int64_t c = 0; c < COLUMNS; c++)
        for (int64_t k = 0; k < q; k++)
            x[t->row[k] + c * n] = (scalar)y[k + c * q];
    assert_int_equal(libsolver_schur_expand(f, w, &xv), LIBSOLVER_OK);
    for (int64_t c = 0; c < COLUMNS; c++) {
        long double size = 1;
        for (int64_t i = 0; i < n; i++)
            size = fmaxl(size, cabsl((exact)x[i + c * n]));
        for (int64_t k = 0; k < q; k++)
            assert_true(x[t->row[k] + c * n] == (scalar)y[k + c * q]); /* as they were given */
        for (int64_t i = 0; i < n; i++) {
            exact rest = b[i + c * n];
            for (int64_t j = 0; j < n; j++)
                rest -= dense_at(&t->s, i, j) * x[j + c * n];
            if (!regular && is_in(t, i))
                continue;
            if (!(cabsl(rest) <= 10 * allowed(t) * size))
                fail_msg("n %d, size %d: residual %Lg in row %d, allowed %Lg", (int)n, (int)q,
                         cabsl(rest), (int)i, 10 * allowed(t) * size);
        }
    }
    libsolver_workspace_free(w);
    free(b);
    free(s);
    free(y);
}

/* Positive eigenvalues of a Hermitian a, n x n by columns, regular; a is destroyed  [Bunch, Parlett
 * 1971]. */
static inline int64_t exact_positive(int64_t n, exact *a)
{
    int64_t positive = 0;
    for (int64_t p = 0, pivots; p < n; p += pivots) {
        int64_t d = p, r = p, c = p;
        for (int64_t j = p; j < n; j++) {
            d = cabsl(a[j + j * n]) > cabsl(a[d + d * n]) ? j : d;
            for (int64_t i = j + 1; i < n; i++)
                if (r == c || cabsl(a[i + j * n]) > cabsl(a[r + c * n]))
                    r = i, c = j;
        }
        pivots = r == c || cabsl(a[d + d * n]) >= 0.64L * cabsl(a[r + c * n]) ? 1 : 2;
        const int64_t from[2] = {pivots == 1 ? d : c, r}; /* r > c >= p: the first swap does not
                                                             move it */
        for (int64_t k = 0; k < pivots; k++)
            for (int64_t i = 0; i < 2 * n; i++) {
                exact *x = i < n ? a + i + (p + k) * n : a + p + k + (i - n) * n;
                exact *y = i < n ? a + i + from[k] * n : a + from[k] + (i - n) * n, t = *x;
                *x = *y, *y = t;
            }
        const exact a0 = a[p + p * n], b = pivots == 2 ? a[p + 1 + p * n] : 0,
                    a1 = pivots == 2 ? a[p + 1 + (p + 1) * n] : 1;
        const exact det = a0 * a1 - b * conjl(b); /* < 0 for a pair: one of each sign */
        positive += pivots == 2 ? 1 : creall(a0) > 0;
        for (int64_t j = p + pivots; j < n; j++) {
            const exact x = conjl(a[j + p * n]), y = pivots == 2 ? conjl(a[j + (p + 1) * n]) : 0;
            const exact u = (a1 * x - conjl(b) * y) / det, v = (a0 * y - b * x) / det;
            for (int64_t i = j; i < n; i++) {
                const exact left =
                    a[i + j * n] - a[i + p * n] * u - (pivots == 2 ? a[i + (p + 1) * n] * v : 0);
                /* errors of the other parts would grow from step to step */
                a[i + j * n] = i == j ? creall(left) : left;
                a[j + i * n] = conjl(a[i + j * n]);
            }
        }
    }
    return positive;
}

static inline void check_counts(const parted *t, const libsolver_factor *f)
{
    libsolver_determinant_info d;
    libsolver_inertia_counts counts;
    const long double slack = 20.0L * (long double)t->n * EPS * (1 + t->condition),
                      size = cabsl(t->determinant);
    assert_int_equal(libsolver_determinant(f, &d), LIBSOLVER_OK);
    if (!(fabsl(d.log_abs - logl(size)) <= slack + 1e-13L))
        fail_msg("n %d, size %d: log |det| %g, found %g", (int)t->n, (int)t->size,
                 (double)logl(size), d.log_abs);
    if (t->s.hermitian || !SCALAR_COMPLEX) {
        assert_int_equal(libsolver_inertia(f, &counts), LIBSOLVER_OK);
        assert_int_equal(counts.positive + counts.negative + counts.zero, t->rest);
        assert_true((counts.negative % 2 ? -1 : 1) * creall(t->determinant) > 0);
        if (!counts.certain)
            return;
        exact *a11 = room(t->rest * t->rest, sizeof(exact));
        for (int64_t j = 0; j < t->rest; j++)
            for (int64_t i = 0; i < t->rest; i++)
                a11[i + j * t->rest] = dense_at(&t->s, t->other[i], t->other[j]);
        const int64_t positive = exact_positive(t->rest, a11);
        free(a11);
        if (counts.positive != positive || counts.zero != 0)
            fail_msg("n %d, size %d: %d positive, %d negative, %d zero pivots, but %d positive "
                     "eigenvalues",
                     (int)t->n, (int)t->size, (int)counts.positive, (int)counts.negative,
                     (int)counts.zero, (int)positive);
    }
}

/* All of that. */
static inline void check_part(const parted *t, const libsolver_factor *f, random_stream *r)
{
    check_complement(t, f);
    check_half_solves(t, f, r);
    check_counts(t, f);
}

#endif
