/* test/gpu/test_sentences.c: what failed on the device, and why, reaches the caller: in the
 * factor's message, its place in a field of its own, and in the log where the CPU goes on instead
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "fake/fake.h"
#include "systems.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 200 }; /* AUTO takes the device for so many unknowns a side */

typedef struct told {
    sparse a;
    libsolver_options options;
    libsolver_factor *factor;
    double *b, *x;
    char said[300]; /* the last sentence about solves on the CPU */
} told;

static void listen(void *user, const char *sentence)
{
    told *t = user;
    if (strstr(sentence, "solves on the CPU: "))
        snprintf(t->said, sizeof t->said, "%s", sentence);
}

static void set_up(told *t, libsolver_backend backend)
{
    *t = (told){.a = sparse_grid(SIDE, SIDE, 4)};
    t->b = doubles(t->a.n);
    t->x = doubles(t->a.n);
    for (int64_t i = 0; i < t->a.n; i++)
        t->b[i] = 1 + (double)(i % 5);
    libsolver_options_default(&t->options);
    t->options.backend = backend;
    t->options.purpose = LIBSOLVER_PURPOSE_LATENCY;
    t->options.log = listen;
    t->options.log_user = t;
    const libsolver_matrix view = sparse_view(&t->a);
    assert_int_equal(libsolver_factor_matrix(&view, &t->options, &t->factor), LIBSOLVER_OK);
}

static void tear_down(told *t)
{
    libsolver_factor_free(t->factor);
    free(t->b);
    free(t->x);
    sparse_free(&t->a);
    fake_reset();
}

/* WHAT and WHY are in the sentence, no place in the source, and no request of nothing. */
static void check_sentence(const char *sentence, const char *what, const char *why)
{
    print_message("%s\n", sentence);
    if (!strstr(sentence, what) || !strstr(sentence, why))
        fail_msg("'%s' or '%s' is not in '%s'", what, why, sentence);
    if (strstr(sentence, ".c:") || strstr(sentence, " 0 more bytes"))
        fail_msg("a place, or a request of nothing, in '%s'", sentence);
}

static void check_factor(const told *t, const char *what, const char *why)
{
    check_sentence(libsolver_factor_message(t->factor), what, why);
    assert_non_null(strstr(libsolver_factor_place(t->factor), ".c:"));
}

static void a_device_without_room_is_told(void **state)
{
    (void)state;
    told t;
    libsolver_workspace *w = NULL;
    set_up(&t, LIBSOLVER_BACKEND_GPU);
    fake.capacity = fake.bytes;
    assert_int_equal(libsolver_workspace_create(t.factor, 4, &w), LIBSOLVER_OUT_OF_DEVICE_MEMORY);
    assert_null(w);
    check_factor(&t, "the workspace", "bytes of device memory");
    tear_down(&t);
}

/* Whatever call of a solve fails: it is named. */
static void failed_calls_of_a_solve_are_told(void **state)
{
    (void)state;
    for (int refines = 0; refines < 2; refines++) {
        told t;
        int failures = 0;
        set_up(&t, LIBSOLVER_BACKEND_GPU);
        const libsolver_vectors b = block_view(t.b, t.a.n, 1), x = block_view(t.x, t.a.n, 1);
        for (int64_t k = 0;; k++, failures++) {
            fake.last = NULL;
            fake.failure = LIBSOLVER_CUDA;
            fake.left = k;
            const libsolver_status status =
                refines ? libsolver_solve(t.factor, &b, &x)
                        : libsolver_solve_plain(t.factor, LIBSOLVER_PART_ALL, NULL, &b, &x);
            fake.left = INT64_MAX;
            if (!fake.last)
                break;
            assert_int_equal(status, LIBSOLVER_CUDA);
            check_factor(&t, " failed: ", fake.last);
        }
        assert_true(failures > 2);
        tear_down(&t);
    }
}

/* AUTO's solves go on on the CPU, and the log says why. */
static void the_log_says_why_solves_leave_the_device(void **state)
{
    (void)state;
    for (int refines = 0; refines < 2; refines++) {
        told t;
        set_up(&t, LIBSOLVER_BACKEND_AUTO);
        const libsolver_vectors b = block_view(t.b, t.a.n, 1), x = block_view(t.x, t.a.n, 1);
        fake.failure = LIBSOLVER_CUDA;
        fake.left = 1;
        assert_int_equal(refines
                             ? libsolver_solve(t.factor, &b, &x)
                             : libsolver_solve_plain(t.factor, LIBSOLVER_PART_ALL, NULL, &b, &x),
                         LIBSOLVER_OK);
        assert_non_null(fake.last);
        check_sentence(t.said, " failed: ", fake.last);
        assert_string_equal(libsolver_factor_message(t.factor), "");
        tear_down(&t);
    }
}

/* One that lacks what the kernels need is refused by name; AUTO stays on the CPU and says so. */
static void a_device_too_old_is_told(void **state)
{
    (void)state;
    told t;
    libsolver_context *context;
    libsolver_options options;
    libsolver_factor_info facts;
    libsolver_options_default(&options);
    options.backend = LIBSOLVER_BACKEND_GPU;
    fake.compute_major = 8;
    assert_int_equal(libsolver_context_create(&options, &context), LIBSOLVER_NOT_BUILT);
    assert_null(context);
    check_sentence(libsolver_context_message(NULL), "old device", "the kernels need 9.0");
    set_up(&t, LIBSOLVER_BACKEND_AUTO);
    libsolver_info(t.factor, &facts);
    assert_int_equal(facts.backend_solve, LIBSOLVER_BACKEND_CPU);
    check_sentence(t.said, "solves on the CPU", "the kernels need 9.0");
    tear_down(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_without_room_is_told),
        cmocka_unit_test(failed_calls_of_a_solve_are_told),
        cmocka_unit_test(a_device_too_old_is_told),
        cmocka_unit_test(the_log_says_why_solves_leave_the_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
