/* test/support/api_phases.c: all phases of the interface, one call after the other, on one system
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "api_phases.h"
#include <stdlib.h>
#include <string.h>

/* b = A x. */
static void make_right_sides(api_system *t)
{
    for (int64_t k = 0; k < t->a.n * COLUMNS; k++)
        t->x[k] = 1 + 0.1 * (double)(k % 7);
    sparse_multiply(&t->a, COLUMNS, t->x, t->b);
}

api_system api_system_new(sparse a, libsolver_kind kind)
{
    api_system t = {.a = a,
                    .other = doubles(a.pointers[a.n]),
                    .b = doubles(a.n * COLUMNS),
                    .x = doubles(a.n * COLUMNS),
                    .kind = kind};
    for (int64_t p = 0; p < a.pointers[a.n]; p++)
        t.other[p] = a.values[p];
    make_right_sides(&t);
    return t;
}

api_system definite_system(void)
{
    api_system t = api_system_new(sparse_grid(17, 15, 4), LIBSOLVER_KIND_SPD);
    t.positive = t.a.n;
    return t;
}

api_system indefinite_system(void)
{
    api_system t = api_system_new(sparse_delaying(9), LIBSOLVER_KIND_INDEFINITE);
    t.positive = t.a.n / 2;
    for (int64_t j = 0; j < t.a.n / 2; j++)
        t.a.values[t.a.pointers[j]] = -3;
    make_right_sides(&t);
    return t;
}

void api_system_free(api_system *t)
{
    sparse_free(&t->a);
    free(t->other);
    free(t->b);
    free(t->x);
}

void check_solution(const api_system *t, int64_t columns, double most)
{
    const double error = sparse_backward_error(&t->a, columns, t->x, t->b);
    if (!(error <= most))
        fail_msg("backward error %g", error);
}

const char *const step_names[STEPS] = {"context",          "analyze",       "factorize",
                                       "workspace",        "solve_plain",   "solve",
                                       "refine",           "get_factor",    "refactorize",
                                       "refactorize back", "solve_plain 2", "solve 2"};

static libsolver_status get_factor(const libsolver_factor *f, int64_t n)
{
    int64_t entries = 0;
    libsolver_status status = libsolver_get_factor_l(f, &entries, NULL, NULL, NULL, NULL);
    int64_t *pointers = calloc((size_t)(n + 1 + entries), sizeof(int64_t));
    double *values = doubles(entries);
    if (status == LIBSOLVER_OK)
        status = libsolver_get_factor_l(f, &entries, pointers, pointers + n + 1, values, NULL);
    free(pointers);
    free(values);
    return status;
}

libsolver_status take_step(int step, const api_system *t, objects *o)
{
    libsolver_matrix a = sparse_view(&t->a), other = a;
    const libsolver_vectors b = block_view(t->b, t->a.n, COLUMNS),
                            x = block_view(t->x, t->a.n, COLUMNS);
    other.values = t->other;
    switch (step) {
    case CONTEXT:
        return libsolver_context_create(&o->options, &o->context);
    case ANALYZE:
        return libsolver_analyze(o->context, &a, &o->options, &o->analysis);
    case FACTORIZE:
        return libsolver_factorize(o->analysis, &a, &o->factor);
    case WORKSPACE:
        return libsolver_workspace_create(o->factor, COLUMNS - 1, &o->workspace);
    case PLAIN:
    case PLAIN_2:
        return libsolver_solve_plain(o->factor, LIBSOLVER_PART_ALL, o->workspace, &b, &x);
    case SOLVE:
    case SOLVE_2:
        return libsolver_solve(o->factor, &b, &x);
    case REFINE:
        return libsolver_refine(o->factor, o->workspace, &b, &x, NULL);
    case EXPORT:
        return get_factor(o->factor, t->a.n);
    case OTHER_VALUES:
        return libsolver_refactorize(o->factor, &other);
    default:
        return libsolver_refactorize(o->factor, &a);
    }
}

void check_step(int step, const api_system *t, const objects *o)
{
    libsolver_inertia_counts counts;
    if (step >= FACTORIZE) {
        assert_int_equal(libsolver_inertia(o->factor, &counts), LIBSOLVER_OK);
        assert_int_equal(counts.positive, t->positive);
        assert_int_equal(counts.negative, t->a.n - t->positive);
    }
    if (step == PLAIN || step == PLAIN_2)
        check_solution(t, COLUMNS, o->options.mixed == LIBSOLVER_ON ? 1e-4 : 1e-7);
    if (step == SOLVE || step == REFINE || step == SOLVE_2)
        check_solution(t, COLUMNS, 1e-14);
    if (step >= PLAIN)
        memset(t->x, 0, sizeof(double) * (size_t)(t->a.n * COLUMNS));
    if (step == SOLVE) /* what refine starts from */
        for (int64_t k = 0; k < t->a.n * COLUMNS; k++)
            t->x[k] = (1 + 0.1 * (double)(k % 7)) * (1 + 1e-9 * (double)(k % 3));
}

void objects_open(objects *o, ledger *l, const api_system *t, int threads)
{
    memset(o, 0, sizeof *o);
    ledger_open(l, &o->options);
    o->options.threads = threads;
    o->options.kind = t->kind;
    o->options.mixed = t->mixed;
    o->options.matching = LIBSOLVER_OFF;
}

void objects_free(objects *o)
{
    libsolver_workspace_free(o->workspace);
    libsolver_factor_free(o->factor);
    libsolver_analysis_free(o->analysis);
    libsolver_context_free(o->context);
}

const char *message_of(int step, const objects *o)
{
    return step <= FACTORIZE ? libsolver_context_message(o->context)
                             : libsolver_factor_message(o->factor);
}
