/* solver/cpu/factor/simplicial_kernels_tmpl.c: the kernels of simplicial_kernels.h, compiled for
 * each precision and each instruction set
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Most columns have one to three entries below the diagonal: their number is a constant in code of
 * its own, as is the number W of right-hand sides in a strip. */
#include "dense/cpu/sets.h"
#include "solver/cpu/factor/simplicial_kernels.h"

/* ---- A = U D U^H, right-looking -------------------------------------------------------------- */

/* v(target) -= l_a conj(l_b) / d for the entries a >= b of a column, l := l / d.  Returns where the
 * targets of the next one begin. */
INLINE_ALWAYS const int32_t *eliminate(const int count, real inverse, scalar *l,
                                       const int32_t *target, scalar *v)
{
    for (int b = 0; b < count; b++) {
        const scalar factor = scalar_conj(l[b]) * inverse;
        for (int a = b; a < count; a++)
            v[*target++] -= l[a] * factor;
    }
    for (int a = 0; a < count; a++)
        l[a] *= inverse;
    return target;
}

/* Columns [from, to) that have nothing beside their diagonal entry, unless one is refused; whether
 * none is. */
static int factorize_alone(int32_t from, int32_t to, simplicial_run *run)
{
    const real *diagonal = run->diagonal, doubt = run->doubt;
    const scalar *v = run->v;
    real *restrict root = run->root;
    real least = run->smallest;
    int32_t small = 0, good = 0;
#pragma omp simd reduction(min : least) reduction(+ : small, good)
    for (int32_t k = from; k < to; k++) {
        const real pivot = scalar_real(v[k]), start = diagonal[k];
        good += pivot > 16 * EPS * start;
        small += pivot <= doubt * start;
        least = pivot < least ? pivot : least;
        root[k] = (real)sqrt((double)(1 / pivot));
    }
    if (good < to - from)
        return 0;
    run->smallest = least;
    run->uncertain += small;
    return 1;
}

static int32_t factorize(const simplicial *s, int32_t from, int32_t to, simplicial_run *run)
{
    if (to <= s->alone && factorize_alone(from, to, run))
        return to;
    const real *diagonal = run->diagonal, doubt = run->doubt;
    scalar *v = run->v;
    real *root = run->root;
    const int32_t *target = run->target;
    real least = run->smallest;
    int32_t small = run->uncertain;
    for (int32_t k = from; k < to; k++) {
        const real pivot = scalar_real(v[k]), start = diagonal[s->order[k]];
        if (!(pivot > 16 * EPS * start))
            return k;
        small += pivot <= doubt * start;
        least = pivot < least ? pivot : least;
        const real quotient = root[k] = 1 / pivot;
        const int count = s->start[k + 1] - s->start[k];
        scalar *l = v + s->n + s->start[k];
        if (count == 1)
            target = eliminate(1, quotient, l, target, v);
        else if (count == 2)
            target = eliminate(2, quotient, l, target, v);
        else if (count == 3)
            target = eliminate(3, quotient, l, target, v);
        else
            target = eliminate(count, quotient, l, target, v);
    }
    for (int32_t k = from; k < to; k++)
        root[k] = (real)sqrt((double)root[k]);
    run->target = target;
    run->smallest = least;
    run->uncertain = small;
    return to;
}

/* ---- Solves ---------------------------------------------------------------------------------- */

/* x(row) -= u x(own), x(own) *= root */
INLINE_ALWAYS void forward_column(const int W, const int count, int32_t own, const int32_t *row,
                                  const scalar *u, real root, int c, scalar *x)
{
    scalar from[16];
    for (int q = 0; q < W; q++) {
        from[q] = x[(int64_t)own * c + q];
        x[(int64_t)own * c + q] = from[q] * root;
    }
    for (int p = 0; p < count; p++) {
        scalar *to = x + (int64_t)row[p] * c;
        for (int q = 0; q < W; q++)
            to[q] -= u[p] * from[q];
    }
}

/* x(own) := root x(own) - u^H x(row), the parent's row last: it is the one that may have to be
 * waited for */
INLINE_ALWAYS void backward_column(const int W, const int count, int32_t own, const int32_t *row,
                                   const scalar *u, real root, int c, scalar *x)
{
    scalar sum[16];
    for (int q = 0; q < W; q++)
        sum[q] = x[(int64_t)own * c + q] * root;
    for (int p = count - 1; p >= 0; p--) {
        const scalar *from = x + (int64_t)row[p] * c, factor = scalar_conj(u[p]);
        for (int q = 0; q < W; q++)
            sum[q] -= factor * from[q];
    }
    for (int q = 0; q < W; q++)
        x[(int64_t)own * c + q] = sum[q];
}

/* One of these for column k, a constant where this is inlined. */
typedef void (*column_step)(const int W, const int count, int32_t own, const int32_t *row,
                            const scalar *u, real root, int c, scalar *x);

INLINE_ALWAYS void do_column(column_step step, const int W, const simplicial *s, int32_t k,
                             const scalar *u, const real *root, int c, scalar *x)
{
    const int32_t begin = s->start[k], own = s->order[k], *row = s->row + begin;
    const int count = s->start[k + 1] - begin;
    u += begin;
    if (count == 1)
        step(W, 1, own, row, u, root[k], c, x);
    else if (count == 2)
        step(W, 2, own, row, u, root[k], c, x);
    else if (count == 3)
        step(W, 3, own, row, u, root[k], c, x);
    else
        step(W, count, own, row, u, root[k], c, x);
}

INLINE_ALWAYS void forward_strip(const int W, const simplicial *s, const scalar *v,
                                 const real *root, int c, scalar *x)
{
    for (int32_t k = s->alone; k < s->n; k++)
        do_column(forward_column, W, s, k, v + s->n, root, c, x);
}

INLINE_ALWAYS void backward_strip(const int W, const simplicial *s, const scalar *v,
                                  const real *root, int c, scalar *x)
{
    for (int32_t k = s->n - 1; k >= s->alone; k--)
        do_column(backward_column, W, s, k, v + s->n, root, c, x);
}

/* A sweep by strips of 16, 4 and 1 right-hand sides. */
typedef void (*strip_sweep)(const int W, const simplicial *s, const scalar *v, const real *root,
                            int c, scalar *x);

INLINE_ALWAYS void by_strips(strip_sweep sweep, const simplicial *s, const scalar *v,
                             const real *root, int c, scalar *x)
{
    int q = 0;
    for (; q + 16 <= c; q += 16)
        sweep(16, s, v, root, c, x + q);
    for (; q + 4 <= c; q += 4)
        sweep(4, s, v, root, c, x + q);
    for (; q < c; q++)
        sweep(1, s, v, root, c, x + q);
}

/* x(k) *= root for columns that have nothing beside their diagonal entry, in either sweep. */
static void scale_alone(const simplicial *s, const real *root, int c, scalar *x)
{
    if (c == 1)
        for (int32_t k = 0; k < s->alone; k++)
            x[k] *= root[k];
    else
        for (int32_t k = 0; k < s->alone; k++)
            for (int q = 0; q < c; q++)
                x[(int64_t)k * c + q] *= root[k];
}

static void forward(const simplicial *s, const scalar *v, const real *root, int c, scalar *x)
{
    scale_alone(s, root, c, x);
    if (s->alone < s->n)
        by_strips(forward_strip, s, v, root, c, x);
}

static void backward(const simplicial *s, const scalar *v, const real *root, int c, scalar *x)
{
    if (s->alone < s->n)
        by_strips(backward_strip, s, v, root, c, x);
    scale_alone(s, root, c, x);
}

const simplicial_kernels SET(simplicial_kernels) = {factorize, forward, backward};
