/* solver/cpu/policy/single_tmpl.c: mixed precision: a factor in single precision of a matrix in
 * double precision
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Compiled for s and c only, where wide is the double precision of the matrix. */
#include "solver/cpu/policy/policy.h"
#include "dense/cpu/ldlt.h"
#include <string.h>

/* A pivot that is zero up to rounding becomes this times the largest entry of its row, the border
 * of what is zero: FGMRES takes fewer steps than with any larger value (matrices of SuiteSparse's
 * collection, 8 EPS to 1e-2). */
#define SMALL_PIVOT ((real)LDLT_ZERO)

libsolver_status NAME(cpu_single_attempt)(void *factor, const void *value_, const void *scale_,
                                          double shift, int cholesky,
                                          const backend_options *options, backend_report *report)
{
    numeric *f = factor;
    const pattern *a = &f->plan->a;
    const wide *value = value_;
    const double *scale = scale_;
    backend_options scaled = *options;
    if (cholesky && f->elsewhere)
        return NAME(cpu_attempt_elsewhere)(f, shift, options, report);
    scaled.scaling = BACKEND_UNSCALED;
    for (int32_t j = 0; j < a->n; j++)
        for (int64_t p = a->start[j]; p < a->start[j + 1]; p++) {
            const wide scaled_value = value[p] * (scale[j] * scale[a->row[p]]);
            f->value[p] = (scalar)(a->row[p] == j ? scaled_value * (1 + shift) : scaled_value);
        }
    return NAME(cpu_attempt)(f, cholesky, &scaled, report);
}

/* The i-th pivot of front v becomes a small one. */
static void replace_zero(const numeric *f, node *v, int i, backend_report *report)
{
    const real small = SMALL_PIVOT * f->largest[v->index[i]];
    v->d[i] = small > 0 ? small : SMALL_PIVOT;
    report->zero--;
    report->positive++;
    report->perturbed++;
    report->smallest = fmin(report->smallest, (double)scalar_real(v->d[i]));
}

void NAME(cpu_single_finish)(void *factor, const void *row_sum_, int32_t *order,
                             backend_report *report)
{
    numeric *f = factor;
    const double *row_sum = row_sum_;
    for (int32_t s = 0; !f->cholesky && s < f->plan->part.supernodes; s++) {
        node *v = &f->node[s];
        for (int i = 0; i < v->p; i++) {
            if (v->e[i] != 0)
                i++; /* a 2x2 pivot */
            else if (v->d[i] == 0 && row_sum[v->index[i]] > 0)
                replace_zero(f, v, i, report);
        }
    }
    f->zero_pivots = report->zero;
    for (int32_t k = 0; k < f->plan->a.n; k++)
        order[k] = f->order[k];
}

libsolver_status NAME(cpu_single_workspace_fit)(const void *factor, void *workspace_, message *why)
{
    return NAME(cpu_workspace_fit)(factor, workspace_, why);
}

/* Entries of a right-hand side that are smaller than its largest by more than this are solved for
 * apart: in single precision they would come near underflow, and in rows of a very different scale
 * they may be all there is. */
#define LEAST 0x1p-90

/* max(|Re a|, |Im a|), infinite for a NaN too */
static double size_of(wide a)
{
    const double size = fmax(fabs(creal(a)), fabs(cimag(a)));
    return creal(a) == creal(a) && cimag(a) == cimag(a) ? size : INFINITY;
}

/* power(q) := the power of two that brings the largest entry of column q near 1; 0 if all are
 * 0.  Returns whether some are not. */
static int column_powers(int32_t n, int c, const wide *x, double *power)
{
    int some = 0;
    for (int q = 0; q < c; q++)
        power[q] = 0;
    for (int32_t i = 0; i < n; i++)
        for (int q = 0; q < c; q++)
            power[q] = fmax(power[q], size_of(x[(int64_t)i * c + q]));
    for (int q = 0; q < c; q++) {
        some |= power[q] > 0;
        power[q] = power[q] > 0 ? power_near_one(power[q]) : 0;
    }
    return some;
}

/* w->x := power x, but for entries below LEAST.  Returns whether there are such that are not 0. */
static int round_large(const numeric *f, workspace *w, int c, const wide *x)
{
    int small = 0;
    for (int32_t i = 0; i < f->plan->a.n; i++)
        for (int q = 0; q < c; q++) {
            const wide entry = x[(int64_t)i * c + q] * w->power[q];
            const int large = size_of(entry) >= LEAST;
            w->x[(int64_t)i * c + q] = large ? (scalar)entry : 0;
            small |= !large && entry != 0;
        }
    return small;
}

/* x := 0 where it went into w->x, and the solutions for those entries are added to sum. */
static void solve_large(const numeric *f, int part, workspace *w, int c, wide *x, wide *sum)
{
    const int64_t entries = (int64_t)f->plan->a.n * c;
    for (int64_t k = 0; k < entries; k++)
        x[k] = w->x[k] != 0 ? 0 : x[k];
    NAME(cpu_solve_block)(f, part, w, c);
    for (int64_t k = 0; k < entries; k++)
        sum[k] += w->power[k % c] > 0 ? w->x[k] / w->power[k % c] : 0;
}

void NAME(cpu_single_solve_block)(const void *factor, int part, void *workspace_, int c, void *x_)
{
    const numeric *f = factor;
    workspace *w = workspace_;
    const int64_t entries = (int64_t)f->plan->a.n * c;
    wide *x = x_;
    if (!column_powers(f->plan->a.n, c, x, w->power))
        return;
    if (!round_large(f, w, c, x)) {
        memset(x, 0, sizeof(wide) * (size_t)entries);
        solve_large(f, part, w, c, x, x);
        return;
    }
    memcpy(w->left, x, sizeof(wide) * (size_t)entries);
    memset(x, 0, sizeof(wide) * (size_t)entries);
    do {
        round_large(f, w, c, w->left);
        solve_large(f, part, w, c, w->left, x);
    } while (column_powers(f->plan->a.n, c, w->left, w->power));
}
