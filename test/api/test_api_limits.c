/* test/api/test_api_limits.c: what a call may change of the options: the pivot threshold, the
 * limits of a refinement, the effort for an inertia; and views whose fields are new
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "random.h"
#include "libsolver.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N 60
#define MOST (N * (N + 1) / 2)

/* The lower triangle of a matrix, dense with n = N. */
typedef struct fixture {
    double values[MOST], b[N];
    int32_t pointers[N + 1], indices[MOST];
    libsolver_matrix view;
} fixture;

static fixture *new_system(void)
{
    fixture *s = calloc(1, sizeof *s);
    assert_non_null(s);
    int32_t k = 0;
    for (int32_t j = 0; j < N; j++) {
        s->pointers[j] = k;
        for (int32_t i = j; i < N; i++)
            s->indices[k++] = i;
    }
    s->pointers[N] = k;
    s->view = (libsolver_matrix){
        .n = N, .pointers = s->pointers, .indices = s->indices, .values = s->values};
    return s;
}

static void randomize(fixture *s, uint64_t seed)
{
    random_stream r = random_seeded(seed);
    for (int k = 0; k < MOST; k++)
        s->values[k] = random_real(&r);
    for (int i = 0; i < N; i++)
        s->b[i] = random_real(&r);
    for (int j = 0; j < N; j += 2)
        s->values[s->pointers[j]] *= 1e-5; /* small diagonal entries, which a small u accepts */
}

static libsolver_options options_for(double threshold)
{
    libsolver_options o;
    libsolver_options_default(&o);
    o.kind = LIBSOLVER_KIND_INDEFINITE;
    o.backend = LIBSOLVER_BACKEND_CPU;
    o.threads = 1;
    o.pivot_threshold = threshold;
    return o;
}

static void get_l(const libsolver_factor *f, double *l)
{
    int64_t entries, pointers[N + 1], indices[MOST];
    assert_int_equal(libsolver_get_factor_l(f, &entries, pointers, indices, l, NULL), LIBSOLVER_OK);
}

static void another_threshold_gives_the_bits_of_the_option(void **state)
{
    (void)state;
    static double before[MOST], expected[MOST], l[MOST];
    fixture *s = new_system();
    libsolver_options small = options_for(1e-8), large = options_for(0.5);
    libsolver_factor *f, *g;
    randomize(s, 1);
    assert_int_equal(libsolver_factor_matrix(&s->view, &small, &f), LIBSOLVER_OK);
    assert_int_equal(libsolver_factor_matrix(&s->view, &large, &g), LIBSOLVER_OK);
    get_l(f, before);
    get_l(g, expected);
    assert_memory_not_equal(before, expected, sizeof before);
    static const double bad[] = {-1e-9, 0.6, NAN, INFINITY};
    for (int k = 0; k < 4; k++) {
        assert_int_equal(libsolver_set_pivot_threshold(f, bad[k]), LIBSOLVER_INVALID);
        assert_non_null(strstr(libsolver_factor_message(f), "threshold"));
    }
    assert_int_equal(libsolver_set_pivot_threshold(NULL, 0.5), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_refactorize(f, &s->view), LIBSOLVER_OK);
    get_l(f, l);
    assert_memory_equal(l, before, sizeof l); /* what was refused has changed nothing */
    assert_int_equal(libsolver_set_pivot_threshold(f, 0.5), LIBSOLVER_OK);
    get_l(f, l);
    assert_memory_equal(l, before, sizeof l); /* nor is the factor there another */
    assert_int_equal(libsolver_refactorize(f, &s->view), LIBSOLVER_OK);
    get_l(f, l);
    assert_memory_equal(l, expected, sizeof l);
    libsolver_factor_free(f);
    libsolver_factor_free(g);
    free(s);
}

static void limits_hold_for_the_call(void **state)
{
    (void)state;
    fixture *s = new_system();
    libsolver_options o = options_for(1e-8);
    libsolver_factor *f;
    libsolver_workspace *w;
    libsolver_solve_info info;
    double x[N], error;
    const libsolver_vectors b = {.values = libsolver_const(s->b), .rows = N, .columns = 1, .ld = N},
                            to = {.values = x, .rows = N, .columns = 1, .ld = N};
    randomize(s, 2);
    assert_int_equal(libsolver_factor_matrix(&s->view, &o, &f), LIBSOLVER_OK);
    assert_int_equal(libsolver_workspace_create(f, 1, &w), LIBSOLVER_OK);
    for (int own = 0; own < 2; own++) {
        libsolver_workspace *used = own ? NULL : w;
        /* no step: only checked, and what the tolerance says of that */
        libsolver_limits limits = {.steps = 0, .tolerance = 1e-30};
        assert_int_equal(libsolver_solve_within(f, used, &limits, &b, &to, &error),
                         LIBSOLVER_INACCURATE);
        libsolver_solve_query(f, used, &info);
        assert_int_equal(info.steps, 0);
        assert_true(error == info.backward_error && error > 1e-30 && error < 1e-6);
        limits.tolerance = 1e-3;
        limits.steps = 10;
        assert_int_equal(libsolver_solve_within(f, used, &limits, &b, &to, &error), LIBSOLVER_OK);
        libsolver_solve_query(f, used, &info);
        assert_int_equal(info.steps, 0);
        const double loose = error;
        limits.tolerance = loose / 2;
        const libsolver_status refined = libsolver_refine_within(f, used, &limits, &b, &to, &error);
        assert_int_equal(refined, error <= loose / 2 ? LIBSOLVER_OK : LIBSOLVER_INACCURATE);
        libsolver_solve_query(f, used, &info);
        assert_true(info.steps > 0);
        assert_int_equal(libsolver_solve_within(f, used, NULL, &b, &to, &error), LIBSOLVER_OK);
        assert_true(error <= 1e-14);
        assert_int_equal(libsolver_solve(f, &b, &to), LIBSOLVER_OK); /* the options' as before */
        static const libsolver_limits bad[] = {{.steps = -1},
                                               {.tolerance = -1},
                                               {.tolerance = 1},
                                               {.tolerance = NAN},
                                               {.method = (libsolver_method)3},
                                               {.history_room = 1},
                                               {.history_room = -1},
                                               {.reserved = {1}}};
        for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
            assert_int_equal(libsolver_solve_within(f, used, &bad[k], &b, &to, NULL),
                             LIBSOLVER_INVALID);
            assert_int_equal(libsolver_refine_within(f, used, &bad[k], &b, &to, NULL),
                             LIBSOLVER_INVALID);
        }
    }
    assert_int_equal(libsolver_solve_within(NULL, NULL, NULL, &b, &to, NULL), LIBSOLVER_INVALID);
    assert_int_equal(libsolver_refine_within(NULL, NULL, NULL, &b, &to, NULL), LIBSOLVER_INVALID);
    libsolver_workspace_free(w);
    libsolver_factor_free(f);
    free(s);
}

/* A factor in single precision, of which solutions want several steps. */
static libsolver_factor *new_rough_factor(fixture *s)
{
    libsolver_options o = options_for(0.01);
    libsolver_factor *f;
    randomize(s, 2);
    o.mixed = LIBSOLVER_ON;
    assert_int_equal(libsolver_factor_matrix(&s->view, &o, &f), LIBSOLVER_OK);
    return f;
}

enum { ROOM = 30, COLUMNS = 5 };

static void the_history_tells_of_every_step(void **state)
{
    (void)state;
    fixture *s = new_system();
    libsolver_factor *f = new_rough_factor(s);
    libsolver_workspace *w;
    libsolver_solve_info info;
    static double values[COLUMNS * N], x[COLUMNS * N];
    double error[COLUMNS];
    random_stream r = random_seeded(5);
    for (int k = 0; k < COLUMNS * N; k++)
        values[k] = random_real(&r);
    const libsolver_vectors b = {.values = values, .rows = N, .columns = COLUMNS, .ld = N},
                            to = {.values = x, .rows = N, .columns = COLUMNS, .ld = N};
    for (int width = 1; width <= COLUMNS; width += COLUMNS - 1)
        for (int method = LIBSOLVER_METHOD_AUTO; method <= LIBSOLVER_METHOD_FGMRES; method++) {
            libsolver_step history[ROOM + 1];
            memset(history, 0x5a, sizeof history);
            const libsolver_step untouched = history[ROOM];
            libsolver_limits limits = {.steps = 12,
                                       .method = (libsolver_method)method,
                                       .until_stalled = 1,
                                       .history = history,
                                       .history_room = ROOM};
            assert_int_equal(libsolver_workspace_create(f, width, &w), LIBSOLVER_OK);
            assert_int_equal(libsolver_solve_within(f, w, &limits, &b, &to, error), LIBSOLVER_OK);
            libsolver_solve_query(f, w, &info);
            assert_true(info.history > 1 && info.history <= ROOM);
            assert_true(info.history == info.steps + 1);
            assert_int_equal(history[0].kind, LIBSOLVER_STEP_START);
            assert_true(history[0].backward_error == info.backward_error_initial);
            assert_true(history[info.history - 1].backward_error == info.backward_error);
            int plain = 0, fgmres = 0;
            for (int64_t k = 1; k < info.history; k++) {
                assert_true(history[k].backward_error <= history[k - 1].backward_error);
                assert_true(history[k].seconds >= 0 && history[k].seconds < 60);
                plain += history[k].kind == LIBSOLVER_STEP_PLAIN;
                fgmres += history[k].kind == LIBSOLVER_STEP_FGMRES;
            }
            assert_int_equal(plain > 0, method != LIBSOLVER_METHOD_FGMRES);
            assert_int_equal(fgmres > 0, method != LIBSOLVER_METHOD_PLAIN);
            assert_int_equal(plain + fgmres, info.steps);
            assert_memory_equal(&history[ROOM], &untouched, sizeof untouched);
            /* too little room: the beginning, and how many there were */
            const int64_t all = info.history;
            const libsolver_step second = history[1];
            limits.history_room = 1;
            assert_int_equal(libsolver_solve_within(f, w, &limits, &b, &to, error), LIBSOLVER_OK);
            libsolver_solve_query(f, w, &info);
            assert_true(info.history == all);
            assert_memory_equal(&history[1], &second, sizeof second);
            libsolver_workspace_free(w);
        }
    libsolver_factor_free(f);
    free(s);
}

static void until_stalled_goes_beyond_the_tolerance(void **state)
{
    (void)state;
    fixture *s = new_system();
    libsolver_factor *f = new_rough_factor(s);
    libsolver_solve_info info;
    double x[N], loose, least;
    const libsolver_vectors b = {.values = s->b, .rows = N, .columns = 1, .ld = N},
                            to = {.values = x, .rows = N, .columns = 1, .ld = N};
    libsolver_limits limits = {.steps = 20, .tolerance = 1e-3};
    assert_int_equal(libsolver_solve_within(f, NULL, &limits, &b, &to, &loose), LIBSOLVER_OK);
    assert_true(loose > 1e-10);
    limits.until_stalled = 1;
    assert_int_equal(libsolver_solve_within(f, NULL, &limits, &b, &to, &least), LIBSOLVER_OK);
    assert_true(least <= 4e-16);
    libsolver_solve_query(f, NULL, &info);
    assert_true(info.steps > 0 && info.steps < 20);
    limits.tolerance = 1e-30; /* the status is by the tolerance */
    assert_int_equal(libsolver_refine_within(f, NULL, &limits, &b, &to, &least),
                     LIBSOLVER_INACCURATE);
    libsolver_factor_free(f);
    free(s);
}

static void the_first_factorization_can_be_shifted(void **state)
{
    (void)state;
    static double l[2][MOST];
    fixture *s = new_system();
    libsolver_options o = options_for(0.01);
    libsolver_context *c;
    libsolver_analysis *a;
    libsolver_factor *f, *g;
    double shift[N];
    libsolver_vectors v = {.values = libsolver_const(shift), .rows = N, .columns = 1, .ld = N};
    for (int i = 0; i < N; i++)
        shift[i] = i % 3 ? 0.5 : -0.25;
    randomize(s, 3);
    assert_int_equal(libsolver_context_create(&o, &c), LIBSOLVER_OK);
    assert_int_equal(libsolver_analyze(c, &s->view, &o, &a), LIBSOLVER_OK);
    assert_int_equal(libsolver_factorize_shifted(a, &s->view, &v, &f), LIBSOLVER_OK);
    assert_int_equal(libsolver_factorize(a, &s->view, &g), LIBSOLVER_OK);
    get_l(f, l[0]);
    get_l(g, l[1]);
    assert_memory_not_equal(l[0], l[1], sizeof l[0]);
    assert_int_equal(libsolver_refactorize_shifted(g, NULL, &v), LIBSOLVER_OK);
    get_l(g, l[1]);
    assert_memory_equal(l[0], l[1], sizeof l[0]);
    libsolver_factor_free(f);
    libsolver_factor_free(g);
    v.rows = N - 1;
    assert_int_equal(libsolver_factorize_shifted(a, &s->view, &v, &f), LIBSOLVER_INVALID);
    assert_null(f);
    libsolver_analysis_free(a);
    libsolver_context_free(c);
    free(s);
}

static void reserved_fields_must_be_zero(void **state)
{
    (void)state;
    fixture *s = new_system();
    libsolver_options o = options_for(0.01);
    libsolver_factor *f;
    double x[N];
    libsolver_vectors b = {.values = libsolver_const(s->b), .rows = N, .columns = 1, .ld = N},
                      to = {.values = x, .rows = N, .columns = 1, .ld = N};
    randomize(s, 4);
    for (int k = 0; k < 4; k++) {
        s->view.reserved[k] = 1;
        assert_int_equal(libsolver_factor_matrix(&s->view, &o, &f), LIBSOLVER_INVALID);
        assert_non_null(strstr(libsolver_factor_message(f), "reserved"));
        libsolver_factor_free(f);
        s->view.reserved[k] = 0;
    }
    assert_int_equal(libsolver_factor_matrix(&s->view, &o, &f), LIBSOLVER_OK);
    for (int k = 0; k < 8; k++) {
        libsolver_vectors *v = k % 2 ? &to : &b;
        v->reserved[k / 2] = 1;
        assert_int_equal(libsolver_solve(f, &b, &to), LIBSOLVER_INVALID);
        assert_non_null(strstr(libsolver_factor_message(f), "reserved"));
        assert_int_equal(libsolver_refactorize_shifted(f, NULL, v), LIBSOLVER_INVALID);
        v->reserved[k / 2] = 0;
    }
    assert_int_equal(libsolver_refactorize_shifted(f, NULL, &b), LIBSOLVER_OK);
    libsolver_factor_free(f);
    free(s);
}

/* [H A^T; A 0] with tridiagonal H and bidiagonal A, both of order N / 2. */
static void make_hollow(fixture *s, int shifted)
{
    int32_t k = 0;
    for (int32_t j = 0; j < N; j++) {
        s->pointers[j] = k;
        for (int32_t i = j; i < N; i++) {
            const int in_h = i < N / 2 && i - j <= 1,
                      in_a = i >= N / 2 && j < N / 2 && (i - N / 2 == j || i - N / 2 == j + 1);
            if (!in_h && !in_a && i != j)
                continue;
            s->indices[k] = i;
            s->values[k++] = in_a   ? 1 + 0.1 * (j % 3)
                             : in_h ? (i == j ? 1e-3 * (1 + j % 5) : 1e-4)
                                    : 0;
        }
    }
    s->pointers[N] = k;
    for (int32_t j = 0; j < N && shifted; j++)
        s->values[s->pointers[j]] += 1;
}

static void first_values_give_the_order_that_the_analysis_could_not(void **state)
{
    (void)state;
    static double l[2][MOST];
    fixture *s = new_system();
    libsolver_options o = options_for(0);
    libsolver_context *c;
    libsolver_analysis *a;
    libsolver_factor *f, *g;
    libsolver_factor_info info;
    assert_int_equal(libsolver_context_create(&o, &c), LIBSOLVER_OK);
    for (int hollow = 0; hollow < 2; hollow++)
        for (int matching = LIBSOLVER_AUTO; matching <= LIBSOLVER_OFF; matching += LIBSOLVER_OFF) {
            memset(l, 0, sizeof l);
            make_hollow(s, !hollow);
            o.matching = (libsolver_choice)matching;
            libsolver_matrix pattern = s->view;
            pattern.values = NULL;
            assert_int_equal(libsolver_analyze(c, &pattern, &o, &a), LIBSOLVER_OK);
            assert_int_equal(libsolver_factorize(a, &s->view, &f), LIBSOLVER_OK);
            assert_int_equal(libsolver_factor_matrix(&s->view, &o, &g), LIBSOLVER_OK);
            libsolver_info(f, &info);
            assert_int_equal(info.analysis_seconds > 0, hollow && matching == LIBSOLVER_AUTO);
            libsolver_info(g, &info);
            assert_true(info.analysis_seconds == 0);
            for (int again = 0; again < 2; again++) {
                get_l(f, l[0]);
                get_l(g, l[1]);
                assert_memory_equal(l[0], l[1], sizeof l[0]); /* the same order, and all else */
                assert_int_equal(libsolver_refactorize(f, &s->view), LIBSOLVER_OK);
                assert_int_equal(libsolver_refactorize(g, &s->view), LIBSOLVER_OK);
            }
            double x[N];
            const libsolver_vectors b = {.values = s->b, .rows = N, .columns = 1, .ld = N},
                                    to = {.values = x, .rows = N, .columns = 1, .ld = N};
            assert_int_equal(libsolver_solve(f, &b, &to), LIBSOLVER_OK);
            libsolver_factor_free(f);
            libsolver_factor_free(g);
            libsolver_analysis_free(a);
        }
    libsolver_context_free(c);
    free(s);
}

/* Further attempts, by the sentences that announce them. */
static void count_attempts(void *user, const char *sentence)
{
    *(int *)user += strstr(sentence, "in doubt:") != NULL;
}

/* Rank N - 20 but for errors of 1e-12: signs that no attempt can tell. */
static void effort_bounds_the_attempts(void **state)
{
    (void)state;
    static double u[N - 20][N];
    fixture *s = new_system();
    int most[3] = {0, 0, 0};
    for (uint64_t seed = 0; seed < 10; seed++) {
        random_stream r = random_seeded(seed);
        randomize(s, seed);
        for (int k = 0; k < N - 20; k++)
            for (int i = 0; i < N; i++)
                u[k][i] = random_real(&r);
        for (int j = 0, at = 0; j < N; j++)
            for (int i = j; i < N; i++, at++) {
                s->values[at] *= 1e-15;
                for (int k = 0; k < N - 20; k++)
                    s->values[at] += (k % 2 ? -1 : 1) * u[k][i] * u[k][j];
            }
        for (int effort = LIBSOLVER_EFFORT_FULL; effort <= LIBSOLVER_EFFORT_NONE; effort++) {
            libsolver_options o = options_for(0);
            libsolver_factor *f;
            libsolver_inertia_counts inertia;
            int attempts = 0;
            o.inertia_effort = (libsolver_effort)effort;
            o.log = count_attempts;
            o.log_user = &attempts;
            assert_true(libsolver_factor_matrix(&s->view, &o, &f) >= 0);
            assert_int_equal(libsolver_inertia(f, &inertia), LIBSOLVER_OK);
            assert_false(inertia.certain);
            assert_true(attempts <= (effort == LIBSOLVER_EFFORT_FULL ? 9 : 2 - effort));
            most[effort] = attempts > most[effort] ? attempts : most[effort];
            libsolver_factor_free(f);
        }
    }
    assert_true(most[0] > 1 && most[1] == 1 && most[2] == 0);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_threshold_gives_the_bits_of_the_option),
        cmocka_unit_test(limits_hold_for_the_call),
        cmocka_unit_test(the_history_tells_of_every_step),
        cmocka_unit_test(until_stalled_goes_beyond_the_tolerance),
        cmocka_unit_test(the_first_factorization_can_be_shifted),
        cmocka_unit_test(reserved_fields_must_be_zero),
        cmocka_unit_test(first_values_give_the_order_that_the_analysis_could_not),
        cmocka_unit_test(effort_bounds_the_attempts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
