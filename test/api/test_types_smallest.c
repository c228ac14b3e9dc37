/* test/api/test_types_smallest.c: the smallest pivot in one precision (-DPREC_x, -DMIXED with a
 * factor in single), beside that of the factor as it is exported
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "systems.h"
#include "typed_dense.h"
#include "typed_factor.h"
#include "typed_pivots.h"
#include <stdlib.h>

/* Of the squares of the diagonal of L, which Cholesky has for pivots. */
static long double smallest_square(const libsolver_factor *f, int64_t n)
{
    int64_t entries = 0;
    long double smallest = INFINITY;
    assert_int_equal(libsolver_get_factor_l(f, &entries, NULL, NULL, NULL, NULL), LIBSOLVER_OK);
    int64_t *pointers = malloc(sizeof(int64_t) * (size_t)(n + 1 + entries));
    scalar *values = malloc(sizeof(scalar) * (size_t)(entries + 1));
    assert_true(pointers && values);
    assert_int_equal(libsolver_get_factor_l(f, &entries, pointers, pointers + n + 1, values, NULL),
                     LIBSOLVER_OK);
    for (int64_t k = 0; k < n; k++) {
        const int64_t first = pointers[k];
        assert_int_equal(pointers[n + 1 + first], k);
        smallest =
            fminl(smallest, (long double)scalar_real(values[first]) * scalar_real(values[first]));
    }
    free(pointers);
    free(values);
    return smallest;
}

/* The exported factor against what inertia says of it; returns that. */
static double check_smallest(const libsolver_factor *f, int hermitian, int64_t n, const char *what,
                             uint64_t seed)
{
    libsolver_inertia_counts counts;
    libsolver_factor_info info;
    scalar *d = malloc(sizeof(scalar) * (size_t)(2 * n + 1)), *e = d + n;
    assert_non_null(d);
    libsolver_info(f, &info);
    assert_int_equal(libsolver_inertia(f, &counts), LIBSOLVER_OK);
    assert_int_equal(libsolver_get_factor_d(f, d, e), LIBSOLVER_OK);
    const long double smallest = info.kind == LIBSOLVER_KIND_SPD
                                     ? smallest_square(f, n)
                                     : smallest_of_pivots(hermitian, n, d, e);
    free(d);
    const long double eps = info.precision == SCALAR_TYPE ? EPS : FACTOR_EPS;
    if (!(fabsl(counts.smallest_pivot - smallest) <= 16 * eps * smallest) || !(smallest > 0))
        fail_msg("%s, seed %d, n %d: smallest pivot %.9g, in the factor %.9Lg", what, (int)seed,
                 (int)n, counts.smallest_pivot, smallest);
    return counts.smallest_pivot;
}

static libsolver_factor *factor_of(const dense *s, const libsolver_options *o)
{
    triplets *t = malloc(sizeof *t);
    libsolver_factor *f = NULL;
    assert_non_null(t);
    dense_triplets(s, NULL, t);
    const libsolver_status status = libsolver_factor_matrix(&t->view, o, &f);
    if (status < 0)
        fail_msg("n %d: %s", (int)s->n, libsolver_factor_message(f));
    free(t);
    return f;
}

static libsolver_options options_for(libsolver_kind kind)
{
    libsolver_options o;
    libsolver_options_default(&o);
    o.backend = BACKEND;
    o.mixed = CHOICE;
    o.kind = kind;
    return o;
}

/* One front and several, 1x1 and 2x2 pivots, zero pivots too; the smallest of them may stand
 * anywhere. */
static void of_symmetric_indefinite_matrices(void **state)
{
    (void)state;
    int pairs = 0, zeros = 0, small = 0;
    for (uint64_t seed = 0; seed < 120; seed++) {
        random_stream r = random_seeded(seed);
        const int64_t n = 1 + random_below(&r, seed % 5 ? 30 : 100);
        dense s = dense_random(&r, SCALAR_COMPLEX, n, seed % 2 ? 0.15 : 0.7, seed % 3 == 0 ? 6 : 0);
        for (int64_t i = 0; i < n && seed % 3 == 1; i++)
            s.a[i][i] = 0;
        if (seed % 4 == 3) { /* a row alone, tiny beside the others unless it is scaled */
            for (int64_t j = 0; j < n; j++)
                s.a[n / 2 > j ? n / 2 : j][n / 2 > j ? j : n / 2] = 0;
            s.a[n / 2][n / 2] = (real)-0.0009765625;
        }
        libsolver_options o = options_for(LIBSOLVER_KIND_INDEFINITE);
        o.scaling = seed % 4 == 3 ? LIBSOLVER_OFF : LIBSOLVER_AUTO;
        libsolver_factor *f = factor_of(&s, &o);
        libsolver_factor_info info;
        libsolver_inertia_counts counts;
        libsolver_info(f, &info);
        assert_int_equal(libsolver_inertia(f, &counts), LIBSOLVER_OK);
        if (counts.zero < n)
            small += check_smallest(f, 1, n, "indefinite", seed) < 0.01;
        pairs += info.two_by_two > 0;
        zeros += counts.zero > 0;
        libsolver_factor_free(f);
    }
    print_message("%d with pairs, %d with zero pivots, %d with one below 0.01\n", pairs, zeros,
                  small);
    assert_true(pairs > 40 && (zeros > 3 || FACTOR_EPS > EPS) && small > 10);
}

static void of_quasi_definite_matrices_with_changed_pivots_too(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 30; seed++) {
        random_stream r = random_seeded(seed);
        const int64_t n = 5 + random_below(&r, 60);
        int8_t sign[MOST];
        dense s = dense_random(&r, SCALAR_COMPLEX, n, 0.3, 1);
        for (int64_t i = 0; i < n; i++) {
            sign[i] = random_below(&r, 2) ? 1 : -1;
            s.a[i][i] = (scalar)(sign[i] * (real)(i % 7 == 0 && seed % 2 ? 0 : n));
        }
        libsolver_options o = options_for(LIBSOLVER_KIND_QUASI_DEFINITE);
        o.expected_signs = sign;
        libsolver_factor *f = factor_of(&s, &o);
        check_smallest(f, 1, n, "quasi-definite", seed);
        libsolver_factor_free(f);
    }
}

/* Columns that wait for a hub, most of which are not let: taken with what pivots there are. */
static void of_perturbed_pivots(void **state)
{
    (void)state;
    int perturbed = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        random_stream r = random_seeded(seed);
        const int64_t size = MOST / 4, hub = 3 * size;
        dense s = dense_random(&r, SCALAR_COMPLEX, 4 * size, 1, 0);
        for (int64_t j = 0; j < hub; j++)
            for (int64_t i = j; i < hub; i++)
                if (i / size != j / size || j % size < 3) {
                    s.a[i][j] = 0;
                    s.stored[i][j] = i / size == j / size;
                }
        libsolver_options o = options_for(LIBSOLVER_KIND_INDEFINITE);
        o.ordering = LIBSOLVER_ORDERING_NATURAL;
        o.matching = LIBSOLVER_OFF;
        o.delay_cap = 3;
        libsolver_factor *f = factor_of(&s, &o);
        libsolver_factor_info info;
        libsolver_info(f, &info);
        perturbed += info.perturbed > 0;
        check_smallest(f, 1, s.n, "perturbed", seed);
        libsolver_factor_free(f);
    }
    assert_true(perturbed >= 15);
}

/* What depends on nothing but A: entries of a diagonal matrix, whatever their order. */
static void of_diagonal_matrices(void **state)
{
    (void)state;
    for (int kind = LIBSOLVER_KIND_SPD; kind <= LIBSOLVER_KIND_INDEFINITE; kind++)
        for (int64_t at = 0; at < 9; at++) {
            dense s = {.hermitian = SCALAR_COMPLEX, .n = 9};
            for (int64_t i = 0; i < 9; i++)
                s.a[i][i] = (scalar)(i == at ? 0.25 : 1 + (double)i);
            if (kind == LIBSOLVER_KIND_INDEFINITE)
                s.a[at][at] = -s.a[at][at];
            libsolver_options o = options_for((libsolver_kind)kind);
            o.scaling = LIBSOLVER_OFF;
            libsolver_factor *f = factor_of(&s, &o);
            const double found = check_smallest(f, 1, 9, "diagonal", (uint64_t)at);
            /* mixed precision: scaled by one power of two all the same */
            const double most = CHOICE == LIBSOLVER_ON ? 1 : 0.25;
            assert_true(CHOICE == LIBSOLVER_ON ? found > 0 && found <= most
                                               : fabs(found - most) <= 8 * EPS);
            libsolver_factor_free(f);
        }
}

/* A grid: by columns where it is narrow, by fronts where it is wide; several threads find the
 * same. */
static void of_definite_grids_by_columns_and_by_fronts(void **state)
{
    (void)state;
    for (int fronts = 0; fronts < 2; fronts++) {
        sparse a = fronts ? sparse_grid(110, 100, 6) : sparse_grid(300, 2, 4.01);
        const int64_t n = a.n, nnz = a.pointers[n];
        scalar *values = malloc(sizeof(scalar) * (size_t)nnz);
        assert_non_null(values);
        for (int64_t j = 0; j < n; j++)
            for (int64_t p = a.pointers[j]; p < a.pointers[j + 1]; p++)
                values[p] = (scalar)(a.values[p] * (a.indices[p] == j && j == n / 3 ? 0.37 : 1));
        double first = 0;
        for (int threads = 1; threads <= 4; threads++)
            for (int kind = LIBSOLVER_KIND_SPD; kind <= LIBSOLVER_KIND_INDEFINITE; kind++) {
                libsolver_matrix view = sparse_view(&a);
                libsolver_options o = options_for((libsolver_kind)kind);
                libsolver_factor *f = NULL;
                libsolver_factor_info info;
                view.values = values;
                view.type = SCALAR_TYPE;
                view.symmetry = LIBSOLVER_HERMITIAN;
                o.threads = threads;
                assert_int_equal(libsolver_factor_matrix(&view, &o, &f), LIBSOLVER_OK);
                libsolver_info(f, &info);
                assert_true(kind == LIBSOLVER_KIND_INDEFINITE || BACKEND == LIBSOLVER_BACKEND_GPU ||
                            (info.fronts == n) == !fronts);
                const double found = check_smallest(f, 1, n, "grid", (uint64_t)threads);
                first = threads == 1 && kind == LIBSOLVER_KIND_SPD ? found : first;
                assert_true(kind == LIBSOLVER_KIND_INDEFINITE || found == first);
                libsolver_factor_free(f);
            }
        free(values);
        sparse_free(&a);
    }
}

int main(void)
{
    if (!backend_is_here())
        return without_a_gpu();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_symmetric_indefinite_matrices),
        cmocka_unit_test(of_quasi_definite_matrices_with_changed_pivots_too),
        cmocka_unit_test(of_perturbed_pivots),
        cmocka_unit_test(of_diagonal_matrices),
        cmocka_unit_test(of_definite_grids_by_columns_and_by_fronts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
