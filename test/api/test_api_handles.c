/* test/api/test_api_handles.c: NULL, objects in the wrong order and options that are not legal
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "api_bench.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void null_arguments_are_refused(void **state)
{
    bench *t = *state;
    const libsolver_matrix a = sparse_view(&t->a);
    const libsolver_vectors v = block_view(t->b, N, COLUMNS);
    libsolver_analysis *analysis = (libsolver_analysis *)t;
    libsolver_factor *factor = (libsolver_factor *)t;
    libsolver_workspace *w = (libsolver_workspace *)t;
    libsolver_inertia_counts counts;
    int64_t entries;
    double d[N];
    const char *of_context = "", *of_factor = "";

    assert_int_equal(libsolver_context_create(NULL, NULL), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_analyze(NULL, &a, NULL, &analysis), LIBSOLVER_INVALID);
    assert_null(analysis);
    libsolver_status status = libsolver_analyze(t->context, NULL, NULL, &analysis);
    of_context = libsolver_context_message(t->context);
    refused(status, LIBSOLVER_INVALID, of_context, "NULL");
    assert_int_equal(libsolver_analyze(t->context, &a, NULL, NULL), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_factorize(NULL, &a, &factor), LIBSOLVER_INVALID);
    assert_null(factor);
    refused(libsolver_factorize(t->analysis, NULL, &factor), LIBSOLVER_INVALID, of_context, "NULL");
    assert_int_equal(libsolver_factorize(t->analysis, &a, NULL), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_refactorize(NULL, &a), LIBSOLVER_INVALID);
    of_factor = libsolver_factor_message(t->factor);
    refused(libsolver_refactorize(t->factor, NULL), LIBSOLVER_INVALID, of_factor, "NULL");
    assert_int_equal(libsolver_factor_matrix(NULL, NULL, &factor), LIBSOLVER_INVALID);
    refused(LIBSOLVER_INVALID, LIBSOLVER_INVALID, libsolver_factor_message(factor), "NULL");
    libsolver_factor_free(factor);
    assert_int_equal(libsolver_factor_matrix(&a, NULL, NULL), LIBSOLVER_INVALID);
    for (int k = 0; k < 2; k++) {
        const libsolver_vectors *b = k ? &v : NULL, *x = k ? NULL : &v;
        solves(t, t->factor);
        refused(libsolver_solve(t->factor, b, x), LIBSOLVER_INVALID, of_factor, "NULL");
        solves(t, t->factor);
        refused(libsolver_solve_plain(t->factor, LIBSOLVER_PART_ALL, NULL, b, x), LIBSOLVER_INVALID,
                of_factor, "NULL");
        solves(t, t->factor);
        refused(libsolver_refine(t->factor, NULL, b, x, NULL), LIBSOLVER_INVALID, of_factor,
                "NULL");
    }
    refused(libsolver_solve_async(t->factor, NULL, 1, &v, &v, NULL, NULL), LIBSOLVER_NOT_BUILT,
            of_factor, "GPU");
    assert_int_equal(libsolver_solve(NULL, &v, &v), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_solve_plain(NULL, LIBSOLVER_PART_ALL, NULL, &v, &v),
                     LIBSOLVER_INVALID);
    assert_int_equal(libsolver_refine(NULL, NULL, &v, &v, NULL), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_solve_traced(NULL, NULL, &v, &v, 0, NULL, &entries),
                     LIBSOLVER_INVALID);
    assert_int_equal(libsolver_solve_traced(t->factor, NULL, &v, &v, 0, NULL, NULL),
                     LIBSOLVER_INVALID);
    refused(libsolver_solve_traced(t->factor, NULL, &v, &v, 0, NULL, &entries), LIBSOLVER_NOT_BUILT,
            of_factor, "on the CPU");
    assert_int_equal(libsolver_refactorize_async(NULL, &a, NULL), LIBSOLVER_INVALID);
    refused(libsolver_refactorize_async(t->factor, &a, NULL), LIBSOLVER_NOT_BUILT, of_factor,
            "GPU");
    solves(t, t->factor);
    libsolver_factor_task task;
    assert_int_equal(libsolver_refactorize_traced(NULL, &a, 0, NULL, &entries), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_refactorize_traced(t->factor, &a, 0, NULL, NULL), LIBSOLVER_INVALID);
    refused(libsolver_refactorize_traced(t->factor, &a, 1, &task, &entries), LIBSOLVER_NOT_BUILT,
            of_factor, "on the CPU");
    solves(t, t->factor);
    assert_int_equal(libsolver_solve_async(NULL, NULL, 1, &v, &v, NULL, NULL), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_workspace_create(NULL, 1, &w), LIBSOLVER_INVALID);
    assert_null(w);
    assert_int_equal(libsolver_workspace_create(t->factor, 1, NULL), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_workspace_bytes(NULL, 1), 0);
    assert_int_equal(libsolver_inertia(NULL, &counts), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_inertia(t->factor, NULL), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_get_factor_l(NULL, &entries, NULL, NULL, NULL, NULL),
                     LIBSOLVER_INVALID);
    assert_int_equal(libsolver_get_factor_l(t->factor, NULL, NULL, NULL, NULL, NULL),
                     LIBSOLVER_INVALID);
    assert_int_equal(libsolver_get_factor_d(NULL, d, d), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_get_factor_d(t->factor, NULL, d), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_get_factor_d(t->factor, d, NULL), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_get_scaling(NULL, d), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_get_scaling(t->factor, NULL), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_devices(0, NULL, NULL), LIBSOLVER_INVALID);
    refused(LIBSOLVER_INVALID, LIBSOLVER_INVALID, libsolver_context_message(NULL), "no room");
    assert_int_equal(libsolver_gpu_code_query(NULL), LIBSOLVER_INVALID);
    refused(LIBSOLVER_INVALID, LIBSOLVER_INVALID, libsolver_context_message(NULL), "code is NULL");
    assert_int_equal(libsolver_context_create(NULL, NULL), LIBSOLVER_INVALID);
    refused(LIBSOLVER_INVALID, LIBSOLVER_INVALID, libsolver_context_message(NULL), "is NULL");
    assert_non_null(strstr(libsolver_context_place(NULL), ".c:"));
    assert_string_equal(libsolver_factor_message(NULL), "");
    libsolver_context_free(NULL);
    libsolver_analysis_free(NULL);
    libsolver_factor_free(NULL);
    libsolver_workspace_free(NULL);
    works(t);
}

/* Every call on a factor that fails says why, and keeps its place apart. */
static void each_failing_call_says_why(void **state)
{
    bench *t = *state;
    sparse spd = sparse_grid(4, 3, 4);
    libsolver_matrix view = sparse_view(&spd);
    libsolver_options o = t->options;
    libsolver_analysis *analysis;
    libsolver_factor *none; /* an object without a factor */
    libsolver_inertia_counts counts;
    libsolver_determinant_info determinant;
    double *negative = calloc((size_t)spd.pointers[N], sizeof(double)), out[N], value;
    int64_t entries;
    for (int64_t p = 0; p < spd.pointers[N]; p++)
        negative[p] = -spd.values[p];
    o.kind = LIBSOLVER_KIND_SPD;
    assert_int_equal(libsolver_analyze(t->context, &view, &o, &analysis), LIBSOLVER_OK);
    view.values = negative;
    assert_int_equal(libsolver_factorize(analysis, &view, &none), LIBSOLVER_NOT_POSITIVE_DEFINITE);
    assert_non_null(strstr(libsolver_factor_place(none), ".c:"));
    const libsolver_vectors v = block_view(t->b, N, 1);
#define SAYS(factor, word, call) \
    do { \
        assert_int_equal(libsolver_refactorize_shifted(factor, NULL, &(libsolver_vectors){0}), \
                         LIBSOLVER_INVALID); \
        assert_non_null(strstr(libsolver_factor_message(factor), "shift")); \
        refused(call, LIBSOLVER_INVALID, libsolver_factor_message(factor), word); \
        assert_non_null(strstr(libsolver_factor_place(factor), ".c:")); \
    } while (0)
    SAYS(none, "no factor", libsolver_solve_plain(none, LIBSOLVER_PART_L, NULL, &v, &v));
    SAYS(none, "no factor", libsolver_determinant(none, &determinant));
    SAYS(none, "no factor", libsolver_condition(none, NULL, &value));
    SAYS(none, "no factor", libsolver_forward_error(none, NULL, &v, &v, &value));
    SAYS(none, "no factor", libsolver_inertia(none, &counts));
    SAYS(none, "no factor", libsolver_get_factor_l(none, &entries, NULL, NULL, NULL, NULL));
    SAYS(none, "no factor", libsolver_get_factor_d(none, out, out));
    SAYS(none, "no factor", libsolver_get_scaling(none, out));
    SAYS(none, "no factor", libsolver_schur_complement(none, &v));
    SAYS(none, "no factor", libsolver_schur_condense(none, NULL, &v, &v));
    SAYS(none, "no factor", libsolver_schur_expand(none, NULL, &v));
    SAYS(none, "columns", libsolver_workspace_create(none, 0, &(libsolver_workspace *){NULL}));
    SAYS(none, "NULL", libsolver_workspace_create(none, 1, NULL));
    SAYS(none, "NULL", libsolver_inertia(none, NULL));
    SAYS(none, "NULL", libsolver_determinant(none, NULL));
    SAYS(none, "NULL", libsolver_condition(none, NULL, NULL));
    SAYS(none, "NULL", libsolver_forward_error(none, NULL, NULL, &v, &value));
    SAYS(none, "NULL", libsolver_get_factor_l(none, NULL, NULL, NULL, NULL, NULL));
    SAYS(none, "NULL", libsolver_get_factor_d(none, out, NULL));
    SAYS(none, "NULL", libsolver_get_scaling(none, NULL));
    SAYS(t->factor, "schur_rows", libsolver_schur_complement(t->factor, &v));
    SAYS(t->factor, "schur_rows", libsolver_schur_condense(t->factor, NULL, &v, &v));
    refused(libsolver_analyze(t->context, &view, &o, NULL), LIBSOLVER_INVALID,
            libsolver_context_message(t->context), "where the analysis is to go");
    refused(libsolver_factorize(analysis, &view, NULL), LIBSOLVER_INVALID,
            libsolver_context_message(t->context), "where the factor is to go");
    assert_non_null(strstr(libsolver_context_place(t->context), ".c:"));
    assert_string_equal(libsolver_factor_place(NULL), "");
    libsolver_factor_free(none);
    libsolver_analysis_free(analysis);
    free(negative);
    sparse_free(&spd);
    works(t);
}

static void handles_in_the_wrong_order_are_refused(void **state)
{
    bench *t = *state;
    sparse spd = sparse_grid(4, 3, 4);
    libsolver_matrix view = sparse_view(&spd);
    libsolver_options o = t->options;
    libsolver_analysis *analysis;
    libsolver_factor *factor;
    libsolver_workspace *w, *early, *none = (libsolver_workspace *)t;
    libsolver_inertia_counts counts;
    libsolver_factor_info info;
    libsolver_solve_info solved;
    double *negative = calloc((size_t)spd.pointers[N], sizeof(double)), out[N];
    int64_t entries;
    for (int64_t p = 0; p < spd.pointers[N]; p++)
        negative[p] = -spd.values[p];
    o.kind = LIBSOLVER_KIND_SPD;
    assert_int_equal(libsolver_analyze(t->context, &view, &o, &analysis), LIBSOLVER_OK);

    view.values = negative; /* an object without a factor */
    assert_int_equal(libsolver_factorize(analysis, &view, &factor),
                     LIBSOLVER_NOT_POSITIVE_DEFINITE);
    assert_non_null(factor);
    const libsolver_vectors b = block_view(t->b, N, 1), x = block_view(out, N, 1);
    const char *message = libsolver_factor_message(factor);
    refused(libsolver_solve(factor, &b, &x), LIBSOLVER_INVALID, message, "no factor");
    refused(libsolver_solve_plain(factor, LIBSOLVER_PART_ALL, NULL, &b, &x), LIBSOLVER_INVALID,
            message, "no factor");
    refused(libsolver_refine(factor, NULL, &b, &x, NULL), LIBSOLVER_INVALID, message, "no factor");
    refused(libsolver_solve_traced(factor, NULL, &b, &x, 0, NULL, &entries), LIBSOLVER_INVALID,
            message, "no factor");
    assert_int_equal(libsolver_inertia(factor, &counts), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_get_factor_l(factor, &entries, NULL, NULL, NULL, NULL),
                     LIBSOLVER_INVALID);
    assert_int_equal(libsolver_get_factor_d(factor, out, out), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_get_scaling(factor, out), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_workspace_bytes(factor, 1), 0);
    /* it grows later */
    assert_int_equal(libsolver_workspace_create(factor, 1, &early), LIBSOLVER_OK);
    for (int k = 0; k < 2; k++) { /* nothing was solved in its own workspace, nor in this one */
        libsolver_solve_query(factor, k ? early : NULL, &solved);
        assert_true(isnan(solved.backward_error) && isnan(solved.backward_error_initial));
    }
    libsolver_info(factor, &info);
    assert_int_equal(info.status, LIBSOLVER_NOT_POSITIVE_DEFINITE);

    view.values = spd.values; /* the same object once it has one */
    assert_int_equal(libsolver_refactorize(factor, &view), LIBSOLVER_OK);
    assert_int_equal(libsolver_solve(factor, &b, &x), LIBSOLVER_OK);
    assert_true(sparse_backward_error(&spd, 1, out, t->b) <= 1e-14);
    assert_int_equal(libsolver_solve_plain(factor, LIBSOLVER_PART_ALL, early, &b, &x),
                     LIBSOLVER_OK);
    assert_true(sparse_backward_error(&spd, 1, out, t->b) <= 1e-12);
    libsolver_workspace_free(early);
    for (int64_t columns = -1; columns < 1; columns++)
        assert_int_equal(libsolver_workspace_create(factor, columns, &none), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_workspace_create(factor, INT64_MAX, &none), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_workspace_create(factor, 1, &w), LIBSOLVER_OK);
    refused(libsolver_solve_plain(t->factor, LIBSOLVER_PART_ALL, w, &b, &x), LIBSOLVER_INVALID,
            libsolver_factor_message(t->factor), "another factor");
    assert_int_equal(libsolver_solve_plain(factor, (libsolver_part)4, w, &b, &x),
                     LIBSOLVER_INVALID);
    assert_int_equal(libsolver_solve_plain(factor, (libsolver_part)-1, w, &b, &x),
                     LIBSOLVER_INVALID);
    /* x must not be b */
    assert_int_equal(libsolver_refine(factor, w, &b, &b, NULL), LIBSOLVER_INVALID);
    libsolver_workspace_free(w);

    view.values = negative; /* and when it has lost it again */
    assert_int_equal(libsolver_refactorize(factor, &view), LIBSOLVER_NOT_POSITIVE_DEFINITE);
    assert_int_equal(libsolver_solve(factor, &b, &x), LIBSOLVER_INVALID);
    libsolver_factor_free(factor);
    libsolver_analysis_free(analysis);
    free(negative);
    sparse_free(&spd);
    works(t);
}

static void bad_options_are_refused(void **state)
{
    bench *t = *state;
    const libsolver_matrix view = sparse_view(&t->a);
    ledger l;
    for (int k = 0; k < 20; k++) {
        libsolver_options o, clean;
        ledger_open(&l, &o);
        clean = o;
        switch (k) {
        case 0:
            o.backend = (libsolver_backend)3;
            break;
        case 1:
            o.kind = (libsolver_kind)-1;
            break;
        case 2:
            o.ordering = (libsolver_ordering)6;
            break;
        case 3:
            o.matching = (libsolver_choice)3;
            break;
        case 4:
            o.scaling = (libsolver_choice)3;
            break;
        case 5:
            o.purpose = (libsolver_purpose)3;
            break;
        case 6:
            o.keep = (libsolver_choice)-1;
            break;
        case 7:
            o.threads = -1;
            break;
        case 8:
            o.allocate = NULL;
            break;
        case 9:
            o.release = NULL;
            break;
        case 10:
            o.memory_limit = -1;
            break;
        case 11:
            o.pivot_threshold = -1e-9;
            break;
        case 12:
            o.pivot_threshold = 0.51;
            break;
        case 13:
            o.pivot_threshold = NAN;
            break;
        case 14:
            o.refine_steps = -1;
            break;
        case 15:
            o.tolerance = -1e-300;
            break;
        case 16:
            o.tolerance = NAN;
            break;
        case 17:
            o.tolerance = 1;
            break;
        case 18:
            o.reserved[0] = 1;
            break;
        default:
            o.reserved[sizeof o.reserved / sizeof o.reserved[0] - 1] = -1;
        }
        libsolver_context *context = (libsolver_context *)t;
        assert_int_equal(libsolver_context_create(&o, &context), LIBSOLVER_INVALID);
        assert_null(context);
        libsolver_analysis *analysis = (libsolver_analysis *)t;
        const libsolver_status status = libsolver_analyze(t->context, &view, &o, &analysis);
        refused(status, LIBSOLVER_INVALID, libsolver_context_message(t->context), " ");
        assert_null(analysis);
        libsolver_factor *factor = NULL;
        assert_int_equal(libsolver_factor_matrix(&view, &o, &factor), LIBSOLVER_INVALID);
        assert_non_null(factor); /* so that its message can be read */
        refused(LIBSOLVER_INVALID, LIBSOLVER_INVALID, libsolver_factor_message(factor), " ");
        libsolver_factor_free(factor);
        assert_int_equal(l.live, 0);
        assert_int_equal(libsolver_context_create(&clean, &context), LIBSOLVER_OK);
        libsolver_context_free(context);
        assert_int_equal(l.live, 0);
    }
    works(t);
}

static void a_bad_option_is_named_with_its_range(void **state)
{
    (void)state;
    libsolver_options o;
    libsolver_context *c;
    libsolver_options_default(&o);
    o.kind = (libsolver_kind)9;
    assert_int_equal(libsolver_context_create(&o, &c), LIBSOLVER_INVALID);
    assert_string_equal(libsolver_context_message(NULL), "options.kind is 9: a value from 0 to 3");
    libsolver_options_default(&o);
    o.threads = -2;
    assert_int_equal(libsolver_context_create(&o, &c), LIBSOLVER_INVALID);
    assert_string_equal(libsolver_context_message(NULL),
                        "options.threads is -2: 0, as OpenMP says, or more");
    libsolver_options_default(&o);
    o.reserved[2] = 7;
    assert_int_equal(libsolver_context_create(&o, &c), LIBSOLVER_INVALID);
    assert_non_null(strstr(libsolver_context_message(NULL), "options.reserved[2] is not zero"));
}

static void keep_sentence(void *user, const char *sentence)
{
    snprintf(user, 100, "%s", sentence);
}

static void too_many_threads_are_cut_with_a_sentence(void **state)
{
    (void)state;
    char said[100] = "";
    libsolver_options o;
    libsolver_context *c;
    libsolver_options_default(&o);
    o.log = keep_sentence;
    o.log_user = said;
    o.threads = 1000000;
    assert_int_equal(libsolver_context_create(&o, &c), LIBSOLVER_OK);
    assert_non_null(strstr(said, "1000000 threads were asked for: "));
    assert_non_null(strstr(said, " are used, 4 for each processor"));
    libsolver_context_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        unit_test_on_bench(null_arguments_are_refused),
        unit_test_on_bench(each_failing_call_says_why),
        unit_test_on_bench(handles_in_the_wrong_order_are_refused),
        unit_test_on_bench(bad_options_are_refused),
        cmocka_unit_test(a_bad_option_is_named_with_its_range),
        cmocka_unit_test(too_many_threads_are_cut_with_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
