/* test/base/test_memory.c: the counting allocator
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/memory.h"
#include <stdlib.h>
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

static int lies_in(const void *block, const char *from, int64_t bytes)
{
    return (uintptr_t)block >= (uintptr_t)from &&
           (uintptr_t)block < (uintptr_t)from + (uintptr_t)bytes;
}

/* A sanitizer's build has no pools: blocks are the same, each by itself. */
static void a_pool_gives_blocks_as_long_as_it_lasts(void **state)
{
    (void)state;
    const int64_t room = memory_counted(1000, 1) + memory_counted(3000, 1);
    memory m;
    memory_init(&m, NULL, NULL, NULL, 0);
    memory_pool *pool = memory_pool_new(&m, memory_counted(1000, 1), memory_counted(3000, 1));
    char *block[4], *outside = memory_new(&m, 100, 1);
    int64_t counted = m.in_use;
    for (int k = 0; k < 4; k++) { /* the third is too large, the fourth as well as one byte more */
        const int64_t bytes = k == 0 ? 1000 : k == 3 ? 1 : 3000;
        block[k] = memory_new_in(pool, &m, bytes, 1);
        assert_non_null(block[k]);
        assert_int_equal((uintptr_t)block[k] % MEMORY_ALIGNMENT, 0);
        memset(block[k], k + 1, (size_t)bytes);
        counted += memory_counted(bytes, 1);
        assert_int_equal(m.in_use, counted);
        assert_int_equal(m.calls, k + 2);
    }
    if (pool)
        for (int k = 0; k < 4; k++)
            assert_int_equal(lies_in(block[k], (const char *)pool, room), k < 2);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(block[0][i], 1);
    for (int i = 0; i < 3000; i++)
        assert_int_equal(block[1][i], 2);
    for (int k = 0; k < 4; k++)
        memory_free(&m, block[k]);
    memory_free(&m, outside);
    memory_pool_free(pool);
    assert_int_equal(m.in_use, 0);
    assert_null(memory_new_in(NULL, &m, -1, 8));
}

static void *own_allocate(void *user, size_t bytes)
{
    ++*(int *)user;
    return malloc(bytes);
}

static void own_release(void *user, void *block)
{
    --*(int *)user;
    free(block);
}

static void there_is_no_pool_beside_an_allocator_or_a_limit_or_for_very_much(void **state)
{
    (void)state;
    int held = 0;
    memory own, limited, plain;
    memory_init(&own, own_allocate, own_release, &held, 0);
    memory_init(&limited, NULL, NULL, NULL, 1 << 20);
    memory_init(&plain, NULL, NULL, NULL, 0);
    assert_null(memory_pool_new(&own, 1000, 0));
    assert_null(memory_pool_new(&limited, 1000, 0));
    assert_null(memory_pool_new(&plain, (int64_t)1 << 25, 0));
    assert_null(memory_pool_new(&plain, 0, 0));
    memory_pool *pool = memory_pool_new(&plain, 1000, INT64_MAX);
    memory_pool_free(pool);
    memory_pool_free(NULL);
    memory_keep_freed(&own); /* asks neither the caller's allocator nor the counters */
    memory_keep_freed(&limited);
    memory_keep_freed(&plain);
    assert_int_equal(held, 0);
    assert_int_equal(plain.peak + plain.calls + limited.peak + limited.calls, 0);
    char *a = NULL, *b = NULL;
    const memory_part part[] = {{&a, 10, 1, 0}, {&b, 20, 1, 1}};
    assert_true(memory_take_in(NULL, &own, part, 2));
    assert_int_equal(held, 2);
    for (int i = 0; i < 20; i++)
        assert_int_equal(b[i], 0);
    memory_release(&own, part, 2);
    assert_int_equal(held, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_aligned_counted_and_zeroed),
        cmocka_unit_test(products_that_overflow_and_limits_are_refused),
        cmocka_unit_test(a_pool_gives_blocks_as_long_as_it_lasts),
        cmocka_unit_test(there_is_no_pool_beside_an_allocator_or_a_limit_or_for_very_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
