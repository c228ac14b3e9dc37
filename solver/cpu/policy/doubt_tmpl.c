/* solver/cpu/policy/doubt_tmpl.c: pivots in doubt: whether the inertia counted on D can be another
 * than that of A
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * What follows is about the scaled matrix, A for short, without the rows that are not eliminated.
 *
 * Pivots that are not zero.  L D L^H = A + E, E being the rounding errors made.  Signs could differ
 * from those of A only if some A + t E, 0 <= t <= 1, were singular, which none is where (L D
 * L^H)^-1 E has no eigenvalue of size 1 or more.  That is the matrix by which refinement multiplies
 * errors, I - (L D L^H)^-1 A: a few steps from a random vector tell.  For a singular A, however
 * large errors have made the last pivots, it keeps null vectors as they are.
 *
 * Zero pivots.  With N for the rows of the other pivots, W for those of the zero ones, A is as
 * singular as the complement S = A_WW - A_WN A_NN^-1 A_NW is, of which working precision only knows
 * that it is small.  For a vector x_W of random numbers, x_N = -A_NN^-1 A_NW x_W is found by
 * refinement to twice the working precision, all products and sums being as precise [Ogita, Rump,
 * Oishi 2005, algorithm 5.3]: then A x is S x_W in the rows W.  If all of it is zero to that
 * precision, then so is S, a random vector being in the null space of no other. */
#include "base/hash.h"
#include "dense/cpu/sets.h"
#include "solver/cpu/policy/policy.h"
#include <string.h>

/* Refinement is to multiply errors by no more than ENOUGH in the end.  It is not watched any longer
 * when it has multiplied them by at most CLEARLY twice in a row, nor after MOST_PRODUCTS.  Once by
 * at most AT_ONCE is more than that: what would stay as it is makes up at most CLEARLY^2 of the
 * first vector there, here AT_ONCE. */
#define ENOUGH 0.5
#define CLEARLY 0.125
#define AT_ONCE 0x1p-20
#define MOST_PRODUCTS 8

/* A row of A x is zero if it is at most this times |A||x|, the largest that each entry of x has
 * been counting, and FLOOR times the largest of all: it may have to become 0, out of rounding
 * errors that come anew with each step.  Sums are good to about 2^-100. */
#define TWICE_PRECISE 0x1p-90
#define FLOOR 0x1p-40

/* Entries of x in the rows N may be so many times as large as the others: S is small only beside
 * them. */
#define MOST_GROWTH 0x1p26

/* Steps of the refinement of x, which ends when PATIENCE of them have not taken a factor of
 * LEAST_GAIN from the residual: entries that are to be 0 may come out as rounding errors first,
 * beside which theirs are large. */
#define MOST_STEPS 20
#define PATIENCE 2
#define LEAST_GAIN 4

/* Reals of a scalar. */
#define PARTS (1 + SCALAR_COMPLEX)

typedef struct doubt {
    workspace *w; /* for one column; only what cpu_solve_block needs */
    double *high, *low, *residual, *residual_low; /* n PARTS each: x and A x, sums of two numbers */
    double *most, *terms;                         /* n each: largest |x| so far, |A| times it */
    double *root;                                 /* n: of the largest entry of each row */
    scalar *room;                                 /* of others */
    int64_t room_size;
} doubt;

/* A random number in [1, 2), the same in every run. */
static double random_number(int64_t i)
{
    return 1 + (double)(hash64_number((uint64_t)i) >> 12) * 0x1p-52;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

void NAME(cpu_free_doubt)(numeric *f)
{
    memory *m = &f->plan->env->memory;
    doubt *t = f->doubt;
    if (!t)
        return;
    NAME(cpu_workspace_free)(m, t->w);
    memory_free(m, t->high);
    memory_free(m, t->room);
    memory_free(m, t);
    f->doubt = NULL;
}

static int create(numeric *f)
{
    memory *m = &f->plan->env->memory;
    const int64_t n = f->plan->a.n;
    doubt *t = f->doubt = memory_zeroed(m, 1, sizeof(doubt));
    workspace *w = t ? t->w = memory_zeroed(m, 1, sizeof(workspace)) : NULL;
    if (!w)
        return 0;
    w->columns = 1;
    w->x = memory_new(m, n, sizeof(scalar));
    t->high = memory_new(m, (4 * PARTS + 3) * n, sizeof(double));
    if (!w->x || !t->high)
        return 0;
    t->low = t->high + n * PARTS;
    t->residual = t->low + n * PARTS;
    t->residual_low = t->residual + n * PARTS;
    t->most = t->residual_low + n * PARTS;
    t->terms = t->most + n;
    t->root = t->terms + n;
    return 1;
}

static libsolver_status take_memory(numeric *f, backend_report *report)
{
    const int is_there = f->doubt != NULL;
    if (!is_there && !create(f)) {
        NAME(cpu_free_doubt)(f);
        return LIBSOLVER_OUT_OF_MEMORY;
    }
    const workspace before = *f->doubt->w, *w = f->doubt->w;
    const libsolver_status status = NAME(cpu_workspace_fit_solves)(f, f->doubt->w, NULL);
    report->growths += !is_there || before.single != w->single || before.nodes != w->nodes ||
                       before.rows != w->rows;
    return status;
}

scalar *NAME(cpu_doubt_room)(numeric *f, int64_t count, backend_report *report)
{
    memory *m = &f->plan->env->memory;
    doubt *t = f->doubt;
    if (t->room_size < count) {
        memory_free(m, t->room);
        t->room = memory_new(m, count, sizeof(scalar));
        t->room_size = t->room ? count : 0;
        report->growths++;
    }
    return t->room;
}

/* ---- Products to twice the precision --------------------------------------------------------- */

/* high + low += x + y, y small beside x, high being the rounded sum */
INLINE_ALWAYS void add_sum(double x, double y, double *high, double *low)
{
    const double sum = *high + x, part = sum - *high;
    *low += ((*high - (sum - part)) + (x - part)) + y;
    *high = sum;
}

/* high + low += a (x + y), y small beside x; y NULL: 0 */
INLINE_ALWAYS void add_product(double a, double x, const double *y, double *high, double *low)
{
    const double product = a * x, error = fma(a, x, -product);
    add_sum(product, y ? error + a * *y : error, high, low);
}

/* high + low += a x, of complex numbers their PARTS.  has_low: whether x has a second part. */
INLINE_ALWAYS void add_entry(scalar a, const double *x, const double *y, const int has_low,
                             double *high, double *low)
{
    const double *y0 = has_low ? y : NULL;
#if SCALAR_COMPLEX
    const double re = (double)creal(a), im = (double)cimag(a), *y1 = has_low ? y + 1 : NULL;
    add_product(re, x[0], y0, &high[0], &low[0]);
    add_product(-im, x[1], y1, &high[0], &low[0]);
    add_product(re, x[1], y1, &high[1], &low[1]);
    add_product(im, x[0], y0, &high[1], &low[1]);
#else
    add_product((double)a, x[0], y0, high, low);
#endif
}

/* residual + residual_low += A x.  The sums of a column's own row stay in registers. */
INLINE_ALWAYS void add_columns(const numeric *f, doubt *t, const int has_low)
{
    const pattern *a = &f->plan->a;
    const scalar *value = f->value;
    const real *scale = f->scale;
    const double *x = t->high, *y = t->low;
    double *restrict sum = t->residual, *restrict rest = t->residual_low;
    for (int32_t j = 0; j < a->n; j++) {
        const int64_t own = (int64_t)j * PARTS;
        double high[PARTS], low[PARTS];
        memcpy(high, sum + own, sizeof high);
        memcpy(low, rest + own, sizeof low);
        for (int64_t p = a->start[j]; p < a->start[j + 1]; p++) {
            const int32_t i = a->row[p];
            const int64_t other = (int64_t)i * PARTS;
            const scalar entry = value[p] * (scale[j] * scale[i]); /* powers of two */
            const scalar mirror = i == j ? entry : scalar_mirror(entry, f->plan->hermitian);
            if (i != j)
                add_entry(entry, x + own, y + own, has_low, sum + other, rest + other);
            add_entry(mirror, x + other, y + other, has_low, high, low);
        }
        memcpy(sum + own, high, sizeof high);
        memcpy(rest + own, low, sizeof low);
    }
}

static void add_numbers(const numeric *f, doubt *t)
{
    add_columns(f, t, 0);
}

static void add_sums(const numeric *f, doubt *t)
{
    add_columns(f, t, 1);
}

#ifdef HAVE_avx2
/* fma as an instruction instead of a call, which is exact either way */
#define FUSED __attribute__((target("avx2,fma")))

FUSED static void add_numbers_fused(const numeric *f, doubt *t)
{
    add_columns(f, t, 0);
}

FUSED static void add_sums_fused(const numeric *f, doubt *t)
{
    add_columns(f, t, 1);
}
#endif

/* residual := A x, each row rounded once.  has_low: whether x is sums of two numbers. */
static void multiply(const numeric *f, doubt *t, int has_low)
{
    const int64_t reals = (int64_t)f->plan->a.n * PARTS;
    void (*add)(const numeric *, doubt *) = has_low ? add_sums : add_numbers;
#ifdef HAVE_avx2
    if (here_is_avx2())
        add = has_low ? add_sums_fused : add_numbers_fused;
#endif
    memset(t->residual, 0, 2 * sizeof(double) * (size_t)reals);
    add(f, t);
    for (int64_t i = 0; i < reals; i++)
        t->residual[i] += t->residual_low[i];
}

static double larger(double a, double b)
{
    return b > a ? b : a;
}

/* |a| of a pair of numbers */
static double size_of(const double *a)
{
    return SCALAR_COMPLEX ? hypot(a[0], a[PARTS - 1]) : fabs(a[0]);
}

static void find_roots(const numeric *f, doubt *t)
{
    for (int32_t i = 0; i < f->plan->a.n; i++)
        t->root[i] = sqrt((double)f->largest[i]);
}

/* The largest entry of x, rows and columns being taken as if the largest entry of each row of A
 * were 1, as it nearly is unless scaling is off. */
static double norm_of(const numeric *f, const doubt *t)
{
    double norm = 0;
    for (int32_t i = 0; i < f->plan->a.n; i++) {
        const double size = size_of(t->high + (int64_t)i * PARTS) * t->root[i];
        if (!(size < INFINITY))
            return INFINITY;
        norm = larger(norm, size);
    }
    return norm;
}

/* most := max(most, |x|, FLOOR), terms := |A| most */
static void bound_terms(const numeric *f, doubt *t)
{
    const pattern *a = &f->plan->a;
    const double least = FLOOR * norm_of(f, t);
    for (int32_t i = 0; i < a->n; i++) {
        const double size = size_of(t->high + (int64_t)i * PARTS), root = t->root[i];
        t->most[i] = fmax(t->most[i], root > 0 ? fmax(size, least / root) : size);
        t->terms[i] = 0;
    }
    for (int32_t j = 0; j < a->n; j++)
        for (int64_t p = a->start[j]; p < a->start[j + 1]; p++) {
            const int32_t i = a->row[p];
            const scalar entry = f->value[p] * (f->scale[j] * f->scale[i]);
            const double size = (double)scalar_abs(entry);
            t->terms[i] += size * t->most[j];
            if (i != j)
                t->terms[j] += size * t->most[i];
        }
}

/* x := 0 in the rows that are not eliminated. */
static void clear_kept_rows(const numeric *f, scalar *x)
{
    for (int32_t i = f->plan->schur_first; i < f->plan->a.n; i++)
        x[i] = 0;
}

/* x -= A_NN^-1 residual in the rows N; power: brings the largest entry of the residual near 1. */
static void correct(const numeric *f, doubt *t, double power)
{
    const int32_t n = f->plan->a.n;
    for (int32_t i = 0; i < n; i++) {
        const double *r = t->residual + (int64_t)i * PARTS;
#if SCALAR_COMPLEX
        t->w->x[i] = (scalar)(r[0] * power) + (scalar)(r[1] * power) * _Complex_I;
#else
        t->w->x[i] = (scalar)(r[0] * power);
#endif
    }
    clear_kept_rows(f, t->w->x);
    NAME(cpu_solve_block)(f, BACKEND_L | BACKEND_D | BACKEND_LT, t->w, 1);
    for (int32_t i = 0; i < n; i++) {
        double *high = t->high + (int64_t)i * PARTS, *low = t->low + (int64_t)i * PARTS;
        const double part[2] = {(double)creal(t->w->x[i]), (double)cimag(t->w->x[i])};
        for (int q = 0; q < PARTS; q++) {
            add_sum(-part[q] / power, 0, &high[q], &low[q]);
            const double sum = high[q] + low[q];
            low[q] -= sum - high[q];
            high[q] = sum;
        }
    }
}

/* ---- Pivots that are not zero ---------------------------------------------------------------- */

/* x := A_NN^-1 times a random vector, in which the directions that matter are large already. */
static void begin(const numeric *f, doubt *t)
{
    const int32_t n = f->plan->a.n;
    for (int32_t i = 0; i < n; i++)
        t->residual[(int64_t)i * PARTS] = 4 * random_number(i) - 6; /* in [-2, 2) */
    for (int32_t i = 0; i < n && SCALAR_COMPLEX; i++)
        t->residual[(int64_t)i * PARTS + PARTS - 1] = 0;
    memset(t->high, 0, 2 * sizeof(double) * PARTS * (size_t)n);
    memset(t->most, 0, sizeof(double) * (size_t)n);
    correct(f, t, 1);
}

/* x := x times a power of two that brings its norm near 1, as it comes out in working precision.
 * Returns its norm then. */
static double normalize(const numeric *f, doubt *t, double norm)
{
    const double power = power_near_one(norm);
    for (int64_t i = 0; i < (int64_t)f->plan->a.n * PARTS; i++) {
        t->high[i] = (double)(real)(t->high[i] * power);
        t->low[i] = 0;
    }
    return sizeof(real) == sizeof(double) ? norm * power : norm_of(f, t);
}

/* Whether the errors made leave the signs of the nonzero pivots as they are. */
static libsolver_status signs_are_known(const numeric *f, int *known)
{
    doubt *t = f->doubt;
    double factor = INFINITY;
    begin(f, t);
    double norm = norm_of(f, t);
    *known = 0;
    for (int step = 0, clear = 0;
         step < MOST_PRODUCTS && clear < 2 && norm < INFINITY && factor != 0; step++) {
        double largest = 0;
        if (environment_cancelled(f->plan->env))
            return LIBSOLVER_CANCELLED;
        norm = normalize(f, t, norm);
        multiply(f, t, 0);
        for (int64_t i = 0; i < (int64_t)f->plan->a.n * PARTS; i++)
            largest = larger(largest, fabs(t->residual[i]));
        correct(f, t, power_near_one(largest));
        const double next = norm_of(f, t);
        factor = next / norm;
        clear = factor <= AT_ONCE ? 2 : factor <= CLEARLY ? clear + 1 : 0;
        norm = next;
    }
    *known = factor <= ENOUGH; /* not if it is a NaN */
    return LIBSOLVER_OK;
}

/* ---- Zero pivots ----------------------------------------------------------------------------- */

/* Random numbers at the zero pivots, for rows and columns as in norm_of. */
static void choose_vector(const numeric *f, doubt *t)
{
    memset(t->high, 0, 2 * sizeof(double) * PARTS * (size_t)f->plan->a.n);
    memset(t->most, 0, sizeof(double) * (size_t)f->plan->a.n);
    for (int32_t s = 0; s < f->plan->part.supernodes; s++) {
        const node *v = &f->node[s];
        for (int i = 0; i < v->p; i++) {
            if (v->e[i] != 0)
                i++; /* a 2x2 pivot */
            else if (v->d[i] == 0) {
                const double root = t->root[v->index[i]];
                t->high[(int64_t)v->index[i] * PARTS] =
                    random_number(v->index[i]) / (root > 0 ? root : 1);
            }
        }
    }
}

/* The largest entry of A x beside |A||x|, in TWICE_PRECISE.  *power: what brings the largest entry
 * of A x near 1. */
static double size_of_residual(const numeric *f, const doubt *t, double *power)
{
    double most = 0, largest = 0;
    for (int32_t i = 0; i < f->plan->a.n; i++) {
        const double r = size_of(t->residual + (int64_t)i * PARTS);
        if (r == 0 || plan_keeps_row(f->plan, i))
            continue;
        if (!(r < INFINITY))
            return INFINITY;
        largest = fmax(largest, r);
        most = fmax(most, r / (t->terms[i] * TWICE_PRECISE));
    }
    *power = power_near_one(largest);
    return most;
}

/* Whether some entry is so small beside its row's and its column's largest that products of two
 * such ones, or in double precision the last digits of one, could be all of S, and yet be taken for
 * zero. */
#define LEAST_ENTRY (sizeof(real) == sizeof(double) ? 0x1p-32 : 0x1p-44)
static int has_tiny_entries(const numeric *f)
{
    const pattern *a = &f->plan->a;
    for (int32_t j = 0; j < a->n; j++) {
        const double root = sqrt((double)f->largest[j]);
        for (int64_t p = a->start[j]; p < a->start[j + 1]; p++) {
            const int32_t i = a->row[p];
            const double size =
                (double)f->scale[i] * (double)scalar_abs(f->value[p]) * (double)f->scale[j];
            if (f->value[p] != 0 && !plan_keeps_row(f->plan, i) && !plan_keeps_row(f->plan, j) &&
                !(size >= LEAST_ENTRY * root * sqrt((double)f->largest[i])))
                return 1;
        }
    }
    return 0;
}

/* Whether the complement of the zero pivots is zero.  If x cannot be found, it is not known to
 * be. */
static libsolver_status zeros_are_known(const numeric *f, int *known)
{
    doubt *t = f->doubt;
    double least = INFINITY;
    *known = 0;
    if (f->is_clipped || has_tiny_entries(f))
        return LIBSOLVER_OK;
    choose_vector(f, t);
    const double longest = MOST_GROWTH * norm_of(f, t);
    for (int step = 0, in_vain = 0; step < MOST_STEPS && in_vain < PATIENCE; step++) {
        double power = 1;
        if (environment_cancelled(f->plan->env))
            return LIBSOLVER_CANCELLED;
        bound_terms(f, t);
        multiply(f, t, 1);
        const double now = size_of_residual(f, t, &power);
        *known = now <= 1 && norm_of(f, t) <= longest;
        if (now <= 1)
            return LIBSOLVER_OK;
        in_vain = now * LEAST_GAIN <= least ? 0 : in_vain + 1;
        least = fmin(now, least);
        correct(f, t, power);
    }
    return LIBSOLVER_OK;
}

/* asks_signs: whether those of the nonzero pivots could be others */
static libsolver_status settle(numeric *f, int asks_signs, backend_report *report)
{
    int known = 1;
    TRY(take_memory(f, report));
    find_roots(f, f->doubt);
    if (report->zero > 0)
        TRY(zeros_are_known(f, &known));
    if (known && asks_signs)
        TRY(signs_are_known(f, &known));
    report->uncertain = known ? 0 : report->small + report->zero;
    return LIBSOLVER_OK;
}

libsolver_status NAME(cpu_settle_doubt)(numeric *f, backend_report *report)
{
    report->small = report->uncertain;
    /* in mixed precision zero pivots are replaced; the errors of the others are those of rounding A
     * too */
    if (report->uncertain == 0 ? report->zero == 0 || f->single : f->single && report->zero > 0)
        return LIBSOLVER_OK;
    return settle(f, report->uncertain > 0, report);
}

libsolver_status NAME(cpu_settle_all)(numeric *f, backend_report *report)
{
    report->small = report->uncertain;
    return settle(f, 1, report);
}
