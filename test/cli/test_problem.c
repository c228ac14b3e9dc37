/* test/cli/test_problem.c: the tool's generators against their definitions, written out densely
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "problem.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* a(i, j) as each problem's definition gives it; NaN: no entry is stored there. */
typedef double (*definition)(int m, int i, int j);

static double laplacian(int m, int dimension, int i, int j)
{
    int distance = 0;
    for (int k = 0; k < dimension; k++, i /= m, j /= m)
        distance += abs(i % m - j % m);
    return distance == 0 ? 2.0 * dimension : distance == 1 ? -1 : NAN;
}

static double lap2d(int m, int i, int j)
{
    return laplacian(m, 2, i, j);
}
static double lap3d(int m, int i, int j)
{
    return laplacian(m, 3, i, j);
}

static double vec3d(int m, int i, int j)
{
    const int p = i / 3, q = j / 3, u = i % 3, v = j % 3;
    const int dx = p % m - q % m, dy = p / m % m - q / m % m, dz = p / m / m - q / m / m;
    if (abs(dx) > 1 || abs(dy) > 1 || abs(dz) > 1)
        return NAN;
    if (p == q)
        return u == v ? 81 : 0.1;
    return u == v ? -1 : 0.1 * ((dx * (u + 1) + dy * (v + 2) + dz) % 3);
}

/* D(i, j) of order m */
static double difference(int i, int j)
{
    return i == j ? 1 : j == i + 1 ? -1 : 0;
}

static double kkt2d(int m, int i, int j)
{
    const int half = m * m;
    if (i == j && i < 2 * half) {
        double product = 0.6180339887498949 * (i + 1);
        return pow(10, 12 * (product - floor(product)) - 6);
    }
    if (i < 2 * half || j >= 2 * half)
        return NAN;
    const int column = i - 2 * half, row = j % half; /* of I (x) D or D (x) I */
    const double value = j < half ? (row / m == column / m) * difference(row % m, column % m)
                                  : difference(row / m, column / m) * (row % m == column % m);
    return value != 0 ? value : NAN;
}

static void check_problem(const char *name, int m, int order, definition define)
{
    char specification[32];
    problem p;
    failure f = {0};
    snprintf(specification, sizeof specification, "%s:%d", name, m);
    assert_int_equal(problem_load(specification, &p, &f), 0);
    assert_string_equal(p.name, specification);
    assert_int_equal(p.a.n, order);
    assert_true(triplets_are_compressed(&p.a));
    int64_t next = 0;
    for (int j = 0; j < order; j++)
        for (int i = j; i < order; i++) {
            double value = define(m, i, j);
            if (isnan(value))
                continue;
            if (next >= p.a.nnz || p.a.rows[next] != i || p.a.columns[next] != j ||
                p.a.values[next] != value)
                fail_msg("%s: entry %lld should be (%d, %d) = %.17g", specification,
                         (long long)next, i, j, value);
            next++;
        }
    assert_int_equal(next, p.a.nnz);
    problem_free(&p);
}

static void generators_make_what_they_define(void **state)
{
    (void)state;
    for (int m = 1; m <= 5; m++) {
        check_problem("lap2d", m, m * m, lap2d);
        check_problem("lap3d", m, m * m * m, lap3d);
        check_problem("vec3d", m, 3 * m * m * m, vec3d);
        check_problem("kkt2d", m, 3 * m * m, kkt2d);
    }
}

static void sizes_that_make_no_problem_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"lap2d:",         "lap2d:0",
                                        "lap2d:-3",       "lap2d:1e2",
                                        "lap2d:46341000", "lap3d:1291",
                                        "vec3d:3 ",       "kkt2d:99999999999999999999"};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        problem p;
        failure f = {0};
        if (problem_load(wrong[k], &p, &f) != EXIT_USAGE ||
            strncmp(f.text, wrong[k], strlen(wrong[k])))
            fail_msg("'%s' gave %d '%s'", wrong[k], f.code, f.text);
        problem_free(&p);
    }
}

static void files_are_named_without_folder_and_suffix(void **state)
{
    (void)state;
    problem p;
    failure f = {0};
    assert_int_equal(problem_load("some/where/bus.mtx.gz", &p, &f), EXIT_INPUT);
    assert_string_equal(p.name, "bus");
    problem_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generators_make_what_they_define),
        cmocka_unit_test(sizes_that_make_no_problem_are_refused),
        cmocka_unit_test(files_are_named_without_folder_and_suffix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
