/* solver/cpu/solve/schur_tmpl.c: the Schur complement of the rows that are not eliminated, and half
 * solves
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * They are the last of the front of plan->schur_node, a root: with p pivots its panel holds, unless
 * another backend has made the factor and keeps the complement,
 *
 *          p   size
 *        +----+----+
 *      p | L  |    |
 *        +----+----+        S~ = A22~ - L21 D L21^T of the scaled matrix, rows in the order of
 *   size | L21| S~ |        its index
 *        +----+----+ */
#include "dense/cpu/substitute.h"
#include "solver/cpu/solve/workspace.h"

libsolver_status NAME(cpu_schur_complement)(const void *numeric_, const libsolver_vectors *s,
                                            message *why)
{
    const numeric *f = numeric_;
    const cpu_plan *plan = f->plan;
    const node *v = &f->node[plan->schur_node];
    const int64_t row_step = s->layout == LIBSOLVER_COLUMN_MAJOR ? 1 : s->ld,
                  column_step = row_step == 1 ? s->ld : 1;
    scalar *values = s->values;
    if (s->place != LIBSOLVER_HOST)
        return FAIL(why, LIBSOLVER_NOT_BUILT,
                    "a Schur complement in device memory of a factor that the CPU has made");
    for (int j = v->p; j < v->m; j++) {
        const int32_t cj = v->index[j];
        for (int i = j; i < v->m; i++) {
            const int32_t ci = v->index[i];
            const scalar scaled = v->panel[i + (int64_t)j * v->m];
            const scalar a = scaled / f->scale[ci] / f->scale[cj]; /* powers of two */
            const int64_t r = ci - plan->schur_first, c = cj - plan->schur_first;
            values[r * row_step + c * column_step] =
                i == j ? scalar_diagonal(a, plan->hermitian) : a;
            if (i != j)
                values[c * row_step + r * column_step] = scalar_mirror(a, plan->hermitian);
        }
    }
    return LIBSOLVER_OK;
}

/* x(i) := x(i) / scale(i) for the rows of the complement, c columns. */
static void unscale(const numeric *f, int c, scalar *x)
{
    const cpu_plan *plan = f->plan;
    for (int32_t i = plan->schur_first; i < plan->a.n; i++)
        for (int q = 0; q < c; q++)
            x[(int64_t)i * c + q] /= f->scale[i];
}

/* L and D, and what the pivots take from the complement's rows: x2 := b2 - A21 A11^-1 b1. */
static void condense(const numeric *f, workspace *w, int c)
{
    const node *v = &f->node[f->plan->schur_node];
    NAME(cpu_solve_block)(f, BACKEND_L | BACKEND_D, w, c);
    const int width = (int)substitution_width(c); /* of a panel: c and a few more */
    const scalar *taken = w->front + f->solve_slot[f->plan->schur_node] * width;
    for (int i = v->p; i < v->m; i++)
        for (int q = 0; q < c; q++)
            w->x[(int64_t)v->index[i] * c + q] += taken[(int64_t)i * width + q];
    unscale(f, c, w->x);
}

libsolver_status NAME(cpu_schur_solve)(const void *numeric_, int expand, void *workspace_,
                                       const libsolver_vectors *b, const libsolver_vectors *x,
                                       message *why)
{
    const numeric *f = numeric_;
    workspace *w = workspace_;
    const int32_t n = f->plan->a.n, *row = f->plan->part.perm;
    TRY(NAME(cpu_workspace_fit)(f, w, why));
    for (int64_t first = 0; first < b->columns; first += w->columns) {
        const int c = (int)(b->columns - first < w->columns ? b->columns - first : w->columns);
        if (environment_cancelled(f->plan->env))
            return FAIL(why, LIBSOLVER_CANCELLED, "the solve was cancelled");
        NAME(cpu_load)(n, c, b, first, row, expand ? NULL : f->scale, 1, w->x);
        if (expand) {
            unscale(f, c, w->x);
            NAME(cpu_solve_block)(f, BACKEND_LT, w, c);
        } else
            condense(f, w, c);
        NAME(cpu_store)(n, c, w->x, expand ? f->scale : NULL, row, 1, x, first);
    }
    return LIBSOLVER_OK;
}
