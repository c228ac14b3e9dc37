/* solver/cpu/condition_tmpl.c: condition and forward errors, by estimates of norms  [Higham 1988: LAPACK's xLACN2]
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * |A^-1 W|_inf with W = diag(w), w >= 0, is the 1-norm of B = W A^-H, which some products with B and B^H = A^-1 W tell within
 * a small factor, nearly always.  w = 1 gives the condition; w = |r| + rounding errors of r bounds what is wrong with x:
 *
 *      |x - A^-1 b| <= |A^-1| |r|,    r = b - A x             [Arioli, Demmel, Duff 1989, section 3] */
#include "solver/cpu/numeric.h"

/* Products with B after which the estimate is taken as it is, as in LAPACK; a sixth is a check by another vector. */
#define MOST_PRODUCTS 5

/* Unit roundoff of sums in `wide`. */
#define WIDE_EPS (sizeof(real) == 4 ? (long double)DBL_EPSILON : LDBL_EPSILON)

typedef struct estimator {
    const numeric *f;
    workspace *w;       /* x: the vector at hand, best: the signs used last */
    const real *weight; /* w, NULL: 1 */
    int is_scaled;      /* A stands for the scaled matrix, and zero pivots have zero rows and columns of A^-1 */
    int known;          /* whether all products were exact enough */
} estimator;

static void conjugate_if_symmetric(const estimator *e)
{
    for (int32_t i = 0; i < e->f->plan->a.n && SCALAR_COMPLEX; i++)
        e->w->x[i] = scalar_mirror(e->w->x[i], !e->f->plan->hermitian);
}

static void weigh(const estimator *e)
{
    for (int32_t i = 0; i < e->f->plan->a.n && e->weight; i++)
        e->w->x[i] *= e->weight[i];
}

/* x := A^-1 x */
static libsolver_status times_inverse(estimator *e)
{
    if (!e->is_scaled)
        return NAME(cpu_times_inverse)(e->f, e->w, &e->known);
    for (int32_t i = 0; i < e->f->plan->schur_size; i++)
        e->w->x[e->f->plan->schur_first + i] = 0;
    NAME(cpu_solve_block)(e->f, BACKEND_L | BACKEND_D | BACKEND_LT, e->w, 1);
    return LIBSOLVER_OK;
}

/* x := B x;  A^-H is A^-1, or its conjugate if A = A^T.  sum: of |x(i)|. */
static libsolver_status times(estimator *e, double *sum)
{
    conjugate_if_symmetric(e);
    TRY(times_inverse(e));
    conjugate_if_symmetric(e);
    weigh(e);
    *sum = 0;
    for (int32_t i = 0; i < e->f->plan->a.n; i++)
        *sum += (double)scalar_abs(e->w->x[i]);
    return LIBSOLVER_OK;
}

/* x := B^H x.  row: the first one of largest |x(i)|. */
static libsolver_status times_adjoint(estimator *e, int32_t *row)
{
    weigh(e);
    TRY(times_inverse(e));
    *row = 0;
    for (int32_t i = 0; i < e->f->plan->a.n; i++)
        *row = scalar_abs(e->w->x[i]) > scalar_abs(e->w->x[*row]) ? i : *row;
    return LIBSOLVER_OK;
}

/* x(i) := x(i) / |x(i)|, 1 for 0.  Returns whether these are the signs met last, which happens to real vectors. */
static int take_signs(const estimator *e)
{
    int same = !SCALAR_COMPLEX;
    for (int32_t i = 0; i < e->f->plan->a.n; i++) {
        scalar *x = &e->w->x[i];
        const real size = scalar_abs(*x);
        *x = size > 0 ? (scalar)(*x / size) : 1;
        same = same && *x == e->w->best[i];
        e->w->best[i] = *x;
    }
    return same;
}

static void unit_vector(const estimator *e, int32_t row)
{
    for (int32_t i = 0; i < e->f->plan->a.n; i++)
        e->w->x[i] = i == row;
}

/* An estimate of |B|_1, never more than it but for rounding errors; infinite if it cannot be had.  CANCELLED. */
static libsolver_status estimate(estimator *e, double *norm)
{
    const int32_t n = e->f->plan->a.n;
    scalar *x = e->w->x;
    double before = 0, now = 0;
    for (int32_t i = 0; i < n; i++)
        x[i] = (scalar)(1 / (double)n);
    TRY(times(e, norm));
    if (n <= 1)
        return LIBSOLVER_OK;
    for (int32_t i = 0; i < n; i++)
        e->w->best[i] = 0;
    take_signs(e);
    int32_t row, next;
    TRY(times_adjoint(e, &row));
    for (int k = 1; k < MOST_PRODUCTS && e->known; k++) {
        if (environment_cancelled(e->f->plan->env))
            return LIBSOLVER_CANCELLED;
        unit_vector(e, row);
        before = *norm;
        TRY(times(e, &now));
        *norm = now > before ? now : before;
        if (take_signs(e) || !(now > before))
            break;
        TRY(times_adjoint(e, &next));
        if (scalar_abs(x[row]) == scalar_abs(x[next]))
            break;
        row = next;
    }
    for (int32_t i = 0; i < n; i++)
        x[i] = (scalar)((i % 2 ? -1 : 1) * (1 + (double)i / (double)(n - 1)));
    TRY(times(e, &now));
    *norm = e->known ? fmax(*norm, 2 * now / (3 * (double)n)) : INFINITY;
    return LIBSOLVER_OK;
}

libsolver_status NAME(cpu_scaled_inverse_norm)(const numeric *f, workspace *w, const real *weight, double *norm)
{
    return estimate(&(estimator){.f = f, .w = w, .weight = weight, .is_scaled = 1, .known = 1}, norm);
}

libsolver_status NAME(cpu_condition)(const void *numeric_, void *workspace_, double *condition)
{
    const numeric *f = numeric_;
    workspace *w = workspace_;
    double inverse, norm = 0;
    TRY(NAME(cpu_workspace_fit)(f, w));
    TRY(estimate(&(estimator){.f = f, .w = w, .known = 1}, &inverse));
    for (int32_t i = 0; i < f->plan->a.n; i++)
        norm = fmax(norm, (double)f->row_sum[i]);
    *condition = f->plan->a.n == 0 ? 1 : norm * inverse;
    return LIBSOLVER_OK;
}

/* weight := |b - A x| and what rounding errors of this sum can be.  In the workspace: rhs is b, solution is x. */
static void weights(const numeric *f, workspace *w, real *weight)
{
    const pattern *a = &f->plan->a;
    scalar *terms = w->best; /* of each row's sum */
    for (int32_t i = 0; i < a->n; i++) {
        w->residual[i] = w->rhs[i];
        weight[i] = scalar_abs(w->rhs[i]);
        terms[i] = 1;
    }
    for (int32_t j = 0; j < a->n; j++)
        for (int64_t p = a->start[j]; p < a->start[j + 1]; p++) {
            const int32_t rows[2] = {a->row[p], j};
            for (int k = 0; k < (rows[0] == j ? 1 : 2); k++) {
                const wide entry = k == 0 ? f->value[p] : scalar_mirror(f->value[p], f->plan->hermitian);
                const wide product = entry * w->solution[rows[1 - k]];
                w->residual[rows[k]] -= product;
                weight[rows[k]] += scalar_abs((scalar)product);
                terms[rows[k]] += 1;
            }
        }
    for (int32_t i = 0; i < a->n; i++) {
        const real r = scalar_abs((scalar)w->residual[i]);
        const long double unknown = (1 + scalar_real(terms[i])) * WIDE_EPS * (SCALAR_COMPLEX ? 3 : 1) * weight[i];
        weight[i] = r + EPS * r + (real)unknown;
    }
}

libsolver_status NAME(cpu_forward_error)(const void *numeric_, void *workspace_, const libsolver_vectors *b,
                                         const libsolver_vectors *x, double *forward_error)
{
    const numeric *f = numeric_;
    workspace *w = workspace_;
    const int32_t n = f->plan->a.n;
    TRY(NAME(cpu_workspace_fit)(f, w));
    for (int64_t column = 0; column < b->columns; column++) {
        double error, norm = 0;
        if (environment_cancelled(f->plan->env))
            return LIBSOLVER_CANCELLED;
        NAME(cpu_load)(n, 1, b, column, f->plan->part.perm, NULL, 1, w->rhs);
        NAME(cpu_load)(n, 1, x, column, f->plan->part.perm, NULL, 1, w->solution);
        for (int32_t i = 0; i < n; i++)
            norm = fmax(norm, (double)scalar_abs(w->solution[i]));
        weights(f, w, w->bound);
        TRY(estimate(&(estimator){.f = f, .w = w, .weight = w->bound, .known = 1}, &error));
        forward_error[column] = n == 0 ? 0 : norm > 0 ? error / norm : error;
    }
    return LIBSOLVER_OK;
}
