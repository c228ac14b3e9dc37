/* solver/cpu/solve/refine_tmpl.c: iterative refinement and the componentwise backward error
 * [Arioli, Demmel, Duff 1989]
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Plain refinement, x += M^-1 (b - A x) with what the factor makes of A^-1, while that gains much;
 * then FGMRES for the columns that are not good enough, which converges where the factor is far
 * from A in a few directions only, or a little in all: in mixed precision when A is ill-conditioned
 * [Arioli, Duff 2009], with pivots that were perturbed or given another sign.
 *
 * All vectors are unscaled, in the plan's order, and kept by rows (see workspace).
 *
 * Where rows of |A||x| + |b| are so small, or so large, that they do not fit into the precision of
 * A with all their digits, errors are measured in long double, and right-hand sides come to solves
 * scaled by powers of two.  It takes longer, so it is done where it is needed only. */
#include "solver/cpu/solve/fgmres.h"
#include "solver/cpu/solve/workspace.h"
#include "base/least_progress.h"
#include <limits.h>
#include <string.h>

/* A column under FGMRES is done when so many cycles have not reduced the 2-norm of its residual,
 * each row divided by what the backward error divides by, to this part of it.  One may fail when x,
 * by which is divided, changes much. */
#define LEAST_PROGRESS_FGMRES 0.9
#define FAILED_CYCLES 2
/* A cycle ends when that norm is this part of the tolerance. */
#define ENOUGH 0.5

/* A step is worth another one, whatever became of the backward error, if it has reduced the scaled
 * residual to this part.  Where scale factors differ by many powers of ten and the entries of x do
 * not, rounding errors of the largest scaled entries first hide what small rows want, and each step
 * reduces them alike. */
#define CONVERGES 0.01

/* Columns that are refined together. */
#define GROUP 64

/* What is less than this may have lost digits to underflow that count. */
#define LEAST_SAFE ((sizeof(real) == 4 ? FLT_MIN : DBL_MIN) / (EPS * EPS))

/* One group of columns. */
typedef struct group {
    const numeric *f;
    workspace *w;
    int c;
    int most_cycles; /* of FGMRES for a column */
    const backend_observer *observer;
    int is_extreme; /* some row of some column was not in the safe range */
    double least_progress;
    double error[GROUP]; /* of the best solution so far */
    double size[GROUP];  /* largest entry of the scaled residual, and that of the best */
    double best_size[GROUP];
    double norm[GROUP];        /* FGMRES: of the weighted residual before the last cycle */
    int failed[GROUP];         /* FGMRES: cycles without progress */
    unsigned char done[GROUP]; /* converged or stagnated */
    message *why;
} group;

static long double wide_abs(wide a)
{
    return SCALAR_COMPLEX ? hypotl(creall(a), cimagl(a)) : fabsl(creall(a));
}

/* residual := b - A x, summed in wide: a row with many entries would otherwise be measured by the
 * rounding errors made here; bound := |A||x| + |b| */
static void residual(const group *g)
{
    const pattern *a = &g->f->plan->a;
    const workspace *w = g->w;
    const int c = g->c, hermitian = g->f->plan->hermitian;
    for (int64_t i = 0; i < (int64_t)a->n * c; i++) {
        w->residual[i] = w->rhs[i];
        w->bound[i] = scalar_abs(w->rhs[i]);
    }
    for (int32_t j = 0; j < a->n; j++) {
        const int64_t cj = (int64_t)j * c;
        for (int64_t p = a->start[j]; p < a->start[j + 1]; p++) {
            const int64_t ci = (int64_t)a->row[p] * c;
            const scalar value = g->f->value[p];
            for (int q = 0; q < c; q++) {
                const wide product = (wide)value * w->solution[cj + q];
                w->residual[ci + q] -= product;
                w->bound[ci + q] += scalar_abs((scalar)product);
            }
            if (ci == cj)
                continue;
            const scalar mirror = scalar_mirror(value, hermitian);
            for (int q = 0; q < c; q++) {
                const wide product = (wide)mirror * w->solution[ci + q];
                w->residual[cj + q] -= product;
                w->bound[cj + q] += scalar_abs((scalar)product);
            }
        }
    }
}

/* max |x_i| of column q */
static double column_norm(const group *g, int q)
{
    double norm = 0;
    for (int32_t i = 0; i < g->f->plan->a.n; i++)
        norm = fmax(norm, (double)scalar_abs(g->w->solution[(int64_t)i * g->c + q]));
    return norm;
}

/* What the residual of row i, column q, is measured against: its bound where that is large against
 * what x, of norm `norm`, and b could have made of it, else one by the norms; *small tells
 * which. */
static long double measure_of_row(const group *g, int32_t i, int q, double norm, int *small)
{
    const int64_t at = (int64_t)i * g->c + q;
    const double b = (double)scalar_abs(g->w->rhs[at]), bound = (double)g->w->bound[at];
    /* may lie beyond the range of its factors */
    const long double row = (long double)g->f->row_sum[i] * norm;
    *small = !(bound > 1000.0 * g->f->plan->a.n * EPS * (row + b));
    return *small ? bound - b + row : bound;
}

/* The same as column_error, in long double; its sums lie where FGMRES will. */
static double column_error_of_extremes(const group *g, int q)
{
    const pattern *a = &g->f->plan->a;
    const workspace *w = g->w;
    long double *bound = (long double *)(void *)w->krylov, *row = bound + a->n, norm = 0,
                omega[2] = {0, 0};
    for (int32_t i = 0; i < a->n; i++) {
        bound[i] = row[i] = 0;
        norm = fmaxl(norm, wide_abs(w->solution[(int64_t)i * g->c + q]));
    }
    for (int32_t j = 0; j < a->n; j++)
        for (int64_t p = a->start[j]; p < a->start[j + 1]; p++) {
            const int32_t i = a->row[p];
            const long double size = wide_abs(g->f->value[p]);
            row[i] += size;
            bound[i] += size * wide_abs(w->solution[(int64_t)j * g->c + q]);
            if (i != j) {
                row[j] += size;
                bound[j] += size * wide_abs(w->solution[(int64_t)i * g->c + q]);
            }
        }
    for (int32_t i = 0; i < a->n; i++) {
        const long double r = wide_abs(w->residual[(int64_t)i * g->c + q]),
                          b = wide_abs(w->rhs[(int64_t)i * g->c + q]);
        const int small = !(bound[i] + b > 1000.0 * a->n * EPS * (row[i] * norm + b));
        const long double measure = bound[i] + (small ? row[i] * norm : b);
        if (!(isfinite(r) && isfinite(measure)))
            return INFINITY;
        if (r > 0)
            omega[small] = fmaxl(omega[small], r / measure);
    }
    return (double)(omega[0] + omega[1]);
}

/* Backward error omega1 + omega2 of column q. */
static double column_error(group *g, int q)
{
    const double norm = column_norm(g, q);
    /* |x_i| of a complex x_i is rounded */
    const int norm_is_safe = !SCALAR_COMPLEX || norm >= LEAST_SAFE || norm == 0;
    double omega[2] = {0, 0};
    for (int32_t i = 0; i < g->f->plan->a.n; i++) {
        const wide left = g->w->residual[(int64_t)i * g->c + q];
        int small;
        if (left == 0)
            continue;
        const double r = (double)scalar_abs((scalar)left);
        const long double measure = measure_of_row(g, i, q, norm, &small);
        const int row_is_safe = norm_is_safe && (!SCALAR_COMPLEX || g->f->row_sum[i] >= LEAST_SAFE);
        if (!(row_is_safe && isfinite(r) && measure >= LEAST_SAFE && measure <= LDBL_MAX)) {
            g->is_extreme = 1;
            return column_error_of_extremes(g, q);
        }
        omega[small] = fmax(omega[small], (double)(r / measure));
    }
    return omega[0] + omega[1];
}

/* Largest entry of the scaled residual of column q: what a step of plain refinement reduces where
 * the factor is good. */
static double scaled_size(const group *g, int q)
{
    double size = 0;
    for (int32_t i = 0; i < g->f->plan->a.n; i++)
        size = fmax(size, (double)scalar_abs((scalar)g->w->residual[(int64_t)i * g->c + q]) *
                              (double)g->f->scale[i]);
    return size;
}

/* Measures w->solution; keeps what is best.  Returns how many columns are worth another step. */
static int measure(group *g, double tolerance, int first)
{
    const workspace *w = g->w;
    const int32_t n = g->f->plan->a.n;
    int more = 0;
    residual(g);
    for (int q = 0; q < g->c; q++) {
        if (g->done[q])
            continue;
        const double error = column_error(g, q), before = g->error[q],
                     size = isfinite(error) ? scaled_size(g, q) : INFINITY,
                     size_before = g->size[q];
        const int converges = size <= CONVERGES * size_before;
        g->size[q] = size;
        if (first || error < before) {
            g->error[q] = error;
            g->best_size[q] = size;
            for (int64_t i = q; i < (int64_t)n * g->c; i += g->c)
                w->best[i] = w->solution[i];
        }
        g->done[q] = error <= tolerance || !isfinite(error) ||
                     (!first && !converges && !(error <= g->least_progress * before));
        more += !g->done[q];
    }
    return more;
}

/* A step has been made and measured. */
static void observe(const group *g, int made_by)
{
    double error = 0;
    if (!g->observer)
        return;
    for (int q = 0; q < g->c; q++)
        error = fmax(error, g->error[q]);
    g->observer->step(g->observer->user, made_by, error);
}

/* a 2^exponent, rounded once. */
static scalar shifted(wide a, int exponent)
{
    const real parts[2] = {(real)ldexpl(creall(a), exponent), (real)ldexpl(cimagl(a), exponent)};
    scalar result;
    memcpy(&result, parts, sizeof result);
    return result;
}

/* The same as solve, each column being scaled by a power of two on its way, so that the largest
 * |r_i s_i| is near 1. */
static void solve_extremes(const group *g, int of_residual)
{
    const numeric *f = g->f;
    workspace *w = g->w;
    const int c = g->c;
    int most[GROUP];
    for (int q = 0; q < c; q++)
        most[q] = INT_MIN;
    for (int32_t i = 0; i < f->plan->a.n; i++)
        for (int q = 0; q < c; q++) {
            const long double r = wide_abs(of_residual ? w->residual[(int64_t)i * c + q]
                                                       : w->rhs[(int64_t)i * c + q]);
            const int exponent =
                r > 0 && isfinite(r) ? ilogbl(r) + ilogb((double)f->scale[i]) : INT_MIN;
            most[q] = exponent > most[q] ? exponent : most[q];
        }
    for (int32_t i = 0; i < f->plan->a.n; i++)
        for (int q = 0; q < c; q++) {
            const wide r =
                of_residual ? w->residual[(int64_t)i * c + q] : w->rhs[(int64_t)i * c + q];
            w->x[(int64_t)i * c + q] =
                most[q] > INT_MIN ? shifted(r, ilogb((double)f->scale[i]) - most[q]) : (scalar)r;
        }
    NAME(cpu_solve_block)(f, BACKEND_L | BACKEND_D | BACKEND_LT, w, c);
    for (int32_t i = 0; i < f->plan->a.n; i++)
        for (int q = 0; q < c; q++)
            if (most[q] > INT_MIN)
                w->x[(int64_t)i * c + q] =
                    shifted(w->x[(int64_t)i * c + q], ilogb((double)f->scale[i]) + most[q]);
}

/* w->x := A^-1 r, with r = b or r = residual */
static void solve(const group *g, int of_residual)
{
    const numeric *f = g->f;
    workspace *w = g->w;
    const int c = g->c;
    if (g->is_extreme) {
        solve_extremes(g, of_residual);
        return;
    }
    for (int32_t i = 0; i < f->plan->a.n; i++)
        for (int q = 0; q < c; q++)
            w->x[(int64_t)i * c + q] = (of_residual ? (scalar)w->residual[(int64_t)i * c + q]
                                                    : w->rhs[(int64_t)i * c + q]) *
                                       f->scale[i];
    NAME(cpu_solve_block)(f, BACKEND_L | BACKEND_D | BACKEND_LT, w, c);
    for (int32_t i = 0; i < f->plan->a.n; i++)
        for (int q = 0; q < c; q++)
            w->x[(int64_t)i * c + q] *= f->scale[i];
}

/* x += A^-1 r for the columns that are not done */
static void step(const group *g)
{
    const int c = g->c;
    solve(g, 1);
    for (int32_t i = 0; i < g->f->plan->a.n; i++)
        for (int q = 0; q < c; q++)
            if (!g->done[q])
                g->w->solution[(int64_t)i * c + q] += g->w->x[(int64_t)i * c + q];
}

/* Whether a column is still worth work; those are the ones not done. */
static int reopen(group *g, double tolerance)
{
    int open = 0;
    for (int q = 0; q < g->c; q++) {
        g->done[q] = g->error[q] <= tolerance || !isfinite(g->error[q]);
        open += !g->done[q];
    }
    return open;
}

/* A column under FGMRES: the rows of A and of its residual are divided by w->weight. */
static void multiply(void *group_, const scalar *z, scalar *y)
{
    const group *g = group_;
    const pattern *a = &g->f->plan->a;
    memset(y, 0, sizeof(scalar) * (size_t)a->n);
    for (int32_t j = 0; j < a->n; j++)
        for (int64_t p = a->start[j]; p < a->start[j + 1]; p++) {
            const int32_t i = a->row[p];
            const scalar value = g->f->value[p];
            y[i] += value * z[j];
            if (i != j)
                y[j] += scalar_mirror(value, g->f->plan->hermitian) * z[i];
        }
    for (int32_t i = 0; i < a->n; i++)
        y[i] = g->w->weight[i] > 0 ? y[i] / g->w->weight[i] : 0;
}

static void precondition(void *group_, const scalar *v, scalar *z)
{
    const group *g = group_;
    const numeric *f = g->f;
    for (int32_t i = 0; i < f->plan->a.n; i++)
        g->w->x[i] = v[i] * g->w->weight[i] * f->scale[i];
    NAME(cpu_solve_block)(f, BACKEND_L | BACKEND_D | BACKEND_LT, g->w, 1);
    for (int32_t i = 0; i < f->plan->a.n; i++)
        z[i] = g->w->x[i] * f->scale[i];
}

/* Weights and weighted residual of column q, of which w->residual and w->bound are known, as FGMRES
 * wants them.  Returns the 2-norm. */
static double weigh(const group *g, int q)
{
    const workspace *w = g->w;
    const double norm = column_norm(g, q);
    double sum = 0;
    int small;
    for (int32_t i = 0; i < g->f->plan->a.n; i++) {
        const real measure = (real)measure_of_row(g, i, q, norm, &small);
        w->weight[i] = isfinite(measure) ? measure : 0;
        w->krylov[i] =
            w->weight[i] > 0 ? (scalar)(w->residual[(int64_t)i * g->c + q] / w->weight[i]) : 0;
        sum += scalar_inner(w->krylov[i], w->krylov[i]);
    }
    return sqrt(sum);
}

/* A cycle of FGMRES for column q, unless it is done.  It minimises the very quotients of which the
 * backward error takes the largest. */
static libsolver_status correct_column(group *g, int q, double tolerance)
{
    workspace *w = g->w;
    const fgmres cycle = {g->f->plan->a.n, g->f->cycle, w->krylov, g->f->plan->env, g,
                          multiply,        precondition};
    const double norm = weigh(g, q), before = g->norm[q];
    int steps = 0;
    g->norm[q] = norm;
    g->failed[q] += !(norm <= LEAST_PROGRESS_FGMRES * before);
    g->done[q] = g->failed[q] == FAILED_CYCLES;
    if (g->done[q])
        return LIBSOLVER_OK;
    TRY(NAME(fgmres_cycle)(&cycle, ENOUGH * tolerance, &steps, g->why));
    for (int32_t i = 0; i < cycle.n; i++)
        w->solution[(int64_t)i * g->c + q] += w->krylov[i];
    return LIBSOLVER_OK;
}

/* Whether the last solution of column q is better than the best but for small rows. */
static int converged(const group *g, int q)
{
    return g->size[q] <= CONVERGES * g->best_size[q];
}

/* Cycles of FGMRES for the columns that are not good enough, from the best solutions, or the last
 * where its scaled residual is much smaller: what FGMRES would take longest for is done there.
 * steps: increased by the cycles. */
static libsolver_status accelerate(group *g, int most, double tolerance, int *steps)
{
    if (*steps >= most || reopen(g, tolerance) == 0)
        return LIBSOLVER_OK;
    for (int q = 0; q < g->c; q++) {
        if (converged(g, q))
            continue;
        for (int64_t i = q; i < (int64_t)g->f->plan->a.n * g->c; i += g->c)
            g->w->solution[i] = g->w->best[i];
    }
    residual(g);
    g->least_progress = INFINITY;
    for (int q = 0; q < g->c; q++) {
        g->norm[q] = INFINITY;
        g->failed[q] = 0;
    }
    for (int open = 1, cycles = 0; open > 0 && *steps < most && cycles < g->most_cycles;
         ++*steps, cycles++) {
        open = 0;
        for (int q = 0; q < g->c; q++)
            if (!g->done[q]) {
                TRY(correct_column(g, q, tolerance));
                open += !g->done[q];
            }
        if (open == 0)
            break;
        open = measure(g, tolerance, 0);
        observe(g, STEP_FGMRES);
    }
    return LIBSOLVER_OK;
}

/* For a singular matrix: the columns that are not good enough are made shorter, then corrected with
 * the part of their residuals that no solution removes spread over all rows.  A short one may be
 * good only after the next time, so each goes on from where the last one has ended. */
static libsolver_status refine_singular(group *g, double tolerance)
{
    workspace *w = g->w;
    const int32_t n = g->f->plan->a.n;
    const int c = g->c;
    for (int q = 0; q < c; q++)
        if (!g->done[q])
            TRY(NAME(cpu_shorten)(g->f, w, w->solution + q, c, g->why));
    measure(g, tolerance, 0);
    if (!reopen(g, tolerance))
        return LIBSOLVER_OK;
    for (int q = 0; q < c; q++) {
        if (g->done[q])
            continue;
        const double norm = column_norm(g, q);
        real *weight = (real *)(w->singular + 3 * (int64_t)n);
        int small;
        for (int32_t i = 0; i < n; i++) {
            const real measure = (real)measure_of_row(g, i, q, norm, &small);
            weight[i] = isfinite(measure) ? measure : 0;
        }
        TRY(NAME(cpu_make_consistent)(g->f, w, w->residual + q, c, g->why));
    }
    step(g);
    measure(g, tolerance, 0);
    return LIBSOLVER_OK;
}

/* Solves for w->rhs, and measures. */
static int start(group *g, double tolerance)
{
    memset(g->done, 0, sizeof g->done);
    solve(g, 0);
    memcpy(g->w->solution, g->w->x, sizeof(scalar) * (size_t)g->f->plan->a.n * (size_t)g->c);
    return measure(g, tolerance, 1);
}

static int is_solved(const group *g, double tolerance)
{
    int solved = 1;
    for (int q = 0; q < g->c; q++)
        solved &= g->error[q] <= tolerance;
    return solved;
}

/* Solves or only refines, once w->rhs is there, without solve_first w->solution too; the best goes
 * to w->best, its errors to g->error.  refinement->steps, initial and final: increased to those of
 * this group. */
static libsolver_status refine_group(group *g, int most, backend_refinement *refinement)
{
    int more = refinement->solve_first ? start(g, refinement->tolerance)
                                       : measure(g, refinement->tolerance, 1);
    if (refinement->solve_first && g->is_extreme && !is_solved(g, refinement->tolerance))
        more = start(g, refinement->tolerance); /* with scaled right-hand sides */
    for (int q = 0; q < g->c; q++)
        refinement->initial = fmax(refinement->initial, g->error[q]);
    /* residuals of extremes may have been lost where plain steps stalled, and are not here */
    const int is_plain =
        (!refinement->stalled || g->is_extreme) && refinement->method != REFINE_FGMRES;
    int steps = 0;
    if (!refinement->stalled)
        observe(g, STEP_START);
    for (; more > 0 && steps < most && is_plain; steps++) {
        if (environment_cancelled(g->f->plan->env))
            return FAIL(g->why, LIBSOLVER_CANCELLED, "the refinement was cancelled");
        step(g);
        more = measure(g, refinement->tolerance, 0);
        observe(g, STEP_PLAIN);
    }
    if (g->f->zero_pivots == 0 && refinement->method != REFINE_PLAIN)
        TRY(accelerate(g, most, refinement->tolerance, &steps));
    refinement->steps = steps > refinement->steps ? steps : refinement->steps;
    if (g->f->zero_pivots > 0)
        memcpy(g->w->solution, g->w->best, sizeof(scalar) * (size_t)g->f->plan->a.n * (size_t)g->c);
    for (int k = 0; g->f->zero_pivots > 0 && k < 3 && k < most && reopen(g, refinement->tolerance);
         k++) {
        TRY(refine_singular(g, refinement->tolerance));
        observe(g, STEP_SINGULAR);
    }
    for (int q = 0; q < g->c; q++)
        refinement->final = fmax(refinement->final, g->error[q]);
    return LIBSOLVER_OK;
}

static group group_of(const numeric *f, workspace *w, int c, const backend_refinement *refinement,
                      message *why)
{
    const double least_progress = f->zero_pivots > 0 ? LEAST_PROGRESS_SINGULAR : LEAST_PROGRESS;
    return (group){.f = f,
                   .w = w,
                   .c = c,
                   .most_cycles = refinement->cycles > 0 ? refinement->cycles : INT_MAX,
                   .observer = refinement->observer,
                   .least_progress = least_progress,
                   .why = why};
}

/* Returns what refinement->steps was, the most of them, and makes ready to count. */
static int begin_count(backend_refinement *refinement)
{
    const int most = refinement->steps;
    refinement->steps = 0;
    refinement->initial = refinement->final = 0;
    return most;
}

libsolver_status NAME(cpu_refine_trial)(const numeric *f, workspace *w,
                                        backend_refinement *refinement, message *why)
{
    group g = group_of(f, w, 1, refinement, why);
    const int most = begin_count(refinement);
    TRY(NAME(cpu_workspace_fit)(f, w, why));
    for (int32_t i = 0; i < f->plan->a.n; i++) {
        w->solution[i] = (scalar)(1 + 0.1 * (i % 7));
        w->rhs[i] = 0;
    }
    residual(&g);
    for (int32_t i = 0; i < f->plan->a.n; i++)
        w->rhs[i] = -(scalar)w->residual[i];
    return refine_group(&g, most, refinement);
}

libsolver_status NAME(cpu_refine)(const void *numeric_, void *workspace_,
                                  const libsolver_vectors *b, const libsolver_vectors *x,
                                  backend_refinement *refinement, double *backward_error,
                                  message *why)
{
    const numeric *f = numeric_;
    workspace *w = workspace_;
    const int32_t n = f->plan->a.n, *row = f->plan->part.perm;
    const int64_t width = w->columns < GROUP ? w->columns : GROUP;
    const int most = begin_count(refinement);
    TRY(NAME(cpu_workspace_fit)(f, w, why));
    for (int64_t first = 0; first < b->columns; first += width) {
        group g = group_of(f, w, (int)(b->columns - first < width ? b->columns - first : width),
                           refinement, why);
        const int threads = workspace_threads(f, w, g.c);
        NAME(cpu_load)(n, g.c, b, first, row, NULL, threads, w->rhs);
        if (!refinement->solve_first)
            NAME(cpu_load)(n, g.c, x, first, row, NULL, threads, w->solution);
        if (first > 0)
            environment_progress(f->plan->env, PHASE_SOLVE, (double)first / (double)b->columns);
        TRY(refine_group(&g, most, refinement));
        NAME(cpu_store)(n, g.c, w->best, NULL, row, threads, x, first);
        for (int q = 0; q < g.c && backward_error; q++)
            backward_error[first + q] = g.error[q];
    }
    return LIBSOLVER_OK;
}
