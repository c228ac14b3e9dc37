/* test/gpu/test_mixed_device.c: mixed precision where the device makes the factors, on the fake
 * device: from single to double and whatever fails on the way
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "fake/fake.h"
#include "systems.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 70, COLUMNS = 2 };

/* A definite matrix, all entries there; hard: half of the eigenvalues are too small for single
 * precision. */
static sparse definite(int hard)
{
    double values[N];
    for (int k = 0; k < N; k++)
        values[k] = hard && k % 2 ? 1e-11 * pow(10, 3.0 * k / N) : 1 + 0.3 * sin(k);
    return sparse_with_eigenvalues(N, values);
}

typedef struct bench {
    sparse system[2]; /* by hard */
    libsolver_factor *f;
    libsolver_workspace *w;
} bench;

static libsolver_status refactorize(const bench *t, int hard)
{
    const libsolver_matrix view = sparse_view(&t->system[hard]);
    return libsolver_refactorize(t->f, &view);
}

/* With a factor of the system that is not hard. */
static void bench_begin(bench *t, libsolver_kind kind, libsolver_purpose purpose)
{
    libsolver_options o;
    fake_reset();
    libsolver_options_default(&o);
    o.backend = LIBSOLVER_BACKEND_GPU;
    o.mixed = LIBSOLVER_ON;
    o.kind = kind;
    o.purpose = purpose;
    o.threads = 1;
    for (int hard = 0; hard < 2; hard++)
        t->system[hard] = definite(hard);
    const libsolver_matrix view = sparse_view(&t->system[0]);
    t->f = NULL;
    assert_int_equal(libsolver_factor_matrix(&view, &o, &t->f), LIBSOLVER_OK);
    assert_int_equal(libsolver_workspace_create(t->f, COLUMNS, &t->w), LIBSOLVER_OK);
}

static void bench_end(bench *t)
{
    libsolver_workspace_free(t->w);
    libsolver_factor_free(t->f);
    sparse_free(&t->system[0]);
    sparse_free(&t->system[1]);
    fake.left = INT64_MAX;
    assert_int_equal(fake.held, 0);
}

static libsolver_factor_info info_of(const bench *t)
{
    libsolver_factor_info info;
    libsolver_info(t->f, &info);
    return info;
}

/* The factor at hand, which is on the device, solves a system. */
static void check_solves(const bench *t, int hard, libsolver_type precision)
{
    const sparse *a = &t->system[hard];
    double exact[N * COLUMNS], b[N * COLUMNS], x[N * COLUMNS], errors[COLUMNS];
    const libsolver_vectors bv = block_view(b, N, COLUMNS), xv = block_view(x, N, COLUMNS);
    const libsolver_factor_info info = info_of(t);
    for (int k = 0; k < N * COLUMNS; k++)
        exact[k] = 1 + 0.1 * (k % 5);
    sparse_multiply(a, COLUMNS, exact, b);
    assert_int_equal(info.precision, precision);
    assert_int_equal(info.backend_factorize, LIBSOLVER_BACKEND_GPU);
    assert_int_equal(info.backend_solve, LIBSOLVER_BACKEND_GPU);
    assert_int_equal(libsolver_solve(t->f, &bv, &xv), LIBSOLVER_OK);
    assert_true(sparse_backward_error(a, COLUMNS, x, b) <= 1e-14);
    assert_int_equal(libsolver_solve_plain(t->f, LIBSOLVER_PART_ALL, t->w, &bv, &xv), LIBSOLVER_OK);
    assert_int_equal(libsolver_refine(t->f, t->w, &bv, &xv, errors), LIBSOLVER_OK);
    assert_true(sparse_backward_error(a, COLUMNS, x, b) <= 1e-14);
}

/* Nothing is allocated but where the factor in double comes, with which it stays. */
static void values_in_turn(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++)
        for (int purpose = 0; purpose < 3; purpose++) {
            static const int hard[] = {0, 0, 1, 1, 0, 1};
            bench t;
            bench_begin(&t, (libsolver_kind)kind, (libsolver_purpose)purpose);
            check_solves(&t, 0, LIBSOLVER_S);
            for (int k = 0; k < 6; k++) {
                const libsolver_factor_info before = info_of(&t);
                const int64_t held = fake.held;
                assert_int_equal(refactorize(&t, hard[k]), LIBSOLVER_OK);
                if (k != 2) {
                    if (!hard[k]) /* small pivots in double are looked at on the host */
                        assert_int_equal(info_of(&t).allocations, before.allocations);
                    assert_int_equal(fake.held, held);
                } else
                    assert_true(info_of(&t).device_bytes > before.device_bytes);
                check_solves(&t, hard[k], k < 2 ? LIBSOLVER_S : LIBSOLVER_D);
            }
            bench_end(&t);
        }
}

/* Any call of a factorization that goes from single to double may fail: it is told, and the next
 * factorization is right. */
static void any_call_may_fail(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        int failures = 0;
        for (int64_t at = 0, over = 0; !over; at++) {
            bench t;
            bench_begin(&t, (libsolver_kind)kind, LIBSOLVER_PURPOSE_DEFAULT);
            fake.last = NULL;
            fake.left = at;
            const libsolver_status status = refactorize(&t, 1);
            over = !fake.last;
            fake.left = INT64_MAX;
            if (status != (over ? LIBSOLVER_OK : fake.failure))
                fail_msg("call %d, %s: %s, %s", (int)at, over ? "none" : fake.last,
                         libsolver_status_name(status), libsolver_factor_message(t.f));
            failures += !over;
            assert_int_equal(refactorize(&t, 1), LIBSOLVER_OK);
            check_solves(&t, 1, LIBSOLVER_D);
            bench_end(&t);
        }
        print_message("%d calls failed\n", failures);
        assert_true(failures > 20);
    }
}

/* Without room on the device for a factor in double the one in single stays, and says what it has
 * reached. */
static void without_room_it_stays_in_single(void **state)
{
    (void)state;
    int stayed = 0, refused = 0;
    for (int64_t room = 0;; room += 4096) {
        bench t;
        bench_begin(&t, LIBSOLVER_KIND_SPD, LIBSOLVER_PURPOSE_DEFAULT);
        fake.capacity = fake.bytes + room;
        const libsolver_status status = refactorize(&t, 1);
        const libsolver_type precision = info_of(&t).precision;
        if (status >= 0 && precision == LIBSOLVER_S) {
            double b[N], x[N];
            const libsolver_vectors bv = block_view(b, N, 1), xv = block_view(x, N, 1);
            for (int k = 0; k < N; k++)
                b[k] = 1 + k % 3;
            const libsolver_status solved = libsolver_solve(t.f, &bv, &xv);
            const double error = sparse_backward_error(&t.system[1], 1, x, b);
            assert_true(solved >= 0);
            assert_int_equal((solved & LIBSOLVER_INACCURATE) != 0, !(error <= 1e-14));
            stayed++;
        } else if (status < 0) {
            assert_int_equal(status, LIBSOLVER_OUT_OF_DEVICE_MEMORY);
            refused++;
        }
        fake.capacity = INT64_MAX;
        bench_end(&t);
        if (status == LIBSOLVER_OK && precision == LIBSOLVER_D)
            break;
    }
    print_message("%d times in single precision, %d times refused\n", stayed, refused);
    assert_true(stayed > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_in_turn),
        cmocka_unit_test(any_call_may_fail),
        cmocka_unit_test(without_room_it_stays_in_single),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
