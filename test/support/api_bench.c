/* test/support/api_bench.c: a small system with all its objects, which still work after a call that
 * was refused
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "api_bench.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

sparse bench_matrix(void)
{
    random_stream r = random_seeded(7);
    double a[N * N] = {0};
    for (int j = 0; j < N; j++) {
        a[j + j * N] = j % 3 == 1 ? -4 : 5;
        /* halves add up exactly */
        for (int i = j + 1; i < N; i++)
            if (random_below(&r, 3) == 0)
                a[i + j * N] = ldexp((double)(1 + random_below(&r, 15)), -4);
    }
    return sparse_of_dense(N, a);
}

int bench_set_up(void **state)
{
    bench *t = calloc(1, sizeof *t);
    t->a = bench_matrix();
    for (int i = 0; i < N * COLUMNS; i++)
        t->exact[i] = 1 + i % 5;
    sparse_multiply(&t->a, COLUMNS, t->exact, t->b);
    libsolver_options_default(&t->options);
    const libsolver_matrix view = sparse_view(&t->a);
    *state = t;
    return libsolver_context_create(&t->options, &t->context) ||
           libsolver_analyze(t->context, &view, &t->options, &t->analysis) ||
           libsolver_factorize(t->analysis, &view, &t->factor);
}

int bench_tear_down(void **state)
{
    bench *t = *state;
    libsolver_factor_free(t->factor);
    libsolver_analysis_free(t->analysis);
    libsolver_context_free(t->context);
    sparse_free(&t->a);
    free(t);
    return 0;
}

void solves(bench *t, libsolver_factor *factor)
{
    const libsolver_vectors b = block_view(t->b, N, COLUMNS), x = block_view(t->x, N, COLUMNS);
    memset(t->x, 255, sizeof t->x);
    assert_int_equal(libsolver_solve(factor, &b, &x), LIBSOLVER_OK);
    assert_true(sparse_backward_error(&t->a, COLUMNS, t->x, t->b) <= 1e-14);
}

void works(bench *t)
{
    const libsolver_matrix view = sparse_view(&t->a);
    libsolver_analysis *analysis = NULL;
    libsolver_factor *factor = NULL;
    solves(t, t->factor);
    assert_int_equal(libsolver_refactorize(t->factor, &view), LIBSOLVER_OK);
    solves(t, t->factor);
    assert_int_equal(libsolver_factorize(t->analysis, &view, &factor), LIBSOLVER_OK);
    solves(t, factor);
    libsolver_factor_free(factor);
    assert_int_equal(libsolver_analyze(t->context, &view, &t->options, &analysis), LIBSOLVER_OK);
    assert_int_equal(libsolver_factorize(analysis, &view, &factor), LIBSOLVER_OK);
    solves(t, factor);
    libsolver_factor_free(factor);
    libsolver_analysis_free(analysis);
}

void refused(libsolver_status status, libsolver_status expected, const char *message,
             const char *word)
{
    if (status != expected)
        fail_msg("%s, expected %s: %s", libsolver_status_name(status),
                 libsolver_status_name(expected), message);
    if (!strstr(message, word) || strstr(message, ".c:"))
        fail_msg("no '%s', or a place in the source, in the message '%s'", word, message);
}
