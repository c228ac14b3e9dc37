/* test/dense/test_front_ldlt.c: LDL^T of the candidates of a front, against plain loops
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "ldlt_front.h"
#include "dense/cpu/front_kernels.h"
#include <stdlib.h>
#include <string.h>

static const double threshold[] = {0.01, 0.1, 0.5, 1e-8};

static void check_random(random_stream *r, int m, int k, int kind, int plain)
{
    ldlt_front f = front_random(r, m, k, kind);
    f.u = threshold[random_below(r, 4)];
    f.plain = plain;
    front_run(&f);
    front_check(&f, front_limit(&f));
    front_free(&f);
}

static void fronts_of_all_small_sizes_become_l_d_lt(void **state)
{
    (void)state;
    for (int m = 0; m <= 40; m++)
        for (int k = 0; k <= m; k++)
            for (int kind = 0; kind < FRONT_KINDS; kind++) {
                random_stream r = random_seeded((uint64_t)((m * 100 + k) * 100 + kind));
                check_random(&r, m, k, kind, 0);
            }
}

static void fronts_at_block_borders_become_l_d_lt(void **state)
{
    (void)state;
    static const int size[] = {33, 63, 64, 65, 97, 127, 128, 129, 130, 257, 300};
    for (int a = 0; a < 11; a++)
        for (int kind = 0; kind < FRONT_KINDS; kind++) {
            random_stream r = random_seeded((uint64_t)(a * 100 + kind));
            const int m = size[a], k = kind % 3 == 0   ? m
                                       : kind % 3 == 1 ? size[random_below(&r, a + 1)]
                                                       : m / 2;
            check_random(&r, m, k, kind, 0);
        }
}

static void threshold_pivoting_alone_gives_l_d_lt(void **state)
{
    (void)state;
    for (int m = 0; m <= 24; m++)
        for (int k = 0; k <= m; k++)
            for (int kind = 0; kind < FRONT_KINDS; kind++) {
                random_stream r = random_seeded((uint64_t)((m * 100 + k) * 100 + kind));
                check_random(&r, m, k, kind, 1);
            }
}

static void candidates_without_a_stable_pivot_are_delayed(void **state)
{
    (void)state;
    static const int size[] = {1, 2, 5, 31, 32, 33, 64, 65, 130};
    for (int s = 0; s < 9; s++) {
        random_stream r = random_seeded((uint64_t)s);
        const int k = size[s], m = k + 1 + random_below(&r, 20);
        ldlt_front f = front_random(&r, m, k, 8);
        front_run(&f);
        assert_int_equal(f.report.eliminated, 0);
        front_check(&f, front_limit(&f));
        front_free(&f);

        /* good pivots in even columns, coupled to the others, which have none: their diagonal stays
           tiny against the rows below */
        f = front_random(&r, m, k, 7);
        for (int j = 0; j < k; j++)
            for (int i = j; i < m; i++)
                *front_at(&f, i, j) = i == j   ? (j % 2 ? 1e-6 : k)
                                      : i >= k ? (j % 2 ? 1e3 : 1) * (1 + random_real(&r) / 2)
                                      : j % 2  ? 1e-6 * random_real(&r)
                                      : i % 2  ? 1e-3 * random_real(&r)
                                               : random_real(&r);
        front_run(&f);
        assert_int_equal(f.report.eliminated, (k + 1) / 2);
        assert_int_equal(f.report.positive, (k + 1) / 2);
        for (int i = 0; i < f.k; i++)
            assert_int_equal((f.index[i] - NAME_OF_ROW) % 2, i >= f.report.eliminated);
        front_check(&f, front_limit(&f));
        front_free(&f);
    }
}

static void a_candidate_refused_at_first_is_taken_when_others_have_changed_it(void **state)
{
    (void)state;
    /* neither alone can be a pivot, both together are one */
    ldlt_front f = front_new(3, 2);
    *front_at(&f, 0, 0) = *front_at(&f, 1, 1) = 1e-6;
    *front_at(&f, 1, 0) = 1;
    *front_at(&f, 2, 0) = 50;
    *front_at(&f, 2, 1) = 60;
    front_run(&f);
    assert_int_equal(f.report.eliminated, 2);
    assert_int_equal(f.report.two_by_two, 1);
    front_check(&f, 100);
    front_free(&f);
    /* 40 columns, so two blocks: column 0 finds no partner in the first, nor column 39 in the
       second, where it would leave |l| = 1000; the second pass has them together */
    f = front_random(&(random_stream){3}, 41, 40, 7);
    for (int j = 1; j < 40; j++)
        *front_at(&f, j, j) = 1;
    *front_at(&f, 39, 0) = 1;
    *front_at(&f, 39, 39) = 1e-3;
    *front_at(&f, 40, 0) = 90;
    front_run(&f);
    assert_int_equal(f.report.eliminated, 40);
    front_check(&f, 100);
    front_free(&f);
}

static void a_root_delays_nothing(void **state)
{
    (void)state;
    /* 1 between rows of large magnitude is noise; 0.1 beside it is none, but no pivot either when u
     * = 1/2 */
    static const double assembled[] = {1e40, 1e40, 1e-40, 1e-40};
    ldlt_front f = front_random(&(random_stream){1}, 4, 4, 7);
    f.assembled = assembled;
    f.u = 0.5;
    *front_at(&f, 0, 1) = 1;
    *front_at(&f, 0, 2) = *front_at(&f, 1, 3) = 0.1;
    front_run(&f);
    assert_int_equal(f.report.eliminated, 4);
    assert_int_equal(f.report.two_by_two, 2);
    assert_int_equal(f.report.uncertain, 2);
    front_check(&f, 4);
    front_free(&f);
}

static void pairs_without_diagonal_are_2x2_pivots(void **state)
{
    (void)state;
    for (int pairs = 0; pairs <= 70; pairs++) {
        random_stream r = random_seeded((uint64_t)pairs);
        int32_t where[140];
        random_permutation(&r, 2 * pairs, where);
        ldlt_front f = front_random(&r, 2 * pairs, 2 * pairs, 7);
        for (int i = 0; i < pairs; i++)
            *front_at(&f, where[2 * i], where[2 * i + 1]) = 1 + random_below(&r, 5);
        front_run(&f);
        assert_int_equal(f.report.two_by_two, pairs);
        assert_int_equal(f.report.positive, pairs);
        assert_int_equal(f.report.negative, pairs);
        front_check(&f, 1);
        front_free(&f);
    }
}

static void zero_columns_are_zero_pivots(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        random_stream r = random_seeded(seed);
        const int k = 1 + random_below(&r, 90), m = k + random_below(&r, 10);
        ldlt_front f = front_random(&r, m, k, 0);
        int zero = 0;
        for (int j = 0; j < k; j++)
            if (random_below(&r, 4) == 0) {
                for (int i = 0; i < m; i++)
                    *front_at(&f, i, j) = 0;
                zero++;
            }
        front_run(&f);
        assert_int_equal(f.report.zero, zero);
        assert_true(m > k || f.report.positive + f.report.negative == k - zero);
        front_check(&f, front_limit(&f));
        front_free(&f);
    }
}

/* A = S^T B S with B nonsingular and S repeating some of its rows with factors: as many eigenvalues
 * are zero. */
static void an_inertia_that_is_given_as_certain_is_right(void **state)
{
    (void)state;
    int certain = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        random_stream r = random_seeded(seed);
        const int rank = 1 + random_below(&r, seed < 200 ? 30 : 120), zero = random_below(&r, 10),
                  n = rank + zero;
        int of[160], place[160], positive = 0;
        for (int i = 0; i < n; i++)
            of[i] = i < rank ? i : random_below(&r, rank);
        random_permutation(&r, n, place);
        /* B = M + M^T dominated by its diagonal, whose signs are the inertia */
        double *b = nan_array((int64_t)rank * rank);
        for (int j = 0; j < rank; j++)
            for (int i = j; i < rank; i++)
                b[i + j * rank] = i == j ? (random_below(&r, 2) ? rank : -rank) : random_real(&r);
        for (int j = 0; j < rank; j++)
            positive += b[j + j * rank] > 0;
        ldlt_front f = front_new(n, n);
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++) {
                const int x = of[i] > of[j] ? of[i] : of[j], y = of[i] > of[j] ? of[j] : of[i];
                *front_at(&f, place[i], place[j]) = b[x + y * rank];
            }
        f.u = seed % 2 ? 0.5 : 0.01;
        front_run(&f);
        front_check(&f, front_limit(&f));
        certain += f.report.uncertain == 0;
        if (f.report.uncertain == 0 && (f.report.positive != positive || f.report.zero != zero))
            fail_msg("seed %d: inertia %d %d %d is given as certain, it is %d %d %d", (int)seed,
                     f.report.positive, f.report.negative, f.report.zero, positive, rank - positive,
                     zero);
        free(b);
        front_free(&f);
    }
    assert_in_range(certain, 290, 300);
}

static void pivots_are_zero_up_to_16_eps_and_uncertain_up_to_2_to_the_27(void **state)
{
    (void)state;
    /* [1 1; 1 1 + x EPS] leaves x EPS, which is measured against 2: 1 assembled, 1 subtracted.  Of
       a block the largest entry comes first, which must be the first one for that. */
    static const struct {
        double x;
        int zero, uncertain;
    } known[] = {{0, 1, 0},       {8, 1, 0},          {16, 1, 0},  {17, 0, 1},
                 {0x1p27, 0, 1},  {0x1p27 + 8, 0, 0}, {-16, 1, 0}, {-17, 0, 1},
                 {-0x1p27, 0, 1}, {-0x1p27 - 8, 0, 0}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        for (int plain = known[i].x > 0; plain < 2; plain++) {
            ldlt_front f = front_new(2, 2);
            f.plain = plain;
            *front_at(&f, 0, 0) = *front_at(&f, 1, 0) = 1;
            *front_at(&f, 1, 1) = 1 + known[i].x * EPS;
            front_run(&f);
            assert_int_equal(f.report.zero, known[i].zero);
            assert_int_equal(f.report.uncertain, known[i].uncertain);
            assert_int_equal(f.report.negative, known[i].zero == 0 && known[i].x < 0);
            front_check(&f, 100);
            front_free(&f);
        }
}

static void complete_pivoting_leaves_rounding_errors_only(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        random_stream r = random_seeded(seed);
        const int n = random_below(&r, LDLT_BLOCK + 1), kind = random_below(&r, FRONT_KINDS);
        ldlt_front f = front_random(&r, n, n, kind);
        int order[LDLT_BLOCK];
        f.panel = copy_of(f.a, (int64_t)n * n);
        for (int i = 0; i < n; i++)
            f.magnitude[i] = front_magnitude(&f, i);
        const int ld = ldlt_block_ld(n);
        double b[LDLT_BLOCK * LDLT_BLOCK] = {0};
        for (int j = 0; j < n; j++)
            memcpy(b + j + j * ld, f.panel + j + j * n, sizeof(double) * (size_t)(n - j));
        const int found =
            front_kernels_here_d()->ldlt_block(0, n, LDLT_ZERO, b, order, f.d, f.e, f.magnitude);
        for (int j = 0; j < n; j++)
            memcpy(f.panel + j + j * n, b + j + j * ld, sizeof(double) * (size_t)(n - j));
        for (int i = 0; i < n; i++)
            f.index[i] = NAME_OF_ROW + order[i];
        f.report.smallest = INFINITY;
        f.report.eliminated = found;
        for (int q = 0; q < found; q++) { /* the pivots stand where L has its ones */
            assert_true(f.d[q] == f.panel[q + q * n]);
            f.panel[q + q * n] = 1;
            const int pivots = f.e[q] != 0 ? 2 : 1;
            if (pivots == 2)
                f.panel[q + 1 + (q + 1) * n] = 1;
            ldlt_count_d(0, &f.report, f.d[q], f.e[q], f.d[q + pivots - 1], f.magnitude[q],
                         f.magnitude[q + pivots - 1]);
            q += pivots - 1;
        }
        f.may_delay = 1;
        front_check(&f, 4);
        for (int j = found; j < n; j++) /* what is left is rounding errors */
            for (int i = j; i < n; i++) {
                /* at most the largest entry, which is noise in its place */
                double level = 0;
                for (int row = found; row < n; row++)
                    level = fmax(level, f.magnitude[row]);
                assert_true(fabs(f.panel[i + j * n]) <= LDLT_ZERO * level);
            }
        if (kind == 0)
            assert_int_equal(found, n);
        front_free(&f);
    }
}

static void rows_and_columns_are_swapped(void **state)
{
    (void)state;
    for (int m = 2; m <= 12; m++)
        for (int k = 2; k <= m; k++)
            for (int i = 0; i < k; i++)
                for (int j = i + 1; j < k; j++) {
                    random_stream r = random_seeded((uint64_t)(((m * 20 + k) * 20 + i) * 20 + j));
                    ldlt_front f = front_random(&r, m, k, 0);
                    f.panel = copy_of(f.a, (int64_t)m * k);
                    for (int t = 0; t < m; t++) {
                        f.index[t] = t;
                        f.magnitude[t] = t;
                    }
                    ldlt_swap_d(&(front_candidates){.m = m,
                                                    .panel = f.panel,
                                                    .index = f.index,
                                                    .magnitude = f.magnitude},
                                i, j);
                    for (int t = 0; t < m; t++) {
                        const int from = t == i ? j : t == j ? i : t;
                        assert_int_equal(f.index[t], from);
                        assert_true(f.magnitude[t] == from);
                        for (int c = 0; c < k && c <= t; c++) {
                            const int column = c == i ? j : c == j ? i : c;
                            assert_true(f.panel[t + c * m] == *front_at(&f, from, column));
                        }
                    }
                    front_free(&f);
                }
}

/* A power of two changes exponents only. */
static void pivots_do_not_depend_on_the_unit(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 400; seed++) {
        random_stream r = random_seeded(seed);
        const int k = 1 + random_below(&r, 40), m = k + random_below(&r, 8),
                  power = seed % 2 ? 900 : -900;
        ldlt_front f = front_random(&r, m, k, (int)(seed / 2 % FRONT_KINDS));
        f.plain = seed % 3 == 0;
        front_run(&f);
        double *one = copy_of(f.panel, (int64_t)m * k), *d = copy_of(f.d, k);
        const front_report report = f.report;
        for (int j = 0; j < k; j++)
            for (int i = j; i < m; i++)
                *front_at(&f, i, j) = ldexp(*front_at(&f, i, j), power);
        front_run(&f);
        assert_int_equal(f.report.eliminated, report.eliminated);
        assert_int_equal(f.report.zero, report.zero);
        assert_int_equal(f.report.two_by_two, report.two_by_two);
        assert_int_equal(f.report.uncertain, report.uncertain);
        for (int j = 0; j < report.eliminated; j++) {
            assert_true(f.d[j] == ldexp(d[j], power));
            for (int i = j; i < m; i++)
                assert_true(f.panel[i + j * m] == one[i + j * m]);
        }
        free(one);
        free(d);
        front_free(&f);
    }
}

static void large_fronts_have_the_same_bits_for_any_threads(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind += 3) {
        random_stream r = random_seeded((uint64_t)kind);
        ldlt_front f = front_random(&r, 900, 200, kind);
        assert_true(front_is_large(f.m, LDLT_BLOCK));
        with_threads(1, front_run, &f);
        double *one = copy_of(f.panel, (int64_t)f.m * f.k), *d = copy_of(f.d, f.k),
               *g = copy_of(f.magnitude, f.m);
        const int threads[] = {2, 5}, p = f.report.eliminated;
        for (int t = 0; t < 2; t++) {
            with_threads(threads[t], front_run, &f);
            for (int j = 0; j < f.k; j++)
                assert_memory_equal(f.panel + j + (int64_t)j * f.m, one + j + (int64_t)j * f.m,
                                    (size_t)(f.m - j) * sizeof(double));
            assert_memory_equal(f.d, d, (size_t)p * sizeof(double));
            assert_memory_equal(f.magnitude, g, (size_t)f.m * sizeof(double));
        }
        front_check(&f, front_limit(&f));
        free(one);
        free(d);
        free(g);
        front_free(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(rows_and_columns_are_swapped, print_last_seed),
        cmocka_unit_test_teardown(complete_pivoting_leaves_rounding_errors_only, print_last_seed),
        cmocka_unit_test_teardown(threshold_pivoting_alone_gives_l_d_lt, print_last_seed),
        cmocka_unit_test_teardown(fronts_of_all_small_sizes_become_l_d_lt, print_last_seed),
        cmocka_unit_test_teardown(fronts_at_block_borders_become_l_d_lt, print_last_seed),
        cmocka_unit_test_teardown(candidates_without_a_stable_pivot_are_delayed, print_last_seed),
        cmocka_unit_test(a_candidate_refused_at_first_is_taken_when_others_have_changed_it),
        cmocka_unit_test(a_root_delays_nothing),
        cmocka_unit_test_teardown(pairs_without_diagonal_are_2x2_pivots, print_last_seed),
        cmocka_unit_test_teardown(zero_columns_are_zero_pivots, print_last_seed),
        cmocka_unit_test_teardown(an_inertia_that_is_given_as_certain_is_right, print_last_seed),
        cmocka_unit_test(pivots_are_zero_up_to_16_eps_and_uncertain_up_to_2_to_the_27),
        cmocka_unit_test_teardown(pivots_do_not_depend_on_the_unit, print_last_seed),
        cmocka_unit_test_teardown(large_fronts_have_the_same_bits_for_any_threads, print_last_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
