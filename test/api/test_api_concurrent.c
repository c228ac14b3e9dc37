/* test/api/test_api_concurrent.c: objects used by several threads at the same time, as the header
 * allows
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "systems.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 4
#define ROUNDS 12
#define COLUMNS 5

/* Most threads in each call.  LLVM 14's OpenMP runtime crashes when several threads of a program
 * have teams with tasks. */
#ifdef __clang__
#define TEAM 1
#else
#define TEAM 2
#endif

/* What one thread works on; it reports in `fault`, since assertions are for the main thread. */
typedef struct job {
    const sparse *a;
    libsolver_context *context;
    const libsolver_analysis *analysis;
    libsolver_factor *factor;
    double *b, *x, *expected; /* n x COLUMNS */
    int number, served;
    const char *fault;
} job;

static void run(void *(*work)(void *), job jobs[THREADS])
{
    pthread_t thread[THREADS];
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&thread[t], NULL, work, &jobs[t]), 0);
    for (int t = 0; t < THREADS; t++)
        pthread_join(thread[t], NULL);
    for (int t = 0; t < THREADS; t++)
        if (jobs[t].fault)
            fail_msg("thread %d: %s", t, jobs[t].fault);
}

/* Another right-hand side for each thread. */
static void new_jobs(const sparse *a, job jobs[THREADS])
{
    const int64_t count = a->n * COLUMNS;
    for (int t = 0; t < THREADS; t++) {
        jobs[t] = (job){.a = a,
                        .b = doubles(count),
                        .x = doubles(count),
                        .expected = doubles(count),
                        .number = t};
        for (int64_t k = 0; k < count; k++)
            jobs[t].x[k] = 1 + 0.1 * (double)(k % (7 + t));
        sparse_multiply(a, COLUMNS, jobs[t].x, jobs[t].b);
    }
}

static void free_jobs(job jobs[THREADS])
{
    for (int t = 0; t < THREADS; t++) {
        free(jobs[t].b);
        free(jobs[t].x);
        free(jobs[t].expected);
    }
}

static void *solve_in_own_workspace(void *job_)
{
    job *j = job_;
    const int64_t n = j->a->n;
    const libsolver_vectors b = block_view(j->b, n, COLUMNS), x = block_view(j->x, n, COLUMNS);
    libsolver_workspace *w;
    double error[COLUMNS];
    if (libsolver_workspace_create(j->factor, COLUMNS, &w) != LIBSOLVER_OK) {
        j->fault = "no workspace";
        return NULL;
    }
    for (int round = 0; round < ROUNDS && !j->fault; round++) {
        libsolver_solve_info info;
        memset(j->x, 255, sizeof(double) * (size_t)(n * COLUMNS));
        if (libsolver_solve_plain(j->factor, LIBSOLVER_PART_ALL, w, &b, &x) != LIBSOLVER_OK)
            j->fault = "solve_plain failed";
        else if (libsolver_refine(j->factor, w, &b, &x, error) != LIBSOLVER_OK)
            j->fault = "refine failed";
        else if (memcmp(j->x, j->expected, sizeof(double) * (size_t)(n * COLUMNS)))
            j->fault = "other bits than alone";
        libsolver_solve_query(j->factor, w, &info);
        for (int k = 0; k < COLUMNS && !j->fault; k++)
            if (!(error[k] <= info.backward_error && info.backward_error <= 1e-14))
                j->fault = "backward errors of another call";
    }
    libsolver_workspace_free(w);
    return NULL;
}

static void solves_on_one_factor_in_own_workspaces(const sparse *a, int threads)
{
    job jobs[THREADS];
    libsolver_options o;
    libsolver_factor *f;
    const libsolver_matrix view = sparse_view(a);
    libsolver_options_default(&o);
    o.backend = LIBSOLVER_BACKEND_CPU;
    o.threads = threads;
    new_jobs(a, jobs);
    assert_int_equal(libsolver_factor_matrix(&view, &o, &f), LIBSOLVER_OK);
    for (int t = 0; t < THREADS; t++) {
        libsolver_workspace *w;
        const libsolver_vectors b = block_view(jobs[t].b, a->n, COLUMNS);
        const libsolver_vectors x = block_view(jobs[t].expected, a->n, COLUMNS);
        assert_int_equal(libsolver_workspace_create(f, COLUMNS, &w), LIBSOLVER_OK);
        assert_int_equal(libsolver_solve_plain(f, LIBSOLVER_PART_ALL, w, &b, &x), LIBSOLVER_OK);
        assert_int_equal(libsolver_refine(f, w, &b, &x, NULL), LIBSOLVER_OK);
        assert_true(sparse_backward_error(a, COLUMNS, jobs[t].expected, jobs[t].b) <= 1e-14);
        libsolver_workspace_free(w);
        jobs[t].factor = f;
    }
    run(solve_in_own_workspace, jobs);
    libsolver_factor_free(f);
    free_jobs(jobs);
}

static void several_threads_solve_with_one_cholesky_factor(void **state)
{
    (void)state;
    sparse a = sparse_grid(70, 60, 4);
    solves_on_one_factor_in_own_workspaces(&a, 1);
    solves_on_one_factor_in_own_workspaces(&a, TEAM);
    sparse_free(&a);
}

static void several_threads_solve_with_one_indefinite_factor(void **state)
{
    (void)state;
    sparse a = sparse_delaying(25);
    solves_on_one_factor_in_own_workspaces(&a, 1);
    solves_on_one_factor_in_own_workspaces(&a, TEAM);
    sparse_free(&a);
}

static void *solve_in_the_factor_s_workspace(void *job_)
{
    job *j = job_;
    const int64_t n = j->a->n;
    for (int round = 0; round < 20 * ROUNDS && !j->fault; round++) {
        /* it grows while others ask for it */
        const int64_t columns = 1 + (round + j->number) % COLUMNS;
        const libsolver_vectors b = block_view(j->b, n, columns), x = block_view(j->x, n, columns);
        libsolver_status status =
            round % 3 == 2 ? libsolver_solve_plain(j->factor, LIBSOLVER_PART_ALL, NULL, &b, &x)
                           : libsolver_solve(j->factor, &b, &x);
        if (status == LIBSOLVER_OK)
            j->served++;
        if (status != LIBSOLVER_OK && status != LIBSOLVER_INVALID)
            j->fault = "neither OK nor INVALID";
        else if (status == LIBSOLVER_OK &&
                 !(sparse_backward_error(j->a, columns, j->x, j->b) <= 1e-12))
            j->fault = "OK, but the solution is wrong";
    }
    return NULL;
}

static void one_workspace_serves_one_caller_at_a_time(void **state)
{
    (void)state;
    sparse a = sparse_grid(20, 20, 4);
    const libsolver_matrix view = sparse_view(&a);
    int served = 0;
    libsolver_options o;
    libsolver_options_default(&o);
    o.backend = LIBSOLVER_BACKEND_CPU;
    o.threads = TEAM;
    for (int round = 0; round < 5; round++) {
        job jobs[THREADS];
        libsolver_factor *f;
        new_jobs(&a, jobs);
        assert_int_equal(libsolver_factor_matrix(&view, &o, &f), LIBSOLVER_OK);
        for (int t = 0; t < THREADS; t++)
            jobs[t].factor = f;
        run(solve_in_the_factor_s_workspace, jobs);
        for (int t = 0; t < THREADS; t++)
            served += jobs[t].served;
        const libsolver_vectors b = block_view(jobs[0].b, a.n, COLUMNS),
                                x = block_view(jobs[0].x, a.n, COLUMNS);
        assert_int_equal(libsolver_solve(f, &b, &x), LIBSOLVER_OK); /* it was given back */
        libsolver_factor_free(f);
        free_jobs(jobs);
    }
    assert_true(served > 0);
    sparse_free(&a);
}

/* A call from inside another one: the callback that asks whether to go on is made while a workspace
 * is in use. */
typedef struct nested {
    libsolver_factor *factor;
    libsolver_workspace *in_use, *free; /* in_use NULL: the factor's own one */
    const sparse *a;
    double *b, *x;
    int calls, active;
    const char *fault;
} nested;

static int call_again(void *user)
{
    nested *t = user;
    if (!t->active)
        return 0;
    t->active = 0; /* no deeper */
    t->calls++;
    const int64_t n = t->a->n;
    const libsolver_vectors b = block_view(t->b, n, 1), x = block_view(t->x, n, 1);
    libsolver_status status =
        libsolver_solve_plain(t->factor, LIBSOLVER_PART_ALL, t->in_use, &b, &x);
    if (status != LIBSOLVER_INVALID || !strstr(libsolver_factor_message(t->factor), "in use"))
        t->fault = "solve_plain took a workspace that is in use";
    status = libsolver_refine(t->factor, t->in_use, &b, &x, NULL);
    if (status != LIBSOLVER_INVALID || !strstr(libsolver_factor_message(t->factor), "in use"))
        t->fault = "refine took a workspace that is in use";
    status = t->in_use ? LIBSOLVER_INVALID : libsolver_solve(t->factor, &b, &x);
    if (status != LIBSOLVER_INVALID)
        t->fault = "solve took the factor's workspace while it is in use";
    if (libsolver_solve_plain(t->factor, LIBSOLVER_PART_ALL, t->free, &b, &x) != LIBSOLVER_OK ||
        !(sparse_backward_error(t->a, 1, t->x, t->b) <= 1e-7))
        t->fault = "another workspace did not work meanwhile";
    t->active = 1;
    return 0;
}

static void a_workspace_in_use_is_refused(void **state)
{
    (void)state;
    sparse a = sparse_grid(9, 8, 2.5);
    const int64_t n = a.n;
    const libsolver_matrix view = sparse_view(&a);
    libsolver_options o;
    nested t = {.a = &a, .b = doubles(n), .x = doubles(n)};
    double *b = doubles(n), *x = doubles(n);
    libsolver_workspace *w;
    for (int64_t i = 0; i < n; i++)
        b[i] = t.b[i] = 1 + (double)(i % 3);
    libsolver_options_default(&o);
    o.backend = LIBSOLVER_BACKEND_CPU;
    o.cancel = call_again;
    o.cancel_user = &t;
    o.tolerance = 1e-30; /* so that there are refinement steps */
    assert_int_equal(libsolver_factor_matrix(&view, &o, &t.factor), LIBSOLVER_OK);
    assert_int_equal(libsolver_workspace_create(t.factor, 1, &w), LIBSOLVER_OK);
    assert_int_equal(libsolver_workspace_create(t.factor, 1, &t.free), LIBSOLVER_OK);
    const libsolver_vectors bv = block_view(b, n, 1), xv = block_view(x, n, 1);
    for (int own = 0; own < 2; own++) {
        t.in_use = own ? NULL : w;
        t.active = 1;
        t.calls = 0;
        assert_int_equal(libsolver_solve_plain(t.factor, LIBSOLVER_PART_ALL, t.in_use, &bv, &xv),
                         LIBSOLVER_OK);
        assert_int_equal(t.calls, 1);
        assert_int_equal(libsolver_refine(t.factor, t.in_use, &bv, &xv, NULL),
                         LIBSOLVER_INACCURATE);
        assert_true(t.calls > 1);
        assert_true(sparse_backward_error(&a, 1, x, b) <= 1e-14);
        if (own) {
            t.calls = 0;
            assert_int_equal(libsolver_solve(t.factor, &bv, &xv), LIBSOLVER_INACCURATE);
            assert_true(t.calls > 0);
            assert_true(sparse_backward_error(&a, 1, x, b) <= 1e-14);
        }
        t.active = 0;
        if (t.fault)
            fail_msg("%s", t.fault);
        assert_int_equal(libsolver_solve_plain(t.factor, LIBSOLVER_PART_ALL, t.in_use, &bv, &xv),
                         LIBSOLVER_OK);
    }
    libsolver_workspace_free(w);
    libsolver_workspace_free(t.free);
    libsolver_factor_free(t.factor);
    free(t.b);
    free(t.x);
    free(b);
    free(x);
    sparse_free(&a);
}

/* (1 + number) A: factorized, solved, refactorized with -A, back again, solved. */
static void *factorize_and_solve(void *job_)
{
    job *j = job_;
    const sparse *a = j->a;
    const int64_t n = a->n, nnz = a->pointers[n];
    double *values = doubles(2 * nnz), *negative = values + nnz;
    libsolver_factor *f = NULL;
    libsolver_inertia_counts before, after;
    const libsolver_vectors b = block_view(j->b, n, COLUMNS), x = block_view(j->x, n, COLUMNS);
    libsolver_matrix view = sparse_view(a);
    for (int64_t p = 0; p < nnz; p++) {
        values[p] = a->values[p] * (1 + j->number);
        negative[p] = -a->values[p];
    }
    view.values = values;
    if (libsolver_factorize(j->analysis, &view, &f) != LIBSOLVER_OK ||
        libsolver_inertia(f, &before))
        j->fault = "factorize failed";
    for (int round = 0; round < ROUNDS / 3 && !j->fault; round++) {
        memset(j->x, 255, sizeof(double) * (size_t)(n * COLUMNS));
        if (libsolver_solve(f, &b, &x) != LIBSOLVER_OK)
            j->fault = "solve failed";
        for (int64_t k = 0; k < n * COLUMNS && !j->fault; k++)
            j->x[k] *= 1 + j->number; /* of A itself */
        if (!j->fault && !(sparse_backward_error(a, COLUMNS, j->x, j->b) <= 2e-14))
            j->fault = "the solution is wrong";
        view.values = negative;
        if (libsolver_refactorize(f, &view) != LIBSOLVER_OK || libsolver_inertia(f, &after) ||
            after.positive != before.negative || after.negative != before.positive)
            j->fault = "refactorize of -A failed";
        view.values = values;
        if (libsolver_refactorize(f, &view) != LIBSOLVER_OK)
            j->fault = "refactorize failed";
    }
    libsolver_factor_free(f);
    free(values);
    return NULL;
}

static void factors_on_one_analysis(const sparse *a, int threads)
{
    job jobs[THREADS];
    libsolver_options o;
    ledger l;
    libsolver_context *context;
    libsolver_analysis *analysis;
    const libsolver_matrix view = sparse_view(a);
    ledger_open(&l, &o);
    o.threads = threads;
    o.kind = LIBSOLVER_KIND_AUTO;
    new_jobs(a, jobs);
    assert_int_equal(libsolver_context_create(&o, &context), LIBSOLVER_OK);
    assert_int_equal(libsolver_analyze(context, &view, &o, &analysis), LIBSOLVER_OK);
    for (int t = 0; t < THREADS; t++)
        jobs[t].analysis = analysis;
    run(factorize_and_solve, jobs);
    libsolver_analysis_free(analysis);
    libsolver_context_free(context);
    assert_int_equal(l.live, 0);
    free_jobs(jobs);
}

static void several_threads_factorize_with_one_analysis(void **state)
{
    (void)state;
    /* fronts are wanted once Cholesky by columns has failed */
    sparse definite = sparse_grid(60, 50, 4), indefinite = sparse_grid(60, 50, 2.5),
           late = sparse_delaying(20), narrow = sparse_grid(600, 2, 1.1);
    for (int threads = 1; threads <= TEAM; threads++) {
        factors_on_one_analysis(&definite, threads);
        factors_on_one_analysis(&indefinite, threads);
        factors_on_one_analysis(&late, threads);
        factors_on_one_analysis(&narrow, threads);
    }
    sparse_free(&narrow);
    sparse_free(&definite);
    sparse_free(&indefinite);
    sparse_free(&late);
}

/* Analyses in one context, good and refused ones: the messages are written by all. */
static void *analyze_good_and_bad(void *job_)
{
    job *j = job_;
    const int64_t n = j->a->n;
    for (int round = 0; round < ROUNDS && !j->fault; round++) {
        libsolver_matrix view = sparse_view(j->a);
        libsolver_analysis *analysis;
        view.base = round % 2; /* 1 is wrong */
        if (libsolver_analyze(j->context, &view, NULL, &analysis) !=
            (round % 2 ? LIBSOLVER_INVALID : LIBSOLVER_OK))
            j->fault = "analyze";
        libsolver_factor *f = NULL;
        const libsolver_vectors b = block_view(j->b, n, 1), x = block_view(j->x, n, 1);
        if (analysis && (libsolver_factorize(analysis, &view, &f) != LIBSOLVER_OK ||
                         libsolver_solve(f, &b, &x) != LIBSOLVER_OK))
            j->fault = "factorize or solve";
        libsolver_factor_free(f);
        libsolver_analysis_free(analysis);
    }
    return NULL;
}

static void several_threads_analyze_in_one_context(void **state)
{
    (void)state;
    sparse a = sparse_grid(30, 30, 4);
    job jobs[THREADS];
    libsolver_context *context;
    libsolver_options o;
    libsolver_options_default(&o);
    o.backend = LIBSOLVER_BACKEND_CPU;
    o.threads = TEAM;
    new_jobs(&a, jobs);
    assert_int_equal(libsolver_context_create(&o, &context), LIBSOLVER_OK);
    for (int t = 0; t < THREADS; t++)
        jobs[t].context = context;
    run(analyze_good_and_bad, jobs);
    assert_non_null(strstr(libsolver_context_message(context), "pointers[0]"));
    libsolver_context_free(context);
    free_jobs(jobs);
    sparse_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_threads_solve_with_one_cholesky_factor),
        cmocka_unit_test(several_threads_solve_with_one_indefinite_factor),
        cmocka_unit_test(one_workspace_serves_one_caller_at_a_time),
        cmocka_unit_test(a_workspace_in_use_is_refused),
        cmocka_unit_test(several_threads_factorize_with_one_analysis),
        cmocka_unit_test(several_threads_analyze_in_one_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
