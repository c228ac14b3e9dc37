/* test/api/test_types_pivots.c: pivots in one precision (-DPREC_x, -DMIXED with a factor in single)
 * that are not chosen freely: expected signs, capped delays
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "systems.h"
#include "typed_dense.h"
#include "typed_factor.h"
#include <stdlib.h>

static libsolver_status factorize(const dense *s, const libsolver_options *o, libsolver_factor **f)
{
    triplets *t = malloc(sizeof *t);
    assert_non_null(t);
    dense_triplets(s, NULL, t);
    const libsolver_status status = libsolver_factor_matrix(&t->view, o, f);
    free(t);
    return status;
}

/* Backward error of a solution, as reported and by plain loops. */
static double solve(libsolver_factor *f, const dense *s, random_stream *r, libsolver_status wanted)
{
    scalar b[MOST], x[MOST];
    const libsolver_vectors bv = dense_block(b, s->n, 1), xv = dense_block(x, s->n, 1);
    libsolver_solve_info info;
    for (int64_t i = 0; i < s->n; i++)
        b[i] = dense_scalar(r);
    const libsolver_status status = libsolver_solve(f, &bv, &xv);
    libsolver_solve_query(f, NULL, &info);
    const double error = dense_backward_error(s, x, b);
    if (status != wanted || !(fabs(error - info.backward_error) <= 1e-3 * error + EPS))
        fail_msg("n %d: %s; backward error %g, reported %g", (int)s->n,
                 libsolver_status_name(status), error, info.backward_error);
    return error;
}

static scalar imaginary_of(scalar a)
{
    return a - scalar_real(a);
}

/* ---- expected signs -------------------------------------------------------------------------- */

/* [H G^H; G -K], H and K dominated by their diagonals; rows of the two kinds mixed as the signs
 * say.  Complex symmetric: G is real, and imaginary parts of the diagonals may be large. */
static dense quasi_definite(random_stream *r, int hermitian, int64_t n, int8_t *sign)
{
    dense s = dense_random(r, hermitian, n, 0.3, 1);
    for (int64_t i = 0; i < n; i++)
        sign[i] = random_below(r, 2) ? 1 : -1;
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j; i < n; i++)
            if (i == j)
                s.a[i][i] = (scalar)(sign[i] * (real)(n + 1)) +
                            (hermitian ? 0 : (real)(i % 3 * n) * imaginary_of(dense_scalar(r)));
            else if (sign[i] != sign[j])
                s.a[i][j] = 64 * (hermitian ? s.a[i][j] : scalar_real(s.a[i][j]));
    return s;
}

static libsolver_options expecting(const int8_t *sign)
{
    libsolver_options o;
    libsolver_options_default(&o);
    o.backend = BACKEND;
    o.mixed = CHOICE;
    o.kind = LIBSOLVER_KIND_QUASI_DEFINITE;
    o.expected_signs = sign;
    return o;
}

/* Complex symmetric matrices have none. */
static int has_inertia(const dense *s, libsolver_factor *f, libsolver_inertia_counts *counts)
{
    const int has = !SCALAR_COMPLEX || s->hermitian;
    assert_int_equal(libsolver_inertia(f, counts), has ? LIBSOLVER_OK : LIBSOLVER_INVALID);
    return has;
}

/* Factors whose pivots are as they were made are the device's, if there is one. */
static void check_place(const libsolver_factor_info *info, int is_put_right)
{
    assert_int_equal(info->backend_factorize,
                     is_put_right || CHOICE != LIBSOLVER_OFF ? LIBSOLVER_BACKEND_CPU : BACKEND);
}

static void quasi_definite_matrices_need_no_pivoting(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++)
        for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++) {
            random_stream r = random_seeded(seed);
            const int64_t n = 1 + random_below(&r, 70);
            int8_t sign[MOST];
            const dense s = quasi_definite(&r, hermitian, n, sign);
            libsolver_options o = expecting(sign);
            o.ordering = seed % 2 ? LIBSOLVER_ORDERING_AUTO : LIBSOLVER_ORDERING_NATURAL;
            o.matching = (libsolver_choice)(seed % 3);
            libsolver_factor *f = NULL;
            libsolver_factor_info info;
            libsolver_inertia_counts counts;
            scalar d[MOST], e[MOST];
            int64_t order[MOST], entries, positive = 0;
            assert_int_equal(factorize(&s, &o, &f), LIBSOLVER_OK);
            libsolver_info(f, &info);
            assert_int_equal(info.kind, LIBSOLVER_KIND_QUASI_DEFINITE);
            assert_int_equal(info.two_by_two + info.delayed + info.perturbed, 0);
            check_place(&info, o.matching == LIBSOLVER_ON);
            assert_int_equal(libsolver_get_factor_d(f, d, e), LIBSOLVER_OK);
            assert_int_equal(libsolver_get_factor_l(f, &entries, NULL, NULL, NULL, order),
                             LIBSOLVER_OK);
            for (int64_t k = 0; k < n; k++) {
                assert_true(sign[order[k]] * scalar_real(d[k]) > 0 && e[k] == 0);
                positive += sign[k] > 0;
            }
            if (has_inertia(&s, f, &counts))
                assert_true(counts.positive == positive && counts.negative == n - positive &&
                            counts.certain);
            assert_true(solve(f, &s, &r, LIBSOLVER_OK) <= TOLERANCE);
            libsolver_factor_free(f);
        }
}

/* A zero block that is eliminated first: each of its pivots is rounding error.  [0 I; I H] */
static void tiny_pivots_are_perturbed_and_refined_away(void **state)
{
    (void)state;
    for (int64_t half = 1; half < MOST / 2 - 1; half += 11)
        for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++) {
            random_stream r = random_seeded((uint64_t)half);
            int8_t sign[MOST];
            dense s = {.hermitian = hermitian, .n = 2 * half};
            for (int64_t i = 0; i < half; i++) {
                s.a[half + i][i] = 1;
                s.a[half + i][half + i] = 2;
                sign[i] = -1;
                sign[half + i] = 1;
            }
            libsolver_options o = expecting(sign);
            o.ordering = LIBSOLVER_ORDERING_NATURAL;
            libsolver_factor *f = NULL;
            libsolver_factor_info info;
            libsolver_inertia_counts counts;
            assert_int_equal(factorize(&s, &o, &f), LIBSOLVER_PERTURBED);
            libsolver_info(f, &info);
            assert_int_equal(info.perturbed, half);
            if (has_inertia(&s, f, &counts))
                assert_true(counts.positive == half && counts.negative == half && !counts.certain);
            assert_true(solve(f, &s, &r, LIBSOLVER_PERTURBED) <= TOLERANCE);
            libsolver_factor_free(f);
        }
}

/* A pivot of the wrong sign is turned, which is told.  Plain refinement with such a factor
 * diverges, FGMRES comes to the solution. */
static void wrong_signs_are_turned_and_told_and_the_answer_is_right(void **state)
{
    (void)state;
    for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++)
        for (int k = 0; k < 10; k++) {
            random_stream r = random_seeded((uint64_t)k);
            int8_t sign[MOST];
            const dense s = quasi_definite(&r, hermitian, 20, sign);
            sign[k] = (int8_t)-sign[k];
            const libsolver_options o = expecting(sign);
            libsolver_factor *f = NULL;
            libsolver_factor_info info;
            libsolver_inertia_counts counts;
            int64_t positive = 0;
            for (int i = 0; i < 20; i++)
                positive += sign[i] > 0;
            assert_int_equal(factorize(&s, &o, &f), LIBSOLVER_PERTURBED);
            libsolver_info(f, &info);
            assert_true(info.perturbed >= 1);
            if (has_inertia(&s, f, &counts))
                assert_true(counts.positive == positive && counts.negative == 20 - positive &&
                            !counts.certain);
            libsolver_solve_info solved;
            const double error = solve(f, &s, &r, LIBSOLVER_PERTURBED);
            libsolver_solve_query(f, NULL, &solved);
            if (!(error <= TOLERANCE && solved.backward_error_initial > 1e-3))
                fail_msg("sign %d: backward error %g after %d steps, at first %g", k, error,
                         solved.steps, solved.backward_error_initial);
            libsolver_factor_free(f);
        }
}

#if SCALAR_COMPLEX
/* A = i C, C definite: the real parts of pivots are rounding errors, whatever sign is expected; one
 * that is more than that is turned. */
static void real_parts_lost_beside_imaginary_ones_have_no_sign(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 30; seed++)
        for (int is_turned = 0; is_turned < 2; is_turned++) {
            random_stream r = random_seeded(seed);
            const int64_t n = 1 + random_below(&r, 70), k = random_below(&r, (int32_t)n);
            int8_t sign[MOST];
            dense s = dense_random(&r, 0, n, 0.3, 1);
            for (int64_t j = 0; j < n; j++)
                for (int64_t i = j; i < n; i++)
                    s.a[i][j] = scalar_of(0, i == j ? (double)(n + 1) : (double)creal(s.a[i][j]));
            for (int64_t i = 0; i < n; i++)
                sign[i] = random_below(&r, 2) ? 1 : -1;
            for (int64_t i = 0; i < n; i++) /* against the sign, but rounding errors */
                s.a[i][i] -= (real)sign[i] * EPS * (real)n;
            s.a[k][k] -= (real)(is_turned * sign[k]) / 1024;
            const libsolver_options o = expecting(sign);
            libsolver_factor *f = NULL;
            libsolver_factor_info info;
            const libsolver_status status = factorize(&s, &o, &f);
            libsolver_info(f, &info);
            assert_int_equal(status, is_turned ? LIBSOLVER_PERTURBED : LIBSOLVER_OK);
            assert_int_equal(info.perturbed > 0, is_turned);
            check_place(&info, is_turned);
            assert_true(solve(f, &s, &r, status) <= TOLERANCE);
            libsolver_factor_free(f);
        }
}

/* Without signs pivots may be anything but rounding errors: a diagonal of every direction that
 * dominates, and a zero block that is eliminated first, [0 I; I H]. */
static void without_signs_only_rounding_errors_are_put_right(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        random_stream r = random_seeded(seed);
        const int64_t n = 2 * (1 + random_below(&r, 40));
        const int is_tiny = seed % 2;
        dense s = dense_random(&r, 0, n, 0.3, 1);
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = j; i < n; i++)
                if (i == j)
                    s.a[i][i] = (real)(2 * n) * scalar_of(cos((double)i), sin((double)i));
        for (int64_t j = 0; j < n / 2 && is_tiny; j++)
            for (int64_t i = j; i < n; i++)
                s.a[i][j] = i == j + n / 2;
        libsolver_options o = expecting(NULL);
        o.ordering = is_tiny ? LIBSOLVER_ORDERING_NATURAL : LIBSOLVER_ORDERING_AUTO;
        libsolver_factor *f = NULL;
        libsolver_factor_info info;
        const libsolver_status status = factorize(&s, &o, &f);
        libsolver_info(f, &info);
        assert_int_equal(status, is_tiny ? LIBSOLVER_PERTURBED : LIBSOLVER_OK);
        assert_int_equal(info.kind, LIBSOLVER_KIND_QUASI_DEFINITE);
        assert_int_equal(info.perturbed, is_tiny ? n / 2 : 0);
        check_place(&info, is_tiny);
        assert_true(solve(f, &s, &r, status) <= TOLERANCE);
        libsolver_factor_free(f);
    }
}
#endif

static void wrong_options_are_refused(void **state)
{
    (void)state;
    random_stream r = random_seeded(2);
    int8_t sign[MOST];
    const dense s = quasi_definite(&r, SCALAR_COMPLEX, 9, sign);
    libsolver_factor *f = NULL;
    libsolver_options o = expecting(sign);
    sign[8] = 0;
    assert_int_equal(factorize(&s, &o, &f), LIBSOLVER_INVALID);
    assert_non_null(strstr(libsolver_factor_message(f), "expected_signs[8] is 0"));
    libsolver_factor_free(f);
    sign[8] = 1;
    o.expected_signs = NULL;
    assert_int_equal(factorize(&s, &o, &f), LIBSOLVER_INVALID);
    libsolver_factor_free(f);
    o = expecting(sign);
    o.kind = LIBSOLVER_KIND_INDEFINITE;
    assert_int_equal(factorize(&s, &o, &f), LIBSOLVER_INVALID);
    libsolver_factor_free(f);
    o = expecting(sign);
    o.delay_cap = -1;
    assert_int_equal(factorize(&s, &o, &f), LIBSOLVER_INVALID);
    libsolver_factor_free(f);
}

/* ---- capped delays --------------------------------------------------------------------------- */

static void past_the_cap_pivots_are_perturbed_and_the_answer_is_right(void **state)
{
    (void)state;
    int64_t perturbed = 0, capped = 0;
    for (uint64_t seed = 0; seed < 40; seed++)
        for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++) {
            random_stream r = random_seeded(seed);
            const int waiting = 2 + (int)(seed % 4);
            dense s = dense_random(&r, hermitian, MOST, 1, 0);
            dense_keep_cliques(&s, MOST / 4, waiting);
            libsolver_options o = options_in_natural_order(LIBSOLVER_KIND_INDEFINITE);
            o.mixed = CHOICE;
            libsolver_factor *f = NULL;
            libsolver_factor_info free_info, info;
            assert_int_equal(factorize(&s, &o, &f), LIBSOLVER_OK);
            libsolver_info(f, &free_info);
            libsolver_factor_free(f);
            o.delay_cap = 3; /* one of each of three children, or of two */
            assert_int_equal(factorize(&s, &o, &f), LIBSOLVER_PERTURBED);
            libsolver_info(f, &info);
            assert_true(info.perturbed > 0 &&
                        info.perturbed + info.delayed <= free_info.delayed + 2);
            assert_in_range(info.delayed, 2, 3);
            perturbed += info.perturbed;
            capped += free_info.delayed - info.delayed;
            libsolver_inertia_counts counts;
            if (hermitian || !SCALAR_COMPLEX) {
                assert_int_equal(libsolver_inertia(f, &counts), LIBSOLVER_OK);
                assert_int_equal(counts.certain, 0);
                assert_int_equal(counts.positive + counts.negative + counts.zero, s.n);
            }
            assert_true(solve(f, &s, &r, LIBSOLVER_PERTURBED) <= TOLERANCE);
            libsolver_factor_free(f);
            o.matching = LIBSOLVER_AUTO; /* another scaling is tried before the cap is */
            assert_true(factorize(&s, &o, &f) >= 0);
            assert_true(solve(f, &s, &r, libsolver_refactorize_shifted(f, NULL, NULL)) <=
                        TOLERANCE);
            libsolver_factor_free(f);
        }
    assert_true(perturbed > 100 && capped > 100);
}

/* One front that is cut into tiles for tasks, [H G^H; G -K] of order 700. */
static void large_fronts_without_pivoting(void **state)
{
    (void)state;
    const int64_t n = 700;
    int64_t *pointers = malloc(sizeof(int64_t) * (size_t)(n + 1)),
            *rows = malloc(sizeof(int64_t) * (size_t)(n * n)), next = 0;
    scalar *values = malloc(sizeof(scalar) * (size_t)(n * n)),
           *b = malloc(sizeof(scalar) * (size_t)(3 * n)), *x[2];
    int8_t sign[700];
    assert_true(pointers && rows && values && b);
    x[0] = b + n;
    x[1] = b + 2 * n;
    for (int hermitian = SCALAR_COMPLEX; hermitian < SYMMETRIES; hermitian++) {
        random_stream r = random_seeded(8);
        next = 0;
        for (int64_t j = 0; j < n; j++) {
            sign[j] = j % 3 ? 1 : -1;
            b[j] = dense_scalar(&r);
            pointers[j] = next;
            for (int64_t i = j; i < n; i++) {
                const int coupling = i % 3 == 0 ? j % 3 != 0 : j % 3 == 0;
                rows[next] = i;
                values[next++] =
                    i == j ? (scalar)(sign[j] * n) : dense_scalar(&r) * (coupling ? 16 : 1);
            }
        }
        pointers[n] = next;
        const libsolver_matrix a = {.n = n,
                                    .pointers = pointers,
                                    .indices = rows,
                                    .values = values,
                                    .type = SCALAR_TYPE,
                                    .symmetry =
                                        hermitian ? LIBSOLVER_HERMITIAN : LIBSOLVER_SYMMETRIC,
                                    .pointer_type = LIBSOLVER_INT64,
                                    .index_type = LIBSOLVER_INT64};
        for (int k = 0; k < 3; k++) {
            libsolver_options o = expecting(sign);
            libsolver_factor *f = NULL;
            libsolver_solve_info info;
            o.threads = k == 0 ? 1 : 3 * k - 1;
            assert_int_equal(libsolver_factor_matrix(&a, &o, &f), LIBSOLVER_OK);
            const libsolver_vectors bv = dense_block(b, n, 1), xv = dense_block(x[k > 0], n, 1);
            assert_int_equal(libsolver_solve(f, &bv, &xv), LIBSOLVER_OK);
            libsolver_solve_query(f, NULL, &info);
            assert_true(info.backward_error_initial <= 1000 * FACTOR_EPS); /* by the factor alone */
            if (k > 0)
                assert_memory_equal(x[0], x[1], sizeof(scalar) * (size_t)n);
            libsolver_factor_free(f);
        }
        for (int64_t i = 0; i < n; i++) { /* A x = b */
            exact rest = b[i];
            for (int64_t j = 0; j < n; j++) {
                const int64_t low = i > j ? i : j, high = i > j ? j : i;
                const exact entry = values[pointers[high] + low - high];
                rest -= (i >= j ? entry : exact_mirror(entry, hermitian)) * x[0][j];
            }
            assert_true(cabsl(rest) <= 10 * ROUNDING * n);
        }
    }
    free(pointers);
    free(rows);
    free(values);
    free(b);
}

/* Every entry of L, whatever was perturbed, comes out the same. */
static void the_same_bits_for_any_threads(void **state)
{
    (void)state;
    sparse a = sparse_delaying(50);
    const int64_t n = a.n, nnz = a.pointers[n];
    scalar *values = malloc(sizeof(scalar) * (size_t)nnz), *x[2],
           *b = malloc(sizeof(scalar) * (size_t)n);
    int8_t *sign = malloc((size_t)n);
    x[0] = malloc(sizeof(scalar) * (size_t)n);
    x[1] = malloc(sizeof(scalar) * (size_t)n);
    assert_true(values && b && x[0] && x[1] && sign);
    for (int64_t p = 0; p < nnz; p++)
        values[p] = (scalar)a.values[p];
    for (int64_t i = 0; i < n; i++) {
        b[i] = (scalar)(1 + (double)(i % 5));
        sign[i] = i < n / 2 ? -1 : 1;
    }
    libsolver_matrix view = sparse_view(&a);
    view.values = values;
    view.type = SCALAR_TYPE;
    view.symmetry = LIBSOLVER_HERMITIAN;
    for (int mode = 0; mode < 2; mode++)
        for (int k = 0; k < 3; k++) {
            libsolver_options o = expecting(sign);
            if (mode == 0) {
                libsolver_options_default(&o);
                o.backend = BACKEND;
                o.mixed = CHOICE;
                o.kind = LIBSOLVER_KIND_INDEFINITE;
                o.matching = LIBSOLVER_OFF;
                o.delay_cap = 20;
            }
            o.threads = k == 0 ? 1 : 3 * k - 1; /* 1, 2, 5 */
            libsolver_factor *f = NULL;
            libsolver_factor_info info;
            assert_int_equal(libsolver_factor_matrix(&view, &o, &f), LIBSOLVER_PERTURBED);
            libsolver_info(f, &info);
            assert_true(info.perturbed > 0);
            const libsolver_vectors bv = dense_block(b, n, 1), xv = dense_block(x[k > 0], n, 1);
            assert_true(libsolver_solve(f, &bv, &xv) >= 0);
            if (k > 0)
                assert_memory_equal(x[0], x[1], sizeof(scalar) * (size_t)n);
            libsolver_factor_free(f);
        }
    free(values);
    free(b);
    free(x[0]);
    free(x[1]);
    free(sign);
    sparse_free(&a);
}

int main(void)
{
    if (!backend_is_here())
        return without_a_gpu();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quasi_definite_matrices_need_no_pivoting),
        cmocka_unit_test(tiny_pivots_are_perturbed_and_refined_away),
        cmocka_unit_test(wrong_signs_are_turned_and_told_and_the_answer_is_right),
#if SCALAR_COMPLEX
        cmocka_unit_test(real_parts_lost_beside_imaginary_ones_have_no_sign),
        cmocka_unit_test(without_signs_only_rounding_errors_are_put_right),
#endif
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(past_the_cap_pivots_are_perturbed_and_the_answer_is_right),
        cmocka_unit_test(large_fronts_without_pivoting),
        cmocka_unit_test(the_same_bits_for_any_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
