/* test/sweeps/test_oracle.c: the oracle of the sweeps on matrices whose answers are known by
 * construction
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "oracle.h"
#include "random.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>

static void check_signs(const oracle_matrix *a, int positive, int negative, int zero)
{
    const oracle_signs s = oracle_inertia(a);
    if (!s.decided || s.positive != positive || s.negative != negative || s.zero != zero)
        fail_msg("n = %d: %d %d %d, decided %d; expected %d %d %d", a->n, s.positive, s.negative,
                 s.zero, s.decided, positive, negative, zero);
}

/* A = B diag(d) B^H with small integers, B unit lower triangular and its rows shuffled: exact. */
static oracle_matrix congruent(random_stream *r, int n, int is_complex, int is_hermitian,
                               const int *d)
{
    oracle_matrix a = oracle_matrix_new(n, is_complex, is_hermitian);
    int *b = calloc(2 * (size_t)n * (size_t)n + 1, sizeof *b);
    int32_t row[64];
    random_permutation(r, n, row);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            b[2 * (i + j * n)] = i == j                             ? 1
                                 : j < i && random_below(r, 3) == 0 ? random_below(r, 5) - 2
                                                                    : 0;
            b[2 * (i + j * n) + 1] = is_complex && j < i ? random_below(r, 3) - 1 : 0;
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double re = 0, im = 0;
            for (int k = 0; k < n; k++) {
                const double x = b[2 * (i + k * n)], y = b[2 * (i + k * n) + 1],
                             u = b[2 * (j + k * n)];
                const double v = is_hermitian ? -b[2 * (j + k * n) + 1] : b[2 * (j + k * n) + 1];
                re += d[k] * (x * u - y * v);
                im += d[k] * (x * v + y * u);
            }
            a.entry[row[i] + row[j] * n] = (quad_complex){re, im};
        }
    free(b);
    return a;
}

static void signs_survive_congruences(void **state)
{
    (void)state;
    random_stream r = random_seeded(1);
    for (int round = 0; round < 300; round++) {
        const int n = 1 + random_below(&r, 25), is_complex = round % 2;
        int d[64], count[3] = {0};
        for (int k = 0; k < n; k++) {
            d[k] = random_below(&r, 3) - 1;
            count[d[k] + 1]++;
        }
        oracle_matrix a = congruent(&r, n, is_complex, 1, d);
        assert_int_equal(oracle_rank(&a), n - count[1]);
        check_signs(&a, count[2], count[0], count[1]);
        for (int j = 0; j < n; j++) /* badly scaled */
            for (int i = 0; i < n; i++) {
                a.entry[i + j * n].re *=
                    (quad)ldexp(1, (i * 37 + 11) % 400) * (quad)ldexp(1, (j * 37 + 11) % 400);
                a.entry[i + j * n].im *=
                    (quad)ldexp(1, (i * 37 + 11) % 400) * (quad)ldexp(1, (j * 37 + 11) % 400);
            }
        check_signs(&a, count[2], count[0], count[1]);
        oracle_matrix_free(&a);
    }
}

/* Hilbert's matrix, rounded to double precision: no longer definite from order 14 on. */
static void rounded_hilbert_matrices_are_what_they_are(void **state)
{
    (void)state;
    static const int expected[][3] = {{5, 5, 0}, {12, 12, 0}, {40, 29, 11}};
    for (int k = 0; k < 3; k++) {
        const int n = expected[k][0];
        oracle_matrix a = oracle_matrix_new(n, 0, 0);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                a.entry[i + j * n].re = 1 / (double)(i + j + 1);
        check_signs(&a, expected[k][1], expected[k][2], 0);
        oracle_matrix_free(&a);
    }
}

/* What decides is the last bit of 113, or cannot be told: then it is said. */
static void a_sign_in_the_last_bit_is_not_made_up(void **state)
{
    (void)state;
    oracle_matrix a = oracle_matrix_new(2, 0, 0);
    for (int k = 0; k < 4; k++)
        a.entry[k].re = 1;
    check_signs(&a, 1, 0, 1);
    a.entry[3].re -= (quad)0x1p-70;
    check_signs(&a, 1, 1, 0);
    a.entry[3].re = 1 + (quad)0x1p-110;
    const oracle_signs s = oracle_inertia(&a);
    assert_true(s.zero == 0 && (!s.decided || s.positive == 2));
    oracle_matrix_free(&a);
}

/* diag(4, -4, 1/4, ...) has scaled eigenvalues 1 and -1; with a small number between two rows
 * others. */
static void signs_beyond_a_margin(void **state)
{
    (void)state;
    oracle_matrix a = oracle_matrix_new(4, 0, 0);
    a.entry[0].re = 4, a.entry[5].re = -16;
    /* about 2 and -2^-21 */
    a.entry[10].re = a.entry[11].re = a.entry[14].re = 1, a.entry[15].re = 1 - 0x1p-20;
    oracle_factor *f = oracle_factorize(&a);
    const oracle_signs all = oracle_signs_beyond(f, &a, 0x1p-23),
                       large = oracle_signs_beyond(f, &a, 0x1p-19);
    assert_true(all.decided && all.positive == 2 && all.negative == 2 && all.zero == 0);
    assert_true(large.decided && large.positive == 2 && large.negative == 1 && large.zero == 1);
    oracle_factor_free(f);
    oracle_matrix_free(&a);
}

static quad_complex random_number(random_stream *r, int is_complex)
{
    const double re = random_real(r), im = random_real(r);
    return (quad_complex){re, is_complex ? im : 0};
}

static void solutions_determinants_and_conditions(void **state)
{
    (void)state;
    random_stream r = random_seeded(2);
    for (int round = 0; round < 200; round++) {
        const int n = 1 + random_below(&r, 20), is_complex = round % 3 > 0,
                  is_hermitian = round % 3 == 1;
        int d[64];
        double log_abs, re, im, expected = 1;
        for (int k = 0; k < n; k++) {
            d[k] = (random_below(&r, 2) ? 1 : -1) * (1 + random_below(&r, 3));
            expected *= d[k];
        }
        oracle_matrix a = congruent(&r, n, is_complex, is_hermitian, d);
        oracle_factor *f = oracle_factorize(&a);
        assert_true(oracle_factor_signs(f).decided);
        quad_complex x[64], b[64];
        for (int i = 0; i < n; i++) {
            x[i] = random_number(&r, is_complex);
            b[i] = (quad_complex){0, 0};
        }
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++) {
                const quad_complex v = a.entry[i + j * n];
                b[i].re += v.re * x[j].re - v.im * x[j].im;
                b[i].im += v.re * x[j].im + v.im * x[j].re;
            }
        assert_true(oracle_backward_error(&a, x, b, DBL_EPSILON).most < 1e-31);
        oracle_solve(f, &a, b);
        double most = 0;
        for (int i = 0; i < n; i++)
            most = fmax(most, quad_abs((quad_complex){b[i].re - x[i].re, b[i].im - x[i].im}));
        const double condition = oracle_condition(f, &a, NULL);
        oracle_determinant(f, &log_abs, &re, &im);
        if (!(most <= 1e-30 * condition) || !(fabs(log_abs - log(fabs(expected))) < 1e-12 * n) ||
            !(fabs(re - (expected > 0 ? 1 : -1)) + fabs(im) < 1e-12))
            fail_msg("round %d, n = %d: error %g, condition %g, determinant %g %g exp(%.17g), "
                     "expected %g",
                     round, n, most, condition, re, im, log_abs, expected);
        oracle_factor_free(f);
        oracle_matrix_free(&a);
    }
}

/* [3 1; 1 2] + i [0 1; -1 0]: inverse (1/4) [2 -1-i; -1+i 3] */
static void a_condition_by_hand(void **state)
{
    (void)state;
    oracle_matrix a = oracle_matrix_new(2, 1, 1);
    a.entry[0] = (quad_complex){3, 0}, a.entry[3] = (quad_complex){2, 0};
    a.entry[1] = (quad_complex){1, -1}, a.entry[2] = (quad_complex){1, 1};
    oracle_factor *f = oracle_factorize(&a);
    const double condition = oracle_condition(f, &a, NULL),
                 expected = (3 + sqrt(2.)) * (3 + sqrt(2.)) / 4;
    const double s[2] = {2, 0.5}; /* [12 1; 1 0.5]: inverse (1/4) [0.5 -1; -1 12] */
    const double scaled = oracle_condition(f, &a, s),
                 expected_scaled = (12 + sqrt(2.)) * (12 + sqrt(2.)) / 4;
    if (!(fabs(condition - expected) < 1e-12) || !(fabs(scaled - expected_scaled) < 1e-12))
        fail_msg("condition %.17g, expected %.17g; scaled %.17g, expected %.17g", condition,
                 expected, scaled, expected_scaled);
    oracle_factor_free(f);
    oracle_matrix_free(&a);
}

/* [a b; b 0], a small: the inverse is [0 1/b; 1/b -a/b^2], whose 0 is scaled by as much as the
 * others. */
static void a_condition_far_from_scaled(void **state)
{
    (void)state;
    for (int is_complex = 0; is_complex < 2; is_complex++) {
        const double b = 6.0319082176695371e-17;
        oracle_matrix a = oracle_matrix_new(3, is_complex, 0);
        a.entry[0] = (quad_complex){1.0991909290952865e-44, 0};
        a.entry[1] = a.entry[3] = (quad_complex){is_complex ? 0 : b, is_complex ? b : 0};
        a.entry[8] = (quad_complex){0x1p-50, 0};
        oracle_factor *f = oracle_factorize(&a);
        const double condition = oracle_condition(f, &a, NULL), expected = 0x1p-50 / b;
        if (!(fabs(condition / expected - 1) < 1e-12))
            fail_msg("condition %.17g, expected %.17g", condition, expected);
        oracle_factor_free(f);
        oracle_matrix_free(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(signs_survive_congruences, print_last_seed),
        cmocka_unit_test(rounded_hilbert_matrices_are_what_they_are),
        cmocka_unit_test(a_sign_in_the_last_bit_is_not_made_up),
        cmocka_unit_test(signs_beyond_a_margin),
        cmocka_unit_test_teardown(solutions_determinants_and_conditions, print_last_seed),
        cmocka_unit_test(a_condition_by_hand),
        cmocka_unit_test(a_condition_far_from_scaled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
