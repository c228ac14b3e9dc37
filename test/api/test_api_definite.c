/* test/api/test_api_definite.c: matrices that are not positive definite: the row that shows it,
 * LDL^T instead
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "systems.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether the leading k x k block of A(order, order) is positive definite, by dense Cholesky. */
static int leading_block_is_definite(int64_t n, const double *a, const int64_t *order, int64_t k)
{
    double *l = doubles(k * k);
    int definite = 1;
    for (int64_t j = 0; j < k && definite; j++)
        for (int64_t i = j; i < k && definite; i++) {
            double v = a[order[i] + order[j] * n];
            for (int64_t p = 0; p < j; p++)
                v -= l[i + p * k] * l[j + p * k];
            definite = i > j || v > 1e-9;
            l[i + j * k] = i > j ? v / l[j + j * k] : sqrt(v > 0 ? v : 1);
        }
    free(l);
    return definite;
}

static void not_positive_definite_names_the_row(void **state)
{
    (void)state;
    libsolver_options o;
    libsolver_context *context;
    libsolver_options_default(&o);
    assert_int_equal(libsolver_context_create(NULL, &context), LIBSOLVER_OK);
    o.kind = LIBSOLVER_KIND_SPD;
    for (int k = 0; k < 30; k++) {
        sparse a = sparse_grid(9, 7, k < 20 ? 4 : 3.3);
        const int64_t n = a.n, at = (k * 37) % n;
        int64_t order[63];
        if (k < 10) /* too small, but positive; or negative; or only the whole is indefinite */
            a.values[a.pointers[at]] = 0.05;
        else if (k < 20)
            a.values[a.pointers[at]] = k % 2 ? -1 : 0;
        double *full = dense_of_sparse(&a);
        const libsolver_matrix view = sparse_view(&a);
        libsolver_analysis *analysis;
        libsolver_factor *f;
        libsolver_factor_info info;
        o.ordering = k % 2 ? LIBSOLVER_ORDERING_NATURAL : LIBSOLVER_ORDERING_AMD;
        assert_int_equal(libsolver_analyze(context, &view, &o, &analysis), LIBSOLVER_OK);
        libsolver_permutation(analysis, order);
        assert_int_equal(libsolver_factorize(analysis, &view, &f), LIBSOLVER_NOT_POSITIVE_DEFINITE);
        assert_non_null(strstr(libsolver_factor_message(f), "not positive"));
        libsolver_info(f, &info);
        int64_t place = 0;
        while (place < n && order[place] != info.failed_row)
            place++;
        assert_true(place < n);
        if (k >= 10 && k < 20)
            assert_int_equal(info.failed_row, at);
        else {
            assert_true(leading_block_is_definite(n, full, order, place));
            assert_false(leading_block_is_definite(n, full, order, place + 1));
        }
        libsolver_factor_free(f);
        libsolver_analysis_free(analysis);

        o.kind = LIBSOLVER_KIND_AUTO; /* LDL^T instead */
        assert_int_equal(libsolver_factor_matrix(&view, &o, &f), LIBSOLVER_OK);
        libsolver_inertia_counts found;
        signs s;
        libsolver_info(f, &info);
        assert_int_equal(info.kind, LIBSOLVER_KIND_INDEFINITE);
        assert_int_equal(info.failed_row, -1);
        assert_int_equal(libsolver_inertia(f, &found), LIBSOLVER_OK);
        sparse_signs(&a, &s);
        assert_int_equal(found.positive, s.positive);
        assert_int_equal(found.negative, s.negative);
        o.kind = LIBSOLVER_KIND_SPD;
        libsolver_factor_free(f);
        free(full);
        sparse_free(&a);
    }
    libsolver_context_free(context);
}

/* One factor, the same workspace, values that are definite and others that are not: the bits of a
 * new factor wherever that is of the same kind, which L D L^T is for the first definite values
 * after others. */
static void definite_and_indefinite_values_may_take_turns(void **state)
{
    (void)state;
    static const libsolver_kind kinds[6] = {LIBSOLVER_KIND_SPD,        LIBSOLVER_KIND_INDEFINITE,
                                            LIBSOLVER_KIND_INDEFINITE, LIBSOLVER_KIND_SPD,
                                            LIBSOLVER_KIND_INDEFINITE, LIBSOLVER_KIND_INDEFINITE};
    sparse a = sparse_grid(150, 2, 4);
    const int64_t n = a.n;
    double *b = doubles(n), *x = doubles(n), *expected = doubles(n);
    libsolver_matrix view = sparse_view(&a);
    libsolver_options o;
    libsolver_context *context;
    libsolver_analysis *analysis;
    libsolver_factor *f;
    libsolver_workspace *w;
    libsolver_options_default(&o);
    o.backend = LIBSOLVER_BACKEND_CPU;
    assert_int_equal(libsolver_context_create(&o, &context), LIBSOLVER_OK);
    assert_int_equal(libsolver_analyze(context, &view, &o, &analysis), LIBSOLVER_OK);
    assert_int_equal(libsolver_factorize(analysis, &view, &f), LIBSOLVER_OK);
    assert_int_equal(libsolver_workspace_create(f, 1, &w), LIBSOLVER_OK);
    for (int64_t i = 0; i < n; i++)
        b[i] = 1 + 0.1 * (double)(i % 7);
    for (int round = 0; round < 6; round++) {
        for (int64_t j = 0; j < n; j++)
            a.values[a.pointers[j]] = round % 3 == 1 ? 1.1 : 4 + round;
        libsolver_factor *fresh;
        libsolver_factor_info info, other;
        libsolver_inertia_counts found, again;
        const libsolver_vectors in = block_view(b, n, 1), out = block_view(x, n, 1),
                                wanted = block_view(expected, n, 1);
        assert_int_equal(libsolver_refactorize(f, &view), LIBSOLVER_OK);
        assert_int_equal(libsolver_solve_plain(f, LIBSOLVER_PART_ALL, w, &in, &out), LIBSOLVER_OK);
        assert_int_equal(libsolver_factorize(analysis, &view, &fresh), LIBSOLVER_OK);
        assert_int_equal(libsolver_solve_plain(fresh, LIBSOLVER_PART_ALL, NULL, &in, &wanted),
                         LIBSOLVER_OK);
        libsolver_info(f, &info);
        libsolver_info(fresh, &other);
        assert_int_equal(info.kind, kinds[round]);
        assert_int_equal(other.kind,
                         round % 3 == 1 ? LIBSOLVER_KIND_INDEFINITE : LIBSOLVER_KIND_SPD);
        assert_int_equal(libsolver_inertia(f, &found), LIBSOLVER_OK);
        assert_int_equal(libsolver_inertia(fresh, &again), LIBSOLVER_OK);
        assert_int_equal(found.positive, again.positive);
        assert_int_equal(found.negative, again.negative);
        assert_int_equal(found.negative > 0, round % 3 == 1);
        assert_true(sparse_backward_error(&a, 1, x, b) <= 1e-12);
        if (info.kind == other.kind)
            assert_memory_equal(x, expected, sizeof(double) * (size_t)n);
        libsolver_factor_free(fresh);
    }
    libsolver_workspace_free(w);
    libsolver_factor_free(f);
    libsolver_analysis_free(analysis);
    libsolver_context_free(context);
    free(b);
    free(x);
    free(expected);
    sparse_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(not_positive_definite_names_the_row),
        cmocka_unit_test(definite_and_indefinite_values_may_take_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
