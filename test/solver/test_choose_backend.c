/* test/solver/test_choose_backend.c: where AUTO solves, on made-up problems
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "solver/phases/choose_backend.h"

static const solve_size small = {
    .n = 500, .factor_nnz = 2000, .levels = 20, .scalar_bytes = 8, .threads = 16};
static const solve_size grid_3d = {
    .n = 125000, .factor_nnz = 42000000, .levels = 200, .scalar_bytes = 8, .threads = 16};
/* Solves are faster on the GPU, but 50 of them do not pay for the preparation. */
static const solve_size between = {
    .n = 4000, .factor_nnz = 100000, .levels = 30, .scalar_bytes = 8, .threads = 16};

static void small_problems_stay_on_the_cpu(void **state)
{
    (void)state;
    for (int purpose = LIBSOLVER_PURPOSE_DEFAULT; purpose <= LIBSOLVER_PURPOSE_LATENCY; purpose++)
        assert_int_equal(choose_backend(&small, (libsolver_purpose)purpose), LIBSOLVER_BACKEND_CPU);
}

static void large_ones_go_to_the_gpu(void **state)
{
    (void)state;
    assert_int_equal(choose_backend(&grid_3d, LIBSOLVER_PURPOSE_DEFAULT), LIBSOLVER_BACKEND_GPU);
    assert_int_equal(choose_backend(&grid_3d, LIBSOLVER_PURPOSE_LATENCY), LIBSOLVER_BACKEND_GPU);
}

static void the_purpose_says_what_preparation_may_cost(void **state)
{
    (void)state;
    assert_int_equal(choose_backend(&between, LIBSOLVER_PURPOSE_LATENCY), LIBSOLVER_BACKEND_GPU);
    assert_int_equal(choose_backend(&between, LIBSOLVER_PURPOSE_DEFAULT), LIBSOLVER_BACKEND_CPU);
    assert_int_equal(choose_backend(&grid_3d, LIBSOLVER_PURPOSE_FEW), LIBSOLVER_BACKEND_CPU);
}

static void forecasts_grow_with_the_problem_and_fall_with_threads(void **state)
{
    (void)state;
    solve_forecast before = {0};
    for (int64_t n = 100; n < 10000000; n *= 2) {
        solve_size s = {
            .n = n, .factor_nnz = 40 * n, .levels = 100, .scalar_bytes = 8, .threads = 1};
        const solve_forecast one = forecast_solve(&s);
        s.threads = 16;
        const solve_forecast many = forecast_solve(&s);
        s.scalar_bytes = 16;
        const solve_forecast complex = forecast_solve(&s);
        assert_true(one.cpu > before.cpu && one.gpu > before.gpu &&
                    one.preparation > before.preparation);
        assert_true(many.cpu <= one.cpu && many.gpu == one.gpu &&
                    many.preparation == one.preparation);
        assert_true(complex.cpu >= many.cpu && complex.gpu > many.gpu &&
                    complex.preparation > many.preparation);
        before = one;
    }
    const solve_forecast nothing = forecast_solve(&(solve_size){.scalar_bytes = 8, .threads = 1});
    assert_true(nothing.cpu == 0 && nothing.gpu > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_problems_stay_on_the_cpu),
        cmocka_unit_test(large_ones_go_to_the_gpu),
        cmocka_unit_test(the_purpose_says_what_preparation_may_cost),
        cmocka_unit_test(forecasts_grow_with_the_problem_and_fall_with_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
