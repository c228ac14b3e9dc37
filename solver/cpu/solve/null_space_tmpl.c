/* solver/cpu/solve/null_space_tmpl.c: singular systems: short solutions, small inconsistencies
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * With S A S = L D L^H (+ rounding errors) and E the columns of the identity that have zero pivots,
 * N = S L^-H E spans the null space of A: A N = 0, and A x = r has a solution only if N^H r = 0.
 *
 * The solution that the factors give may be long, and rounding errors grow with it: x - N c is the
 * shortest, N^H N c = N^H x.
 *
 * Rounding errors of A and b make N^H r differ from 0 by little, yet left in the rows of the zero
 * pivots this is the whole residual of those rows.  Of all r* with N^H r* = N^H r, which may be
 * taken from r, the one of least |W^-1 r*|, W being what the backward error divides by, is
 * r* = W^2 N c,   N^H W^2 N c = N^H r.
 *
 * A complex symmetric A = S^-1 L D L^T S^-1 has N = S L^-T E, and N^T r = 0 is what a solution
 * needs: with the conjugates of r and r* in place of r and r*, all of the above holds.
 *
 * Both c are found by conjugate gradients, each step a solve with L^T and one with L. */
#include "solver/cpu/solve/workspace.h"

/* Conjugate gradients stop when the residual has fallen to this part: neither c needs to be
 * optimal. They need hundreds of steps where L has large entries; ended before, what they give is
 * of little use, and the next time begins anew, so the limit of steps is there for what never
 * converges. */
#define REDUCTION 1e-3
#define MOST_STEPS 2000

/* x := E E^T x */
static void keep_zero_pivots(const numeric *f, scalar *x)
{
    for (int32_t s = 0; s < f->plan->part.supernodes; s++) {
        const node *v = &f->node[s];
        for (int i = 0; i < v->p; i++) {
            if (v->e[i] != 0) { /* a 2x2 pivot */
                x[v->index[i]] = x[v->index[i + 1]] = 0;
                i++;
            } else if (v->d[i] != 0)
                x[v->index[i]] = 0;
        }
    }
}

/* x := conj(x) if A = A^T, for the solves with L and L^T that stand for conj(L) and L^H. */
static void conjugate_if_symmetric(const numeric *f, scalar *x)
{
    for (int32_t i = 0; i < f->plan->a.n && SCALAR_COMPLEX; i++)
        x[i] = scalar_mirror(x[i], !f->plan->hermitian);
}

/* w->x := N^H w->x, in the places of the zero pivots */
static void times_adjoint(const numeric *f, workspace *w)
{
    for (int32_t i = 0; i < f->plan->a.n; i++)
        w->x[i] *= f->scale[i];
    conjugate_if_symmetric(f, w->x);
    NAME(cpu_solve_block)(f, BACKEND_L, w, 1);
    conjugate_if_symmetric(f, w->x);
    keep_zero_pivots(f, w->x);
}

/* w->x := W^2 N c; weight: W, or NULL for 1 */
static void times(const numeric *f, workspace *w, const scalar *c, const real *weight)
{
    for (int32_t i = 0; i < f->plan->a.n; i++)
        w->x[i] = c[i];
    NAME(cpu_solve_block)(f, BACKEND_LT, w, 1);
    for (int32_t i = 0; i < f->plan->a.n; i++)
        w->x[i] *= f->scale[i] * (weight ? weight[i] * weight[i] : 1);
}

/* Square of entry i of W S, which is a part of entry (i, i) of N^H W^2 N: the preconditioner. */
static double own_part(const numeric *f, const real *weight, int32_t i)
{
    const double sw = (double)f->scale[i] * (weight ? (double)weight[i] : 1);
    return sw > 0 ? sw * sw : 1;
}

/* w->x := W^2 N c with N^H W^2 N c = N^H w->x, by preconditioned conjugate
 * gradients.  CANCELLED. */
static libsolver_status project(const numeric *f, workspace *w, const real *weight, message *why)
{
    const int32_t n = f->plan->a.n;
    scalar *c = w->singular, *r = c + n, *p = r + n;
    double rz = 0, enough = 0;
    times_adjoint(f, w);
    for (int32_t i = 0; i < n; i++) {
        c[i] = 0;
        r[i] = w->x[i];
        p[i] = (scalar)(r[i] / own_part(f, weight, i));
        rz += scalar_inner(r[i], p[i]);
    }
    enough = REDUCTION * REDUCTION * rz;
    for (int k = 0; k < MOST_STEPS && rz > enough; k++) {
        if (environment_cancelled(f->plan->env))
            return FAIL(why, LIBSOLVER_CANCELLED, "the refinement was cancelled");
        times(f, w, p, weight);
        times_adjoint(f, w);
        double pq = 0, next = 0;
        for (int32_t i = 0; i < n; i++)
            pq += scalar_inner(p[i], w->x[i]);
        if (!(pq > 0))
            break;
        for (int32_t i = 0; i < n; i++) {
            c[i] += (real)(rz / pq) * p[i];
            r[i] -= (real)(rz / pq) * w->x[i];
            w->x[i] = (scalar)(r[i] / own_part(f, weight, i));
            next += scalar_inner(r[i], w->x[i]);
        }
        for (int32_t i = 0; i < n; i++)
            p[i] = w->x[i] + (real)(next / rz) * p[i];
        rz = next;
    }
    times(f, w, c, weight);
    return LIBSOLVER_OK;
}

libsolver_status NAME(cpu_shorten)(const numeric *f, workspace *w, scalar *x, int64_t step,
                                   message *why)
{
    for (int32_t i = 0; i < f->plan->a.n; i++)
        w->x[i] = x[i * step];
    TRY(project(f, w, NULL, why));
    for (int32_t i = 0; i < f->plan->a.n; i++)
        x[i * step] -= w->x[i];
    return LIBSOLVER_OK;
}

libsolver_status NAME(cpu_make_consistent)(const numeric *f, workspace *w, wide *residual,
                                           int64_t step, message *why)
{
    const int32_t n = f->plan->a.n;
    real *weight = (real *)(w->singular + 3 * (int64_t)n), most = 0;
    for (int32_t i = 0; i < n; i++)
        most = weight[i] > most ? weight[i] : most;
    for (int32_t i = 0; i < n; i++) {
        weight[i] /= most; /* so that no square over- or underflows where it counts */
        w->x[i] = (scalar)residual[i * step];
    }
    conjugate_if_symmetric(f, w->x);
    TRY(project(f, w, weight, why));
    conjugate_if_symmetric(f, w->x);
    for (int32_t i = 0; i < n; i++)
        residual[i * step] -= w->x[i];
    return LIBSOLVER_OK;
}
