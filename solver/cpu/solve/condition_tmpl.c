/* solver/cpu/solve/condition_tmpl.c: condition and forward errors, by estimates of norms  [Higham
 * 1988: LAPACK's xLACN2]
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * |A^-1 W|_inf with W = diag(w), w >= 0, is the 1-norm of B = W A^-H, which some products with B
 * and B^H = A^-1 W tell within a small factor, nearly always.  w = 1 gives the condition; w = |r| +
 * rounding errors of r bounds what is wrong with x:
 *
 *      |x - A^-1 b| <= |A^-1| |r|,    r = b - A x      [Arioli, Demmel, Duff 1989, section 3]
 *
 * Products are taken with the scaled matrix, B 2^(-j-k) = (W S 2^-j) (S A S)^-H (S 2^-k), the
 * largest entries in both parentheses being near 1, and norms and weights come from sums in long
 * double: A^-1, W or |A| may lie beyond the range of numbers where what is asked for does not. */
#include "solver/cpu/solve/workspace.h"

/* Products with B after which a climb ends: from the first vector as in LAPACK, which takes the
 * product with the second one as a check.  Going on from there too leaves far fewer matrices whose
 * norm is missed, those of several components above all: of 20932 matrices of fuzz_calls (seed 22),
 * 1 was estimated more than three times too low; 24 with the second vector as a check only. */
#define MOST_PRODUCTS 5
#define MOST_PRODUCTS_SECOND 2

/* Vectors that products are taken with, beside the unit vectors 0, ..., n - 1. */
enum { UNIFORM = -1, ALTERNATING = -2, SIGNS = -3 };

/* Careful products are refined until their residual is at most this part of |S A S||x| + |b| in
 * each row, or a step has changed them by no more than that part, or so many have been made: two
 * but in mixed precision, where each gains four digits. */
#define GOOD_RESIDUAL (16 * EPS)
#define SMALL_CHANGE 0.01
#define MOST_STEPS 8
/* A product that is less than this part of what it was when it was not careful was rounding errors
 * then. */
#define SAME 0.9

/* Unit roundoff of sums in `wide`. */
#define WIDE_EPS (sizeof(real) == 4 ? (long double)DBL_EPSILON : LDBL_EPSILON)

typedef struct estimator {
    const numeric *f;
    workspace *w;     /* x: the vector at hand, best: the signs used last */
    const real *left; /* W S 2^-j */
    int power;        /* k */
    int known;        /* whether all products were exact enough */
    int is_careful;   /* entries of products are exact however small they are beside others */
    double norm;      /* the largest so far, of ... */
    int32_t vector;   /* ... B times this */
    message *why;
} estimator;

static long double wide_abs(wide a)
{
    return SCALAR_COMPLEX ? hypotl(creall(a), cimagl(a)) : fabsl(creall(a));
}

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

/* x := vector; of 1-norm 1, but for the signs */
static void begin_with(const estimator *e, int32_t vector)
{
    const int32_t n = e->f->plan->a.n;
    const double part = vector == UNIFORM ? 1 / (double)n : 2 / (3 * (double)n);
    for (int32_t i = 0; i < n; i++)
        if (vector == UNIFORM)
            e->w->x[i] = (scalar)part;
        else if (vector == ALTERNATING)
            e->w->x[i] = (scalar)((i % 2 ? -part : part) * (1 + (double)i / (double)(n - 1)));
        else
            e->w->x[i] = vector == SIGNS ? e->w->best[i] : i == vector;
}

/* x := what (S A S)^-1 is to be multiplied with for B^H signs, or for B vector: A^-H is A^-1, or
 * its conjugate if A = A^T */
static void right_side(const estimator *e, int32_t vector)
{
    begin_with(e, vector);
    if (vector == SIGNS)
        times_left(e);
    else {
        times_right(e);
        conjugate_if_symmetric(e);
    }
}

/* x := b - S A S y, b in x and y in w->residual.  Returns the largest part of |S A S||y| + |b| that
 * an entry is. */
static double residual_part(const numeric *f, workspace *w)
{
    const pattern *a = &f->plan->a;
    long double *bound = (long double *)(void *)w->krylov;
    wide *left = (wide *)(void *)(bound + a->n);
    double part = 0;
    for (int32_t i = 0; i < a->n; i++) {
        left[i] = w->x[i];
        bound[i] = wide_abs(w->x[i]);
    }
    for (int32_t j = 0; j < a->n; j++)
        for (int64_t p = a->start[j]; p < a->start[j + 1]; p++) {
            const int32_t rows[2] = {a->row[p], j};
            const scalar scaled = f->value[p] * (f->scale[rows[0]] * f->scale[j]);
            for (int k = 0; k < (rows[0] == j ? 1 : 2); k++) {
                const wide entry = k == 0 ? scaled : scalar_mirror(scaled, f->plan->hermitian);
                const wide product = entry * w->residual[rows[1 - k]];
                left[rows[k]] -= product;
                bound[rows[k]] += wide_abs(product);
            }
        }
    for (int32_t i = 0; i < a->n; i++) {
        if (left[i] != 0)
            part = fmax(part, (double)(wide_abs(left[i]) / bound[i]));
        w->x[i] = (scalar)left[i];
    }
    return part;
}

/* The largest |x(i)| once x is unscaled for what follows. */
static long double largest(const estimator *e, int32_t vector)
{
    long double most = 0;
    for (int32_t i = 0; i < e->f->plan->a.n; i++) {
        const long double size =
            wide_abs(e->w->x[i]) * (vector == SIGNS ? e->f->scale[i] : e->left[i]);
        most = size > most ? size : most;
    }
    return most;
}

/* Refines w->x.  A solution that is as exact as its largest entries need it may have others, large
 * once they are unscaled, that are all error; a step makes each as exact as the entries of A are
 * [Skeel 1980]. */
static libsolver_status refine(estimator *e, int32_t vector)
{
    workspace *w = e->w;
    const int32_t n = e->f->plan->a.n;
    for (int step = 0; step < MOST_STEPS; step++) {
        int known = 1;
        if (environment_cancelled(e->f->plan->env))
            return FAIL(e->why, LIBSOLVER_CANCELLED, "the estimate was cancelled");
        for (int32_t i = 0; i < n; i++)
            w->residual[i] = w->x[i];
        right_side(e, vector);
        const int is_good = residual_part(e->f, w) <= GOOD_RESIDUAL;
        if (!is_good)
            TRY(NAME(cpu_times_inverse)(e->f, w, &known, e->why));
        const long double change = is_good || !known ? 0 : largest(e, vector);
        for (int32_t i = 0; i < n; i++)
            w->x[i] = (scalar)(w->residual[i] + (change > 0 ? w->x[i] : 0));
        if (!(change > SMALL_CHANGE * largest(e, vector)))
            break;
    }
    return LIBSOLVER_OK;
}

/* x := (S A S)^-1 right_side */
static libsolver_status product(estimator *e, int32_t vector)
{
    right_side(e, vector);
    TRY(NAME(cpu_times_inverse)(e->f, e->w, &e->known, e->why));
    return e->is_careful ? refine(e, vector) : LIBSOLVER_OK;
}

/* x := B vector.  sum: of |x(i)|. */
static libsolver_status times(estimator *e, int32_t vector, double *sum)
{
    TRY(product(e, vector));
    conjugate_if_symmetric(e);
    times_left(e);
    *sum = 0;
    for (int32_t i = 0; i < e->f->plan->a.n; i++)
        *sum += (double)scalar_abs(e->w->x[i]);
    if (*sum > e->norm || e->norm == 0) {
        e->norm = *sum;
        e->vector = vector;
    }
    return LIBSOLVER_OK;
}

/* x := B^H signs.  row: the first one of largest |x(i)|. */
static libsolver_status times_adjoint(estimator *e, int32_t *row)
{
    TRY(product(e, SIGNS));
    times_right(e);
    *row = 0;
    for (int32_t i = 0; i < e->f->plan->a.n; i++)
        *row = scalar_abs(e->w->x[i]) > scalar_abs(e->w->x[*row]) ? i : *row;
    return LIBSOLVER_OK;
}

/* best(i) := x(i) / |x(i)|, 1 for 0.  Returns whether these are the signs met last, which happens
 * to real vectors. */
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

/* Climbs from a vector: the unit vector along which the norm of B x grows fastest takes its place,
 * as long as that helps.  CANCELLED. */
static libsolver_status climb(estimator *e, int32_t vector, int most_products)
{
    double before, now;
    TRY(times(e, vector, &before));
    for (int32_t i = 0; i < e->f->plan->a.n; i++)
        e->w->best[i] = 0;
    take_signs(e);
    for (int k = 1; k < most_products && e->known; k++) {
        int32_t row;
        if (environment_cancelled(e->f->plan->env))
            return FAIL(e->why, LIBSOLVER_CANCELLED, "the estimate was cancelled");
        TRY(times_adjoint(e, &row));
        if (e->vector >= 0 && scalar_abs(e->w->x[row]) == scalar_abs(e->w->x[e->vector]))
            break;
        TRY(times(e, row, &now));
        if (take_signs(e) || !(now > before))
            break;
        before = now;
    }
    return LIBSOLVER_OK;
}

static libsolver_status climb_from_both(estimator *e)
{
    const int is_alone = e->f->plan->a.n <= 1;
    e->norm = 0;
    TRY(climb(e, UNIFORM, is_alone ? 1 : MOST_PRODUCTS));
    return is_alone || !e->known ? LIBSOLVER_OK : climb(e, ALTERNATING, MOST_PRODUCTS_SECOND);
}

/* An estimate of |B 2^(-j-k)|_1, never more than it but for rounding errors; infinite if it cannot
 * be had.  CANCELLED. */
static libsolver_status estimate(estimator *e, double *norm)
{
    TRY(climb_from_both(e));
    *norm = INFINITY;
    if (!e->known)
        return LIBSOLVER_OK;
    const double found = e->norm;
    e->is_careful = 1;
    e->norm = 0;
    TRY(times(e, e->vector, norm));
    if (*norm < SAME * found) /* where rounding errors led */
        TRY(climb_from_both(e));
    *norm = e->known && !isnan(e->norm) ? fmax(e->norm, *norm) : INFINITY;
    return LIBSOLVER_OK;
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

libsolver_status NAME(cpu_condition)(const void *numeric_, void *workspace_, double *condition,
                                     message *why)
{
    const numeric *f = numeric_;
    workspace *w = workspace_;
    const int power = scale_power(f);
    double inverse;
    TRY(NAME(cpu_workspace_fit)(f, w, why));
    const long double norm = norm_of_matrix(f, (long double *)(void *)w->krylov);
    for (int32_t i = 0; i < f->plan->a.n; i++)
        w->bound[i] = (real)ldexpl(f->scale[i], -power);
    TRY(estimate(
        &(estimator){.f = f, .w = w, .left = w->bound, .power = power, .known = 1, .why = why},
        &inverse));
    *condition = f->plan->a.n == 0 ? 1 : (double)(ldexpl(norm, 2 * power) * inverse);
    return LIBSOLVER_OK;
}

/* sum := |b - A x| and what rounding errors of this sum can be.  In the workspace: rhs is b,
 * solution is x. */
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
                const wide entry =
                    k == 0 ? f->value[p] : scalar_mirror(f->value[p], f->plan->hermitian);
                const wide product = entry * w->solution[rows[1 - k]];
                w->residual[rows[k]] -= product;
                sum[rows[k]] += wide_abs(product);
                terms[rows[k]] += 1;
            }
        }
    for (int32_t i = 0; i < a->n; i++) {
        const long double r = wide_abs(w->residual[i]);
        const long double unknown =
            (1 + scalar_real(terms[i])) * WIDE_EPS * (SCALAR_COMPLEX ? 3 : 1) * sum[i];
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

libsolver_status NAME(cpu_forward_error)(const void *numeric_, void *workspace_,
                                         const libsolver_vectors *b, const libsolver_vectors *x,
                                         double *forward_error, message *why)
{
    const numeric *f = numeric_;
    workspace *w = workspace_;
    const int32_t n = f->plan->a.n;
    const int power = scale_power(f);
    TRY(NAME(cpu_workspace_fit)(f, w, why));
    for (int64_t column = 0; column < b->columns; column++) {
        double error;
        long double norm = 0;
        if (environment_cancelled(f->plan->env))
            return FAIL(why, LIBSOLVER_CANCELLED, "the estimate was cancelled");
        NAME(cpu_load)(n, 1, b, column, f->plan->part.perm, NULL, 1, w->rhs);
        NAME(cpu_load)(n, 1, x, column, f->plan->part.perm, NULL, 1, w->solution);
        for (int32_t i = 0; i < n; i++) {
            const long double size = wide_abs(w->solution[i]);
            norm = size > norm || isnan(size) ? size : norm;
        }
        if (!isfinite(norm)) { /* no bound is too large for it, and quotients would be NaNs */
            forward_error[column] = INFINITY;
            continue;
        }
        const int left_power = weights(f, w, w->bound);
        TRY(estimate(
            &(estimator){.f = f, .w = w, .left = w->bound, .power = power, .known = 1, .why = why},
            &error));
        const long double unscaled = ldexpl(error, left_power + power);
        forward_error[column] = n == 0 ? 0 : (double)(norm > 0 ? unscaled / norm : unscaled);
    }
    return LIBSOLVER_OK;
}
