/* test/gpu/test_auto.c: AUTO with a GPU: it solves there what is large, and on the CPU what the
 * device cannot do or has no room for
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

/* side^2 unknowns: enough for a solve to be faster on the device, whatever the processors. */
enum { SIDE = 200 };

typedef struct auto_case {
    sparse a;
    libsolver_options options;
    libsolver_factor *factor;
    double *b, *x;
} auto_case;

static void set_up(auto_case *t, int64_t side)
{
    t->a = sparse_grid(side, side, 4);
    t->b = doubles(t->a.n);
    t->x = doubles(t->a.n);
    for (int64_t i = 0; i < t->a.n; i++)
        t->b[i] = 1 + (double)(i % 5);
    libsolver_options_default(&t->options);
    t->options.purpose = LIBSOLVER_PURPOSE_LATENCY;
}

static void tear_down(auto_case *t)
{
    libsolver_factor_free(t->factor);
    free(t->b);
    free(t->x);
    sparse_free(&t->a);
}

/* Definite systems are factorized where they are solved. */
static libsolver_backend where(const libsolver_factor *f)
{
    libsolver_factor_info info;
    libsolver_info(f, &info);
    assert_int_equal(info.backend_factorize, info.backend_solve);
    return info.backend_solve;
}

/* Factorizes and solves; where it solved. */
static libsolver_backend solve(auto_case *t)
{
    const libsolver_matrix view = sparse_view(&t->a);
    const libsolver_vectors b = block_view(t->b, t->a.n, 1), x = block_view(t->x, t->a.n, 1);
    assert_int_equal(libsolver_factor_matrix(&view, &t->options, &t->factor), LIBSOLVER_OK);
    assert_int_equal(libsolver_solve(t->factor, &b, &x), LIBSOLVER_OK);
    assert_true(sparse_backward_error(&t->a, 1, t->x, t->b) <= 1e-14);
    assert_string_equal(libsolver_factor_message(t->factor), "");
    return where(t->factor);
}

static void large_systems_are_solved_on_the_gpu(void **state)
{
    (void)state;
    auto_case t = {0};
    set_up(&t, SIDE);
    assert_int_equal(solve(&t), LIBSOLVER_BACKEND_GPU);
    const libsolver_matrix view = sparse_view(&t.a);
    const libsolver_vectors b = block_view(t.b, t.a.n, 1), x = block_view(t.x, t.a.n, 1);
    assert_int_equal(libsolver_refactorize(t.factor, &view), LIBSOLVER_OK);
    assert_int_equal(where(t.factor), LIBSOLVER_BACKEND_GPU);
    /* by halves: on the CPU, with the same factor */
    assert_int_equal(libsolver_solve_plain(t.factor, LIBSOLVER_PART_L, NULL, &b, &x), LIBSOLVER_OK);
    assert_int_equal(libsolver_solve_plain(t.factor, LIBSOLVER_PART_D, NULL, &x, &x), LIBSOLVER_OK);
    assert_int_equal(libsolver_solve_plain(t.factor, LIBSOLVER_PART_LT, NULL, &x, &x),
                     LIBSOLVER_OK);
    assert_true(sparse_backward_error(&t.a, 1, t.x, t.b) <= 1e-12);
    tear_down(&t);
}

static void factors_in_mixed_precision_too(void **state)
{
    (void)state;
    for (int is_small = 0; is_small < 2; is_small++) {
        auto_case t = {0};
        libsolver_factor_info info;
        set_up(&t, is_small ? 8 : SIDE);
        t.options.mixed = LIBSOLVER_ON;
        assert_int_equal(solve(&t), is_small ? LIBSOLVER_BACKEND_CPU : LIBSOLVER_BACKEND_GPU);
        libsolver_info(t.factor, &info);
        assert_int_equal(info.precision, LIBSOLVER_S);
        tear_down(&t);
    }
}

static void small_systems_stay_on_the_cpu(void **state)
{
    (void)state;
    for (int purpose = LIBSOLVER_PURPOSE_DEFAULT; purpose <= LIBSOLVER_PURPOSE_LATENCY; purpose++) {
        auto_case t = {0};
        set_up(&t, 8);
        t.options.purpose = (libsolver_purpose)purpose;
        assert_int_equal(solve(&t), LIBSOLVER_BACKEND_CPU);
        tear_down(&t);
    }
}

/* For very many solves they have no limit, for ordinary ones they do, for few there are none. */
static void the_purpose_says_how_large_inverses_become(void **state)
{
    (void)state;
    static const libsolver_purpose purposes[] = {LIBSOLVER_PURPOSE_FEW, LIBSOLVER_PURPOSE_DEFAULT,
                                                 LIBSOLVER_PURPOSE_LATENCY};
    int64_t bytes[3];
    for (int k = 0; k < 3; k++) {
        auto_case t = {0};
        libsolver_factor_info info;
        set_up(&t, SIDE / 4);
        t.options.backend = LIBSOLVER_BACKEND_GPU;
        t.options.purpose = purposes[k];
        assert_int_equal(solve(&t), LIBSOLVER_BACKEND_GPU);
        libsolver_info(t.factor, &info);
        bytes[k] = info.device_bytes;
        tear_down(&t);
    }
    print_message("on the device: %lld bytes for few solves, %lld ordinarily, %lld for very many\n",
                  (long long)bytes[0], (long long)bytes[1], (long long)bytes[2]);
    assert_true(bytes[0] < bytes[1] && (double)bytes[2] > 1.1 * (double)bytes[1]);
}

static void what_the_device_cannot_do_is_done_on_the_cpu(void **state)
{
    (void)state;
    auto_case t = {0};
    set_up(&t, SIDE);
    const int64_t rows[] = {3, 5};
    const libsolver_matrix view = sparse_view(&t.a);
    t.options.schur_rows = rows;
    t.options.schur_size = 2;
    assert_int_equal(libsolver_factor_matrix(&view, &t.options, &t.factor), LIBSOLVER_OK);
    assert_int_equal(where(t.factor), LIBSOLVER_BACKEND_CPU);
    double s[4];
    const libsolver_vectors sv = block_view(s, 2, 2);
    assert_int_equal(libsolver_schur_complement(t.factor, &sv), LIBSOLVER_OK);
    tear_down(&t);
    set_up(&t, SIDE);
    t.options.device = 1000;
    assert_int_equal(solve(&t), LIBSOLVER_BACKEND_CPU);
    tear_down(&t);
}

/* All of the device's memory, in blocks of falling size. */
static int fill_device(void **block, int room)
{
    int count = 0;
    for (size_t bytes = (size_t)1 << 37; bytes >= (size_t)1 << 16 && count < room;)
        if (cudaMalloc(&block[count], bytes) == cudaSuccess)
            count++;
        else {
            cudaGetLastError();
            bytes /= 2;
        }
    return count;
}

static int sentences;

static void count_sentences(void *user, const char *sentence)
{
    (void)user;
    sentences += strstr(sentence, "solves on the CPU: ") != NULL;
}

static void a_full_device_leaves_solves_to_the_cpu(void **state)
{
    (void)state;
    enum { BLOCKS = 4000 };
    void **block = calloc(BLOCKS, sizeof *block);
    auto_case t = {0};
    set_up(&t, SIDE);
    t.options.log = count_sentences;
    assert_int_equal(solve(&t), LIBSOLVER_BACKEND_GPU); /* kernels are loaded */
    libsolver_factor_free(t.factor);
    const int blocks = fill_device(block, BLOCKS);
    sentences = 0;
    assert_int_equal(solve(&t), LIBSOLVER_BACKEND_CPU);
    assert_true(sentences > 0);
    for (int k = 0; k < blocks; k++)
        cudaFree(block[k]);
    libsolver_factor_free(t.factor);
    assert_int_equal(solve(&t), LIBSOLVER_BACKEND_GPU);
    tear_down(&t);
    free(block);
}

int main(void)
{
    int devices = 0;
    if (libsolver_devices(0, NULL, &devices) != LIBSOLVER_OK || devices == 0)
        return without_a_gpu();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_systems_are_solved_on_the_gpu),
        cmocka_unit_test(factors_in_mixed_precision_too),
        cmocka_unit_test(small_systems_stay_on_the_cpu),
        cmocka_unit_test(the_purpose_says_how_large_inverses_become),
        cmocka_unit_test(what_the_device_cannot_do_is_done_on_the_cpu),
        cmocka_unit_test(a_full_device_leaves_solves_to_the_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
