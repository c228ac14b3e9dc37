/* solver/cpu/factor/simplicial_tmpl.c: Cholesky column by column, and solves with it
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * By one thread: where columns are so short, there is not enough to do for others. */
#include "dense/cpu/sets.h"
#include "base/subnormal.h"
#include "solver/cpu/factor/numeric.h"
#include "solver/cpu/factor/simplicial_kernels.h"
#include <string.h>

/* Columns between two questions whether to go on; they take some microseconds. */
#define COLUMNS_AT_A_TIME 64

/* factor := the scaled A, in its places */
static void load_matrix(const numeric *f)
{
    const pattern *a = &f->plan->a;
    const simplicial *s = f->plan->simplicial;
    for (int32_t j = 0; j < s->alone; j++)
        f->columns[j] = f->value[j] * (f->scale[j] * f->scale[j]);
    memset(f->columns + s->alone, 0, sizeof(scalar) * (size_t)(s->n - s->alone + s->start[s->n]));
    for (int32_t j = s->alone; j < a->n; j++) {
        const real sj = f->scale[j];
        for (int64_t p = a->start[j]; p < a->start[j + 1]; p++)
            f->columns[s->place[p]] = f->value[p] * (sj * f->scale[a->row[p]]);
    }
}

const simplicial_kernels *NAME(simplicial_kernels_here)(void)
{
#ifdef HAVE_avx512
    if (here_is_avx512())
        return &NAME(simplicial_kernels_avx512);
#endif
#ifdef HAVE_avx2
    if (here_is_avx2())
        return &NAME(simplicial_kernels_avx2);
#endif
    return &NAME(simplicial_kernels_plain);
}

/* A = U D U^H.  *done: n, or the number of the column whose pivot was refused.  CANCELLED. */
static libsolver_status factorize_columns(numeric *f, int32_t *done, backend_report *report)
{
    const simplicial_kernels *kernels = NAME(simplicial_kernels_here)();
    const simplicial *s = f->plan->simplicial;
    simplicial_run run = {.diagonal = f->largest,
                          .doubt = (real)numeric_doubt_level(f->plan),
                          .v = f->columns,
                          .root = f->root,
                          .target = s->target,
                          .smallest = INFINITY};
    int32_t end = 0;
    *done = 0;
    while (*done == end && end < s->n) {
        if (environment_cancelled(f->plan->env))
            return LIBSOLVER_CANCELLED;
        end = s->n - end < COLUMNS_AT_A_TIME ? s->n : end + COLUMNS_AT_A_TIME;
        *done = kernels->factorize(s, *done, end, &run);
    }
    report->smallest = (double)run.smallest;
    report->uncertain = run.uncertain;
    return LIBSOLVER_OK;
}

libsolver_status NAME(cpu_attempt_simplicial)(numeric *f, const backend_options *options,
                                              backend_report *report)
{
    const simplicial *s = f->plan->simplicial;
    *report = (backend_report){.failed_row = -1, .cholesky = 1, .growths = report->growths};
    NAME(cpu_release_own)(f);
    f->cholesky = 1;
    TRY(NAME(cpu_scale)(f, options->scaling));
    load_matrix(f);
    int32_t done;
    const uint64_t mode = subnormal_add_mode(NUMERIC_MODE);
    const libsolver_status status = factorize_columns(f, &done, report);
    subnormal_set_mode(mode);
    TRY(status);
    if (done < s->n) {
        report->failed_row = f->plan->part.perm[s->order[done]];
        return LIBSOLVER_NOT_POSITIVE_DEFINITE;
    }
    memcpy(f->order, s->order, sizeof(int32_t) * (size_t)s->n);
    report->positive = report->fronts = s->n;
    report->factor_nnz = f->entries = s->n + s->start[s->n];
    f->zero_pivots = 0;
    return LIBSOLVER_OK;
}

void NAME(cpu_solve_simplicial)(const numeric *f, int part, int c, scalar *x)
{
    const simplicial_kernels *kernels = NAME(simplicial_kernels_here)();
    if (part & BACKEND_L)
        kernels->forward(f->plan->simplicial, f->columns, f->root, c, x);
    if (part & BACKEND_LT)
        kernels->backward(f->plan->simplicial, f->columns, f->root, c, x);
}
