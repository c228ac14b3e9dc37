/* test/gpu/test_traced.c: solves and factorizations on the GPU that tell what their tasks did
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

/* ---- Factorizations -------------------------------------------------------------------------- */

enum { KINDS = LIBSOLVER_FACTOR_TASK_DIVIDE + 1 };

/* Two full blocks that have a third one in common: fronts in several tiles that leave one. */
static sparse full_blocks(void)
{
    enum { EACH = 220, N = 2 * EACH + 100 };
    double *a = doubles(N * N);
    for (int j = 0; j < N; j++)
        for (int i = j; i < N; i++)
            a[i + N * j] = i == j ? 2 * N : i / EACH == j / EACH || i >= 2 * EACH ? -1 : 0;
    const sparse s = sparse_of_dense(N, a);
    free(a);
    return s;
}

typedef struct factor_case {
    sparse a;
    libsolver_matrix view;
    libsolver_context *context;
    libsolver_analysis *analysis;
    libsolver_factor *factor;
    int64_t count; /* tasks */
    libsolver_factor_task *task;
} factor_case;

/* a is taken over. */
static void open_factor(factor_case *t, sparse a, libsolver_kind kind)
{
    libsolver_options options;
    int8_t *sign = malloc((size_t)a.n);
    assert_non_null(sign);
    memset(sign, 1, (size_t)a.n);
    libsolver_options_default(&options);
    options.backend = LIBSOLVER_BACKEND_GPU;
    options.kind = kind;
    options.expected_signs = kind == LIBSOLVER_KIND_QUASI_DEFINITE ? sign : NULL;
    *t = (factor_case){.a = a, .view = sparse_view(&a)};
    assert_int_equal(libsolver_context_create(&options, &t->context), LIBSOLVER_OK);
    assert_int_equal(libsolver_analyze(t->context, &t->view, &options, &t->analysis), LIBSOLVER_OK);
    assert_int_equal(libsolver_factorize(t->analysis, &t->view, &t->factor), LIBSOLVER_OK);
    free(sign);
    if (kind == LIBSOLVER_KIND_INDEFINITE)
        return;
    assert_int_equal(libsolver_refactorize_traced(t->factor, NULL, 0, NULL, &t->count),
                     LIBSOLVER_OK);
    assert_true(t->count > 0);
    t->task = calloc((size_t)t->count, sizeof *t->task);
    assert_non_null(t->task);
}

static void close_factor(factor_case *t)
{
    libsolver_factor_free(t->factor);
    libsolver_analysis_free(t->analysis);
    libsolver_context_free(t->context);
    sparse_free(&t->a);
    free(t->task);
}

static libsolver_status refactorize_traced(factor_case *t, int64_t *count)
{
    return libsolver_refactorize_traced(t->factor, &t->view, t->count, t->task, count);
}

/* x := what the factor makes of ones; to be freed. */
static double *solution(const factor_case *t)
{
    double *x = doubles(t->a.n);
    for (int64_t i = 0; i < t->a.n; i++)
        x[i] = 1;
    const libsolver_vectors v = block_view(x, t->a.n, 1);
    assert_int_equal(libsolver_solve_plain(t->factor, LIBSOLVER_PART_ALL, NULL, &v, &v),
                     LIBSOLVER_OK);
    return x;
}

/* Adds to the numbers of tasks of each kind. */
static void check_tasks(const factor_case *t, int64_t *of_kind)
{
    double flops = 0, first = 1;
    libsolver_analysis_info info;
    libsolver_analysis_query(t->analysis, &info);
    assert_int_equal(t->task[0].level, 0);
    for (int64_t k = 0; k < t->count; k++) {
        const libsolver_factor_task *a = t->task + k, *before = k > 0 ? a - 1 : a;
        assert_in_range(a->kind, 0, KINDS - 1);
        assert_in_range(a->level - before->level, 0, 1);
        assert_true(a->begin >= 0 && a->begin <= a->end && a->end < 1);
        assert_true(a->fronts > 0 && a->first >= 0 && a->columns > 0 && a->rows >= a->columns &&
                    a->first + a->columns <= t->a.n && a->row_block >= a->column_block);
        flops += a->flops;
        first = a->begin < first ? a->begin : first;
        of_kind[a->kind]++;
    }
    assert_true(first == 0);
    /* small fronts are merged, at the price of zeros */
    if (!(flops >= (1 - 1e-12) * info.factor_flops && flops <= 2.5 * info.factor_flops))
        fail_msg("%g operations, of the factor %g", flops, info.factor_flops);
}

static void tasks_of_a_factorization_are_told_and_l_is_the_same(void **state)
{
    (void)state;
    int64_t of_kind[KINDS] = {0};
    for (int which = 0; which < 3; which++) {
        factor_case t;
        int64_t count = 0;
        open_factor(&t, which ? full_blocks() : sparse_grid(60, 50, 4),
                    which < 2 ? LIBSOLVER_KIND_AUTO : LIBSOLVER_KIND_QUASI_DEFINITE);
        for (int64_t k = 0; k < t.a.pointers[t.a.n]; k++)
            t.a.values[k] *= 1 + 0.01 * (double)(k % 7);
        assert_int_equal(libsolver_refactorize(t.factor, &t.view), LIBSOLVER_OK);
        double *x = solution(&t);
        for (int again = 0; again < 3; again++) { /* the last one without a trace */
            assert_int_equal(again < 2 ? refactorize_traced(&t, &count)
                                       : libsolver_refactorize(t.factor, &t.view),
                             LIBSOLVER_OK);
            assert_int_equal(count, t.count);
            double *y = solution(&t);
            assert_memory_equal(y, x, sizeof(double) * (size_t)t.a.n);
            free(y);
        }
        check_tasks(&t, of_kind);
        free(x);
        close_factor(&t);
    }
    for (int kind = 0; kind < KINDS; kind++)
        if (of_kind[kind] == 0)
            fail_msg("no task of kind %d", kind);
}

static void without_room_for_all_tasks_the_factor_stays(void **state)
{
    (void)state;
    factor_case t;
    int64_t count = 0;
    open_factor(&t, sparse_grid(20, 20, 4), LIBSOLVER_KIND_AUTO);
    double *x = solution(&t);
    for (int64_t k = 0; k < t.a.pointers[t.a.n]; k++)
        t.a.values[k] *= 2;
    assert_int_equal(libsolver_refactorize_traced(t.factor, &t.view, t.count - 1, t.task, &count),
                     LIBSOLVER_INVALID);
    assert_int_equal(count, t.count);
    assert_non_null(strstr(libsolver_factor_message(t.factor), "room for"));
    assert_int_equal(libsolver_refactorize_traced(t.factor, &t.view, t.count, t.task, NULL),
                     LIBSOLVER_INVALID);
    assert_int_equal(libsolver_refactorize_traced(t.factor, NULL, t.count, t.task, &count),
                     LIBSOLVER_INVALID);
    double *y = solution(&t);
    assert_memory_equal(y, x, sizeof(double) * (size_t)t.a.n);
    assert_int_equal(refactorize_traced(&t, &count), LIBSOLVER_OK);
    free(x);
    free(y);
    close_factor(&t);
}

/* Values that are not positive definite are told of; the next good ones can be traced. */
static void a_traced_factorization_may_fail(void **state)
{
    (void)state;
    factor_case t;
    int64_t count = 0;
    open_factor(&t, sparse_grid(20, 20, 4), LIBSOLVER_KIND_SPD);
    t.a.values[0] = 0.1;
    assert_int_equal(refactorize_traced(&t, &count), LIBSOLVER_NOT_POSITIVE_DEFINITE);
    t.a.values[0] = 4;
    assert_int_equal(refactorize_traced(&t, &count), LIBSOLVER_OK);
    assert_int_equal(count, t.count);
    close_factor(&t);
}

static void factorizations_on_the_cpu_have_no_tasks(void **state)
{
    (void)state;
    factor_case t;
    int64_t count = 1;
    open_factor(&t, sparse_grid(20, 20, 4), LIBSOLVER_KIND_INDEFINITE);
    assert_int_equal(libsolver_refactorize_traced(t.factor, NULL, 0, NULL, &count),
                     LIBSOLVER_NOT_BUILT);
    assert_int_equal(count, 0);
    close_factor(&t);
    open_factor(&t, sparse_grid(20, 20, 4), LIBSOLVER_KIND_AUTO);
    t.a.values[0] = 0.1; /* it goes on as L D L^T */
    assert_int_equal(refactorize_traced(&t, &count), LIBSOLVER_OK);
    assert_int_equal(count, 0);
    free(solution(&t));
    assert_int_equal(refactorize_traced(&t, &count), LIBSOLVER_NOT_BUILT);
    assert_non_null(strstr(libsolver_factor_message(t.factor), "on the CPU"));
    free(solution(&t));
    close_factor(&t);
}

int main(void)
{
    int devices = 0;
    if (libsolver_devices(0, NULL, &devices) != LIBSOLVER_OK || devices == 0)
        return without_a_gpu();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_follow_one_another_and_x_is_the_same),
        cmocka_unit_test(what_cannot_be_traced_is_refused),
        cmocka_unit_test(tasks_of_a_factorization_are_told_and_l_is_the_same),
        cmocka_unit_test(without_room_for_all_tasks_the_factor_stays),
        cmocka_unit_test(a_traced_factorization_may_fail),
        cmocka_unit_test(factorizations_on_the_cpu_have_no_tasks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
