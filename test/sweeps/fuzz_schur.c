/* test/sweeps/fuzz_schur.c: Schur complements, and solves around them
 * SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz_checks.h"
#include <float.h>
#include <math.h>

static void random_block(fuzz_session *s, fuzz_block *b)
{
    for (int j = 0; j < b->vectors.columns; j++)
        for (int i = 0; i < b->vectors.rows; i++) {
            const double re = random_real(&s->r), im = random_real(&s->r);
            block_set(b, i, j, re, im);
        }
}

/* Solves with the complement that was returned, by the oracle. */
static int solve_complement(fuzz_session *s, const fuzz_block *complement, fuzz_block *x)
{
    const int size = (int)s->options.schur_size;
    oracle_matrix a = oracle_matrix_new(size, s->whole.is_complex, s->whole.is_hermitian);
    quad_complex v[64];
    for (int j = 0; j < size; j++)
        for (int i = j; i < size; i++) {
            quad_complex e = block_get(complement, i, j);
            if (i == j && s->factored.is_hermitian)
                e.im = 0;
            a.entry[i + j * size] = e;
            a.entry[j + i * size] = (quad_complex){e.re, s->factored.is_hermitian ? -e.im : e.im};
        }
    oracle_factor *f = oracle_factorize(&a);
    const oracle_signs signs = oracle_factor_signs(f);
    double scaling[64];
    oracle_scaling(f, scaling);
    const int good = signs.decided && signs.zero == 0 &&
                     1e4 * size * system_eps(&s->factored) * oracle_condition(f, &a, scaling) < 1;
    for (int j = 0; j < x->vectors.columns && good; j++) {
        for (int i = 0; i < size; i++)
            v[i] = block_get(x, s->schur_rows[i], j);
        oracle_solve(f, &a, v);
        for (int i = 0; i < size; i++)
            block_set(x, s->schur_rows[i], j, (double)v[i].re, (double)v[i].im);
    }
    oracle_factor_free(f);
    oracle_matrix_free(&a);
    return good;
}

/* S x = A22 x - A21 A11^-1 A12 x for unit vectors x */
static void check_complement(fuzz_session *s, const fuzz_block *complement)
{
    const int n = s->factored.n, size = (int)s->options.schur_size, m = n - size;
    int kept[64] = {0}, rows[64], k = 0;
    double scaling[64], all[64];
    for (int i = 0; i < size; i++)
        kept[s->schur_rows[i]] = 1;
    for (int i = 0; i < n; i++)
        if (!kept[i])
            rows[k++] = i;
    oracle_factor *whole = oracle_factorize(&s->whole);
    oracle_scaling(whole, all);
    oracle_factor_free(whole);
    for (int i = 0; i < m; i++)
        scaling[i] = all[rows[i]];
    const double condition = oracle_condition(s->truth, &s->eliminated, scaling);
    for (int j = 0; j < size; j++) {
        quad_complex v[64], w[64];
        double norm = 0, column = 0;
        for (int i = 0; i < m; i++) {
            v[i] = w[i] = s->whole.entry[rows[i] + s->schur_rows[j] * n];
            column = fmax(column, quad_abs(v[i]) * all[rows[i]] * all[s->schur_rows[j]]);
        }
        oracle_solve(s->truth, &s->eliminated, v);
        for (int i = 0; i < m; i++)
            norm = fmax(norm, quad_abs(v[i]) / scaling[i] * all[s->schur_rows[j]]);
        for (int i = 0; i < size; i++) {
            quad_complex e = s->whole.entry[s->schur_rows[i] + s->schur_rows[j] * n];
            double most = quad_abs(e) * all[s->schur_rows[i]] * all[s->schur_rows[j]], row = 0;
            for (int p = 0; p < m; p++) {
                const quad_complex a = s->whole.entry[s->schur_rows[i] + rows[p] * n];
                row += quad_abs(a) * all[rows[p]] * all[s->schur_rows[i]];
                e.re -= a.re * v[p].re - a.im * v[p].im;
                e.im -= a.re * v[p].im + a.im * v[p].re;
            }
            most += row * norm;
            const quad_complex got = block_get(complement, i, j);
            /* what lies beyond the range of the type is infinite, or NaN after a difference of two
             * such */
            const double most_number = s->factored.is_single ? FLT_MAX : DBL_MAX;
            const int is_finite = isfinite((double)got.re) && isfinite((double)got.im);
            if (!is_finite && !(quad_abs(e) < most_number / 2))
                continue;
            const double error = quad_abs((quad_complex){got.re - e.re, got.im - e.im}) *
                                 all[s->schur_rows[i]] * all[s->schur_rows[j]];
            if (!(error <=
                  1000 * (n + 1) * system_eps(&s->factored) * (1 + condition) * (most + column))) {
                session_fail(s, "Schur complement",
                             "entry (%d, %d): %.10g, true %.10g, condition %.3g", i, j,
                             (double)got.re, (double)e.re, condition);
                return;
            }
        }
    }
}

/* b - A x beside the terms of its rows and of those of the complement, which pivots that were not
 * free to choose can make large. */
static void check_whole_solution(fuzz_session *s, const fuzz_block *complement, const fuzz_block *b,
                                 const fuzz_block *x)
{
    const int n = s->factored.n;
    for (int j = 0; j < b->vectors.columns; j++) {
        double most = 0, residual = 0;
        for (int i = 0; i < n; i++) {
            quad_complex r = block_get(b, i, j);
            double sum = quad_abs(r);
            for (int k = 0; k < n; k++) {
                const quad_complex a = s->whole.entry[i + k * n], v = block_get(x, k, j);
                r.re -= a.re * v.re - a.im * v.im;
                r.im -= a.re * v.im + a.im * v.re;
                sum += quad_abs(a) * quad_abs(v);
            }
            most = fmax(most, sum);
            residual = fmax(residual, quad_abs(r));
        }
        for (int i = 0; i < s->options.schur_size; i++) {
            double sum = 0;
            for (int k = 0; k < s->options.schur_size; k++)
                sum += quad_abs(block_get(complement, i, k)) *
                       quad_abs(block_get(x, s->schur_rows[k], j));
            most = fmax(most, sum);
        }
        if (!(residual <= 1e4 * n * system_eps(&s->factored) * true_condition(s) * most))
            session_fail(s, "a solution by condense and expand", "residual %.3g, terms %.3g",
                         residual, most);
    }
}

void check_schur(fuzz_session *s)
{
    const int n = s->factored.n, size = (int)s->options.schur_size,
              columns = 1 + random_below(&s->r, 3);
    fuzz_block complement = block_random(&s->r, &s->factored, size, size),
               b = block_random(&s->r, &s->factored, n, columns);
    random_block(s, &b);
    fuzz_block x = block_copy(&b);
    const libsolver_status first = libsolver_schur_complement(s->factor, &complement.vectors);
    const libsolver_status second =
        libsolver_schur_condense(s->factor, NULL, &b.vectors, &x.vectors);
    session_digest(s, complement.vectors.values,
                   (size_t)complement.count * scalar_bytes(s->factored.type));
    session_digest(s, x.vectors.values, (size_t)x.count * scalar_bytes(s->factored.type));
    if (first != s->status || second != s->status)
        session_fail(s, "status of a Schur complement", "%s, condense %s, factorize %s",
                     libsolver_status_name(first), libsolver_status_name(second),
                     libsolver_status_name(s->status));
    if (!block_is_sound(&complement) || !block_is_sound(&x))
        session_fail(s, "written outside of a block", "Schur complement");
    if (s->checking && first == LIBSOLVER_OK && second == LIBSOLVER_OK &&
        1e4 * n * system_eps(&s->factored) * true_condition(s) < 1) {
        check_complement(s, &complement);
        if (solve_complement(s, &complement, &x) &&
            libsolver_schur_expand(s->factor, NULL, &x.vectors) == LIBSOLVER_OK) {
            check_whole_solution(s, &complement, &b, &x);
        }
    }
    block_free(&complement);
    block_free(&b);
    block_free(&x);
}
