/* solver/cpu/factor/scale_tmpl.c: equilibration of a symmetric matrix
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Scale factors are powers of two, so S A S has the digits of A; only exponents change. */
#include "base/equilibrate.h"
#include "solver/cpu/factor/numeric.h"
#include <limits.h>
#include <string.h>

/* Sweeps over the matrix: each halves the distance of the row maxima's exponents from 0 [Ruiz
 * 2001]. */
#define SWEEPS 8

#define IS_SINGLE (sizeof(real) == 4)

/* largest(i) := max(largest(i), v) for the entry at p of column j, v := scale(i) |a(i,j)| scale(j);
 * returns max(own, v).  has_kept: as below. */
static inline real count_entry(const numeric *f, int64_t p, int32_t j, int has_kept, real own,
                               real *restrict largest)
{
    const cpu_plan *plan = f->plan;
    const int32_t i = plan->a.row[p];
    /* in this order: one factor with the entry might underflow */
    const real v = f->scale[i] * f->scale[j] * scalar_abs(f->value[p]);
    if (!(has_kept && plan_keeps_row(plan, j) && !plan_keeps_row(plan, i)))
        largest[i] = v > largest[i] ? v : largest[i];
    return v > own && !(has_kept && plan_keeps_row(plan, i) && !plan_keeps_row(plan, j)) ? v : own;
}

/* largest(i) := max_j scale(i) |a(i,j)| scale(j).  has_kept: there are rows that are not
 * eliminated, in whose columns entries do not count for the others: what a pivot only divides makes
 * no rounding errors in it. */
static inline void maxima(numeric *f, int has_kept)
{
    const pattern *a = &f->plan->a;
    real *restrict largest = f->largest;
    memset(largest, 0, sizeof(real) * (size_t)a->n);
    for (int32_t j = 0; j < a->n; j++) {
        const int64_t end = a->start[j + 1];
        real even = 0, odd = 0; /* need not wait for each other */
        int64_t p = a->start[j];
        for (; p + 1 < end; p += 2) {
            even = count_entry(f, p, j, has_kept, even, largest);
            odd = count_entry(f, p + 1, j, has_kept, odd, largest);
        }
        if (p < end)
            even = count_entry(f, p, j, has_kept, even, largest);
        const real own = even > odd ? even : odd;
        largest[j] = own > largest[j] ? own : largest[j];
    }
}

static void row_maxima(numeric *f)
{
    if (f->plan->schur_size > 0)
        maxima(f, 1);
    else
        maxima(f, 0);
}

/* largest(j) := |scale(j)^2 a(j,j)| */
static void diagonal_entries(numeric *f)
{
    const pattern *a = &f->plan->a;
    for (int32_t j = 0; j < a->n; j++)
        f->largest[j] = f->scale[j] * f->scale[j] * scalar_abs(f->value[a->start[j]]);
}

/* Whether a scale factor is the least or the largest there is: it may not be what the row wants. */
static int is_extreme(real scale)
{
    const real most = (real)scale_power(INT_MAX, IS_SINGLE);
    return scale == most || scale == 1 / most;
}

/* What the scale is to make 1. */
static void measure(numeric *f)
{
    if (f->cholesky)
        diagonal_entries(f);
    else
        row_maxima(f);
}

/* scale(i) /= sqrt(largest(i)), as powers of two: nothing between 1/2 and 2.  Returns whether some
 * have changed. */
static int adjust(numeric *f)
{
    int changed = 0;
    for (int32_t i = 0; i < f->plan->a.n; i++)
        if (f->largest[i] > 0 && !(f->largest[i] >= (real)0.5 && f->largest[i] < 2)) {
            const real scale =
                (real)scale_over_root((double)f->scale[i], (double)f->largest[i], IS_SINGLE);
            changed |= scale != f->scale[i];
            f->is_clipped |= is_extreme(scale);
            f->scale[i] = scale;
        }
    return changed;
}

/* Cholesky gets a unit diagonal, which bounds every other entry. */
static inline void equilibrate_row(numeric *f, int32_t j)
{
    const real entry = scalar_abs(f->value[f->plan->a.start[j]]),
               scale = entry > 0 ? (real)scale_over_root(1, (double)entry, IS_SINGLE) : 1;
    f->scale[j] = scale;
    f->largest[j] = scale * entry * scale;
}

static void equilibrate_diagonal(numeric *f)
{
    const int32_t n = f->plan->a.n;
    const int threads = numeric_threads(f);
    if (threads > 1) {
#pragma omp parallel for num_threads(threads)
        for (int32_t j = 0; j < n; j++)
            equilibrate_row(f, j);
    } else
        for (int32_t j = 0; j < n; j++)
            equilibrate_row(f, j);
}

/* L D L^T: the largest entry becomes 1 in every row, from the scale factors there are. */
static libsolver_status equilibrate(numeric *f)
{
    int changed = 1;
    for (int sweep = 0; sweep < SWEEPS && changed; sweep++) {
        if (environment_cancelled(f->plan->env))
            return LIBSOLVER_CANCELLED;
        row_maxima(f);
        changed = adjust(f);
    }
    if (changed)
        row_maxima(f);
    return LIBSOLVER_OK;
}

/* Without scaling: 1, in mixed precision the power of two that makes the largest entry 1.  Returns
 * whether the factor can be had so: entries of A nearer to the ends of the range, of single
 * precision in mixed, might make pivots that have no reciprocal. */
static int scale_all_alike(numeric *f)
{
    const int64_t nnz = numeric_nnz(f);
    const double limit = ldexp(1, most_scale_exponent(IS_SINGLE || f->single));
    real most = 0, least = INFINITY;
    for (int64_t p = 0; p < nnz; p++) {
        const real size = scalar_abs(f->value[p]);
        most = size > most ? size : most;
        least = size < least && size > 0 ? size : least;
    }
    const real scale =
        f->single && most > 0 ? (real)scale_over_root(1, (double)most, IS_SINGLE) : 1;
    for (int32_t i = 0; i < f->plan->a.n; i++)
        f->scale[i] = scale;
    const real square = scale * scale;
    return !(most > 0) || (square * most <= limit && square * least >= 1 / limit);
}

/* A matching in the caller's order, which goes on from that of the analysis, or in the plan's. */
static const pattern *matched_pattern(const cpu_plan *plan)
{
    return plan->matched_row ? plan->given : &plan->a;
}

/* Its input and output. */
static int64_t magnitude_entries(const cpu_plan *plan)
{
    return plan->a.start[plan->a.n] + plan->a.n;
}

int64_t NAME(cpu_matching_bytes)(const cpu_plan *plan)
{
    return matching_bytes(matched_pattern(plan)) +
           memory_counted(magnitude_entries(plan), sizeof(double));
}

/* Scaling by matching, or by equilibration where the former has to be mild and is not.  The first
 * call takes its memory, and goes on from the matching of the analysis, in the caller's order, if
 * that has all columns. */
static libsolver_status scale_by_matching(numeric *f, int must_be_mild)
{
    const cpu_plan *plan = f->plan;
    memory *m = &plan->env->memory;
    const int32_t n = plan->a.n;
    const int goes_on = plan->matched_row != NULL;
    if (!f->matching) {
        TRY(matching_create(m, matched_pattern(plan), &f->matching));
        if (goes_on)
            matching_start_from(f->matching, plan->matched_row, plan->matched_dual);
    }
    if (!f->magnitude && !(f->magnitude = memory_new(m, magnitude_entries(plan), sizeof(double))))
        return LIBSOLVER_OUT_OF_MEMORY;
    double *log2_scale = f->magnitude + numeric_nnz(f);
    for (int64_t p = 0; p < numeric_nnz(f); p++) {
        const int64_t q = goes_on ? plan->place[p] : p;
        f->magnitude[p] = (double)scalar_abs(f->value[q >= 0 ? q : -1 - q]);
    }
    matching_scale(f->matching, f->magnitude, log2_scale);
    f->is_matched = !must_be_mild || matching_is_mild(n, log2_scale);
    if (!f->is_matched) {
        environment_log(plan->env, "the matching's scale factors range too far: equilibration");
        return equilibrate(f);
    }
    for (int32_t i = 0; i < n; i++) {
        const double exponent = log2_scale[goes_on ? plan->part.perm[i] : i];
        f->scale[i] =
            (real)scale_power((int)fmax(-1000, fmin(1000, floor(exponent + 0.5))), IS_SINGLE);
        f->is_clipped |= is_extreme(f->scale[i]);
    }
    if (f->is_clipped) /* what is left of the matching may leave entries that overflow in single
                          precision */
        return equilibrate(f);
    measure(f);
    return LIBSOLVER_OK;
}

void NAME(cpu_scale_by)(numeric *f, const void *scale_)
{
    const real *scale = scale_;
    f->is_clipped = 0;
    for (int32_t k = 0; k < f->plan->a.n; k++) {
        f->scale[k] = scale[f->plan->part.perm[k]];
        f->is_clipped |= is_extreme(f->scale[k]);
    }
    measure(f);
}

libsolver_status NAME(cpu_scale)(numeric *f, backend_scaling scaling)
{
    f->is_clipped = f->is_matched = 0;
    if (f->cholesky && scaling != BACKEND_UNSCALED) {
        equilibrate_diagonal(f);
        return environment_cancelled(f->plan->env) ? LIBSOLVER_CANCELLED : LIBSOLVER_OK;
    }
    for (int32_t i = 0; i < f->plan->a.n; i++)
        f->scale[i] = 1;
    if (scaling == BACKEND_MATCH || scaling == BACKEND_MATCH_MILD)
        return scale_by_matching(f, scaling == BACKEND_MATCH_MILD);
    if (scaling != BACKEND_UNSCALED)
        return equilibrate(f);
    if (!f->is_inner && !scale_all_alike(f)) {
        environment_log(
            f->plan->env,
            "entries near the ends of the range of numbers: equilibration all the same");
        return NAME(cpu_scale)(f, BACKEND_EQUILIBRATE);
    }
    measure(f);
    return LIBSOLVER_OK;
}
