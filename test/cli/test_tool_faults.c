/* test/cli/test_tool_faults.c: the tool's commands in this process, on a device made up here and
 * with allocations that fail
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The device of cli/device.h lies in host memory, the library's calls that need a GPU are replaced
 * (the linker's --wrap) by the same on the CPU, so that what the tool does around them runs without
 * one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "commands.h"
#include "device.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *data; /* the folder of examples */
static char prefix[64];  /* of the files written here */

/* ---- a device in host memory ----------------------------------------------------------------- */

typedef enum fault {
    NOTHING,
    NO_BLOCK,
    NO_SOLVE,
    NO_TIME,
    NO_COPY_BACK,
    NO_COUNT,
    NO_TRACE,
    NO_FACTOR_TRACE,
    NO_FACTOR_TASKS,
    NO_REFACTORIZATION
} fault;

static fault failing_part;
static int stream, streams, blocks, traces, factor_traces;
static bool factor_is_on_cpu;

#define STREAM_SECONDS 1e-3
#define GRAPH_SECONDS 5e-4
#define COPY_RATE 4e12

int device_use(int device)
{
    return device != 0;
}

void *device_stream_create(void)
{
    streams++;
    return &stream;
}

void device_stream_free(void *s)
{
    streams -= s == &stream;
}

int device_array_create(const void *host, size_t bytes, void **block)
{
    *block = failing_part == NO_BLOCK ? NULL : malloc(bytes + 1);
    if (!*block)
        return 1;
    memcpy(*block, host, bytes);
    blocks++;
    return 0;
}

int device_array_get(const void *block, size_t bytes, void *host)
{
    if (failing_part == NO_COPY_BACK)
        return 1;
    memcpy(host, block, bytes);
    return 0;
}

void device_array_free(void *block)
{
    blocks -= block != NULL;
    free(block);
}

int device_time(void *s, int (*call)(void *user), void *user, double *seconds, double *graph)
{
    assert_ptr_equal(s, &stream);
    for (int k = 0; k < 3; k++)
        if (call(user))
            return 1;
    *seconds = STREAM_SECONDS;
    *graph = GRAPH_SECONDS;
    return failing_part == NO_TIME;
}

double device_copy_rate(void)
{
    return COPY_RATE;
}

/* ---- the library's calls --------------------------------------------------------------------- */

libsolver_status __real_libsolver_context_create(const libsolver_options *options,
                                                 libsolver_context **context);
libsolver_status __wrap_libsolver_context_create(const libsolver_options *options,
                                                 libsolver_context **context);
libsolver_status __real_libsolver_analyze(libsolver_context *context, const libsolver_matrix *a,
                                          const libsolver_options *options,
                                          libsolver_analysis **analysis);
libsolver_status __wrap_libsolver_analyze(libsolver_context *context, const libsolver_matrix *a,
                                          const libsolver_options *options,
                                          libsolver_analysis **analysis);
libsolver_status __real_libsolver_solve_plain(const libsolver_factor *factor, libsolver_part part,
                                              libsolver_workspace *workspace,
                                              const libsolver_vectors *b,
                                              const libsolver_vectors *x);
libsolver_status __wrap_libsolver_solve_plain(const libsolver_factor *factor, libsolver_part part,
                                              libsolver_workspace *workspace,
                                              const libsolver_vectors *b,
                                              const libsolver_vectors *x);
libsolver_status __wrap_libsolver_solve_traced(const libsolver_factor *factor,
                                               libsolver_workspace *workspace,
                                               const libsolver_vectors *b,
                                               const libsolver_vectors *x, int64_t capacity,
                                               libsolver_task *tasks, int64_t *count);
libsolver_status __real_libsolver_refactorize(libsolver_factor *factor, const libsolver_matrix *a);
libsolver_status __wrap_libsolver_refactorize(libsolver_factor *factor, const libsolver_matrix *a);
libsolver_status __wrap_libsolver_refactorize_traced(libsolver_factor *factor,
                                                     const libsolver_matrix *a, int64_t capacity,
                                                     libsolver_factor_task *tasks, int64_t *count);
libsolver_status __wrap_libsolver_devices(int capacity, libsolver_device *devices, int *count);

static libsolver_options on_cpu(const libsolver_options *options)
{
    libsolver_options changed = *options;
    if (changed.backend == LIBSOLVER_BACKEND_GPU) {
        assert_ptr_equal(changed.stream, &stream);
        changed.backend = LIBSOLVER_BACKEND_CPU;
        changed.stream = NULL;
    }
    return changed;
}

libsolver_status __wrap_libsolver_context_create(const libsolver_options *options,
                                                 libsolver_context **context)
{
    const libsolver_options changed = on_cpu(options);
    return __real_libsolver_context_create(&changed, context);
}

libsolver_status __wrap_libsolver_analyze(libsolver_context *context, const libsolver_matrix *a,
                                          const libsolver_options *options,
                                          libsolver_analysis **analysis)
{
    const libsolver_options changed = on_cpu(options);
    return __real_libsolver_analyze(context, a, &changed, analysis);
}

libsolver_status __wrap_libsolver_solve_plain(const libsolver_factor *factor, libsolver_part part,
                                              libsolver_workspace *workspace,
                                              const libsolver_vectors *b,
                                              const libsolver_vectors *x)
{
    libsolver_vectors from = *b, to = *x;
    if (failing_part == NO_SOLVE && b->place == LIBSOLVER_DEVICE)
        return LIBSOLVER_CUDA;
    from.place = to.place = LIBSOLVER_HOST;
    return __real_libsolver_solve_plain(factor, part, workspace, &from, &to);
}

/* Of values on the device without their indices. */
libsolver_status __wrap_libsolver_refactorize(libsolver_factor *factor, const libsolver_matrix *a)
{
    libsolver_matrix here = *a;
    assert_true(a->place == LIBSOLVER_HOST || (!a->pointers && !a->indices));
    if (failing_part == NO_REFACTORIZATION && a->place == LIBSOLVER_DEVICE)
        return LIBSOLVER_CUDA;
    here.place = LIBSOLVER_HOST;
    return __real_libsolver_refactorize(factor, &here);
}

/* Seconds of a trace that is made again and again. */
static double length_of_trace(int *number)
{
    static const double length[] = {9e-6, 8e-6, 7e-6, 3e-6, 7e-6, 8e-6, 9e-6};
    return length[(*number)++ % 7];
}

libsolver_status __wrap_libsolver_refactorize_traced(libsolver_factor *factor,
                                                     const libsolver_matrix *a, int64_t capacity,
                                                     libsolver_factor_task *tasks, int64_t *count)
{
    assert_non_null(factor);
    *count = factor_is_on_cpu ? 0 : 2;
    if (factor_is_on_cpu)
        return LIBSOLVER_NOT_BUILT;
    if (!tasks)
        return LIBSOLVER_OK;
    assert_true(a && capacity == 2);
    if (failing_part == NO_FACTOR_TRACE && factor_traces == 4)
        return LIBSOLVER_CUDA;
    if (failing_part == NO_FACTOR_TASKS) { /* it has ended on the CPU */
        *count = 0;
        return LIBSOLVER_OK;
    }
    const double end = length_of_trace(&factor_traces);
    tasks[0] = (libsolver_factor_task){
        .kind = LIBSOLVER_FACTOR_TASK_TINY, .fronts = 5, .flops = 1000, .end = end / 3};
    tasks[1] = (libsolver_factor_task){.kind = LIBSOLVER_FACTOR_TASK_SMALL,
                                       .level = 1,
                                       .fronts = 1,
                                       .flops = 500,
                                       .begin = end / 2,
                                       .end = end};
    return LIBSOLVER_OK;
}

/* Two tasks. */
libsolver_status __wrap_libsolver_solve_traced(const libsolver_factor *factor,
                                               libsolver_workspace *workspace,
                                               const libsolver_vectors *b,
                                               const libsolver_vectors *x, int64_t capacity,
                                               libsolver_task *tasks, int64_t *count)
{
    assert_true(factor && workspace);
    *count = 2;
    if (!tasks)
        return failing_part == NO_COUNT ? LIBSOLVER_NOT_BUILT : LIBSOLVER_OK;
    assert_true(capacity == 2 && b->place == LIBSOLVER_DEVICE && x->place == LIBSOLVER_DEVICE);
    if (failing_part == NO_TRACE && traces == 4)
        return LIBSOLVER_CUDA;
    const double end = length_of_trace(&traces);
    tasks[0] = (libsolver_task){LIBSOLVER_TASK_SMALL, 0, 0, 0, 0, 1000, 0, 0, 0, end / 3};
    tasks[1] =
        (libsolver_task){LIBSOLVER_TASK_TOP, 1, 1, 0, 0, 3000, end / 3, end / 3, end / 2, end};
    return LIBSOLVER_OK;
}

libsolver_status __wrap_libsolver_devices(int capacity, libsolver_device *devices, int *count)
{
    *count = 1;
    if (capacity > 0)
        devices[0] = (libsolver_device){.name = "made-up device"};
    return LIBSOLVER_OK;
}

/* ---- allocations that fail ------------------------------------------------------------------- */

static _Atomic int64_t allocations;
static int64_t failing_allocation; /* 0: none fails */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);

void *__wrap_malloc(size_t size)
{
    return ++allocations == failing_allocation ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return ++allocations == failing_allocation ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size)
{
    return ++allocations == failing_allocation ? NULL : __real_realloc(block, size);
}

/* ---- a clock that leaves no time for a fourth sample ----------------------------------------- */

double __wrap_seconds_now(void);

double __wrap_seconds_now(void)
{
    static double now;
    return now += 0.5;
}

/* ---- commands -------------------------------------------------------------------------------- */

#define MOST_ARGUMENTS 12

static void file_name(char *name, size_t room, const char *suffix)
{
    snprintf(name, room, "%s%s", prefix, suffix);
}

/* Runs words of a command line up to NULL: '@' begins a file of the folder of examples, '#' one
 * written here. */
static int run(const char *const *words, failure *f)
{
    char text[MOST_ARGUMENTS][512], tool[] = "libsolver", *arguments[MOST_ARGUMENTS] = {tool};
    int count = 1;
    for (; words[count - 1]; count++) {
        const char *word = words[count - 1];
        snprintf(text[count], sizeof text[count], "%s%s%s",
                 *word == '@'   ? data
                 : *word == '#' ? prefix
                                : "",
                 *word == '@' ? "/" : "", word + (*word == '@' || *word == '#'));
        arguments[count] = text[count];
    }
    settings s;
    *f = (failure){0};
    traces = factor_traces = 0;
    allocations = 0;
    if (!settings_parse(&s, count, arguments, f))
        switch (s.command) {
        case COMMAND_SOLVE:
            command_solve(&s, f);
            break;
        case COMMAND_BENCH:
            command_bench(&s, f);
            break;
        case COMMAND_REFINE:
            command_refine(&s, f);
            break;
        case COMMAND_PLOT:
            command_plot(&s, f);
            break;
        default:
            command_generate(&s, f);
        }
    assert_int_equal(streams, 0);
    assert_int_equal(blocks, 0);
    return f->code;
}

/* What a file written here holds; "" if there is none.  Valid until the next call. */
static const char *content(const char *suffix)
{
    static char text[1 << 16];
    char name[96];
    file_name(name, sizeof name, suffix);
    FILE *file = fopen(name, "rb");
    const size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[length] = '\0';
    if (file)
        fclose(file);
    return text;
}

static int remove_files(void **state)
{
    static const char *const written[] = {".json",
                                          ".mtx",
                                          ".svg",
                                          ".lap2d_12.json",
                                          ".lap2d_12.svg",
                                          ".lap2d_12.factor.json",
                                          ".lap2d_12.factor.svg",
                                          ".kkt2d_6.json",
                                          ".kkt2d_6.svg",
                                          ".kkt2d_6.factor.json",
                                          ".kkt2d_6.factor.svg"};
    (void)state;
    failing_part = NOTHING;
    factor_is_on_cpu = false;
    failing_allocation = 0;
    for (size_t k = 0; k < sizeof written / sizeof *written; k++) {
        char name[96];
        file_name(name, sizeof name, written[k]);
        unlink(name);
    }
    return 0;
}

/* The number behind "key": in text, NaN if there is none. */
static double number(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    char *end = NULL;
    const double value = at ? strtod(at + strlen(key) + 2, &end) : NAN;
    return at && end > at + strlen(key) + 2 ? value : NAN;
}

#define BENCH(problem) \
    {"bench", problem, "--backend", "gpu", "--profile", "#", "--json", "#.json", NULL}

/* Of lap2d:12, which must succeed.  Returns the line of the results. */
static const char *run_bench(void)
{
    static const char *const bench[] = BENCH("lap2d:12");
    failure f;
    if (run(bench, &f))
        fail_msg("exit code %d: %s", f.code, f.text);
    return content(".json");
}

static void solves_on_the_device_are_timed_and_profiled(void **state)
{
    (void)state;
    const char *text = run_bench();
    if (!strstr(text, "\"solve_s\": {\"1\": 0.001, \"16\": 0.001}") ||
        !strstr(text, "\"solve_graph_s\": {\"1\": 0.0005, \"16\": 0.0005}"))
        fail_msg("not the device's times: %s", text);
    const double error = number(text, "\"backward_error\"");
    if (!(error >= 0 && error < 1e-13)) /* x came back from the device */
        fail_msg("backward error %g: %s", error, text);
    text = content(".lap2d_12.json");
    if (!strstr(text, "\"device\": \"made-up device\"") || number(text, "\"n\"") != 144 ||
        number(text, "\"tasks\"") != 2 || number(text, "\"bytes_per_second\"") != COPY_RATE ||
        number(text, "\"solve_s\"") != STREAM_SECONDS)
        fail_msg("not what is known of the solve: %s", text);
    if (fabs(number(text, "\"traced_s\"") - 3e-6) > 1e-12)
        fail_msg("not the fastest of the traced solves: %g s", number(text, "\"traced_s\""));
    assert_non_null(strstr(content(".lap2d_12.svg"), "<svg"));
}

static void factorizations_on_the_device_are_timed_and_profiled(void **state)
{
    (void)state;
    const char *text = run_bench();
    if (!(number(text, "\"refactorize_device_s\"") > 0) ||
        fabs(number(text, "\"factor_device_s\"") - 3e-6) > 1e-12 ||
        number(text, "\"factor_levels\"") != 2 || number(text, "\"factor_tasks\"") != 2)
        fail_msg("not what is known of the factorization: %s", text);
    text = content(".lap2d_12.factor.json");
    if (!strstr(text, "\"device\": \"made-up device\"") || number(text, "\"tasks\"") != 2 ||
        number(text, "\"flops\"") != 1500 || !(number(text, "\"refactorize_device_s\"") > 0))
        fail_msg("not what is known of the factorization: %s", text);
    if (fabs(number(text, "\"traced_s\"") - 3e-6) > 1e-12)
        fail_msg("not the fastest of the traces: %g s", number(text, "\"traced_s\""));
    assert_non_null(strstr(content(".lap2d_12.factor.svg"), "<svg"));
}

static void of_a_factor_that_is_made_on_the_cpu_there_is_none(void **state)
{
    (void)state;
    factor_is_on_cpu = true;
    const char *text = run_bench();
    assert_non_null(strstr(text, "\"refactorize_device_s\": null, \"factor_device_s\": null, "
                                 "\"factor_levels\": null, \"factor_tasks\": null"));
    assert_string_equal(content(".lap2d_12.factor.json"), "");
    assert_non_null(strstr(content(".lap2d_12.svg"), "<svg"));
}

static void what_fails_on_the_device_is_said(void **state)
{
    static const char *const bench[] = BENCH("lap2d:12");
    static const char *const single[] = {"bench", "lap2d:12", "--backend", "gpu", "--precision",
                                         "s",     "--json",   "#.json",    NULL};
    static const struct {
        fault part;
        const char *status;
        bool is_on_cpu;
    } faults[] = {
        {NO_BLOCK, "\"CUDA\"", true},
        {NO_BLOCK, "\"CUDA\"", false},
        {NO_SOLVE, "\"CUDA\"", false},
        {NO_TIME, "\"CUDA\"", false},
        {NO_COPY_BACK, "\"CUDA\"", false},
        {NO_COUNT, "\"NOT_BUILT\"", false},
        {NO_TRACE, "\"CUDA\"", false},
        {NO_FACTOR_TRACE, "\"CUDA\"", false},
        {NO_FACTOR_TASKS, "\"NOT_BUILT\"", false},
        {NO_REFACTORIZATION, "\"CUDA\"", false},
    };
    (void)state;
    failure f;
    assert_int_equal(run(single, &f), 0);
    for (size_t k = 0; k < sizeof faults / sizeof *faults; k++) {
        remove_files(NULL);
        failing_part = faults[k].part;
        factor_is_on_cpu = faults[k].is_on_cpu;
        if (run(bench, &f) != EXIT_RESOURCES || !strstr(f.text, "lap2d:12: "))
            fail_msg("fault %zu: exit code %d: %s", k, f.code, f.text);
        if (!strstr(content(".json"), faults[k].status))
            fail_msg("fault %zu: %s", k, content(".json"));
        if (faults[k].part != NO_FACTOR_TRACE && faults[k].part != NO_FACTOR_TASKS) {
            assert_string_equal(content(".lap2d_12.json"), "");
            assert_string_equal(content(".lap2d_12.svg"), "");
        }
        assert_string_equal(content(".lap2d_12.factor.json"), "");
        assert_string_equal(content(".lap2d_12.factor.svg"), "");
    }
}

/* Every allocation of the tool fails once; that is what it says, and the next run is as ever. */
static void failed_allocations_are_exit_4(void **state)
{
    static const char *const commands[][MOST_ARGUMENTS] = {
        BENCH("kkt2d:6"),
        {"solve", "@five.mtx", "@five_b.mtx", "--quiet", "-o", "#.mtx", "--json", "#.json", NULL},
        {"solve", "@kkt2d_20.mtx", "--quiet", "--precision", "c", "--ordering", "#.order", NULL},
        {"solve", "@two_islands.mtx", "--quiet", "--precision", "s", "--nrhs", "3", NULL},
        {"generate", "vec3d:2", "-o", "#.mtx", NULL},
        {"refine", "@five.mtx", "@five_b.mtx", "--quiet", "-o", "#.mtx", "--json", "#.json", NULL},
        {"refine", "@lap2d_16.mtx", "--quiet", "--compare-precisions", NULL},
        {"plot", "@five.mtx", "--quiet", "-o", "#.svg", NULL},
    };
    (void)state;
    failure f;
    char name[96];
    file_name(name, sizeof name, ".order");
    FILE *order = fopen(name, "w");
    for (int i = 1200; i > 0; i--)
        fprintf(order, "%d\n", i);
    fclose(order);
    for (size_t c = 0; c < sizeof commands / sizeof *commands; c++) {
        failing_allocation = 0;
        if (run(commands[c], &f))
            fail_msg("command %zu: exit code %d: %s", c, f.code, f.text);
        const int64_t all = allocations;
        assert_true(all > 2 && all < 1000);
        for (failing_allocation = 1; failing_allocation <= all; failing_allocation++) {
            const int code = run(commands[c], &f);
            /* where an attempt at pivots is given up, other threads may have got less far */
            const bool was_reached = allocations >= failing_allocation;
            if (was_reached ? code != EXIT_RESOURCES || !*f.text : code != 0)
                fail_msg("command %zu, allocation %lld: exit code %d: %s", c,
                         (long long)failing_allocation, f.code, f.text);
        }
    }
    unlink(name);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(solves_on_the_device_are_timed_and_profiled, remove_files),
        cmocka_unit_test_teardown(factorizations_on_the_device_are_timed_and_profiled,
                                  remove_files),
        cmocka_unit_test_teardown(of_a_factor_that_is_made_on_the_cpu_there_is_none, remove_files),
        cmocka_unit_test_teardown(what_fails_on_the_device_is_said, remove_files),
        cmocka_unit_test_teardown(failed_allocations_are_exit_4, remove_files),
    };
    if (count != 2)
        return EXIT_FAILURE;
    data = arguments[1];
    snprintf(prefix, sizeof prefix, "test_tool_faults.%ld", (long)getpid());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
