/* test/solver/test_choose_backend.c: where AUTO factorizes and solves, on made-up problems
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "solver/phases/choose_backend.h"

static const problem_size small = {.n = 500,
                                   .factor_nnz = 2000,
                                   .levels = 20,
                                   .chain = 100,
                                   .factor_flops = 1e4,
                                   .is_cholesky = 1,
                                   .scalar_bytes = 8,
                                   .threads = 16};
static const problem_size grid_3d = {.n = 125000,
                                     .factor_nnz = 42000000,
                                     .levels = 200,
                                     .chain = 6800,
                                     .factor_flops = 76e9,
                                     .is_cholesky = 1,
                                     .scalar_bytes = 8,
                                     .threads = 16};
/* Solves are faster on the GPU, but 50 of them do not pay for the preparation. */
static const problem_size between = {.n = 4000,
                                     .factor_nnz = 100000,
                                     .levels = 30,
                                     .chain = 300,
                                     .factor_flops = 5e6,
                                     .is_cholesky = 1,
                                     .scalar_bytes = 8,
                                     .threads = 16};

static problem_size by_ldlt(problem_size s)
{
    s.is_cholesky = 0;
    return s;
}

static void small_problems_stay_on_the_cpu(void **state)
{
    (void)state;
    for (int purpose = LIBSOLVER_PURPOSE_DEFAULT; purpose <= LIBSOLVER_PURPOSE_LATENCY; purpose++)
        assert_int_equal(choose_backend(&small, (libsolver_purpose)purpose), LIBSOLVER_BACKEND_CPU);
}

static void large_ones_go_to_the_gpu(void **state)
{
    (void)state;
    for (int purpose = LIBSOLVER_PURPOSE_DEFAULT; purpose <= LIBSOLVER_PURPOSE_LATENCY; purpose++)
        assert_int_equal(choose_backend(&grid_3d, (libsolver_purpose)purpose),
                         LIBSOLVER_BACKEND_GPU);
}

/* What the CPU has to factorize goes there too, if solves pay for its way. */
static void what_the_cpu_factorizes_goes_there_for_its_solves(void **state)
{
    (void)state;
    const problem_size s = by_ldlt(grid_3d);
    assert_int_equal(choose_backend(&s, LIBSOLVER_PURPOSE_LATENCY), LIBSOLVER_BACKEND_GPU);
    assert_int_equal(choose_backend(&s, LIBSOLVER_PURPOSE_DEFAULT), LIBSOLVER_BACKEND_GPU);
    const double by_cholesky = forecast_backends(&grid_3d, 1).gpu.factorization,
                 copied = forecast_backends(&s, 1).gpu.factorization,
                 kept = forecast_backends(&s, 1).cpu.factorization;
    assert_true(by_cholesky < kept && kept < copied);
}

static void the_purpose_says_what_preparation_may_cost(void **state)
{
    (void)state;
    const problem_size s = by_ldlt(between);
    assert_int_equal(choose_backend(&s, LIBSOLVER_PURPOSE_LATENCY), LIBSOLVER_BACKEND_GPU);
    assert_int_equal(choose_backend(&s, LIBSOLVER_PURPOSE_DEFAULT), LIBSOLVER_BACKEND_CPU);
    assert_int_equal(choose_backend(&s, LIBSOLVER_PURPOSE_FEW), LIBSOLVER_BACKEND_CPU);
}

static int is_above(const side_forecast *a, const side_forecast *b)
{
    return a->factorization > b->factorization && a->solve > b->solve && a->first >= b->first;
}

static void forecasts_grow_with_the_problem_and_fall_with_threads(void **state)
{
    (void)state;
    backend_forecast before = {0};
    for (int64_t n = 100; n < 10000000; n *= 2) {
        problem_size s = {.n = n,
                          .factor_nnz = 40 * n,
                          .levels = 100,
                          .chain = 300,
                          .factor_flops = 1e4 * (double)n,
                          .is_cholesky = 1,
                          .scalar_bytes = 8,
                          .threads = 1};
        const backend_forecast one = forecast_backends(&s, 0), few = forecast_backends(&s, 1);
        s.threads = 16;
        const backend_forecast many = forecast_backends(&s, 0);
        s.scalar_bytes = 4;
        s.is_mixed = 1;
        const backend_forecast mixed = forecast_backends(&s, 0);
        s.scalar_bytes = 16;
        s.is_mixed = 0;
        s.is_complex = 1;
        const backend_forecast complex = forecast_backends(&s, 0);
        assert_true(is_above(&one.cpu, &before.cpu) && is_above(&one.gpu, &before.gpu));
        assert_true(
            many.cpu.solve <= one.cpu.solve && many.cpu.factorization < one.cpu.factorization &&
            many.gpu.solve == one.gpu.solve && many.gpu.factorization == one.gpu.factorization);
        assert_true(complex.cpu.solve >= many.cpu.solve &&
                    complex.cpu.factorization > many.cpu.factorization &&
                    is_above(&complex.gpu, &many.gpu));
        assert_true(
            mixed.cpu.factorization < many.cpu.factorization && mixed.cpu.solve <= many.cpu.solve &&
            mixed.gpu.factorization < many.gpu.factorization && mixed.gpu.solve < many.gpu.solve);
        assert_true(few.gpu.factorization < one.gpu.factorization &&
                    few.gpu.solve > one.gpu.solve && few.gpu.first < one.gpu.first);
        before = one;
    }
    const backend_forecast nothing =
        forecast_backends(&(problem_size){.scalar_bytes = 8, .threads = 1}, 0);
    assert_true(nothing.cpu.solve == 0 && nothing.gpu.solve > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_problems_stay_on_the_cpu),
        cmocka_unit_test(large_ones_go_to_the_gpu),
        cmocka_unit_test(what_the_cpu_factorizes_goes_there_for_its_solves),
        cmocka_unit_test(the_purpose_says_what_preparation_may_cost),
        cmocka_unit_test(forecasts_grow_with_the_problem_and_fall_with_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
