/* test/solver/test_fall_back.c: AUTO goes back to the CPU wherever the device fails, --backend gpu
 * never does
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * It is linked with --wrap of the calls that find a device, open it and take a factor there, and
 * needs no GPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "gpu/solve/device_solver.h"
#include "gpu/device/devices.h"
#include "gpu/device/device_factor.h"
#include "gpu/device/device_values.h"
#include "gpu/factor/device_factorizer.h"
#include "gpu/refine/residual.h"
#include "systems.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int devices, looks;
static libsolver_status opening, loading;

libsolver_status __wrap_gpu_device_count(int *count, message *why);
libsolver_status __wrap_gpu_device_count(int *count, message *why)
{
    (void)why;
    *count = devices;
    looks++;
    return LIBSOLVER_OK;
}

libsolver_status __wrap_gpu_device_check(int i, message *why);
libsolver_status __wrap_gpu_device_check(int i, message *why)
{
    (void)i, (void)why;
    return LIBSOLVER_OK;
}

libsolver_status __wrap_device_solver_open(device_solver *s, message *why);
libsolver_status __wrap_device_solver_open(device_solver *s, message *why)
{
    s->blocks = 8;
    return opening == LIBSOLVER_OK ? opening : FAIL(why, opening, "it does not open");
}

libsolver_status __wrap_device_factor_load(device_factor *f, const factor_tree *tree, message *why);
libsolver_status __wrap_device_factor_load(device_factor *f, const factor_tree *tree, message *why)
{
    (void)f;
    (void)tree;
    return loading == LIBSOLVER_OK ? loading : FAIL(why, loading, "there is no room");
}

libsolver_status __wrap_device_values_open(device_values *v, int64_t entries, libsolver_type type,
                                           message *why);
libsolver_status __wrap_device_values_open(device_values *v, int64_t entries, libsolver_type type,
                                           message *why)
{
    (void)v, (void)entries, (void)type, (void)why;
    return LIBSOLVER_OK;
}

libsolver_status __wrap_device_values_put(const device_values *v, const void *values, message *why);
libsolver_status __wrap_device_values_put(const device_values *v, const void *values, message *why)
{
    (void)v, (void)values, (void)why;
    return LIBSOLVER_OK;
}

libsolver_status __wrap_device_factorizer_load(device_factorizer *f, const factor_program *program,
                                               const factor_pattern *pattern, libsolver_type type,
                                               message *why);
libsolver_status __wrap_device_factorizer_load(device_factorizer *f, const factor_program *program,
                                               const factor_pattern *pattern, libsolver_type type,
                                               message *why)
{
    (void)f, (void)program, (void)pattern, (void)type;
    return FAIL(why, loading, "there is no room");
}

libsolver_status __wrap_device_matrix_open(device_matrix *a, const full_matrix *pattern,
                                           libsolver_type type, message *why);
libsolver_status __wrap_device_matrix_open(device_matrix *a, const full_matrix *pattern,
                                           libsolver_type type, message *why)
{
    (void)a, (void)pattern, (void)type, (void)why;
    return LIBSOLVER_OK;
}

libsolver_status __wrap_device_matrix_set(const device_matrix *a, const void *lower, int follows,
                                          message *why);
libsolver_status __wrap_device_matrix_set(const device_matrix *a, const void *lower, int follows,
                                          message *why)
{
    (void)a, (void)lower, (void)follows, (void)why;
    return LIBSOLVER_OK;
}

typedef struct fallen {
    sparse a;
    libsolver_options options;
    libsolver_factor *factor;
    double *b, *x;
    int sentences;  /* that say why solves run on the CPU */
    int factorized; /* sentences that say so of factorizations */
    char last[240];
} fallen;

static void listen(void *user, const char *sentence)
{
    fallen *t = user;
    t->sentences += strstr(sentence, "solves on the CPU: ") != NULL;
    t->factorized += strstr(sentence, "factorizes on the CPU: there is no room") != NULL;
    if (strstr(sentence, "s on the CPU: "))
        snprintf(t->last, sizeof t->last, "%s", sentence);
}

static void set_up(fallen *t, int64_t side, libsolver_backend backend)
{
    *t = (fallen){.a = sparse_grid(side, side, 4)};
    t->b = doubles(t->a.n);
    t->x = doubles(t->a.n);
    for (int64_t i = 0; i < t->a.n; i++)
        t->b[i] = 1 + (double)(i % 5);
    libsolver_options_default(&t->options);
    t->options.backend = backend;
    t->options.purpose = LIBSOLVER_PURPOSE_LATENCY;
    t->options.log = listen;
    t->options.log_user = t;
    looks = 0;
}

static void tear_down(fallen *t)
{
    libsolver_factor_free(t->factor);
    free(t->b);
    free(t->x);
    sparse_free(&t->a);
}

static libsolver_status factorize(fallen *t)
{
    const libsolver_matrix view = sparse_view(&t->a);
    return libsolver_factor_matrix(&view, &t->options, &t->factor);
}

/* On the CPU, with nothing to be heard of the device in statuses and messages. */
static void solves_on_the_cpu(fallen *t)
{
    libsolver_factor_info info;
    const libsolver_vectors b = block_view(t->b, t->a.n, 1), x = block_view(t->x, t->a.n, 1);
    assert_string_equal(libsolver_factor_message(t->factor), "");
    libsolver_info(t->factor, &info);
    assert_int_equal(info.backend_factorize, LIBSOLVER_BACKEND_CPU);
    assert_int_equal(info.backend_solve, LIBSOLVER_BACKEND_CPU);
    assert_int_equal(info.device_bytes, 0);
    assert_int_equal(libsolver_solve(t->factor, &b, &x), LIBSOLVER_OK);
    assert_true(sparse_backward_error(&t->a, 1, t->x, t->b) <= 1e-14);
    assert_int_equal(libsolver_solve_plain(t->factor, LIBSOLVER_PART_ALL, NULL, &b, &x),
                     LIBSOLVER_OK);
    assert_true(sparse_backward_error(&t->a, 1, t->x, t->b) <= 1e-12);
}

enum { SIDE = 150 }; /* a solve would be faster on a device, whatever the processors */

static void without_a_device(void **state)
{
    (void)state;
    fallen t;
    devices = 0;
    set_up(&t, SIDE, LIBSOLVER_BACKEND_AUTO);
    assert_int_equal(factorize(&t), LIBSOLVER_OK);
    assert_int_equal(looks, 1);
    assert_ptr_equal(strstr(t.last, "solves on the CPU: CUDA has no device"), t.last);
    solves_on_the_cpu(&t);
    tear_down(&t);
    set_up(&t, 5, LIBSOLVER_BACKEND_AUTO);
    assert_int_equal(factorize(&t), LIBSOLVER_OK);
    assert_int_equal(looks, 0); /* CUDA is not touched for a small system */
    solves_on_the_cpu(&t);
    tear_down(&t);
}

static void a_device_that_does_not_open(void **state)
{
    (void)state;
    fallen t;
    devices = 1;
    opening = LIBSOLVER_CUDA;
    set_up(&t, SIDE, LIBSOLVER_BACKEND_AUTO);
    assert_int_equal(factorize(&t), LIBSOLVER_OK);
    assert_int_equal(t.sentences, 1);
    assert_non_null(strstr(t.last, "it does not open"));
    solves_on_the_cpu(&t);
    tear_down(&t);
    set_up(&t, SIDE, LIBSOLVER_BACKEND_GPU);
    assert_int_equal(factorize(&t), LIBSOLVER_CUDA);
    assert_non_null(strstr(libsolver_factor_message(t.factor), "it does not open"));
    tear_down(&t);
}

static void a_device_without_room(void **state)
{
    (void)state;
    fallen t;
    devices = 1;
    opening = LIBSOLVER_OK;
    loading = LIBSOLVER_OUT_OF_DEVICE_MEMORY;
    set_up(&t, SIDE, LIBSOLVER_BACKEND_AUTO);
    assert_int_equal(factorize(&t), LIBSOLVER_OK);
    assert_int_equal(t.sentences, 1);
    assert_int_equal(t.factorized, 1);
    assert_non_null(strstr(t.last, "there is no room"));
    solves_on_the_cpu(&t);
    const libsolver_matrix view = sparse_view(&t.a);
    assert_int_equal(libsolver_refactorize(t.factor, &view), LIBSOLVER_OK);
    assert_int_equal(t.sentences, 2);
    solves_on_the_cpu(&t);
    int64_t count;
    libsolver_vectors there = block_view(t.x, t.a.n, 1);
    there.place = LIBSOLVER_DEVICE;
    assert_int_equal(libsolver_solve_traced(t.factor, NULL, NULL, NULL, 0, NULL, &count),
                     LIBSOLVER_NOT_BUILT);
    assert_int_equal(libsolver_refactorize_traced(t.factor, &view, 0, NULL, &count),
                     LIBSOLVER_NOT_BUILT);
    assert_int_equal(libsolver_solve_plain(t.factor, LIBSOLVER_PART_ALL, NULL, &there, &there),
                     LIBSOLVER_NOT_BUILT);
    assert_int_equal(libsolver_solve(t.factor, &there, &there), LIBSOLVER_NOT_BUILT);
    tear_down(&t);
    set_up(&t, SIDE, LIBSOLVER_BACKEND_GPU);
    assert_int_equal(factorize(&t), LIBSOLVER_OUT_OF_DEVICE_MEMORY);
    assert_non_null(strstr(libsolver_factor_message(t.factor), "there is no room"));
    tear_down(&t);
}

/* What the GPU backend does not do is not even asked of a device. */
static void what_the_device_cannot_do(void **state)
{
    (void)state;
    fallen t;
    devices = 1;
    opening = LIBSOLVER_CUDA;
    const int64_t rows[] = {3, 5};
    set_up(&t, SIDE, LIBSOLVER_BACKEND_AUTO);
    t.options.schur_rows = rows;
    t.options.schur_size = 2;
    assert_int_equal(factorize(&t), LIBSOLVER_OK);
    assert_int_equal(looks + t.sentences, 0);
    tear_down(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_device),
        cmocka_unit_test(a_device_that_does_not_open),
        cmocka_unit_test(a_device_without_room),
        cmocka_unit_test(what_the_device_cannot_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
