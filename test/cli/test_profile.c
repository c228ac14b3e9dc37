/* test/cli/test_profile.c: profiles of solves and of factorizations from made-up traces, their JSON
 * and their pictures
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "factor_profile.h"
#include "profile.h"
#include "random.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define US 1e-6

/* Two blocks, three levels: two small tasks, a sum that waits for one of them, and a strip of the
 * top beside a small one. */
static const libsolver_task traced[] = {
    {LIBSOLVER_TASK_SMALL, 0, 0, 0, 0, 1000, 0, 1 * US, 2 * US, 4 * US},
    {LIBSOLVER_TASK_SUM, 1, 0, 0, 0, 100, 4 * US, 4 * US, 6 * US, 7 * US},
    {LIBSOLVER_TASK_TOP, 2, 1, 0, 0, 5000, 7 * US, 8 * US, 8 * US, 10 * US},
    {LIBSOLVER_TASK_SMALL, 0, 0, 0, 1, 3000, 1 * US, 1 * US, 1 * US, 5 * US},
    {LIBSOLVER_TASK_SMALL, 2, 1, 0, 1, 2000, 5 * US, 5 * US, 8 * US, 9 * US},
};
enum { TRACED = sizeof traced / sizeof *traced };

static void near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-12 * (1 + fabs(expected))))
        fail_msg("%.17g, expected %.17g", value, expected);
}

static void rows_are_the_tasks_of_a_kind_on_a_level(void **state)
{
    (void)state;
    profile p;
    assert_true(profile_make(traced, TRACED, 1e9, &p));
    assert_int_equal(p.rows, 4);
    assert_int_equal(p.levels, 3);
    assert_int_equal(p.blocks, 2);
    assert_int_equal(p.bytes, 11100);
    near(p.time.seconds, 10 * US);
    near(p.bytes_floor, 11.1 * US);
    near(p.chain_floor, 3 * PROFILE_STEP);
    const profile_row *small = &p.row[0], *late = &p.row[2], *top = &p.row[3];
    assert_int_equal(small->kind, LIBSOLVER_TASK_SMALL);
    assert_int_equal(small->of.tasks, 2);
    assert_int_equal(small->blocks, 2);
    assert_int_equal(small->bytes, 4000);
    near(small->of.begin, 0);
    near(small->of.end, 5 * US);
    near(small->staging, 0.5 * US);
    near(small->gathering, 0.5 * US);
    near(small->computing, 3 * US);
    near(small->floor, 4 * US);
    assert_int_equal(p.row[1].kind, LIBSOLVER_TASK_SUM);
    near(p.row[1].floor, PROFILE_STEP);
    near(p.row[1].of.added, 2 * US);
    assert_int_equal(late->kind, LIBSOLVER_TASK_SMALL); /* ends before the other row of its level */
    assert_int_equal(top->kind, LIBSOLVER_TASK_TOP);
    near(late->of.added, 2 * US);
    near(top->of.added, 1 * US);
    near(p.time.part[PROFILE_STAGING], 2. / 20);
    near(p.time.part[PROFILE_GATHERING], 6. / 20);
    near(p.time.part[PROFILE_COMPUTING], 10. / 20);
    profile_free(&p);
}

/* Whatever the trace: what rows add sums to the solve, and bins to the parts of the time. */
static void sums_are_those_of_the_trace(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        random_stream r = random_seeded(seed);
        const int64_t blocks = 1 + (int64_t)random_below(&r, 20),
                      each = 1 + (int64_t)random_below(&r, 30);
        libsolver_task *task = calloc((size_t)(blocks * each), sizeof *task);
        int64_t tasks = 0, bytes = 0;
        for (int64_t b = 0; b < blocks; b++) {
            double now = 1e-6 * (double)random_below(&r, 100) * (b > 0);
            for (int64_t k = 0; k < each; k++) {
                libsolver_task *t = &task[tasks++];
                *t = (libsolver_task){.kind = (libsolver_task_kind)random_below(&r, 4),
                                      .level = (int32_t)k,
                                      .block = (int32_t)b,
                                      .bytes = (int64_t)random_below(&r, 30000),
                                      .begin = now};
                t->staged = t->begin + 1e-7 * (double)random_below(&r, 50);
                t->gathered = t->staged + 1e-7 * (double)random_below(&r, 50);
                now = t->end = t->gathered + 1e-7 * (double)random_below(&r, 50);
                bytes += t->bytes;
            }
        }
        profile p;
        assert_true(profile_make(task, tasks, 1e12, &p));
        double added = 0, of_rows = 0, of_bins = 0;
        int64_t tasks_of_rows = 0, bytes_of_rows = 0;
        for (int32_t k = 0; k < p.rows; k++) {
            added += p.row[k].of.added;
            tasks_of_rows += p.row[k].of.tasks;
            bytes_of_rows += p.row[k].bytes;
            of_rows += (double)p.row[k].of.tasks *
                       (p.row[k].staging + p.row[k].gathering + p.row[k].computing);
            assert_true(p.row[k].blocks <= p.blocks && p.row[k].blocks <= p.row[k].of.tasks);
        }
        double parts = 0;
        for (int s = 0; s < PROFILE_STATES; s++) {
            parts += p.time.part[s];
            for (int b = 0; b < TIMELINE_BINS; b++)
                of_bins += p.time.bin[b][s] / TIMELINE_BINS;
        }
        assert_int_equal(tasks_of_rows, tasks);
        assert_int_equal(bytes_of_rows, bytes);
        if (p.time.seconds > 0) {
            assert_true(fabs(added - p.time.seconds) <= 1e-9 * p.time.seconds);
            assert_true(fabs(of_rows / (p.time.seconds * p.blocks) - parts) <= 1e-9);
            assert_true(fabs(of_bins - parts) <= 1e-9);
            assert_true(parts <= 1 + 1e-9);
        }
        profile_free(&p);
        free(task);
    }
}

static void no_tasks_and_no_rate_are_no_harm(void **state)
{
    (void)state;
    profile p;
    assert_true(profile_make(NULL, 0, 1e12, &p));
    assert_int_equal(p.rows, 0);
    profile_free(&p);
    assert_true(profile_make(traced, TRACED, NAN, &p));
    assert_true(isnan(p.bytes_floor));
    near(p.row[0].floor, PROFILE_STEP);
    json j = {0};
    const profile_facts facts = {
        .name = "\"a\"", .n = 5, .factor_nnz = 9, .stream = NAN, .graph = NAN};
    profile_json(&p, &facts, &j);
    assert_non_null(strstr(j.text, "\"name\": \"\\u0022a\\u0022\", \"device\": null"));
    assert_non_null(strstr(j.text, "\"floor_s\": {\"bytes\": null"));
    json_free(&j);
    profile_free(&p);
}

static const char path[] = "test_profile.svg";

static output picture_begun(void)
{
    failure f = {0};
    output o;
    assert_int_equal(output_open(&o, path, &f), 0);
    return o;
}

/* The text of a picture that was written to a file. */
static char *picture_ended(output *o)
{
    failure f = {0};
    assert_int_equal(output_close(o, true, &f), 0);
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 1 << 20);
    assert_true(file && text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    remove(path);
    assert_int_equal(strncmp(text, "<svg ", 5), 0);
    assert_string_equal(text + strlen(text) - 7, "</svg>\n");
    return text;
}

static int count(const char *text, const char *word)
{
    int found = 0;
    for (; (text = strstr(text, word)) != NULL; text++)
        found++;
    return found;
}

/* Title and description, both pages, and nothing painted past them. */
static void check_page(const char *text, const char *title)
{
    char whole[200];
    snprintf(whole, sizeof whole, "<title id=\"title\">%s</title>\n<desc id=\"description\">",
             title);
    assert_non_null(strstr(text, whole));
    assert_int_equal(count(text, "aria-labelledby=\"title description\""), 1);
    assert_int_equal(count(text, "prefers-color-scheme:dark"), 1);
    assert_int_equal(count(text, "fill=\"#"), 0);
    assert_int_equal(count(text, "stroke=\"#"), 0);
}

static void the_picture_has_a_bar_for_each_row_and_is_whole(void **state)
{
    (void)state;
    profile p;
    assert_true(profile_make(traced, TRACED, 4e12, &p));
    const profile_facts facts = {.name = "a<b>&\"c\"\x01",
                                 .device = "GPU",
                                 .n = 5,
                                 .factor_nnz = 9,
                                 .stream = 11 * US,
                                 .graph = 9 * US};
    output o = picture_begun();
    profile_svg(&p, &facts, &o);
    char *text = picture_ended(&o);
    assert_non_null(strstr(text, "a&#60;b&#62;&#38;&#34;c&#34;?: one solve on GPU, n = 5"));
    assert_non_null(strstr(text, "11.0 us on a stream, 9.0 us in a graph, 10.0 us traced"));
    assert_int_equal(count(text, "class=\"neutral\""), p.rows);
    assert_int_equal(count(text, ">up 1 top<"), 1);
    check_page(text, "a&#60;b&#62;&#38;&#34;c&#34;?: where the time of a solve goes");
    assert_int_equal(count(text, "<path class=\"c"), PROFILE_STATES);
    assert_int_equal(count(text, "<path fill=\"url(#h"), PROFILE_STATES - 1);
    assert_int_equal(count(text, ">multiplying ("), 1);
    assert_int_equal(count(text, ">us after the first task began<"), 1);
    assert_int_equal(count(text, "nan"), 0);
    free(text);
    profile_free(&p);
}

static void the_json_has_an_object_for_each_row(void **state)
{
    (void)state;
    profile p;
    json j = {0};
    const profile_facts facts = {
        .name = "a", .device = "GPU", .n = 5, .factor_nnz = 9, .stream = 1, .graph = 1};
    assert_true(profile_make(traced, TRACED, 4e12, &p));
    profile_json(&p, &facts, &j);
    assert_int_equal(count(j.text, "{\"level\": "), p.rows);
    assert_non_null(strstr(j.text,
                           "\"rows\": [{\"level\": 0, \"sweep\": \"forward\", \"height\": 0, "
                           "\"kind\": \"small\", \"tasks\": 2, "
                           "\"blocks\": 2, \"bytes\": 4000, \"begin_s\": 0, \"end_s\": 5e-06,"));
    assert_non_null(strstr(j.text, "}}, {\"level\": 1,"));
    assert_string_equal(j.text + j.length - 5, "}}]}\n");
    json_free(&j);
    profile_free(&p);
}

/* ---- Factorizations -------------------------------------------------------------------------- */

/* Three levels: two runs of small fronts side by side; diagonal block and rows; the last diagonal
 * block alone, after a gap. */
static const libsolver_factor_task factorized[] = {
    {.kind = LIBSOLVER_FACTOR_TASK_SMALL, .flops = 100, .begin = 0, .end = 4 * US},
    {.kind = LIBSOLVER_FACTOR_TASK_SMALL, .flops = 200, .begin = 0, .end = 2 * US},
    {.kind = LIBSOLVER_FACTOR_TASK_PIVOT, .level = 1, .flops = 50, .begin = 4 * US, .end = 7 * US},
    {.kind = LIBSOLVER_FACTOR_TASK_ROWS, .level = 1, .flops = 60, .begin = 4 * US, .end = 6 * US},
    {.kind = LIBSOLVER_FACTOR_TASK_PIVOT, .level = 2, .flops = 90, .begin = 8 * US, .end = 10 * US},
};
enum { FACTORIZED = sizeof factorized / sizeof *factorized };

static const profile_facts factor_facts = {.name = "a",
                                           .device = "GPU",
                                           .n = 5,
                                           .factor_nnz = 9,
                                           .refactorize = 20e-6,
                                           .refactorize_device = 15e-6};

static void levels_count_for_the_kind_of_their_last_task(void **state)
{
    (void)state;
    factor_profile p;
    assert_true(factor_profile_make(factorized, FACTORIZED, &p));
    assert_int_equal(p.levels, 3);
    assert_int_equal(p.rows, 4);
    assert_int_equal(p.all.tasks, FACTORIZED);
    near(p.all.flops, 500);
    near(p.time.seconds, 10 * US);
    near(p.chain, 9 * US);
    near(p.time.blocks, 2);
    assert_int_equal(p.row[1].kind, LIBSOLVER_FACTOR_TASK_ROWS); /* ends before its level does */
    near(p.row[1].of.added, 2 * US);
    const factor_kind_sum *small = &p.kind[LIBSOLVER_FACTOR_TASK_SMALL],
                          *pivot = &p.kind[LIBSOLVER_FACTOR_TASK_PIVOT];
    assert_int_equal(small->sum.tasks, 2);
    assert_int_equal(small->levels, 1);
    near(small->sum.busy, 6 * US);
    near(small->added, 4 * US);
    assert_int_equal(pivot->levels, 2);
    near(pivot->sum.longest, 3 * US);
    near(pivot->added, 6 * US); /* with what the rows beside the first one took, and the gap */
    near(p.kind[LIBSOLVER_FACTOR_TASK_ROWS].added, 0);
    near(p.time.part[LIBSOLVER_FACTOR_TASK_SMALL], 6. / 20);
    factor_profile_free(&p);
    assert_true(factor_profile_make(NULL, 0, &p));
    assert_int_equal(p.rows, 0);
    factor_profile_free(&p);
}

static void the_json_of_a_factorization(void **state)
{
    (void)state;
    factor_profile p;
    json j = {0};
    assert_true(factor_profile_make(factorized, FACTORIZED, &p));
    factor_profile_json(&p, &factor_facts, &j);
    assert_int_equal(count(j.text, "{\"level\": "), p.rows);
    assert_int_equal(count(j.text, "\"last_of_levels\": "), 3);
    assert_non_null(strstr(j.text, "\"levels\": 3, "));
    assert_non_null(strstr(j.text, "{\"kind\": \"pivot\", \"tasks\": 2, \"flops\": 140, "));
    assert_null(strstr(j.text, "null"));
    assert_string_equal(j.text + j.length - 4, "}]}\n");
    json_free(&j);
    factor_profile_free(&p);
}

/* However many levels and tasks there are. */
static void the_picture_of_a_factorization_is_short(void **state)
{
    (void)state;
    enum { LEVELS = 700, EACH = 300 };
    libsolver_factor_task *task = calloc((size_t)LEVELS * EACH, sizeof *task);
    assert_non_null(task);
    for (int k = 0; k < LEVELS * EACH; k++)
        task[k] = (libsolver_factor_task){.kind = (libsolver_factor_task_kind)(k % 7),
                                          .level = k / EACH,
                                          .flops = k,
                                          .begin = US * (double)(k / EACH),
                                          .end = US * (k / EACH + (1 + k % EACH) / (double)EACH)};
    factor_profile p;
    double added = 0;
    assert_true(factor_profile_make(task, LEVELS * EACH, &p));
    for (int kind = 0; kind < FACTOR_KINDS; kind++)
        added += p.kind[kind].added;
    near(added, p.time.seconds);
    output o = picture_begun();
    factor_profile_svg(&p, &factor_facts, &o);
    char *text = picture_ended(&o);
    assert_true(strlen(text) < 300000);
    check_page(text, "a: where the time of a factorization goes");
    assert_int_equal(count(text, "<path class=\"c"), FACTOR_KINDS);
    assert_int_equal(count(text, ">levels 0 to 11<"), 1);
    assert_int_equal(count(text, ">levels 696 to 699<"), 1);
    assert_int_equal(count(text, "class=\"neutral\""), 59);
    assert_int_equal(count(text, "nan"), 0);
    free(text);
    free(task);
    factor_profile_free(&p);
    assert_true(factor_profile_make(factorized, FACTORIZED, &p));
    o = picture_begun();
    factor_profile_svg(&p, &factor_facts, &o);
    text = picture_ended(&o);
    assert_non_null(strstr(text, "a: one factorization on GPU, n = 5, 9 entries in L"));
    assert_non_null(strstr(text, "Ready to solve: 0.015 ms, "));
    assert_int_equal(count(text, ">level 2<"), 1);
    free(text);
    factor_profile_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_the_tasks_of_a_kind_on_a_level),
        cmocka_unit_test(sums_are_those_of_the_trace),
        cmocka_unit_test(no_tasks_and_no_rate_are_no_harm),
        cmocka_unit_test(the_picture_has_a_bar_for_each_row_and_is_whole),
        cmocka_unit_test(the_json_has_an_object_for_each_row),
        cmocka_unit_test(levels_count_for_the_kind_of_their_last_task),
        cmocka_unit_test(the_json_of_a_factorization),
        cmocka_unit_test(the_picture_of_a_factorization_is_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
