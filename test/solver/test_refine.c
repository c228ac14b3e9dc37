/* test/solver/test_refine.c: the CPU backend's backward errors and refinement against dense loops
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "cpu_system.h"
#include <stdlib.h>

/* omega1 + omega2 of column j [Arioli, Demmel, Duff 1989], rows by rows from the dense matrix. */
static double backward_error(const cpu_system *s, const block *b, const block *x, int64_t j)
{
    const int32_t n = s->a.n;
    long double *a = calloc((size_t)n * (size_t)n + 1, sizeof *a), norm = 0, omega1 = 0, omega2 = 0;
    assert_non_null(a);
    for (int32_t q = 0; q < n; q++) {
        norm = fmaxl(norm, fabs(*block_at(x, q, j)));
        for (int64_t p = s->a.start[q]; p < s->a.start[q + 1]; p++)
            a[s->a.row[p] + (int64_t)q * n] = a[q + (int64_t)s->a.row[p] * n] = s->values[p];
    }
    for (int32_t i = 0; i < n; i++) {
        long double r = *block_at(b, i, j), product = 0, row = 0;
        const long double rhs = fabs(*block_at(b, i, j));
        for (int32_t q = 0; q < n; q++) {
            r -= a[i + (int64_t)q * n] * *block_at(x, q, j);
            product += fabsl(a[i + (int64_t)q * n] * *block_at(x, q, j));
            row += fabsl(a[i + (int64_t)q * n]);
        }
        if (r == 0)
            continue;
        if (product + rhs > 1000 * n * (long double)EPS * (row * norm + rhs))
            omega1 = fmaxl(omega1, fabsl(r) / (product + rhs));
        else
            omega2 = fmaxl(omega2, fabsl(r) / (product + row * norm));
    }
    free(a);
    return (double)(omega1 + omega2);
}

static void the_backward_error_is_that_of_its_definition(void **state)
{
    (void)state;
    int second = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        random_stream r = random_seeded(seed);
        const int32_t n = random_order(&r, seed);
        const int64_t columns = 1 + random_below(&r, 70);
        pattern a = random_pattern(&r, n);
        cpu_system s;
        assert_int_equal(system_build(&s, a, random_values(&r, &a, SPD), SPD, 1, INT64_MAX),
                         LIBSOLVER_OK);
        void *w = NULL;
        assert_int_equal(cpu->workspace_create(s.numeric, 1 + random_below(&r, 80), &w, &s.why),
                         LIBSOLVER_OK);
        block b = random_block(&r, n, columns, 1), x = random_block(&r, n, columns, 1);
        double *row = calloc((size_t)n + 1, sizeof(double));
        assert_non_null(row);
        for (int32_t j = 0; j < n; j++)
            for (int64_t p = a.start[j]; p < a.start[j + 1]; p++) {
                row[j] += fabs(s.values[p]);
                row[a.row[p]] += a.row[p] == j ? 0 : fabs(s.values[p]);
            }
        for (int64_t j = 0; j < columns; j++) { /* some rows hardly have anything to be measured
                                                   against */
            double norm = 0;
            for (int32_t i = 0; i < n; i += 4)
                norm = fmax(norm, fabs(*block_at(&x, i, j)));
            for (int32_t i = 0; i < n; i++)
                if (j % 3 < 2 && i % 4) {
                    *block_at(&x, i, j) *= 1e-20;
                    *block_at(&b, i, j) =
                        j % 3 == 0 ? 1e-20
                                   : 1000 * n * EPS * row[i] * norm * (1 + 0.7 * random_real(&r));
                    second++;
                }
        }
        free(row);
        double *before = copy_of(x.values, x.size), *errors = nan_array(columns), largest = 0;
        backend_refinement refinement = {.solve_first = 0, .steps = 0, .tolerance = 1e-14};
        assert_int_equal(cpu->refine(s.numeric, w, &b.v, &x.v, &refinement, errors, &s.why),
                         LIBSOLVER_OK);
        assert_memory_equal(x.values, before, (size_t)x.size * sizeof(double));
        assert_int_equal(refinement.steps, 0);
        for (int64_t j = 0; j < columns; j++) {
            const double exact = backward_error(&s, &b, &x, j);
            if (!(fabs(errors[j] - exact) <= (n + 8) * EPS * exact))
                fail_msg("seed %d, n %d: backward error %.17g, expected %.17g", (int)seed, n,
                         errors[j], exact);
            largest = fmax(largest, errors[j]);
        }
        assert_true(refinement.initial == largest && refinement.final == largest);
        if (n > 0) {
            *block_at(&x, 0, 0) = NAN;
            assert_int_equal(cpu->refine(s.numeric, w, &b.v, &x.v, &refinement, errors, &s.why),
                             LIBSOLVER_OK);
            assert_true(errors[0] == INFINITY && refinement.final == INFINITY);
        }
        free(before);
        free(errors);
        free(b.values);
        free(x.values);
        cpu->workspace_destroy(s.numeric, w);
        system_free(&s);
    }
    assert_true(second > 1000);
}

/* Row 1 of b - I x with x = (1, 0): up to 2000 EPS it is measured against the norms, then against
 * itself. */
static void a_small_row_is_measured_against_the_norms(void **state)
{
    (void)state;
    pattern a = problem_diagonal(2);
    double *values = nan_array(2);
    values[0] = values[1] = 1;
    cpu_system s;
    assert_int_equal(system_build(&s, a, values, SPD, 1, INT64_MAX), LIBSOLVER_OK);
    void *w = NULL;
    assert_int_equal(cpu->workspace_create(s.numeric, 1, &w, &s.why), LIBSOLVER_OK);
    static const double beta[] = {1e-20, 1500 * EPS, 1999 * EPS, 2001 * EPS, 1};
    for (int i = 0; i < 5; i++) {
        double x[] = {1, 0}, b[] = {1, beta[i]}, error = -1;
        const libsolver_vectors vx = {.values = x, .rows = 2, .columns = 1, .ld = 2};
        libsolver_vectors vb = vx;
        vb.values = b;
        backend_refinement refinement = {.solve_first = 0, .steps = 0, .tolerance = 1e-14};
        assert_int_equal(cpu->refine(s.numeric, w, &vb, &vx, &refinement, &error, &s.why),
                         LIBSOLVER_OK);
        assert_true(error == (i < 3 ? beta[i] : 1));
    }
    cpu->workspace_destroy(s.numeric, w);
    system_free(&s);
}

/* Refines with the factor of A while the matrix is c A: each plain step multiplies the residual by
 * 1 - c, and one step of FGMRES solves the system. */
static void refinement_goes_on_while_it_gains_and_keeps_the_best(void **state)
{
    (void)state;
    static const struct {
        double c;
        int steps, limit;
    } known[] = {{1, 0, 10},       /* right at once */
                 {1.0625, 3, 3},   /* every step gains; stopped by the limit */
                 {1.0625, 13, 40}, /* log(1e-15) / log(1/16), about */
                 {1.25, 2, 10}, /* more than a tenth of the error is left: one step, then a cycle of
                                   FGMRES */
                 {0.2, 1, 1},   /* one step, kept */
                 {0.2, 2, 10},     {2, 1, 1}, /* the first step is no better: one step, not kept */
                 {2, 2, 10},       {5, 1, 1}, {5, 2, 10}};
    for (int i = 0; i < 10; i++)
        for (int by_panels = 0; by_panels < 2; by_panels++) {
            random_stream r = random_seeded((uint64_t)i);
            pattern a = problem_grid(9, 7, 1);
            cpu_system s;
            assert_int_equal(system_build(&s, a, random_values(&r, &a, SPD), SPD, 1, INT64_MAX),
                             LIBSOLVER_OK);
            void *w = NULL;
            assert_int_equal(cpu->workspace_create(s.numeric, by_panels ? 2 : 5, &w, &s.why),
                             LIBSOLVER_OK);
            block b = random_block(&r, a.n, 5, 1), x = random_block(&r, a.n, 5, 0),
                  first = random_block(&r, a.n, 5, 0);
            for (int32_t q = 0; q < a.n; q++)
                *block_at(&b, q, 3) = 0; /* a column that is done before the others */
            assert_int_equal(cpu->solve(s.numeric, 7, w, &b.v, &first.v, &s.why), LIBSOLVER_OK);
            for (int64_t p = 0; p < a.start[a.n]; p++)
                s.values[p] *= known[i].c;
            cpu->set_values(s.numeric, s.values);
            backend_refinement refinement = {.solve_first = 1,
                                             .steps = known[i].limit,
                                             .tolerance = 1e-15};
            double errors[5], initial = 0, final = 0;
            assert_int_equal(cpu->refine(s.numeric, w, &b.v, &x.v, &refinement, errors, &s.why),
                             LIBSOLVER_OK);
            for (int64_t j = 0; j < 5; j++) {
                const double before = backward_error(&s, &b, &first, j),
                             after = backward_error(&s, &b, &x, j);
                /* these may be mere rounding */
                assert_true(fabs(errors[j] - after) <= 1e-3 * after);
                assert_true(after <= before);
                initial = fmax(initial, before);
                final = fmax(final, after);
                if (known[i].c >= 2 && known[i].limit == 1)
                    for (int32_t q = 0; q < a.n; q++)
                        assert_true(*block_at(&x, q, j) == *block_at(&first, q, j));
            }
            assert_true(fabs(refinement.initial - initial) <= 1e-3 * initial);
            assert_true(fabs(refinement.final - final) <= 1e-3 * final);
            if (known[i].steps == 13) {
                assert_in_range(refinement.steps, 11, 15);
                assert_true(final < 1e-14);
            } else if (known[i].steps == 2) /* FGMRES; a second cycle may be for the last digit */
                assert_in_range(refinement.steps, 2, 3);
            else if (known[i].c != 1)
                assert_int_equal(refinement.steps, known[i].steps);
            if (known[i].c == 0.2 && known[i].limit == 1)
                assert_true(final < 0.8 * initial && final > 1e-3 * initial);
            if (known[i].steps == 2)
                assert_true(final < 1e-14);
            if (known[i].c == 1.0625)
                assert_true(final < initial / 2000);
            free(b.values);
            free(x.values);
            free(first.values);
            cpu->workspace_destroy(s.numeric, w);
            system_free(&s);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_backward_error_is_that_of_its_definition, print_last_seed),
        cmocka_unit_test_teardown(a_small_row_is_measured_against_the_norms, print_last_seed),
        cmocka_unit_test_teardown(refinement_goes_on_while_it_gains_and_keeps_the_best,
                                  print_last_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
