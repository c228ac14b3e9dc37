/* test/cli/test_device_none.c: what the tool has of a device in a build without CUDA: nothing, and
 * each call says so
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "device.h"
#include <math.h>

static int called(void *user)
{
    ++*(int *)user;
    return 0;
}

static void every_call_says_that_there_is_none(void **state)
{
    (void)state;
    int calls = 0, host = 7;
    void *block = &host;
    double seconds = 0, graph = 0;
    assert_int_not_equal(device_use(0), 0);
    assert_null(device_stream_create());
    device_stream_free(NULL);
    assert_int_not_equal(device_array_create(&host, sizeof host, &block), 0);
    assert_null(block);
    device_array_free(block);
    assert_int_not_equal(device_array_get(block, sizeof host, &host), 0);
    assert_int_equal(host, 7);
    assert_int_not_equal(device_time(NULL, called, &calls, &seconds, &graph), 0);
    assert_int_equal(calls, 0);
    assert_true(isnan(device_copy_rate()));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_call_says_that_there_is_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
