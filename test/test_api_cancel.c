/* test/test_api_cancel.c: what the user hears of a call and may do about it: cancelling and the log
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "api_phases.h"
#include <string.h>

typedef struct canceller {
    _Atomic int64_t polls;
    int64_t at; /* the poll that is answered with yes, -1: none */
} canceller;

static int cancel(void *user)
{
    canceller *c = user;
    return atomic_fetch_add(&c->polls, 1) == c->at;
}

static void every_poll_can_cancel(void **state)
{
    (void)state;
    for (int variant = 0; variant < 8; variant++) {
        api_system t = variant % 2 ? indefinite_system() : definite_system();
        t.mixed = variant < 4 ? LIBSOLVER_OFF : LIBSOLVER_ON;
        int met[STEPS] = {0};
        for (int64_t k = 0;; k++) {
            canceller c = {.at = k};
            objects o;
            ledger l;
            int cancelled = 0;
            objects_open(&o, &l, &t, 1 + variant / 2 % 2);
            o.options.cancel = cancel;
            o.options.cancel_user = &c;
            for (int step = 0; step < STEPS; step++) {
                libsolver_status status = take_step(step, &t, &o);
                if (!cancelled && c.polls > k) {
                    if (status != LIBSOLVER_CANCELLED)
                        fail_msg("poll %d, %s: %s", (int)k, step_names[step], libsolver_status_name(status));
                    assert_non_null(
                        strstr(step == FACTORIZE ? libsolver_factor_message(o.factor) : message_of(step, &o),
                               "cancelled"));
                    cancelled = 1;
                    met[step]++;
                    if (step == FACTORIZE || step == OTHER_VALUES || step == BACK) {
                        const libsolver_vectors b = block_view(t.b, t.a.n, 1);
                        assert_non_null(o.factor);
                        assert_int_equal(libsolver_solve(o.factor, &b, &b), LIBSOLVER_INVALID);
                    }
                    if (step == FACTORIZE) /* an object, that refactorize may be tried on */
                        status = take_step(BACK, &t, &o);
                    else {
                        if (step == REFINE)
                            assert_int_equal(take_step(SOLVE, &t, &o), LIBSOLVER_OK);
                        status = take_step(step, &t, &o);
                    }
                }
                if (status != LIBSOLVER_OK)
                    fail_msg("after poll %d, %s: %s", (int)k, step_names[step],
                             libsolver_status_name(status));
                check_step(step, &t, &o);
            }
            objects_free(&o);
            assert_int_equal(l.live, 0);
            if (!cancelled)
                break;
        }
        assert_true(met[ANALYZE] >= 1 && met[FACTORIZE] >= 3 && met[PLAIN] >= 2 && met[REFINE] >= 1);
        assert_true(met[OTHER_VALUES] >= 3 && met[BACK] >= 3);
        api_system_free(&t);
    }
}

typedef struct lines {
    int count, bad;
} lines;

static void log_line(void *user, const char *sentence)
{
    lines *l = user;
    l->count++;
    l->bad += !sentence || !sentence[0] || strchr(sentence, '\n') != NULL;
}

/* A pivot that may be rounding errors is a reason to say something. */
static void what_is_remarkable_is_logged(void **state)
{
    (void)state;
    const double a[] = {1, 1, 0, 1, 1 + 1e-14, 0, 0, 0, 1};
    sparse s = sparse_of_dense(3, a);
    const libsolver_matrix view = sparse_view(&s);
    lines l = {0};
    libsolver_options o;
    libsolver_factor *f;
    libsolver_inertia_counts counts;
    libsolver_options_default(&o);
    o.kind = LIBSOLVER_KIND_INDEFINITE;
    o.log = log_line;
    o.log_user = &l;
    assert_true(libsolver_factor_matrix(&view, &o, &f) >= 0);
    assert_int_equal(libsolver_inertia(f, &counts), LIBSOLVER_OK);
    assert_int_equal(counts.certain, 0);
    assert_true(l.count > 0);
    assert_int_equal(l.bad, 0);
    libsolver_factor_free(f);
    sparse_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_poll_can_cancel),
        cmocka_unit_test(what_is_remarkable_is_logged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
