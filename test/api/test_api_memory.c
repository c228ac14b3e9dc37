/* test/api/test_api_memory.c: allocations that fail, and memory limits
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "api_phases.h"
#include <stdlib.h>
#include <string.h>

/* Every allocation of all phases fails once, alone or with all behind it; the call that it belongs
 * to says so, is made again and succeeds. */
static void every_allocation_fails(api_system *t, int threads, int all)
{
    int failures = 0, met[STEPS] = {0};
    for (int64_t k = 0;; k++) {
        ledger l;
        objects o;
        int failed = 0;
        objects_open(&o, &l, t, threads);
        ledger_refuse(&l, k, all);
        for (int step = 0; step < STEPS; step++) {
            libsolver_status status = take_step(step, t, &o);
            if (status != LIBSOLVER_OK) {
                if (failed || status != LIBSOLVER_OUT_OF_MEMORY)
                    fail_msg("allocation %d, %s: %s", (int)k, step_names[step],
                             libsolver_status_name(status));
                if (step != CONTEXT && !strstr(message_of(step, &o), "more bytes"))
                    fail_msg("allocation %d, %s: message '%s'", (int)k, step_names[step],
                             message_of(step, &o));
                failed = 1;
                met[step]++;
                if (step == FACTORIZE)
                    assert_null(o.factor);
                /* refused until a refactorize succeeds */
                if (step == OTHER_VALUES || step == BACK) {
                    const libsolver_vectors b = block_view(t->b, t->a.n, 1);
                    const libsolver_status refused = libsolver_solve(o.factor, &b, &b);
                    assert_int_equal(refused, LIBSOLVER_INVALID);
                }
                ledger_refuse(&l, -1, 0);
                status = take_step(step, t, &o);
                if (status != LIBSOLVER_OK)
                    fail_msg("after allocation %d, %s again: %s, %s", (int)k, step_names[step],
                             libsolver_status_name(status), message_of(step, &o));
            } else if (!failed && l.refuse_at >= 0 && l.calls > l.refuse_at)
                fail_msg("allocation %d failed in %s, which did not say so", (int)k,
                         step_names[step]);
            check_step(step, t, &o);
        }
        libsolver_factor_info info;
        libsolver_info(o.factor, &info);
        objects_free(&o);
        if (l.live != 0)
            fail_msg("allocation %d: %d blocks were lost", (int)k, (int)l.live);
        failures += failed;
        if (!failed)
            break;
    }
    print_message("%d failures:", failures);
    for (int step = 0; step < STEPS; step++)
        print_message(" %s %d,", step_names[step], met[step]);
    print_message("\n");
    assert_true(met[CONTEXT] && met[ANALYZE] && met[FACTORIZE] && met[WORKSPACE] && met[SOLVE] &&
                met[EXPORT]);
    assert_int_equal(met[PLAIN] + met[REFINE], 0); /* these allocate nothing */
    if (t->kind == LIBSOLVER_KIND_SPD)
        assert_int_equal(met[OTHER_VALUES] + met[BACK] + met[PLAIN_2] + met[SOLVE_2], 0);
    else /* for delayed pivots; workspaces follow at their next use */
        assert_true(met[OTHER_VALUES] > 0);
}

static void each_failed_allocation_is_survived(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++)
        for (int all = 0; all < 2; all++) {
            api_system t = kind % 2 ? indefinite_system() : definite_system();
            t.mixed = kind < 2 ? LIBSOLVER_OFF : LIBSOLVER_ON;
            every_allocation_fails(&t, 1 + all, all);
            api_system_free(&t);
        }
}

static void each_failed_allocation_of_the_simple_level_is_survived(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        api_system t = kind ? indefinite_system() : definite_system();
        const libsolver_matrix a = sparse_view(&t.a);
        libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
        int64_t k = 0, without_object = 0;
        for (; status != LIBSOLVER_OK; k++) {
            ledger l;
            libsolver_options o;
            libsolver_factor *f = NULL;
            ledger_open(&l, &o);
            ledger_refuse(&l, k, 0);
            status = libsolver_factor_matrix(&a, &o, &f);
            if (status != LIBSOLVER_OK) {
                const libsolver_vectors b = block_view(t.b, t.a.n, COLUMNS);
                libsolver_inertia_counts counts;
                libsolver_factor_info info;
                assert_int_equal(status, LIBSOLVER_OUT_OF_MEMORY);
                without_object += f == NULL;
                if (f) {
                    assert_non_null(strstr(libsolver_factor_message(f), "more bytes"));
                    libsolver_info(f, &info);
                    assert_int_equal(info.status, LIBSOLVER_OUT_OF_MEMORY);
                }
                assert_int_equal(libsolver_solve(f, &b, &b), LIBSOLVER_INVALID);
                assert_int_equal(libsolver_inertia(f, &counts), LIBSOLVER_INVALID);
            }
            libsolver_factor_free(f);
            assert_int_equal(l.live, 0);
        }
        assert_true(k > 20);
        assert_in_range(without_object, 1, 2); /* the context and the object itself */
        api_system_free(&t);
    }
}

static void a_memory_limit_is_kept(void **state)
{
    (void)state;
    api_system t = indefinite_system();
    const libsolver_matrix a = sparse_view(&t.a);
    libsolver_factor *f;
    libsolver_factor_info info;
    libsolver_options o;
    libsolver_options_default(&o);
    o.backend = LIBSOLVER_BACKEND_CPU;
    o.threads = 1;
    assert_int_equal(libsolver_factor_matrix(&a, &o, &f), LIBSOLVER_OK);
    libsolver_info(f, &info);
    const int64_t peak = info.host_bytes_peak;
    libsolver_factor_free(f);
    int refused = 0;
    for (int64_t limit = 1; limit < 2 * peak; limit += limit < peak - peak / 16 ? peak / 32
                                                       : limit < peak           ? peak - limit
                                                                                : peak / 2) {
        ledger l;
        ledger_open(&l, &o);
        o.threads = 1;
        o.memory_limit = limit;
        const libsolver_status status = libsolver_factor_matrix(&a, &o, &f);
        if (status != (limit < peak ? LIBSOLVER_OUT_OF_MEMORY : LIBSOLVER_OK))
            fail_msg("limit %d of %d: %s", (int)limit, (int)peak, libsolver_status_name(status));
        if (f) {
            libsolver_info(f, &info);
            assert_true(info.host_bytes_peak <= limit && info.host_bytes <= info.host_bytes_peak);
        }
        if (status != LIBSOLVER_OK && f) {
            int64_t wanted = 0;
            for (const char *c = libsolver_factor_message(f); *c && !wanted; c++)
                wanted = strtoll(c, NULL, 10);
            assert_true(wanted > 0); /* the bytes that would not fit */
            refused++;
        }
        libsolver_factor_free(f);
        assert_int_equal(l.live, 0);
    }
    assert_true(refused > 10);

    /* a refactorization that needs more than there is: the old factor is lost, the object is not */
    objects q;
    ledger l;
    objects_open(&q, &l, &t, 1);
    for (int step = CONTEXT; step <= SOLVE; step++)
        assert_int_equal(take_step(step, &t, &q), LIBSOLVER_OK);
    libsolver_info(q.factor, &info);
    const int64_t enough = info.host_bytes_peak;
    objects_free(&q);
    objects_open(&q, &l, &t, 1);
    q.options.memory_limit = enough;
    for (int step = CONTEXT; step <= SOLVE; step++)
        assert_int_equal(take_step(step, &t, &q), LIBSOLVER_OK);
    const libsolver_status status = take_step(OTHER_VALUES, &t, &q);
    if (status == LIBSOLVER_OUT_OF_MEMORY)
        assert_non_null(strstr(message_of(OTHER_VALUES, &q), "more bytes"));
    else
        assert_int_equal(status, LIBSOLVER_OK);
    assert_int_equal(take_step(BACK, &t, &q), LIBSOLVER_OK);
    assert_int_equal(take_step(SOLVE_2, &t, &q), LIBSOLVER_OK);
    check_solution(&t, COLUMNS, 1e-14);
    objects_free(&q);
    assert_int_equal(l.live, 0);
    api_system_free(&t);
}

static int count_polls(void *user)
{
    ++*(_Atomic int *)user;
    return 0;
}

/* Where fronts do not fit, that is known before any is worked on, and the same analysis serves once
 * there is more room. */
static void a_limit_that_is_too_low_is_met_early(void **state)
{
    (void)state;
    sparse a = sparse_grid(90, 80, 4);
    const libsolver_matrix view = sparse_view(&a);
    for (int kind = LIBSOLVER_KIND_SPD; kind <= LIBSOLVER_KIND_INDEFINITE; kind++)
        for (int part = 1; part <= 9; part += 4) {
            _Atomic int polls = 0;
            ledger l;
            libsolver_options o;
            libsolver_context *context;
            libsolver_analysis *analysis;
            libsolver_analysis_info predicted;
            libsolver_factor *f;
            ledger_open(&l, &o);
            o.threads = 1;
            assert_int_equal(libsolver_context_create(&o, &context), LIBSOLVER_OK);
            assert_int_equal(libsolver_analyze(context, &view, &o, &analysis), LIBSOLVER_OK);
            libsolver_analysis_query(analysis, &predicted);
            assert_int_equal(libsolver_factorize(analysis, &view, &f), LIBSOLVER_OK);
            /* which comes last */
            const int64_t without = predicted.host_bytes - libsolver_workspace_bytes(f, 1);
            libsolver_factor_free(f);
            libsolver_analysis_free(analysis);
            libsolver_context_free(context);

            o.kind = (libsolver_kind)kind;
            o.memory_limit = without / 10 * part; /* the analysis takes up to half of it */
            o.cancel = count_polls;
            o.cancel_user = &polls;
            assert_int_equal(libsolver_context_create(&o, &context), LIBSOLVER_OK);
            libsolver_status status = libsolver_analyze(context, &view, &o, &analysis);
            if (status == LIBSOLVER_OK) {
                polls = 0;
                status = libsolver_factorize(analysis, &view, &f);
                assert_null(f);
            }
            assert_int_equal(status, LIBSOLVER_OUT_OF_MEMORY);
            assert_non_null(strstr(libsolver_context_message(context), "more bytes"));
            if (analysis)
                assert_int_equal(polls, 0);
            libsolver_analysis_free(analysis);
            libsolver_context_free(context);
            assert_int_equal(l.live, 0);
        }
    sparse_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_failed_allocation_is_survived),
        cmocka_unit_test(each_failed_allocation_of_the_simple_level_is_survived),
        cmocka_unit_test(a_memory_limit_is_kept),
        cmocka_unit_test(a_limit_that_is_too_low_is_met_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
