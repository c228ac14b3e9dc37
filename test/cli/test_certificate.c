/* test/cli/test_certificate.c: products and backward errors of the tool, and the tests' own
 * residual beside them
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "certificate.h"
#include "mm_write.h"
#include "problem.h"
#include "residual.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* [2 -1; -1 2] */
static double error_of(const triplets *a, int64_t k, const double *b, const double *x)
{
    double error;
    assert_true(backward_error(a, k, b, x, &error));
    return error;
}

static triplets two_by_two(void)
{
    static int32_t rows[] = {0, 1, 1}, columns[] = {0, 0, 1};
    static double values[] = {2, -1, 2};
    return (triplets){
        .n = 2, .type = LIBSOLVER_D, .nnz = 3, .rows = rows, .columns = columns, .values = values};
}

static void products_are_those_of_the_whole_matrix(void **state)
{
    (void)state;
    triplets a = two_by_two();
    const double x[] = {1, 2, 3, -1};
    double y[4];
    assert_true(triplets_multiply(&a, x, 2, y));
    assert_true(y[0] == 0 && y[1] == 3 && y[2] == 7 && y[3] == -5);
}

static void an_error_in_b_is_measured_entry_by_entry(void **state)
{
    (void)state;
    triplets a = two_by_two();
    const double x[] = {1, 1};
    double b[] = {1, 1};
    assert_true(error_of(&a, 1, b, x) == 0);
    b[1] = 1.5; /* r = 0.5 against |A||x| + |b| = 3 + 1.5 */
    assert_true(fabs(error_of(&a, 1, b, x) - 0.5 / 4.5) < 4 * DBL_EPSILON);
    b[1] = NAN;
    assert_true(isnan(error_of(&a, 1, b, x)));
}

static void a_row_that_cancels_is_measured_against_norms(void **state)
{
    (void)state;
    int32_t rows[] = {0, 1}, columns[] = {0, 1};
    double values[] = {1, 1};
    triplets a = {
        .n = 2, .type = LIBSOLVER_D, .nnz = 2, .rows = rows, .columns = columns, .values = values};
    const double x[] = {1, 1e-20}, b[] = {1, 0}; /* row 2: |A||x| + |b| = 1e-20, |r| = 1e-20, norms:
                                                    1 */
    assert_true(error_of(&a, 1, b, x) <= 2e-20);
}

/* A grid's matrix, real or, with entries turned in the complex plane, Hermitian or symmetric. */
static problem grid_problem(int width, libsolver_symmetry symmetry)
{
    problem p;
    failure f = {0};
    assert_int_equal(problem_load("vec3d:3", &p, &f), 0);
    if (width == 1)
        return p;
    assert_true(triplets_convert(&p.a, LIBSOLVER_Z));
    assert_int_equal(p.a.symmetry, LIBSOLVER_HERMITIAN);
    p.a.symmetry = symmetry;
    for (int64_t k = 0; k < p.a.nnz; k++)
        if (p.a.rows[k] != p.a.columns[k])
            p.a.values[2 * k + 1] = 0.01 * (double)(k % 17);
    return p;
}

static void compare_residuals(int width, libsolver_symmetry symmetry)
{
    char a_path[64], x_path[64], b_path[64];
    problem p = grid_problem(width, symmetry);
    failure f = {0};
    snprintf(a_path, sizeof a_path, "test_certificate.%ld.a.mtx.gz", (long)getpid());
    snprintf(x_path, sizeof x_path, "test_certificate.%ld.x.mtx", (long)getpid());
    snprintf(b_path, sizeof b_path, "test_certificate.%ld.b.mtx", (long)getpid());
    const int32_t n = p.a.n;
    double *x = malloc(2 * sizeof *x * (size_t)n * (size_t)width),
           *b = malloc(2 * sizeof *b * (size_t)n * (size_t)width);
    assert_true(x && b);
    made_solution(n, 2, width, x);
    assert_true(forward_error(n, 2, width, x) == 0);
    assert_true(triplets_multiply(&p.a, x, 2, b));
    for (int32_t i = 0; i < 2 * n; i++)
        x[i * width + width - 1] += 1e-9 * (i % 5); /* of complex entries the imaginary part */
    assert_true(fabs(forward_error(n, 2, width, x) - 4e-9 / 1.6) < 1e-10);
    assert_int_equal(mm_write_matrix(a_path, &p.a, NULL, &f), 0);
    assert_int_equal(mm_write_vectors(x_path, n, 2, width, x, &f), 0);
    assert_int_equal(mm_write_vectors(b_path, n, 2, width, b, &f), 0);
    const double ours = error_of(&p.a, 2, b, x),
                 theirs = residual_backward_error(a_path, x_path, b_path, DBL_EPSILON);
    const double made = residual_backward_error(a_path, x_path, NULL, DBL_EPSILON);
    if (!(ours > 1e-10 && fabs(ours - theirs) < 1e-15 && fabs(ours - made) < 1e-15))
        fail_msg("backward errors %g (tool), %g (files), %g (b made)", ours, theirs, made);
    unlink(a_path);
    unlink(x_path);
    unlink(b_path);
    free(x);
    free(b);
    problem_free(&p);
}

static void both_residuals_agree_on_files(void **state)
{
    (void)state;
    compare_residuals(1, LIBSOLVER_SYMMETRIC);
    compare_residuals(2, LIBSOLVER_SYMMETRIC);
    compare_residuals(2, LIBSOLVER_HERMITIAN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_those_of_the_whole_matrix),
        cmocka_unit_test(an_error_in_b_is_measured_entry_by_entry),
        cmocka_unit_test(a_row_that_cancels_is_measured_against_norms),
        cmocka_unit_test(both_residuals_agree_on_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
