/* test/cli/test_tool_device.c: what fails on a device stands in the tool's JSON, with its reason
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The tool's commands in this process, on the fake device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "commands.h"
#include "fake/fake.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char json[64]; /* the file that is written */

/* `libsolver solve lap2d:12 --backend gpu --json FILE`.  Returns what the file holds, valid until
 * the next call. */
static const char *solve(failure *f)
{
    static char text[1 << 14];
    char words[][64] = {"libsolver", "solve", "lap2d:12", "--backend", "gpu", "--json", ""};
    enum { COUNT = sizeof words / sizeof *words };
    char *arguments[COUNT];
    snprintf(words[COUNT - 1], sizeof *words, "%s", json);
    for (int k = 0; k < COUNT; k++)
        arguments[k] = words[k];
    settings s;
    *f = (failure){0};
    assert_int_equal(settings_parse(&s, COUNT, arguments, f), 0);
    command_solve(&s, f);
    FILE *file = fopen(json, "rb");
    const size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[length] = 0;
    if (file)
        fclose(file);
    unlink(json);
    return text;
}

/* Message and place as the JSON has them, each on a line of its own. */
static void check(const char *text, const failure *f, const char *status, const char *sentence)
{
    char member[64];
    print_message("%d: %s\n", f->code, f->text);
    snprintf(member, sizeof member, "\"status\": \"%s\"", status);
    if (f->code != EXIT_RESOURCES || !strstr(text, member) || !strstr(text, sentence) ||
        !strstr(text, "\"place\": \"") || strstr(text, "\"place\": null") || !strstr(text, f->text))
        fail_msg("exit code %d, '%s', not as it should be: %s", f->code, f->text, text);
}

static void every_failing_call_is_in_the_json(void **state)
{
    (void)state;
    failure f;
    int failures = 0;
    for (int64_t k = 0;; k++, failures++) {
        fake_reset();
        fake.failure = LIBSOLVER_CUDA;
        fake.left = k;
        const char *text = solve(&f);
        if (!fake.last)
            break;
        if (!strcmp(fake.last, "gpu_device_describe")) { /* the report goes without its name */
            assert_int_equal(f.code, EXIT_SOLVED);
            assert_non_null(strstr(text, "\"device\": null"));
        } else
            check(text, &f, "CUDA", fake.last);
    }
    assert_true(failures > 5);
    assert_int_equal(f.code, EXIT_SOLVED);
}

static void so_is_a_device_without_room(void **state)
{
    (void)state;
    failure f;
    fake_reset();
    fake.capacity = 1000;
    check(solve(&f), &f, "OUT_OF_DEVICE_MEMORY", "bytes of device memory");
}

static void and_no_device_at_all(void **state)
{
    (void)state;
    failure f;
    fake_reset();
    fake.devices = 0;
    check(solve(&f), &f, "CUDA", "CUDA has no device");
    fake_reset();
    fake.counts_fail = 1;
    check(solve(&f), &f, "CUDA", "counting the devices failed: it fails on demand");
    fake_reset();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_failing_call_is_in_the_json),
        cmocka_unit_test(so_is_a_device_without_room),
        cmocka_unit_test(and_no_device_at_all),
    };
    snprintf(json, sizeof json, "test_tool_device.%ld.json", (long)getpid());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
