/* solver/cpu/solve/fgmres_tmpl.c: flexible GMRES, one cycle  [Saad 1993, Algorithm 2.2]
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Right-preconditioned, and the preconditioned vectors are kept: A Z = V H with orthonormal V,
 * upper Hessenberg H, and d = Z y.  The preconditioner need not be a matrix then; with a factor in
 * lower precision this makes solutions backward stable where GMRES, which would apply it once more
 * to V y, does not [Arioli, Duff 2009].
 *
 * Everything is summed in the order of the rows, by one thread. */
#include "solver/cpu/solve/fgmres.h"
#include <string.h>

/* A vector that is smaller than this times what it was before orthogonalisation is rounding
 * error. */
#define NOISE (100 * EPS)

/* memory:   | V n x (length + 1) | Z n x length | H (length + 1) x length | g length + 1 | c, s
 * length each | */
typedef struct space {
    scalar *v, *z, *h, *g, *c, *s;
} space;

static space divide(const fgmres *g)
{
    const int64_t n = g->n, length = g->length;
    space m = {.v = g->memory};
    m.z = m.v + n * (length + 1);
    m.h = m.z + n * length;
    m.g = m.h + (length + 1) * length;
    m.c = m.g + length + 1;
    m.s = m.c + length;
    return m;
}

/* x^H y */
static scalar inner(int32_t n, const scalar *x, const scalar *y)
{
    wide sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += (wide)scalar_conj(x[i]) * y[i];
    return (scalar)sum;
}

static real norm(int32_t n, const scalar *x)
{
    return (real)sqrt((double)scalar_real(inner(n, x, x)));
}

/* x := x / size */
static void divide_by(int32_t n, scalar *x, real size)
{
    for (int32_t i = 0; i < n; i++)
        x[i] /= size;
}

/* V(:,j+1) and H(0:j+2, j): A z_j against the vectors before it, by modified Gram-Schmidt.  Returns
 * |A z_j|. */
static real orthogonalise(const fgmres *g, const space *m, int j)
{
    const int32_t n = g->n;
    scalar *next = m->v + (int64_t)(j + 1) * n, *h = m->h + (int64_t)j * (g->length + 1);
    const real before = norm(n, next);
    for (int k = 0; k <= j; k++) {
        const scalar *v = m->v + (int64_t)k * n;
        h[k] = inner(n, v, next);
        for (int32_t i = 0; i < n; i++)
            next[i] -= h[k] * v[i];
    }
    const real size = norm(n, next);
    h[j + 1] = size;
    if (size > 0)
        divide_by(n, next, size);
    return before;
}

/* x := c x + s y, y := c y - conj(s) x */
static void rotate(scalar c, scalar s, scalar *x, scalar *y)
{
    const scalar x0 = *x;
    *x = c * x0 + s * *y;
    *y = c * *y - scalar_conj(s) * x0;
}

/* Column j of H becomes one of R, and g, the right-hand side of the least squares, follows. Returns
 * |g(j+1)|, the norm of the residual. */
static real triangularise(const space *m, int length, int j)
{
    scalar *h = m->h + (int64_t)j * (length + 1);
    for (int k = 0; k < j; k++)
        rotate(m->c[k], m->s[k], &h[k], &h[k + 1]);
    const real a = scalar_abs(h[j]), b = scalar_abs(h[j + 1]), most = a > b ? a : b;
    const real size =
        most > 0 ? most * (real)sqrt((double)((a / most) * (a / most) + (b / most) * (b / most)))
                 : 0;
    m->c[j] = size > 0 ? a / size : 1;
    m->s[j] = size > 0 ? (a > 0 ? h[j] / a : 1) * scalar_conj(h[j + 1]) / size : 0;
    rotate(m->c[j], m->s[j], &h[j], &h[j + 1]);
    m->g[j + 1] = 0;
    rotate(m->c[j], m->s[j], &m->g[j], &m->g[j + 1]);
    return scalar_abs(m->g[j + 1]);
}

/* y = R^-1 g in the place of g; d := Z y in the place of V(:,0) */
static void combine(const fgmres *g, const space *m, int steps)
{
    for (int j = steps - 1; j >= 0; j--) {
        const scalar *h = m->h + (int64_t)j * (g->length + 1);
        m->g[j] /= h[j];
        for (int k = 0; k < j; k++)
            m->g[k] -= h[k] * m->g[j];
    }
    memset(m->v, 0, sizeof(scalar) * (size_t)g->n);
    for (int j = 0; j < steps; j++)
        for (int32_t i = 0; i < g->n; i++)
            m->v[i] += m->g[j] * m->z[(int64_t)j * g->n + i];
}

libsolver_status NAME(fgmres_cycle)(const fgmres *g, double enough, int *steps, message *why)
{
    const space m = divide(g);
    const int64_t n = g->n;
    real left = norm(g->n, m.v);
    int j = 0;
    if (isfinite(left) && left > 0) {
        divide_by(g->n, m.v, left);
        m.g[0] = left;
    }
    while (j < g->length && isfinite(left) && left > 0 && left > enough) {
        if (environment_cancelled(g->env))
            return FAIL(why, LIBSOLVER_CANCELLED, "an iteration of FGMRES was cancelled");
        g->precondition(g->user, m.v + j * n, m.z + j * n);
        g->multiply(g->user, m.z + j * n, m.v + (j + 1) * n);
        const scalar *h = m.h + (int64_t)j * (g->length + 1), before = m.g[j];
        const real noise = NOISE * orthogonalise(g, &m, j);
        const int exact = scalar_abs(h[j + 1]) <= noise;
        left = triangularise(&m, g->length, j);
        if (!(isfinite(noise) && scalar_abs(h[j]) > noise)) { /* nothing new in A z_j: without it */
            m.g[j] = before;
            break;
        }
        j++;
        if (exact)
            break;
    }
    *steps = j;
    combine(g, &m, j);
    return LIBSOLVER_OK;
}
