/* test/base/test_memory.c: the counting allocator
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/memory.h"
#include <string.h>

static void blocks_are_aligned_counted_and_zeroed(void **state)
{
    (void)state;
    memory m;
    memory_init(&m, NULL, NULL, NULL, 0);
    for (int64_t bytes = 0; bytes < 300; bytes += 7) {
        unsigned char *block = memory_zeroed(&m, bytes, 1);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % MEMORY_ALIGNMENT, 0);
        for (int64_t i = 0; i < bytes; i++)
            assert_int_equal(block[i], 0);
        memset(block, 255, (size_t)bytes);
        assert_true(m.in_use >= bytes);
        memory_free(&m, block);
        assert_int_equal(m.in_use, 0);
    }
    assert_true(m.peak >= 294);
    memory_free(&m, NULL);
}

static void products_that_overflow_and_limits_are_refused(void **state)
{
    (void)state;
    memory m;
    memory_init(&m, NULL, NULL, NULL, 10000);
    assert_null(memory_new(&m, INT64_MAX / 4, 8));
    assert_null(memory_new(&m, -1, 8));
    assert_null(memory_new(&m, 10000, 1));
    assert_true(m.wanted >= 10000);
    void *block = memory_new(&m, 9000, 1);
    assert_non_null(block);
    assert_null(memory_new(&m, 2000, 1));
    memory_free(&m, block);
    block = memory_new(&m, 2000, 1);
    assert_non_null(block);
    memory_free(&m, block);
    assert_int_equal(m.in_use, 0);
    assert_int_equal(m.calls, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_aligned_counted_and_zeroed),
        cmocka_unit_test(products_that_overflow_and_limits_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
