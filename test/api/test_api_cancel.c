/* test/api/test_api_cancel.c: what the user hears of a call and may do about it: cancelling and the
 * log
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "api_phases.h"
#include <stdlib.h>
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
                        fail_msg("poll %d, %s: %s", (int)k, step_names[step],
                                 libsolver_status_name(status));
                    assert_non_null(strstr(step == FACTORIZE ? libsolver_factor_message(o.factor)
                                                             : message_of(step, &o),
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
        assert_true(met[ANALYZE] >= 1 && met[FACTORIZE] >= 3 && met[PLAIN] >= 2 &&
                    met[REFINE] >= 1);
        assert_true(met[OTHER_VALUES] >= 3 && met[BACK] >= 3);
        api_system_free(&t);
    }
}

/* One front of 1000 columns is left long before it is done, and the factor that comes afterwards is
 * none the worse. */
static void a_front_is_left_when_it_is_cancelled(void **state)
{
    (void)state;
    const int64_t n = 1000;
    double *full = doubles(n * n);
    random_stream r = random_seeded(1);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j; i < n; i++)
            full[i + j * n] = i == j ? 0 : random_real(&r);
    for (int kind = LIBSOLVER_KIND_SPD; kind <= LIBSOLVER_KIND_INDEFINITE; kind++)
        for (int threads = 1; threads <= 2; threads++) {
            for (int64_t j = 0; j < n; j++)
                full[j + j * n] = kind == LIBSOLVER_KIND_SPD ? 2.0 * (double)n : 1e-9;
            api_system t = api_system_new(sparse_of_dense(n, full), (libsolver_kind)kind);
            canceller c = {.at = -1};
            ledger l;
            objects o;
            objects_open(&o, &l, &t, threads);
            o.options.cancel = cancel;
            o.options.cancel_user = &c;
            for (int step = CONTEXT; step <= FACTORIZE; step++)
                assert_int_equal(take_step(step, &t, &o), LIBSOLVER_OK);
            c.polls = 0;
            assert_int_equal(take_step(BACK, &t, &o), LIBSOLVER_OK);
            const int64_t polls = c.polls;
            assert_true(polls > n / 32);
            for (int64_t at = 0; at < polls; at += polls / 7) {
                c.polls = 0;
                c.at = at;
                assert_int_equal(take_step(BACK, &t, &o), LIBSOLVER_CANCELLED);
                assert_true(c.polls <= at + 1 + threads); /* nobody asks again */
            }
            c.at = -1;
            assert_int_equal(take_step(BACK, &t, &o), LIBSOLVER_OK);
            assert_int_equal(take_step(SOLVE, &t, &o), LIBSOLVER_OK);
            check_solution(&t, COLUMNS, 1e-14);
            objects_free(&o);
            assert_int_equal(l.live, 0);
            api_system_free(&t);
        }
    free(full);
}

/* The Laplacian of a grid with a right-hand side that is slightly inconsistent: solves look for
 * short solutions. */
static void solves_of_singular_systems_can_be_cancelled(void **state)
{
    (void)state;
    sparse a = sparse_grid(20, 20, 0);
    const int64_t n = a.n;
    double *x = doubles(2 * n), *b = x + n;
    for (int64_t j = 0; j < n; j++)
        for (int64_t p = a.pointers[j] + 1; p < a.pointers[j + 1]; p++) {
            a.values[a.pointers[j]]++;
            a.values[a.pointers[a.indices[p]]]++;
        }
    for (int64_t i = 0; i < n; i++)
        x[i] = 1 + (double)(i % 2);
    sparse_multiply(&a, 1, x, b);
    b[7] += 1e-10; /* spread over the rows it is too much as well */
    const libsolver_matrix view = sparse_view(&a);
    const libsolver_vectors bv = block_view(b, n, 1), xv = block_view(x, n, 1);
    canceller c = {.at = -1};
    libsolver_options o;
    libsolver_factor *f;
    libsolver_options_default(&o);
    o.kind = LIBSOLVER_KIND_INDEFINITE;
    o.threads = 1;
    o.cancel = cancel;
    o.cancel_user = &c;
    assert_int_equal(libsolver_factor_matrix(&view, &o, &f), LIBSOLVER_SINGULAR);
    c.polls = 0;
    assert_int_equal(libsolver_solve(f, &bv, &xv), LIBSOLVER_SINGULAR);
    const int64_t polls = c.polls;
    libsolver_solve_info info;
    libsolver_solve_query(f, NULL, &info);
    assert_true(polls > info.steps); /* more often than in refinement alone */
    for (int64_t at = 0; at < polls; at++) {
        c.polls = 0;
        c.at = at;
        assert_int_equal(libsolver_solve(f, &bv, &xv), LIBSOLVER_CANCELLED);
        assert_int_equal(c.polls, at + 1);
    }
    c.at = -1;
    assert_int_equal(libsolver_solve(f, &bv, &xv), LIBSOLVER_SINGULAR);
    libsolver_factor_free(f);
    sparse_free(&a);
    free(x);
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
    const double a[] = {3, 1, 0, 1, 1.0 / 3, 0, 0, 0, 1}; /* 1 / 3 is rounded */
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
        cmocka_unit_test(a_front_is_left_when_it_is_cancelled),
        cmocka_unit_test(solves_of_singular_systems_can_be_cancelled),
        cmocka_unit_test(what_is_remarkable_is_logged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
