/* test/gpu/test_traced.c: solves on the GPU that tell what their tasks did
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "gpu_required.h"
#include "systems.h"
#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

typedef struct traced_case {
    sparse a;
    libsolver_factor *factor;
    double *x;
    libsolver_vectors b, on_device; /* both in device memory */
} traced_case;

static void set_up(traced_case *t)
{
    t->a = sparse_grid(60, 50, 4);
    const int64_t n = t->a.n;
    const size_t bytes = sizeof(double) * (size_t)n;
    const libsolver_matrix view = sparse_view(&t->a);
    libsolver_options options;
    libsolver_options_default(&options);
    options.backend = LIBSOLVER_BACKEND_GPU;
    assert_int_equal(libsolver_factor_matrix(&view, &options, &t->factor), LIBSOLVER_OK);
    t->x = doubles(n);
    for (int64_t i = 0; i < n; i++)
        t->x[i] = 1 + (double)(i % 5);
    t->b = t->on_device = block_view(NULL, n, 1);
    t->b.place = t->on_device.place = LIBSOLVER_DEVICE;
    assert_int_equal(cudaMalloc(&t->b.values, bytes), cudaSuccess);
    assert_int_equal(cudaMalloc(&t->on_device.values, bytes), cudaSuccess);
    assert_int_equal(cudaMemcpy(t->b.values, t->x, bytes, cudaMemcpyHostToDevice), cudaSuccess);
}

static void tear_down(traced_case *t)
{
    cudaFree(t->b.values);
    cudaFree(t->on_device.values);
    libsolver_factor_free(t->factor);
    free(t->x);
    sparse_free(&t->a);
}

static void get_x(const traced_case *t, double *x)
{
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    assert_int_equal(cudaMemcpy(x, t->on_device.values, sizeof(double) * (size_t)t->a.n,
                                cudaMemcpyDeviceToHost),
                     cudaSuccess);
}

static void tasks_follow_one_another_and_x_is_the_same(void **state)
{
    (void)state;
    traced_case t = {0};
    set_up(&t);
    int64_t count = 0, again = 0;
    assert_int_equal(libsolver_solve_traced(t.factor, NULL, NULL, NULL, 0, NULL, &count),
                     LIBSOLVER_OK);
    assert_true(count > 0);
    libsolver_task *task = calloc((size_t)count, sizeof *task);
    double *x = doubles(t.a.n);
    assert_int_equal(libsolver_solve_plain(t.factor, LIBSOLVER_PART_ALL, NULL, &t.b, &t.on_device),
                     LIBSOLVER_OK);
    get_x(&t, t.x);
    assert_int_equal(libsolver_solve_traced(t.factor, NULL, &t.b, &t.on_device, count, task,
                                            &again),
                     LIBSOLVER_OK);
    assert_int_equal(again, count);
    get_x(&t, x);
    assert_memory_equal(x, t.x, sizeof(double) * (size_t)t.a.n);
    double first = 1;
    for (int64_t k = 0; k < count; k++) {
        assert_true(task[k].begin >= 0 && task[k].begin <= task[k].staged &&
                    task[k].staged <= task[k].gathered && task[k].gathered <= task[k].end &&
                    task[k].end < 1);
        assert_true(task[k].bytes > 0 && task[k].height >= 0 &&
                    (unsigned)task[k].kind <= LIBSOLVER_TASK_SUM);
        first = task[k].begin < first ? task[k].begin : first;
        if (k > 0 && task[k].block == task[k - 1].block)
            assert_true(task[k].level >= task[k - 1].level && task[k].begin >= task[k - 1].end);
    }
    assert_true(first == 0);
    free(task);
    free(x);
    tear_down(&t);
}

static void what_cannot_be_traced_is_refused(void **state)
{
    (void)state;
    traced_case t = {0};
    libsolver_task few[1];
    int64_t count = 0;
    set_up(&t);
    assert_int_equal(libsolver_solve_traced(t.factor, NULL, &t.b, &t.on_device, 1, few, &count),
                     LIBSOLVER_INVALID);
    assert_true(count > 1);
    libsolver_task *task = calloc((size_t)count, sizeof *task);
    const libsolver_vectors host = block_view(t.x, t.a.n, 1);
    assert_int_equal(libsolver_solve_traced(t.factor, NULL, &host, &host, count, task, &count),
                     LIBSOLVER_INVALID);
    assert_non_null(strstr(libsolver_factor_message(t.factor), "device memory"));
    free(task);
    tear_down(&t);
}

int main(void)
{
    int devices = 0;
    if (libsolver_devices(0, NULL, &devices) != LIBSOLVER_OK || devices == 0)
        return without_a_gpu();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_follow_one_another_and_x_is_the_same),
        cmocka_unit_test(what_cannot_be_traced_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
