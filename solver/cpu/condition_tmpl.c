/* solver/cpu/condition_tmpl.c: condition and forward errors, by estimates of norms  [Higham 1988: LAPACK's xLACN2]
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * |A^-1 W|_inf with W = diag(w), w >= 0, is the 1-norm of B = W A^-H, which some products with B and B^H = A^-1 W tell within
 * a small factor, nearly always.  w = 1 gives the condition; w = |r| + rounding errors of r bounds what is wrong with x:
 *
 *      |x - A^-1 b| <= |A^-1| |r|,    r = b - A x             [Arioli, Demmel, Duff 1989, section 3]
 *
 * Products are taken with the scaled matrix, B 2^(-j-k) = (W S 2^-j) (S A S)^-H (S 2^-k), the largest entries in both parentheses being
 * near 1, and norms and weights come from sums in long double: A^-1, W or |A| may lie beyond the range of numbers where what is
 * asked for does not. */
#include "solver/cpu/numeric.h"

/* Products with B after which the estimate is taken as it is, as in LAPACK; a sixth is a check by another vector. */
#define MOST_PRODUCTS 5

/* Unit roundoff of sums in `wide`. */
#define WIDE_EPS (sizeof(real) == 4 ? (long double)DBL_EPSILON : LDBL_EPSILON)

typedef struct estimator {
    const numeric *f;
    workspace *w;     /* x: the vector at hand, best: the signs used last */
    const real *left; /* W S 2^-j */
    int power;        /* k */
    int known;        /* whether all products were exact enough */
} estimator;

static void conjugate_if_symmetric(const estimator *e)
{
    for (int32_t i = 0; i < e->f->plan->a.n && SCALAR_COMPLEX; i++)
        e->w->x[i] = scalar_mirror(e->w->x[i], !e->f->plan->hermitian);
}

/* x := W S 2^-j x */
static void times_left(const estimator *e)
{
    for (int32_t i = 0; i < e->f->plan->a.n; i++)
        e->w->x[i] *= e->left[i];
}

/* x := S 2^-k x */
static void times_right(const estimator *e)
{
    const long double power = ldexpl(1, -e->power);
    for (int32_t i = 0; i < e->f->plan->a.n; i++)
        e->w->x[i] *= (real)(e->f->scale[i] * power);
}

/* x := B x;  A^-H is A^-1, or its conjugate if A = A^T.  sum: of |x(i)|. */
static libsolver_status times(estimator *e, double *sum)
{
    times_right(e);
    conjugate_if_symmetric(e);
    TRY(NAME(cpu_times_inverse)(e->f, e->w, &e->known));
    conjugate_if_symmetric(e);
    times_left(e);
    *sum = 0;
    for (int32_t i = 0; i < e->f->plan->a.n; i++)
        *sum += (double)scalar_abs(e->w->x[i]);
    return LIBSOLVER_OK;
}

/* x := B^H x.  row: the first one of largest |x(i)|. */
static libsolver_status times_adjoint(estimator *e, int32_t *row)
{
    times_left(e);
    TRY(NAME(cpu_times_inverse)(e->f, e->w, &e->known));
    times_right(e);
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

/* An estimate of |B 2^(-j-k)|_1, never more than it but for rounding errors; infinite if it cannot be had.  CANCELLED. */
static libsolver_status estimate(estimator *e, double *norm)
{
    const int32_t n = e->f->plan->a.n;
    scalar *x = e->w->x;
    double before = 0, now = 0;
    for (int32_t i = 0; i < n; i++)
        x[i] = (scalar)(1 / (double)n);
    TRY(times(e, norm));
    *norm = e->known ? *norm : INFINITY;
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

static long double wide_abs(wide a)
{
    return SCALAR_COMPLEX ? hypotl(creall(a), cimagl(a)) : fabsl(creall(a));
}

/* Largest sum of |a| in a row.  sum: n, workspace. */
static long double norm_of_matrix(const numeric *f, long double *sum)
{
    const pattern *a = &f->plan->a;
    long double norm = 0;
    for (int32_t i = 0; i < a->n; i++)
        sum[i] = 0;
    for (int32_t j = 0; j < a->n; j++)
        for (int64_t p = a->start[j]; p < a->start[j + 1]; p++) {
            const long double size = wide_abs(f->value[p]);
            sum[a->row[p]] += size;
            sum[j] += a->row[p] == j ? 0 : size;
        }
    for (int32_t i = 0; i < a->n; i++)
        norm = fmaxl(norm, sum[i]);
    return norm;
}

/* Exponent of x, 0 for 0. */
static int exponent_of(long double x)
{
    return x > 0 && isfinite(x) ? ilogbl(x) : 0;
}

/* k */
static int scale_power(const numeric *f)
{
    real most = 0;
    for (int32_t i = 0; i < f->plan->a.n; i++)
        most = f->scale[i] > most ? f->scale[i] : most;
    return exponent_of(most);
}

libsolver_status NAME(cpu_condition)(const void *numeric_, void *workspace_, double *condition)
{
    const numeric *f = numeric_;
    workspace *w = workspace_;
    const int power = scale_power(f);
    double inverse;
    TRY(NAME(cpu_workspace_fit)(f, w));
    const long double norm = norm_of_matrix(f, (long double *)(void *)w->krylov);
    for (int32_t i = 0; i < f->plan->a.n; i++)
        w->bound[i] = (real)ldexpl(f->scale[i], -power);
    TRY(estimate(&(estimator){f, w, w->bound, power, 1}, &inverse));
    *condition = f->plan->a.n == 0 ? 1 : (double)(ldexpl(norm, 2 * power) * inverse);
    return LIBSOLVER_OK;
}

/* sum := |b - A x| and what rounding errors of this sum can be.  In the workspace: rhs is b, solution is x. */
static void sum_weights(const numeric *f, workspace *w, long double *sum)
{
    const pattern *a = &f->plan->a;
    scalar *terms = w->best; /* of each row's sum */
    for (int32_t i = 0; i < a->n; i++) {
        w->residual[i] = w->rhs[i];
        sum[i] = wide_abs(w->rhs[i]);
        terms[i] = 1;
    }
    for (int32_t j = 0; j < a->n; j++)
        for (int64_t p = a->start[j]; p < a->start[j + 1]; p++) {
            const int32_t rows[2] = {a->row[p], j};
            for (int k = 0; k < (rows[0] == j ? 1 : 2); k++) {
                const wide entry = k == 0 ? f->value[p] : scalar_mirror(f->value[p], f->plan->hermitian);
                const wide product = entry * w->solution[rows[1 - k]];
                w->residual[rows[k]] -= product;
                sum[rows[k]] += wide_abs(product);
                terms[rows[k]] += 1;
            }
        }
    for (int32_t i = 0; i < a->n; i++) {
        const long double r = wide_abs(w->residual[i]);
        const long double unknown = (1 + scalar_real(terms[i])) * WIDE_EPS * (SCALAR_COMPLEX ? 3 : 1) * sum[i];
        sum[i] = r + EPS * r + unknown;
    }
}

/* left := W S 2^-j.  Returns j. */
static int weights(const numeric *f, workspace *w, real *left)
{
    const int32_t n = f->plan->a.n;
    long double *sum = (long double *)(void *)w->krylov, most = 0;
    sum_weights(f, w, sum);
    for (int32_t i = 0; i < n; i++) {
        sum[i] *= f->scale[i];
        most = sum[i] > most || isnan(sum[i]) ? sum[i] : most;
    }
    const int power = exponent_of(most);
    for (int32_t i = 0; i < n; i++)
        left[i] = (real)ldexpl(sum[i], -power);
    return power;
}

libsolver_status NAME(cpu_forward_error)(const void *numeric_, void *workspace_, const libsolver_vectors *b,
                                         const libsolver_vectors *x, double *forward_error)
{
    const numeric *f = numeric_;
    workspace *w = workspace_;
    const int32_t n = f->plan->a.n;
    const int power = scale_power(f);
    TRY(NAME(cpu_workspace_fit)(f, w));
    for (int64_t column = 0; column < b->columns; column++) {
        double error;
        long double norm = 0;
        if (environment_cancelled(f->plan->env))
            return LIBSOLVER_CANCELLED;
        NAME(cpu_load)(n, 1, b, column, f->plan->part.perm, NULL, 1, w->rhs);
        NAME(cpu_load)(n, 1, x, column, f->plan->part.perm, NULL, 1, w->solution);
        for (int32_t i = 0; i < n; i++)
            norm = fmaxl(norm, wide_abs(w->solution[i]));
        const int left_power = weights(f, w, w->bound);
        TRY(estimate(&(estimator){f, w, w->bound, power, 1}, &error));
        const long double unscaled = ldexpl(error, left_power + power);
        forward_error[column] = n == 0 ? 0 : (double)(norm > 0 ? unscaled / norm : unscaled);
    }
    return LIBSOLVER_OK;
}
