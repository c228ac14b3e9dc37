/* test/gpu/test_batch_failures.c: batches on the fake device, whose calls and memory fail one after
 * the other
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "test/support/fake/fake.h"
#include "libsolver_batch.h"
#include "systems.h"
#include <stdlib.h>

enum { COUNT = 4 };

/* All phases of a batch of items that are the system; the first failure ends them.  x: of all
 * items. */
static libsolver_status session(const sparse *a, double *values, double *b, double *x)
{
    libsolver_options o;
    libsolver_context *context;
    libsolver_analysis *analysis;
    libsolver_batch *batch;
    const int64_t n = a->n, entries = a->pointers[n];
    const libsolver_matrix view = sparse_view(a);
    const libsolver_batch_values given = {.values = values, .stride = entries};
    const libsolver_batch_vectors bs = {.values = b, .stride = n, .columns = 1, .ld = n},
                                  xs = {.values = x, .stride = n, .columns = 1, .ld = n};
    libsolver_options_default(&o);
    o.backend = LIBSOLVER_BACKEND_GPU;
    o.kind = LIBSOLVER_KIND_SPD;
    libsolver_status status = libsolver_context_create(&o, &context);
    if (status != LIBSOLVER_OK) { /* it asks for the device */
        assert_true(libsolver_context_message(NULL)[0]);
        return status;
    }
    assert_int_equal(libsolver_analyze(context, &view, &o, &analysis), LIBSOLVER_OK);
    status = libsolver_batch_create(analysis, COUNT, &batch);
    if (status != LIBSOLVER_OK)
        assert_true(libsolver_context_message(context)[0]);
    if (status == LIBSOLVER_OK)
        status = libsolver_batch_refactorize(batch, &given);
    if (status == LIBSOLVER_OK)
        status = libsolver_batch_solve(batch, &bs, &xs);
    if (status == LIBSOLVER_OK)
        status = libsolver_batch_refine(batch, NULL, &bs, &xs, NULL);
    if (status < 0 && batch) { /* it goes on when the device does */
        assert_true(libsolver_batch_message(batch)[0]);
        assert_int_equal(libsolver_batch_refactorize(batch, &given), LIBSOLVER_OK);
        assert_int_equal(libsolver_batch_solve(batch, &bs, &xs), LIBSOLVER_OK);
    }
    libsolver_batch_free(batch);
    libsolver_analysis_free(analysis);
    libsolver_context_free(context);
    return status;
}

static void every_call_may_fail(void **state)
{
    (void)state;
    sparse a = sparse_grid(6, 7, 4.5);
    const int64_t entries = a.pointers[a.n], size = a.n * COUNT;
    double *values = doubles(entries * COUNT), *b = doubles(size), *x = doubles(size),
           *good = doubles(size);
    for (int64_t k = 0; k < entries * COUNT; k++)
        values[k] = a.values[k % entries];
    for (int64_t k = 0; k < size; k++)
        b[k] = (double)(k % 5) - 2;
    fake_reset();
    assert_int_equal(session(&a, values, b, good), LIBSOLVER_OK);
    const int64_t blocks = fake.held;
    int failures = 0;
    for (int64_t left = 0;; left++) {
        fake_reset();
        fake.left = left;
        fake.failure = LIBSOLVER_CUDA;
        const int64_t calls = fake.calls;
        const libsolver_status status = session(&a, values, b, x);
        assert_int_equal(fake.held, blocks);
        if (fake.calls - calls <= left)
            break; /* none was left to fail */
        failures++;
        assert_int_equal(status, LIBSOLVER_CUDA);
    }
    assert_true(failures >= 8); /* open, copies, factorize, solve, refine */
    fake_reset();
    assert_int_equal(session(&a, values, b, x), LIBSOLVER_OK);
    assert_memory_equal(x, good, sizeof(double) * (size_t)size);
    fake.capacity = fake.bytes + 1000;
    assert_int_equal(session(&a, values, b, x), LIBSOLVER_OUT_OF_DEVICE_MEMORY);
    fake_reset();
    free(values);
    free(b);
    free(x);
    free(good);
    sparse_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
