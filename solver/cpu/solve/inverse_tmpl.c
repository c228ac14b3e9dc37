/* solver/cpu/solve/inverse_tmpl.c: products with (S A S)^-1 as exact as estimates of its norm need
 * them
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A factor in the precision of A is good enough.  One in single precision is not: where A is
 * ill-conditioned it may miss the very directions that make |A^-1| large, and what is a bound for A
 * would be one for another matrix.  FGMRES with it solves S A S z = S x until the residual is
 * small; if it stays large, nothing is known. */
#include "solver/cpu/solve/fgmres.h"
#include "solver/cpu/solve/workspace.h"
#include <string.h>

/* Wanted part of |S x| in the residual; where the condition is 1 / EPS times this, rounding errors
 * are as large. */
#define ENOUGH 1e-4
#define MOST_CYCLES 10

typedef struct system {
    const numeric *f;
    workspace *w;
} system;

/* y := S A S z */
static void multiply(void *system_, const scalar *z, scalar *y)
{
    const numeric *f = ((const system *)system_)->f;
    const pattern *a = &f->plan->a;
    memset(y, 0, sizeof(scalar) * (size_t)a->n);
    for (int32_t j = 0; j < a->n; j++)
        for (int64_t p = a->start[j]; p < a->start[j + 1]; p++) {
            const int32_t i = a->row[p];
            const scalar value = f->value[p] * (f->scale[i] * f->scale[j]);
            y[i] += value * z[j];
            if (i != j)
                y[j] += scalar_mirror(value, f->plan->hermitian) * z[i];
        }
}

static void precondition(void *system_, const scalar *v, scalar *z)
{
    const system *s = system_;
    const size_t bytes = sizeof(scalar) * (size_t)s->f->plan->a.n;
    memcpy(s->w->x, v, bytes);
    NAME(cpu_solve_block)(s->f, BACKEND_L | BACKEND_D | BACKEND_LT, s->w, 1);
    memcpy(z, s->w->x, bytes);
}

/* krylov := rhs - S A S solution.  Returns its 2-norm. */
static double residual(system *s)
{
    const int32_t n = s->f->plan->a.n;
    scalar *r = s->w->krylov;
    double sum = 0;
    multiply(s, s->w->solution, r);
    for (int32_t i = 0; i < n; i++) {
        r[i] = s->w->rhs[i] - r[i];
        sum += scalar_inner(r[i], r[i]);
    }
    return sqrt(sum);
}

/* a 2^exponent */
static scalar times_power(scalar a, int exponent)
{
    const int half = exponent / 2;
    return a * (real)ldexp(1, half) * (real)ldexp(1, exponent - half);
}

/* x := (S A S)^-1 x */
static libsolver_status solve(system *s, int *known, message *why)
{
    const numeric *f = s->f;
    workspace *w = s->w;
    const int32_t n = f->plan->a.n;
    const fgmres cycle = {n, f->cycle, w->krylov, f->plan->env, s, multiply, precondition};
    double left = 0;
    real most = 0;
    int steps = 1;
    for (int32_t i = 0; i < n; i++)
        most = scalar_abs(w->x[i]) > most ? scalar_abs(w->x[i]) : most;
    /* squares shall neither over- nor underflow */
    const int power = most > 0 && isfinite(most) ? ilogb((double)most) : 0;
    for (int32_t i = 0; i < n; i++) {
        w->rhs[i] = times_power(w->x[i], -power);
        w->solution[i] = 0;
        left += scalar_inner(w->rhs[i], w->rhs[i]);
    }
    left = sqrt(left);
    const double enough = ENOUGH * left;
    memcpy(w->krylov, w->rhs, sizeof(scalar) * (size_t)n);
    for (int k = 0; k < MOST_CYCLES && left > enough && steps > 0; k++) {
        TRY(NAME(fgmres_cycle)(&cycle, enough / 2, &steps, why));
        for (int32_t i = 0; i < n; i++)
            w->solution[i] += w->krylov[i];
        left = residual(s);
    }
    *known = *known && left <= enough;
    for (int32_t i = 0; i < n; i++)
        w->x[i] = times_power(w->solution[i], power);
    return LIBSOLVER_OK;
}

libsolver_status NAME(cpu_times_inverse)(const numeric *f, workspace *w, int *known, message *why)
{
    if (f->single)
        return solve(&(system){f, w}, known, why);
    NAME(cpu_solve_block)(f, BACKEND_L | BACKEND_D | BACKEND_LT, w, 1);
    return LIBSOLVER_OK;
}
