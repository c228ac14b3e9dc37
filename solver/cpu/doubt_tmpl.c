/* solver/cpu/doubt_tmpl.c: pivots in doubt: whether the inertia counted on D can be another than that of A
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * What follows is about the scaled matrix, A for short, without the rows that are not eliminated.
 *
 * Pivots that are not zero.  L D L^H = A + E with |E| <= c eps |L||D||L^H|, c being small [Higham 2002, theorem 10.3 and section
 * 11.1].  Signs could differ only if some matrix between A and A + E were singular, which none is where
 *
 *      | |(L D L^H)^-1| c eps |L||D||L^H| |_inf < 1,
 *
 * a norm that some solves estimate.  It holds all that is known of how errors grow on the way to the last pivots.
 *
 * Zero pivots.  With N for the rows of the other pivots, W for those of the zero ones, A is as singular as the complement
 * S = A_WW - A_WN A_NN^-1 A_NW is, of which working precision only knows that it is small.  For a vector x_W of random numbers,
 * x_N = -A_NN^-1 A_NW x_W is found by refinement to twice the working precision, all products and sums being as precise
 * [Ogita, Rump, Oishi 2005, algorithm 5.3]: then A x is S x_W in the rows W.  If all of it is zero to that precision, then so is S,
 * a random vector being in the null space of no other. */
#include "solver/cpu/numeric.h"
#include <string.h>

/* c eps: rounding errors are about EPS of each sum, sums being long but of errors with either sign, and estimates of norms may be
 * some times too small. */
#define ROUNDING (32 * EPS)

/* A row of A x is zero if it is at most this times |A||x|, the largest that each entry of x has been counting: it may have to become
 * 0.  Sums are good to about 2^-104. */
#define TWICE_PRECISE 0x1p-90

/* Steps of the refinement of x, which ends when PATIENCE of them have not taken a factor of LEAST_GAIN from the residual: entries that
 * are to be 0 may come out as rounding errors first, beside which theirs are large. */
#define MOST_STEPS 20
#define PATIENCE 2
#define LEAST_GAIN 4

/* Reals of a scalar. */
#define PARTS (1 + SCALAR_COMPLEX)

typedef struct doubt {
    workspace w;                                           /* for one column; only what cpu_solve_block and estimates need */
    double *high, *low, *residual, *residual_low;          /* n PARTS each: x and A x, sums of two numbers */
    double *most, *terms;                                  /* n each: largest |x| so far, |A| times it */
} doubt;

/* A random number in [1, 2), the same in every run [splitmix64: Steele, Lea, Flood 2014]. */
static double random_number(int64_t i)
{
    uint64_t z = ((uint64_t)i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return 1 + (double)((z ^ (z >> 31)) >> 12) * 0x1p-52;
}

/* ---- Memory -------------------------------------------------------------------------------------------- */

void NAME(cpu_free_doubt)(numeric *f)
{
    memory *m = &f->plan->env->memory;
    doubt *t = f->doubt;
    if (!t)
        return;
    memory_free(m, t->w.x);
    memory_free(m, t->w.best);
    memory_free(m, t->w.bound);
    memory_free(m, t->w.front);
    memory_free(m, t->w.pending);
    memory_free(m, t->high);
    memory_free(m, t);
    f->doubt = NULL;
}

static int is_large_enough(const numeric *f)
{
    const doubt *t = f->doubt;
    return t && (is_simplicial(f) || (t->w.rows >= f->solve_entries && t->w.nodes >= f->plan->part.supernodes));
}

static libsolver_status take_memory(numeric *f, backend_report *report)
{
    memory *m = &f->plan->env->memory;
    const int64_t n = f->plan->a.n;
    if (is_large_enough(f))
        return LIBSOLVER_OK;
    NAME(cpu_free_doubt)(f);
    doubt *t = f->doubt = memory_zeroed(m, 1, sizeof(doubt));
    if (!t)
        return LIBSOLVER_OUT_OF_MEMORY;
    const int fronts = !is_simplicial(f);
    t->w.columns = 1;
    t->w.x = memory_new(m, n, sizeof(scalar));
    t->w.best = memory_new(m, n, sizeof(scalar));
    t->w.bound = memory_new(m, n, sizeof(real));
    t->high = memory_new(m, (4 * PARTS + 2) * n, sizeof(double));
    if (fronts) {
        t->w.rows = f->solve_entries;
        t->w.nodes = f->plan->part.supernodes;
        t->w.front = memory_new(m, t->w.rows, sizeof(scalar));
        t->w.pending = memory_new(m, t->w.nodes, sizeof(int32_t));
    }
    if (!t->w.x || !t->w.best || !t->w.bound || !t->high || (fronts && (!t->w.front || !t->w.pending))) {
        NAME(cpu_free_doubt)(f);
        return LIBSOLVER_OUT_OF_MEMORY;
    }
    t->low = t->high + n * PARTS;
    t->residual = t->low + n * PARTS;
    t->residual_low = t->residual + n * PARTS;
    t->most = t->residual_low + n * PARTS;
    t->terms = t->most + n;
    report->growths++;
    return LIBSOLVER_OK;
}

/* ---- Pivots that are not zero -------------------------------------------------------------------------- */

/* bound += |L||D||L^H| 1 for one column of L: own, and count rows below it; weight: the column's entry of |D||L^H| 1. */
static void add_column(int32_t own, int count, const int32_t *row, const scalar *l, real unit, real weight, real *bound)
{
    bound[own] += unit * weight;
    for (int p = 0; p < count; p++)
        bound[row[p]] += scalar_abs(l[p]) * weight;
}

static real sum_of_column(int count, const scalar *l, real unit)
{
    real sum = unit;
    for (int p = 0; p < count; p++)
        sum += scalar_abs(l[p]);
    return sum;
}

static void add_columns(const numeric *f, real *bound)
{
    const simplicial *s = f->plan->simplicial;
    for (int32_t k = 0; k < s->n; k++) {
        const int count = s->start[k + 1] - s->start[k];
        const scalar *l = f->columns + s->n + s->start[k];
        const real d = scalar_real(f->columns[k]);
        add_column(s->order[k], count, s->row + s->start[k], l, 1, d * sum_of_column(count, l, 1), bound);
    }
}

/* Column i of a front: its length below the diagonal, its entries there and on it. */
static const scalar *column_of(const numeric *f, const node *v, int i, int *count, real *unit)
{
    const scalar *column = v->panel + i + (int64_t)i * v->m;
    *count = v->m - i - 1;
    *unit = f->cholesky ? scalar_real(*column) : 1;
    return column + 1;
}

static void add_front(const numeric *f, const node *v, real *bound)
{
    for (int i = 0, pivots; i < v->p; i += pivots) {
        pivots = !f->cholesky && v->e[i] != 0 ? 2 : 1;
        real sum[2] = {0}, weight[2], unit;
        int count;
        for (int q = 0; q < pivots; q++) {
            const scalar *l = column_of(f, v, i + q, &count, &unit);
            sum[q] = sum_of_column(count, l, unit);
        }
        weight[0] = f->cholesky ? sum[0] : scalar_abs(v->d[i]) * sum[0];
        if (pivots == 2) {
            weight[0] += scalar_abs(v->e[i]) * sum[1];
            weight[1] = scalar_abs(v->e[i]) * sum[0] + scalar_abs(v->d[i + 1]) * sum[1];
        }
        for (int q = 0; q < pivots; q++) {
            const scalar *l = column_of(f, v, i + q, &count, &unit);
            add_column(v->index[i + q], count, v->index + i + q + 1, l, unit, weight[q], bound);
        }
    }
}

/* x := 0 in the rows that are not eliminated. */
static void clear_kept_rows(const numeric *f, scalar *x)
{
    for (int32_t i = 0; i < f->plan->schur_size; i++)
        x[f->plan->schur_first + i] = 0;
}

/* The inverse times a random vector is about as large as its largest column, or larger, but by chance.  Whether TRIALS vectors give
 * so little that nothing needs to be estimated: that all of them are CLEARLY times too small happens once in a million times. */
#define TRIALS 3
#define CLEARLY 64
static int is_clearly_small(const numeric *f, workspace *w)
{
    const int32_t n = f->plan->a.n;
    double most = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        double sum = 0;
        for (int32_t i = 0; i < n; i++)
            w->x[i] = (scalar)(4 * random_number((int64_t)trial * n + i) - 6); /* in [-2, 2) */
        clear_kept_rows(f, w->x);
        NAME(cpu_solve_block)(f, BACKEND_L | BACKEND_D | BACKEND_LT, w, 1);
        for (int32_t i = 0; i < n; i++)
            sum += (double)w->bound[i] * (double)scalar_abs(w->x[i]);
        most = sum > most || sum != sum ? sum : most;
    }
    return ROUNDING * CLEARLY * most < 1;
}

/* Whether the errors made leave the signs of the nonzero pivots as they are. */
static libsolver_status signs_are_known(const numeric *f, int *known)
{
    workspace *w = &f->doubt->w;
    double norm;
    memset(w->bound, 0, sizeof(real) * (size_t)f->plan->a.n);
    if (is_simplicial(f))
        add_columns(f, w->bound);
    else
        for (int32_t s = 0; s < f->plan->part.supernodes; s++)
            add_front(f, &f->node[s], w->bound);
    for (int32_t i = 0; i < f->plan->schur_size; i++)
        w->bound[f->plan->schur_first + i] = 0;
    *known = is_clearly_small(f, w);
    if (*known)
        return LIBSOLVER_OK;
    if (environment_cancelled(f->plan->env))
        return LIBSOLVER_CANCELLED;
    TRY(NAME(cpu_scaled_inverse_norm)(f, w, w->bound, &norm));
    *known = ROUNDING * norm < 1; /* not if it is a NaN */
    return LIBSOLVER_OK;
}

/* ---- Zero pivots --------------------------------------------------------------------------------------- */

/* high + low += x, high being the rounded sum */
static inline void add_number(double x, double *high, double *low)
{
    const double sum = *high + x, part = sum - *high;
    *low += (*high - (sum - part)) + (x - part);
    *high = sum;
}

/* high + low += a (x + y), y small beside x */
static inline void add_product(double a, double x, double y, double *high, double *low)
{
    const double product = a * x;
    add_number(product, high, low);
    *low += fma(a, x, -product) + a * y;
}

/* Row i of the residual += a x(j) */
static inline void add_entry(doubt *t, int32_t i, scalar a, int32_t j)
{
    double *high = t->residual + (int64_t)i * PARTS, *low = t->residual_low + (int64_t)i * PARTS;
    const double *x = t->high + (int64_t)j * PARTS, *y = t->low + (int64_t)j * PARTS;
#if SCALAR_COMPLEX
    const double re = (double)creal(a), im = (double)cimag(a);
    add_product(re, x[0], y[0], &high[0], &low[0]);
    add_product(-im, x[1], y[1], &high[0], &low[0]);
    add_product(re, x[1], y[1], &high[1], &low[1]);
    add_product(im, x[0], y[0], &high[1], &low[1]);
#else
    add_product((double)a, x[0], y[0], high, low);
#endif
}

/* |a| of a pair of numbers */
static double size_of(const double *a)
{
    return SCALAR_COMPLEX ? hypot(a[0], a[PARTS - 1]) : fabs(a[0]);
}

/* residual := A x, each row rounded once;  most := max(most, |x|), terms := |A| most */
static void multiply(const numeric *f, doubt *t)
{
    const pattern *a = &f->plan->a;
    memset(t->residual, 0, 2 * sizeof(double) * PARTS * (size_t)a->n);
    for (int32_t i = 0; i < a->n; i++) {
        t->most[i] = fmax(t->most[i], size_of(t->high + (int64_t)i * PARTS));
        t->terms[i] = 0;
    }
    for (int32_t j = 0; j < a->n; j++)
        for (int64_t p = a->start[j]; p < a->start[j + 1]; p++) {
            const int32_t i = a->row[p];
            const scalar entry = f->value[p] * (f->scale[j] * f->scale[i]); /* powers of two */
            const double size = (double)scalar_abs(entry);
            add_entry(t, i, entry, j);
            t->terms[i] += size * t->most[j];
            if (i != j) {
                add_entry(t, j, scalar_mirror(entry, f->plan->hermitian), i);
                t->terms[j] += size * t->most[i];
            }
        }
    for (int64_t i = 0; i < (int64_t)a->n * PARTS; i++)
        t->residual[i] += t->residual_low[i];
}

static void choose_vector(const numeric *f, doubt *t)
{
    memset(t->high, 0, 2 * sizeof(double) * PARTS * (size_t)f->plan->a.n);
    memset(t->most, 0, sizeof(double) * (size_t)f->plan->a.n);
    for (int32_t s = 0; s < f->plan->part.supernodes; s++) {
        const node *v = &f->node[s];
        for (int i = 0; i < v->p; i++) {
            if (v->e[i] != 0)
                i++; /* a 2x2 pivot */
            else if (v->d[i] == 0)
                t->high[(int64_t)v->index[i] * PARTS] = random_number(v->index[i]);
        }
    }
}

/* The largest entry of A x beside |A||x|, in TWICE_PRECISE.  *power: what brings the largest entry of A x near 1. */
static double size_of_residual(const numeric *f, const doubt *t, double *power)
{
    const int32_t kept = f->plan->schur_first, end = kept + f->plan->schur_size;
    double most = 0, largest = 0;
    int exponent = 0;
    for (int32_t i = 0; i < f->plan->a.n; i++) {
        const double r = size_of(t->residual + (int64_t)i * PARTS);
        if (r == 0 || (i >= kept && i < end))
            continue;
        if (!(r < INFINITY))
            return INFINITY;
        largest = fmax(largest, r);
        most = fmax(most, r / (t->terms[i] * TWICE_PRECISE));
    }
    frexp(largest, &exponent);
    *power = ldexp(1, exponent < -1000 ? 1000 : exponent > 1000 ? -1000 : -exponent);
    return most;
}

/* x -= A_NN^-1 residual in the rows N */
static void correct(const numeric *f, doubt *t, double power)
{
    const int32_t n = f->plan->a.n;
    for (int32_t i = 0; i < n; i++) {
        const double *r = t->residual + (int64_t)i * PARTS;
#if SCALAR_COMPLEX
        t->w.x[i] = (scalar)(r[0] * power) + (scalar)(r[1] * power) * _Complex_I;
#else
        t->w.x[i] = (scalar)(r[0] * power);
#endif
    }
    clear_kept_rows(f, t->w.x);
    NAME(cpu_solve_block)(f, BACKEND_L | BACKEND_D | BACKEND_LT, &t->w, 1);
    for (int32_t i = 0; i < n; i++) {
        double *high = t->high + (int64_t)i * PARTS, *low = t->low + (int64_t)i * PARTS;
        const double part[2] = {(double)creal(t->w.x[i]), (double)cimag(t->w.x[i])};
        for (int q = 0; q < PARTS; q++) {
            add_number(-part[q] / power, &high[q], &low[q]);
            const double sum = high[q] + low[q];
            low[q] -= sum - high[q];
            high[q] = sum;
        }
    }
}

/* Whether the complement of the zero pivots is zero.  If x cannot be found, it is not known to be. */
static libsolver_status zeros_are_known(const numeric *f, int *known)
{
    doubt *t = f->doubt;
    double least = INFINITY;
    choose_vector(f, t);
    *known = 0;
    for (int step = 0, in_vain = 0; step < MOST_STEPS && in_vain < PATIENCE; step++) {
        double power = 1;
        if (environment_cancelled(f->plan->env))
            return LIBSOLVER_CANCELLED;
        multiply(f, t);
        const double now = size_of_residual(f, t, &power);
        *known = now <= 1;
        if (*known)
            return LIBSOLVER_OK;
        in_vain = now * LEAST_GAIN <= least ? 0 : in_vain + 1;
        least = fmin(now, least);
        correct(f, t, power);
    }
    return LIBSOLVER_OK;
}

libsolver_status NAME(cpu_settle_doubt)(numeric *f, backend_report *report)
{
    int known = 1;
    if (f->single)
        return f->single->settle_doubt(f->factor, report);
    report->small = report->uncertain;
    if (report->zero == 0 && report->uncertain == 0)
        return LIBSOLVER_OK;
    TRY(take_memory(f, report));
    if (report->zero > 0)
        TRY(zeros_are_known(f, &known));
    if (known && report->uncertain > 0)
        TRY(signs_are_known(f, &known));
    report->uncertain = known ? 0 : report->small + report->zero;
    return LIBSOLVER_OK;
}
