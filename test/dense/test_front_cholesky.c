/* test/dense/test_front_cholesky.c: Cholesky of the pivot columns of a front, against plain loops
 * SPDX-License-Identifier: BSD-3-Clause */
#define PREC_d
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "dense.h"
#include "dense/cpu/front.h"
#include <stdlib.h>
#include <string.h>

/* The first k columns of a positive definite matrix of order m. */
typedef struct front {
    int m, k, done;
    double *a, *panel, *diagonal;
} front;

/* A = G G^T + I, G random lower trapezoid with k columns; A is rounded, which leaves it positive
 * definite. */
static front random_front(random_stream *r, int m, int k)
{
    front f = {m, k, -1, nan_array((int64_t)m * k), NULL, nan_array(k)};
    double *g = random_trapezoid(r, m, k, m);
    for (int j = 0; j < k; j++)
        for (int i = j; i < m; i++) {
            double sum = i == j;
            for (int q = 0; q <= j; q++)
                sum += g[i + (int64_t)q * m] * g[j + (int64_t)q * m];
            f.a[i + (int64_t)j * m] = sum;
        }
    for (int j = 0; j < k; j++)
        f.diagonal[j] = f.a[j + (int64_t)j * m];
    free(g);
    return f;
}

static void run(void *arg)
{
    front *f = arg;
    free(f->panel);
    f->panel = copy_of(f->a, (int64_t)f->m * f->k);
    f->done = front_cholesky_d(f->m, f->k, f->panel, f->diagonal, NULL);
}

static void free_front(front *f)
{
    free(f->a);
    free(f->panel);
    free(f->diagonal);
}

/* |A - L L^T|(i,j) <= (j + 2) u (|L||L^T|)(i,j) with u = EPS / 2 [Higham 2002, theorem 10.3];
 * dividing by multiplication with the inverse costs one rounding more. */
static void check_columns(const front *f, int columns)
{
    const int m = f->m;
    for (int j = 0; j < columns; j++)
        for (int i = j; i < m; i++) {
            long double rest = f->a[i + (int64_t)j * m], scale = 0;
            for (int q = 0; q <= j; q++) {
                const long double product =
                    (long double)f->panel[i + (int64_t)q * m] * f->panel[j + (int64_t)q * m];
                rest -= product;
                scale += fabsl(product);
            }
            if (!(fabsl(rest) <= (j + 4) * (long double)EPS * scale))
                fail_msg("m %d, k %d: (A - L L^T)(%d, %d) is %Lg EPS of |L||L^T|", m, f->k, i, j,
                         fabsl(rest) / ((long double)EPS * scale));
        }
}

static void panels_of_all_small_sizes_become_l_lt(void **state)
{
    (void)state;
    for (int m = 0; m <= 40; m++)
        for (int k = 0; k <= m; k++) {
            random_stream r = random_seeded((uint64_t)(m * 100 + k));
            front f = random_front(&r, m, k);
            run(&f);
            assert_int_equal(f.done, k);
            check_columns(&f, k);
            free_front(&f);
        }
}

static void panels_at_block_borders_become_l_lt(void **state)
{
    (void)state;
    static const int size[] = {63, 64, 65, 95, 96, 97, 127, 128, 129, 130, 257, 300};
    for (int a = 0; a < 12; a++)
        for (int b = 0; b <= a; b++) {
            random_stream r = random_seeded((uint64_t)(a * 100 + b));
            front f = random_front(&r, size[a], size[b]);
            run(&f);
            assert_int_equal(f.done, size[b]);
            check_columns(&f, size[b]);
            free_front(&f);
        }
}

static void the_first_pivot_that_is_not_positive_is_named(void **state)
{
    (void)state;
    static const int size[] = {1, 2, 5, 31, 33, 64, 130, 300};
    for (int s = 0; s < 8; s++)
        for (int t = 0; t < 6; t++) {
            random_stream r = random_seeded((uint64_t)(s * 10 + t));
            const int k = size[s], q = t == 0 ? 0 : t == 1 ? k - 1 : random_below(&r, k);
            front f = random_front(&r, k + random_below(&r, 20), k);
            run(&f);
            /* the Schur complement's diagonal entry q was L(q,q)^2 */
            const double pivot = f.panel[q + (int64_t)q * f.m] * f.panel[q + (int64_t)q * f.m];
            f.a[q + (int64_t)q * f.m] -= pivot * (t % 2 ? 2 : 1 + 1e-9);
            run(&f);
            assert_int_equal(f.done, q);
            f.a[q + (int64_t)q * f.m] = NAN;
            run(&f);
            assert_int_equal(f.done, q);
            free_front(&f);
        }
}

static void a_singular_matrix_is_refused_at_its_column(void **state)
{
    (void)state;
    static const int size[] = {1, 2, 5, 31, 33, 64, 130, 300};
    for (int s = 0; s < 8; s++) {
        random_stream r = random_seeded((uint64_t)s);
        const int m = size[s], q = random_below(&r, m);
        /* A = L L^T with small integers is exact, and so is its factorization; L(q,q) = 0 */
        front f = {m, m, -1, nan_array((int64_t)m * m), NULL, nan_array(m)};
        double *l = random_trapezoid(&r, m, m, m);
        for (int j = 0; j < m; j++)
            for (int i = j; i < m; i++)
                l[i + (int64_t)j * m] = i == j ? (j == q ? 0 : 2) : random_below(&r, 5) - 2;
        for (int j = 0; j < m; j++) {
            for (int i = j; i < m; i++) {
                double sum = 0;
                for (int c = 0; c <= j; c++)
                    sum += l[i + (int64_t)c * m] * l[j + (int64_t)c * m];
                f.a[i + (int64_t)j * m] = sum;
            }
            f.diagonal[j] = f.a[j + (int64_t)j * m];
        }
        run(&f);
        assert_int_equal(f.done, q);
        free(l);
        free_front(&f);
    }
}

static void pivots_are_refused_up_to_sixteen_eps_of_the_diagonal(void **state)
{
    (void)state;
    for (double diagonal = 0x1p-40; diagonal <= 0x1p40; diagonal *= 0x1p20) {
        double pivot = 16 * EPS * diagonal;
        assert_int_equal(front_cholesky_d(1, 1, &pivot, &diagonal, NULL), 0);
        pivot = nextafter(16 * EPS * diagonal, INFINITY);
        assert_int_equal(front_cholesky_d(1, 1, &pivot, &diagonal, NULL), 1);
    }
}

static void large_panels_have_the_same_bits_for_any_threads(void **state)
{
    (void)state;
    random_stream r = random_seeded(5);
    front f = random_front(&r, 1100, 290);
    assert_true(front_is_large(f.m, TILE_COLUMNS));
    with_threads(1, run, &f);
    assert_int_equal(f.done, f.k);
    check_columns(&f, f.k);
    double *one = copy_of(f.panel, (int64_t)f.m * f.k);
    const int threads[] = {2, 5};
    for (int t = 0; t < 2; t++) {
        with_threads(threads[t], run, &f);
        for (int j = 0; j < f.k; j++)
            assert_memory_equal(f.panel + j + (int64_t)j * f.m, one + j + (int64_t)j * f.m,
                                (size_t)(f.m - j) * sizeof(double));
    }
    free(one);
    free_front(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(panels_of_all_small_sizes_become_l_lt, print_last_seed),
        cmocka_unit_test_teardown(panels_at_block_borders_become_l_lt, print_last_seed),
        cmocka_unit_test_teardown(the_first_pivot_that_is_not_positive_is_named, print_last_seed),
        cmocka_unit_test_teardown(a_singular_matrix_is_refused_at_its_column, print_last_seed),
        cmocka_unit_test(pivots_are_refused_up_to_sixteen_eps_of_the_diagonal),
        cmocka_unit_test_teardown(large_panels_have_the_same_bits_for_any_threads, print_last_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
