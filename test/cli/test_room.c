/* test/cli/test_room.c: memory of the tool and of the library counted together against one limit
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Linked with --wrap=malloc,realloc, so that the machine's memory can end too: compilers make
 * malloc of realloc where there is no block yet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "room.h"
#include <stdlib.h>
#include <string.h>

#define LIMIT 10000

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__real_realloc(void *block, size_t bytes);
void *__wrap_realloc(void *block, size_t bytes);

static int machine_is_full;

void *__wrap_malloc(size_t bytes)
{
    return machine_is_full ? NULL : __real_malloc(bytes);
}

void *__wrap_realloc(void *block, size_t bytes)
{
    return machine_is_full ? NULL : __real_realloc(block, bytes);
}

/* Bytes that a block takes beside its own. */
static int64_t beside(void)
{
    room_limit(LIMIT);
    assert_int_equal(room_left(), LIMIT);
    void *block = room_new(100, 1);
    assert_non_null(block);
    const int64_t taken = LIMIT - room_left();
    room_free(block);
    assert_int_equal(room_left(), LIMIT);
    assert_in_range(taken, 100, 200);
    return taken - 100;
}

static void all_of_the_room_can_be_taken_and_no_more(void **state)
{
    (void)state;
    const int64_t more = beside();
    assert_null(room_new(LIMIT - more + 1, 1));
    assert_int_equal(room_wanted(), LIMIT + 1);
    assert_int_equal(room_left(), LIMIT);
    void *block = room_new((LIMIT - more) / 8, 8);
    assert_true(block && (LIMIT - more) % 8 == 0);
    assert_int_equal((uintptr_t)block % _Alignof(max_align_t), 0);
    assert_int_equal(room_left(), 1); /* 0 would be any number */
    assert_null(room_new(1, 1));
    room_limit(LIMIT + 2);
    assert_int_equal(room_left(), 2);
    room_limit(LIMIT);
    room_free(block);
    room_free(NULL);
    assert_int_equal(room_left(), LIMIT);
}

/* What either takes, the other cannot have. */
static void the_library_takes_from_the_same_room(void **state)
{
    (void)state;
    const int64_t more = beside();
    void *own = room_new(LIMIT / 2, 1), *librarys = room_allocate(NULL, LIMIT / 4);
    assert_true(own && librarys);
    const int64_t left = LIMIT - LIMIT / 2 - LIMIT / 4 - 2 * more;
    assert_int_equal(room_left(), left);
    assert_null(room_allocate(NULL, (size_t)(left - more + 1)));
    assert_int_equal(room_wanted(), left + 1);
    room_free(own);
    void *rest = room_allocate(NULL, (size_t)(LIMIT - LIMIT / 4 - 2 * more));
    assert_non_null(rest);
    assert_null(room_new(1, 1));
    room_release(NULL, rest);
    room_release(NULL, librarys);
    room_release(NULL, NULL);
    assert_int_equal(room_left(), LIMIT);
}

/* Only the difference is taken, and a block that cannot grow stays as it is. */
static void a_block_grows_within_the_room(void **state)
{
    (void)state;
    const int64_t more = beside();
    char *block = room_resize(NULL, 1000, 1), before[1000];
    assert_non_null(block);
    memset(block, 'x', 1000);
    memset(before, 'x', 1000);
    block = room_resize(block, 4000, 2);
    assert_non_null(block);
    assert_int_equal(room_left(), LIMIT - 8000 - more);
    assert_null(room_resize(block, LIMIT - more + 1, 1));
    assert_int_equal(room_wanted(), LIMIT - more + 1 - 8000);
    assert_int_equal(room_left(), LIMIT - 8000 - more);
    assert_memory_equal(block, before, 1000);
    block = room_resize(block, 1000, 1);
    assert_non_null(block);
    assert_int_equal(room_left(), LIMIT - 1000 - more);
    assert_memory_equal(block, before, 1000);
    room_free(block);
    assert_int_equal(room_left(), LIMIT);
}

static void blocks_are_zeroed_and_counted_without_a_limit_too(void **state)
{
    (void)state;
    const int64_t more = beside();
    char *dirty = room_new(2000, 1);
    assert_non_null(dirty);
    memset(dirty, 0xff, 2000);
    room_free(dirty);
    room_limit(0);
    assert_int_equal(room_left(), 0);
    char *block = room_zeroed(250, 8), *empty = room_new(0, 8);
    const char zeros[2000] = {0};
    assert_true(block && empty);
    assert_memory_equal(block, zeros, 2000);
    room_limit(LIMIT);
    assert_int_equal(room_left(), LIMIT - 2000 - 8 - 2 * more); /* room for one at least */
    room_limit(1000);
    assert_int_equal(room_left(), 1);
    assert_null(room_new(1, 1));
    room_free(block);
    room_free(empty);
    assert_int_equal(room_left(), 1000);
}

/* Products that overflow are refused with and without a limit, and take nothing. */
static void what_no_memory_holds_is_refused(void **state)
{
    (void)state;
    for (int limited = 0; limited < 2; limited++) {
        beside();
        room_limit(limited ? INT64_MAX : 0);
        assert_null(room_new(INT64_MAX / 8, 8));
        assert_int_equal(room_wanted(), INT64_MAX);
        assert_null(room_new(INT64_MAX / 4, 8));
        assert_null(room_new(INT64_MAX, 1));
        assert_null(room_zeroed(-1, 8));
        assert_null(room_allocate(NULL, SIZE_MAX));
        assert_int_equal(room_wanted(), INT64_MAX);
        room_limit(LIMIT);
        assert_int_equal(room_left(), LIMIT);
    }
}

static void what_the_machine_refuses_is_not_counted(void **state)
{
    (void)state;
    const int64_t more = beside();
    char *block = room_new(100, 1);
    assert_non_null(block);
    machine_is_full = 1;
    assert_null(room_new(50, 1));
    assert_int_equal(room_wanted(), 50 + more);
    assert_null(room_resize(block, 150, 1));
    assert_int_equal(room_wanted(), 50);
    machine_is_full = 0;
    assert_int_equal(room_left(), LIMIT - 100 - more);
    room_free(block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_the_room_can_be_taken_and_no_more),
        cmocka_unit_test(the_library_takes_from_the_same_room),
        cmocka_unit_test(a_block_grows_within_the_room),
        cmocka_unit_test(blocks_are_zeroed_and_counted_without_a_limit_too),
        cmocka_unit_test(what_no_memory_holds_is_refused),
        cmocka_unit_test(what_the_machine_refuses_is_not_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
