/* test/api/test_types_singular.c: solutions of singular systems, in one precision (-DPREC_x,
 * -DMIXED with a factor in single), symmetric and Hermitian
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "typed_system.h"

/* Where even a factor in single precision knows that the matrix is singular. */
static int has_empty_row(const dense *s)
{
    for (int64_t i = 0; i < s->n; i++) {
        int empty = 1;
        for (int64_t j = 0; j < s->n; j++)
            empty &= dense_at(s, i, j) == 0;
        if (empty)
            return 1;
    }
    return 0;
}

/* A = V S V^H with small integers, so that A and b = A x are exact; rank 5. */
static void singular_systems_are_solved(void **state)
{
    (void)state;
    const int64_t n = 20, rank = 5;
    for (uint64_t seed = 0; seed < 30; seed++)
        for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++) {
            random_stream r = random_seeded(seed);
            dense *s = random_system(&r, hermitian, n, 1, INDEFINITE);
            exact v[MOST];
            memset(s->a, 0, sizeof s->a);
            for (int64_t q = 0; q < rank; q++) {
                for (int64_t i = 0; i < n; i++)
                    v[i] = (exact)(random_below(&r, 3) - 1) +
                           (SCALAR_COMPLEX ? (real)(random_below(&r, 3) - 1) : 0) * _Complex_I;
                for (int64_t j = 0; j < n; j++)
                    for (int64_t i = j; i < n; i++)
                        s->a[i][j] +=
                            (scalar)(v[i] * exact_mirror(v[j], hermitian) * (q % 2 ? 1 : -1));
            }
            scalar b[MOST], x[MOST];
            for (int64_t i = 0; i < n; i++) {
                exact sum = 0;
                for (int64_t j = 0; j < n; j++)
                    sum += dense_at(s, i, j) *
                           (1 + (SCALAR_COMPLEX ? (exact)_Complex_I : 1) * (long double)(j % 3));
                b[i] = (scalar)sum;
            }
            const libsolver_status wanted = has_empty_row(s) ? LIBSOLVER_SINGULAR : ZERO_PIVOTS;
            const libsolver_options o = with_kind(LIBSOLVER_KIND_AUTO);
            libsolver_factor *f = factor_of(s, &o, wanted);
            const libsolver_vectors bv = dense_block(b, n, 1), xv = dense_block(x, n, 1);
            assert_int_equal(libsolver_solve(f, &bv, &xv), wanted);
            assert_true(dense_backward_error(s, x, b) <= TOLERANCE);
            libsolver_inertia_counts counts;
            if (hermitian || !SCALAR_COMPLEX) {
                assert_int_equal(libsolver_inertia(f, &counts), LIBSOLVER_OK);
                if (ZERO_PIVOTS == LIBSOLVER_SINGULAR)
                    assert_true(counts.zero >= n - rank && counts.positive <= 2 &&
                                counts.negative <= 3);
                else
                    assert_true(counts.zero < n - rank && !counts.certain);
            }
            b[0] += 1000; /* inconsistent */
            const libsolver_status status = libsolver_solve(f, &bv, &xv);
            libsolver_solve_info info;
            libsolver_solve_query(f, NULL, &info);
            const int inaccurate = !(dense_backward_error(s, x, b) <= TOLERANCE);
            /* a perturbed pivot makes x large enough for any b */
            assert_true(inaccurate || ZERO_PIVOTS == LIBSOLVER_PERTURBED);
            assert_int_equal(!!(info.remarks & LIBSOLVER_INACCURATE), inaccurate);
            assert_int_equal(status, wanted == LIBSOLVER_PERTURBED && inaccurate
                                         ? LIBSOLVER_INACCURATE
                                         : wanted);
            libsolver_factor_free(f);
            free(s);
        }
}

/* What makes a system inconsistent is spread over all rows.  A = T L T^H with the Laplacian L of a
 * grid and T diagonal of i^k: one vector spans the null space, all its entries of size 1.  Left in
 * one row, the error in b is 20 times the tolerance. */
static void small_inconsistencies_are_spread(void **state)
{
    (void)state;
    const int64_t side = 10, n = side * side;
    const double tolerance = 1e-4;
    for (uint64_t seed = 0; seed < 8; seed++)
        for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++) {
            random_stream r = random_seeded(seed);
            dense *s = calloc(1, sizeof *s);
            exact turn[MOST];
            scalar b[MOST], x[MOST];
            assert_non_null(s);
            s->n = n;
            s->hermitian = hermitian;
            for (int64_t i = 0; i < n; i++) {
                const int64_t k = random_below(&r, 4);
                turn[i] = (SCALAR_COMPLEX && k % 2 ? _Complex_I : 1) * (exact)(k < 2 ? 1 : -1);
            }
            for (int64_t j = 0; j < n; j++)
                for (int64_t i = j + 1; i < n; i++)
                    if (i - j == side || (i - j == 1 && i % side > 0)) {
                        s->stored[i][j] = s->stored[i][i] = s->stored[j][j] = 1;
                        s->a[i][j] = (scalar)(-turn[i] * exact_mirror(turn[j], hermitian));
                        s->a[i][i] += (scalar)(turn[i] * exact_mirror(turn[i], hermitian));
                        s->a[j][j] += (scalar)(turn[j] * exact_mirror(turn[j], hermitian));
                    }
            for (int64_t i = 0; i < n; i++) {
                exact sum = 0;
                for (int64_t j = 0; j < n; j++)
                    sum += dense_at(s, i, j) * (1 + (exact)(j % 2));
                b[i] = (scalar)sum;
            }
            b[seed] += (scalar)(20 * tolerance * 12);
            libsolver_options o = with_kind(LIBSOLVER_KIND_INDEFINITE);
            o.tolerance = tolerance;
            libsolver_factor *f = factor_of(s, &o, ZERO_PIVOTS);
            const libsolver_vectors bv = dense_block(b, n, 1), xv = dense_block(x, n, 1);
            assert_int_equal(libsolver_solve(f, &bv, &xv), ZERO_PIVOTS);
            libsolver_solve_info info;
            libsolver_solve_query(f, NULL, &info);
            assert_true(info.backward_error_initial > 10 * tolerance ||
                        ZERO_PIVOTS == LIBSOLVER_PERTURBED);
            assert_true(dense_backward_error(s, x, b) <= tolerance);
            libsolver_factor_free(f);
            free(s);
        }
}

int main(void)
{
    if (!backend_is_here())
        return without_a_gpu();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(singular_systems_are_solved),
        cmocka_unit_test(small_inconsistencies_are_spread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
