/* test/cli/test_tool_device.c: what fails on a device stands in the tool's JSON, with its reason
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The tool's commands in this process, on the fake device, whose clock is cli/device.c's own. */
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

static char prefix[64]; /* of the files that are written */

/* The name of a file with this prefix. */
static const char *file_name(const char *suffix)
{
    static char name[96];
    snprintf(name, sizeof name, "%s%s", prefix, suffix);
    return name;
}

/* What such a file holds, "" if there is none; it is removed.  Valid until the next call. */
static const char *take(const char *suffix)
{
    static char text[1 << 17];
    FILE *file = fopen(file_name(suffix), "rb");
    const size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[length] = 0;
    if (file)
        fclose(file);
    unlink(file_name(suffix));
    return text;
}

/* Runs words of a command line up to NULL: '#' begins a file that is written.  Returns the JSON. */
static const char *run(const char *const *words, failure *f)
{
    char text[10][96], *arguments[10];
    int count = 0;
    for (; words[count]; count++) {
        snprintf(text[count], sizeof *text, "%s", words[count]);
        if (*words[count] == '#')
            snprintf(text[count], sizeof *text, "%s%s", prefix, words[count] + 1);
        arguments[count] = text[count];
    }
    settings s;
    *f = (failure){0};
    assert_int_equal(settings_parse(&s, count, arguments, f), 0);
    (s.command == COMMAND_SOLVE    ? command_solve
     : s.command == COMMAND_REFINE ? command_refine
                                   : command_bench)(&s, f);
    return take(".json");
}

static const char *solve(failure *f)
{
    static const char *const words[] = {"libsolver", "solve",  "lap2d:12", "--backend",
                                        "gpu",       "--json", "#.json",   NULL};
    return run(words, f);
}

static const char *bench(failure *f)
{
    static const char *const words[] = {"libsolver", "bench", "lap2d:5", "--backend", "gpu",
                                        "--profile", "#",     "--json",  "#.json",    NULL};
    return run(words, f);
}

/* A clock that leaves no time for a fourth sample. */
double __wrap_seconds_now(void);
double __wrap_seconds_now(void)
{
    static double now;
    return now += 0.5;
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

/* ---- refinement ------------------------------------------------------------------------------ */

/* The part of a text from a word on. */
static const char *from(const char *text, const char *word)
{
    const char *part = strstr(text, word);
    if (!part)
        fail_msg("no %s in %s", word, text);
    return part;
}

/* How often a word stands in a text. */
static int occurrences(const char *text, const char *word)
{
    int count = 0;
    for (const char *p = text; (p = strstr(p, word)); p++)
        count++;
    return count;
}

/* Of a refinement as far as it goes, on the CPU and on the device, with FGMRES on the host in the
 * end: the first step is the error before it, the last one that of the solution. */
static void the_device_s_steps_are_in_the_history(void **state)
{
    (void)state;
    failure f;
    for (int on_device = 0; on_device < 2; on_device++) {
        fake_reset();
        char copy[1 << 14];
        const char *const words[] = {
            "libsolver",   "solve",  "lap2d:12", "--backend", on_device ? "gpu" : "cpu",
            "--tol=least", "--json", "#.json",   NULL};
        const char *text = run(words, &f);
        assert_int_equal(f.code, EXIT_SOLVED);
        snprintf(copy, sizeof copy, "%s", text);
        assert_non_null(strstr(copy, on_device ? "\"solve\": \"gpu\"" : "\"solve\": \"cpu\""));
        const char *history = from(copy, "\"history\": [");
        const double final = strtod(from(copy, "\"backward_error\": ") + 18, NULL),
                     first = strtod(from(history, "\"backward_error\": ") + 18, NULL);
        double last = first;
        for (const char *p = history; (p = strstr(p, "\"backward_error\": ")); p++)
            last = strtod(p + 18, NULL);
        assert_true(first == strtod(from(copy, "\"backward_error_initial\": ") + 26, NULL));
        assert_true(last == final && final <= first);
        const int steps = atoi(from(copy, "\"refinement_steps\": ") + 20);
        assert_true(steps > 0);
        assert_int_equal(occurrences(history, "\"made_by\": \"plain\"") +
                             occurrences(history, "\"made_by\": \"fgmres\""),
                         steps);
        assert_true(occurrences(history, "\"made_by\": \"plain\"") > 0);
        assert_int_equal(occurrences(history, "\"made_by\": \"solve\""), 1);
    }
}

static void the_device_refines_by_the_methods_asked_for(void **state)
{
    (void)state;
    static const char *const methods[] = {"plain", "fgmres"};
    failure f;
    for (int k = 0; k < 2; k++) {
        fake_reset();
        const char *const words[] = {"libsolver", "refine",      "lap2d:12", "--backend",
                                     "gpu",       "--tol=least", "--method", methods[k],
                                     "--json",    "#.json",      NULL};
        const char *text = run(words, &f);
        assert_int_equal(f.code, EXIT_SOLVED);
        assert_non_null(strstr(text, "\"backend\": \"gpu\""));
        assert_int_equal(occurrences(text, "\"made_by\": \"plain\"") > 0, k == 0);
        assert_int_equal(occurrences(text, "\"made_by\": \"fgmres\"") > 0, k == 1);
    }
    fake_reset();
    const char *const compared[] = {
        "libsolver", "refine", "lap2d:12", "--backend=gpu", "--compare-precisions",
        "--json",    "#.json", NULL};
    const char *text = run(compared, &f);
    assert_int_equal(f.code, EXIT_SOLVED);
    assert_int_equal(occurrences(text, "\"backend\": \"gpu\""), 4); /* mixed precision too */
    assert_int_equal(occurrences(text, "\"backend\": \"cpu\""), 0);
    fake_reset();
}

/* What `info` tells of the code for GPUs, by the library's own call. */
static void the_code_for_gpus_is_described(void **state)
{
    (void)state;
    libsolver_gpu_code code;
    assert_int_equal(libsolver_gpu_code_query(&code), LIBSOLVER_OK);
    assert_string_equal(code.architectures, "fake");
    assert_int_equal(code.toolkit, 13000);
    assert_int_equal(code.driver, 13010);
}

/* ---- bench ----------------------------------------------------------------------------------- */

/* A device without the room in which the rate of copies is measured. */
static void small_device(void)
{
    fake_reset();
    fake.capacity = 1 << 28;
}

static void remove_profiles(void)
{
    take(".lap2d_5.json");
    take(".lap2d_5.svg");
    take(".lap2d_5.factor.json");
    take(".lap2d_5.factor.svg");
}

static void a_bench_profiles_solves_and_factorizations(void **state)
{
    (void)state;
    failure f;
    small_device();
    const char *text = bench(&f);
    if (f.code)
        fail_msg("exit code %d: %s", f.code, f.text);
    static const char *const known[] = {"\"refactorize_device_s\": 0.5", "\"factor_device_s\": ",
                                        "\"factor_levels\": ", "\"factor_tasks\": "};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        assert_non_null(strstr(text, known[k]));
    assert_null(strstr(text, "\"factor_device_s\": null"));
    assert_non_null(strstr(take(".lap2d_5.json"), "\"sweep\": \"forward\""));
    assert_non_null(strstr(take(".lap2d_5.svg"), "one solve on fake device 0"));
    text = take(".lap2d_5.factor.json");
    assert_non_null(strstr(text, "\"device\": \"fake device 0\""));
    assert_non_null(strstr(text, "\"rows\": [{\"level\": 0, \"kind\": \""));
    assert_null(strstr(text, "null"));
    assert_non_null(strstr(take(".lap2d_5.factor.svg"), "one factorization on fake device 0"));
}

/* The last calls on the device are those of traced factorizations: each of them fails once. */
static void a_trace_that_fails_is_in_the_json(void **state)
{
    enum { CALLS = 20 };
    (void)state;
    failure f;
    small_device();
    bench(&f);
    remove_profiles();
    const int64_t all = fake.calls;
    int traced = 0;
    for (int64_t k = all - CALLS; k < all; k++) {
        small_device();
        fake.failure = k % 2 ? LIBSOLVER_CUDA : LIBSOLVER_OUT_OF_DEVICE_MEMORY;
        fake.left = k;
        const char *text = bench(&f);
        assert_non_null(fake.last);
        traced += !strcmp(fake.last, "device_factorizer_timed");
        if (strcmp(fake.last, "gpu_device_describe") != 0) {
            check(text, &f, k % 2 ? "CUDA" : "OUT_OF_DEVICE_MEMORY", fake.last);
            assert_string_equal(take(".lap2d_5.factor.json"), "");
        }
        remove_profiles();
    }
    assert_true(traced >= 2);
}

static const char *const page_words[] = {"libsolver", "solve", "lap2d:12", "--backend", "gpu",
                                         "--device",  "1",     "--html",   "#.html",    NULL};

/* Of the device that was asked for. */
static void the_page_has_the_device_s_time(void **state)
{
    (void)state;
    failure f;
    small_device();
    fake.devices = 2;
    run(page_words, &f);
    assert_int_equal(f.code, EXIT_SOLVED);
    assert_int_equal(fake.current, 1);
    const char *page = take(".html");
    assert_non_null(strstr(page, "What the GPU did in a factorization"));
    assert_non_null(strstr(page, "What the GPU did in a solve"));
    assert_non_null(strstr(page, "the one above was by substitution"));
    assert_non_null(strstr(page, "one factorization on fake device 1"));
    assert_non_null(strstr(page, "one solve on fake device 1"));
    assert_null(strstr(page, "It could not be traced"));
    assert_non_null(strstr(page, "</body></html>"));
    const char *const fast[] = {"libsolver",     "solve",     "lap2d:12",
                                "--backend=gpu", "--purpose", "latency",
                                "--html",        "#.html",    NULL};
    small_device();
    run(fast, &f);
    page = take(".html");
    assert_non_null(strstr(page, "one solve on fake device 0"));
    assert_null(strstr(page, "by substitution"));
}

/* Whatever call of what is traced fails: the solution is there all the same. */
static void the_page_is_whole_without_a_trace(void **state)
{
    (void)state;
    failure f;
    int untraced = 0;
    small_device();
    fake.devices = 2;
    run(page_words, &f);
    const int64_t all = fake.calls;
    take(".html");
    for (int64_t k = 1; k <= 40; k++) {
        small_device();
        fake.devices = 2;
        fake.left = all - k;
        run(page_words, &f);
        if (f.code) /* it was before the page */
            break;
        const char *page = take(".html");
        untraced += occurrences(page, "It could not be traced");
        assert_non_null(strstr(page, "SOLVED"));
        assert_non_null(strstr(page, "</body></html>"));
    }
    assert_true(untraced >= 10);
    fake_reset();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_failing_call_is_in_the_json),
        cmocka_unit_test(so_is_a_device_without_room),
        cmocka_unit_test(and_no_device_at_all),
        cmocka_unit_test(the_device_s_steps_are_in_the_history),
        cmocka_unit_test(the_device_refines_by_the_methods_asked_for),
        cmocka_unit_test(the_code_for_gpus_is_described),
        cmocka_unit_test(a_bench_profiles_solves_and_factorizations),
        cmocka_unit_test(the_page_has_the_device_s_time),
        cmocka_unit_test(the_page_is_whole_without_a_trace),
        cmocka_unit_test(a_trace_that_fails_is_in_the_json),
    };
    snprintf(prefix, sizeof prefix, "test_tool_device.%ld", (long)getpid());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
