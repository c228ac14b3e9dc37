/* test/api/test_extremes.c: systems at the ends of the range of numbers, in one precision
 * (-DPREC_x, -DMIXED with a factor in single)
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Small systems, well-conditioned but for their scale: D A D 2^k, with right-hand sides of every
 * size.  What is reported is compared with plain loops in long double, which has exponents to
 * spare. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "typed_dense.h"
#include "typed_factor.h"
#include <stdio.h>
#include <stdlib.h>

/* Exponents of the least and the largest number, and of the least normal one. */
#define LEAST (sizeof(real) == 4 ? -149 : -1074)
#define MOST_EXPONENT (sizeof(real) == 4 ? 127 : 1023)
#define NORMAL (sizeof(real) == 4 ? -126 : -1022)

#define LARGEST 24

enum { DIAGONAL, TRIDIAGONAL, ARROW, RANDOM, SHAPES };
enum { DEFINITE, ALTERNATING, HOLLOW, SIGNS };
static const char *const shapes[] = {"diagonal", "tridiagonal", "arrow", "random"};
static const char *const signs[] = {"definite", "alternating", "hollow"};

/* What is asked. */
typedef struct request {
    uint64_t seed;
    int64_t n;
    int hermitian, shape, sign;
    int all, spread; /* 2^all A; 2^d rows and columns, d up to this */
    int right;       /* exponent of b, or of x* if b is A x* */
    int is_product;
    libsolver_choice scaling;
    libsolver_kind kind;
} request;

static const char *words(const request *q, char text[300])
{
    snprintf(text, 300,
             "seed %d: n %d, %s, %s%s, A 2^%d, spread 2^%d, %s 2^%d, scaling %s, kind %d",
             (int)q->seed, (int)q->n, shapes[q->shape], signs[q->sign],
             q->hermitian ? " hermitian" : "", q->all, q->spread, q->is_product ? "x" : "b",
             q->right, q->scaling == LIBSOLVER_OFF ? "off" : "on", (int)q->kind);
    return text;
}

/* x 2^exponent, rounded once. */
static scalar scaled(scalar x, int exponent)
{
    return scalar_of(ldexp((double)creal(x), exponent), ldexp((double)cimag(x), exponent));
}

/* Unscaled: diagonally dominant, or with pairs of rows that are coupled strongly and have no
 * diagonal. */
static scalar entry_of(random_stream *r, const request *q, int64_t i, int64_t j)
{
    const scalar x = dense_scalar(r);
    if (i == j) {
        const double size = (double)(4 + q->n / 2 + random_below(r, 3));
        const int has_partner = q->shape != DIAGONAL && (j % 2 || j + 1 < q->n);
        return (scalar)(q->sign == DEFINITE                      ? size
                        : q->sign == ALTERNATING || !has_partner ? (j % 2 ? -size : size)
                                                                 : 0);
    }
    if (q->sign == HOLLOW && i == j + 1 && j % 2 == 0 && q->shape != DIAGONAL)
        return (scalar)(double)(4 + q->n);
    if (q->shape == DIAGONAL || (q->shape == TRIDIAGONAL && i > j + 1) ||
        (q->shape == ARROW && i < q->n - 1) || (q->shape == RANDOM && random_below(r, 3) > 0))
        return 0;
    return x;
}

/* Whether |x| is a normal number, or 0, with some room. */
static int is_normal(exact x)
{
    const long double size = fmaxl(fabsl(creall(x)), fabsl(cimagl(x)));
    return size == 0 || (size >= ldexpl(1, NORMAL + 2) && size < ldexpl(1, MOST_EXPONENT - 1));
}

/* d: exponents by which rows and columns are scaled.  Returns whether no entry of A became
 * subnormal, or infinite. */
static int build(const request *q, dense *s, scalar *b, int *d)
{
    random_stream r = random_seeded(q->seed);
    int in_range = 1;
    memset(b, 0, sizeof(scalar) * LARGEST);
    s->n = q->n;
    s->hermitian = q->hermitian;
    for (int64_t i = 0; i < q->n; i++)
        d[i] = q->spread ? random_below(&r, 2 * q->spread + 1) - q->spread : 0;
    if (q->sign == HOLLOW) /* partners alike, so that none is lost */
        for (int64_t i = 0; i + 1 < q->n; i += 2)
            d[i + 1] = d[i];
    for (int64_t j = 0; j < q->n; j++)
        for (int64_t i = j; i < q->n; i++) {
            const scalar entry = entry_of(&r, q, i, j);
            s->a[i][j] = scaled(entry, q->all + d[i] + d[j]);
            s->stored[i][j] = i == j;
            in_range &= is_normal((exact)s->a[i][j]) && (entry == 0) == (s->a[i][j] == 0);
        }
    for (int64_t i = 0; i < q->n; i++)
        b[i] = scaled(scalar_of(1 + 0.25 * (double)random_below(&r, 4), 0.5),
                      q->right + (q->is_product ? -d[i] : d[i]));
    if (!q->is_product)
        return in_range;
    exact sum[LARGEST];
    for (int64_t i = 0; i < q->n; i++) {
        sum[i] = 0;
        for (int64_t j = 0; j < q->n; j++)
            sum[i] += dense_at(s, i, j) * (exact)b[j];
    }
    for (int64_t i = 0; i < q->n; i++)
        b[i] = (scalar)sum[i];
    return in_range;
}

static int all_finite(int64_t count, const scalar *x)
{
    for (int64_t i = 0; i < count; i++)
        if (!scalar_finite(x[i]))
            return 0;
    return 1;
}

/* What the exact A and the exact solution are. */
typedef struct truth {
    int is_finite; /* A and b are */
    int in_range;  /* entries of A and x are normal numbers or 0 */
    long double condition, log_determinant, norm, inverse_norm; /* 1-norms */
    exact phase;
    exact x[LARGEST];
} truth;

/* x 2^exponent */
static exact shifted(exact x, int exponent)
{
    return ldexpl(creall(x), exponent) + (exact)_Complex_I * ldexpl(cimagl(x), exponent);
}

/* By way of D^-1 A D^-1 2^-all, which is well-conditioned as long as nothing has been lost. */
static truth truth_of(const request *q, const dense *s, const scalar *b, const int *d)
{
    const int64_t n = s->n;
    truth t = {.is_finite = all_finite(n, b), .in_range = 1};
    exact *a = calloc((size_t)(n * n) + 1, sizeof *a), *x = calloc((size_t)(n * n + n), sizeof *x);
    int64_t exponent = n * q->all;
    assert_true(a && x);
    exact_matrix(s, a);
    t.norm = exact_norm(n, a);
    for (int64_t k = 0; k < n * n; k++) {
        t.is_finite &= isfinite(creall(a[k])) && isfinite(cimagl(a[k]));
        a[k] = shifted(a[k], -q->all - d[k % n] - d[k / n]);
    }
    for (int64_t i = 0; i < n; i++) {
        x[i + i * n] = 1;
        x[n * n + i] = shifted(b[i], -d[i]);
        exponent += 2 * d[i];
    }
    const exact determinant = exact_solve(n, a, n + 1, x);
    t.log_determinant = logl(cabsl(determinant)) + (long double)exponent * logl(2);
    t.phase = determinant / cabsl(determinant);
    for (int64_t k = 0; k < n * n; k++)
        x[k] = shifted(x[k], -q->all - d[k % n] - d[k / n]);
    t.inverse_norm = exact_norm(n, x);
    t.condition = t.norm * t.inverse_norm;
    for (int64_t i = 0; i < n; i++) {
        t.x[i] = shifted(x[n * n + i], -q->all - d[i]);
        t.in_range &= is_normal(t.x[i]);
    }
    free(a);
    free(x);
    return t;
}

enum { RUNS, SOLVED, ACCURATE, ESTIMATES, BOUNDS, MISSED, REFUSED, UNCERTAIN, COUNTS };
static int counts[COUNTS];

/* Fails, with what was asked and what came out. */
#define COMPLAIN(...) \
    do { \
        char asked_[300], why_[300]; \
        snprintf(why_, sizeof why_, __VA_ARGS__); \
        fail_msg("%s: %s", words(q, asked_), why_); \
    } while (0)

/* L, D and the scaling are finite numbers. */
static void check_factor(const request *q, const libsolver_factor *f)
{
    int64_t entries = 0, pointers[LARGEST + 1], indices[LARGEST * LARGEST];
    scalar values[LARGEST * LARGEST], d[LARGEST], e[LARGEST];
    real scaling[LARGEST];
    assert_int_equal(libsolver_get_factor_l(f, &entries, pointers, indices, values, NULL),
                     LIBSOLVER_OK);
    assert_int_equal(libsolver_get_factor_d(f, d, e), LIBSOLVER_OK);
    assert_int_equal(libsolver_get_scaling(f, scaling), LIBSOLVER_OK);
    if (!all_finite(entries, values))
        COMPLAIN("L is not finite");
    if (!all_finite(q->n, d) || !all_finite(q->n, e))
        COMPLAIN("D is not finite");
    for (int64_t i = 0; i < q->n; i++)
        if (!(scaling[i] > 0 && isfinite(scaling[i])))
            COMPLAIN("scaling %g", (double)scaling[i]);
}

static void check_solution(const request *q, const dense *s, libsolver_factor *f, const scalar *b,
                           const truth *t)
{
    scalar right[LARGEST], x[LARGEST];
    memcpy(right, b, sizeof right);
    const libsolver_vectors bv = dense_block(right, q->n, 1), xv = dense_block(x, q->n, 1);
    const libsolver_status status = libsolver_solve(f, &bv, &xv);
    libsolver_solve_info info;
    libsolver_solve_query(f, NULL, &info);
    const double error = info.backward_error, real_error = dense_backward_error(s, x, b);
    if (status < 0) {
        COMPLAIN("solve: %s", libsolver_factor_message(f));
        return;
    }
    counts[SOLVED]++;
    const int is_finite = all_finite(q->n, x);
    if (status == LIBSOLVER_OK && !is_finite)
        COMPLAIN("OK, but x is not finite");
    if (is_finite && !(error >= 0.99 * real_error - 1e-17 && (error <= 1.01 * real_error + 1e-17)))
        COMPLAIN("status %s, error %g, in truth %g", libsolver_status_name(status), error,
                 real_error);
    if (!is_finite && !(error > 1))
        COMPLAIN("x is not finite, error %g", error);
    if (status == LIBSOLVER_OK && !(real_error <= 1.01 * TOLERANCE))
        COMPLAIN("OK, error %g in truth", real_error);
    if (t->in_range) {
        counts[ACCURATE]++;
        if (status != LIBSOLVER_OK && !(status == LIBSOLVER_PERTURBED && error <= TOLERANCE))
            COMPLAIN("%s, error %g, x(0) %g, in truth %Lg", libsolver_status_name(status), error,
                     (double)creal(x[0]), creall(t->x[0]));
    }
    if (!is_finite)
        return;
    double bound = NAN;
    long double norm = 0, difference = 0;
    for (int64_t i = 0; i < q->n; i++) {
        norm = fmaxl(norm, cabsl((exact)x[i]));
        difference = fmaxl(difference, cabsl((exact)x[i] - t->x[i]));
    }
    assert_true(libsolver_forward_error(f, NULL, &bv, &xv, &bound) >= 0);
    if (!(norm > 0 && isfinite(difference)))
        return;
    const long double wrong = difference / norm;
    counts[MISSED] += !(bound >= fminl(0.3L * wrong, 1) - 1e-16L);
    if (t->in_range && status == LIBSOLVER_OK) {
        counts[BOUNDS]++;
        if (!(bound <= 1e4 * (EPS < 1e-10 ? 1e-14 : 5e-6)) && q->spread == 0)
            COMPLAIN("forward error %Lg, bound %g", wrong, bound);
    }
}

/* Of the matrix that was factorized, S A S. */
static double scaled_condition(const dense *s, const libsolver_factor *f)
{
    const int64_t n = s->n;
    real scale[LARGEST];
    exact *a = calloc((size_t)(n * n) + 1, sizeof *a), *x = calloc((size_t)(n * n) + 1, sizeof *x);
    assert_true(a && x);
    assert_int_equal(libsolver_get_scaling(f, scale), LIBSOLVER_OK);
    exact_matrix(s, a);
    for (int64_t k = 0; k < n * n; k++)
        a[k] *= (long double)scale[k % n] * scale[k / n];
    for (int64_t i = 0; i < n; i++)
        x[i + i * n] = 1;
    const long double norm = exact_norm(n, a);
    exact_solve(n, a, n, x);
    const long double condition = norm * exact_norm(n, x);
    free(a);
    free(x);
    return (double)condition;
}

static void check_estimates(const request *q, const dense *s, libsolver_factor *f,
                            libsolver_status made, const truth *t)
{
    double condition = NAN;
    libsolver_determinant_info d;
    assert_true(libsolver_condition(f, NULL, &condition) >= 0);
    assert_true(libsolver_determinant(f, &d) >= 0);
    if (made != LIBSOLVER_OK)
        return;
    counts[ESTIMATES]++;
    const int is_huge = t->condition > 0.05L * DBL_MAX;
    if (!(is_huge ? condition > 0.001 * DBL_MAX
                  : condition <= 1.1L * t->condition && condition >= 0.05L * t->condition))
        COMPLAIN("condition %g, in truth %Lg", condition, t->condition);
    const double wrong =
        (double)fmaxl(fabsl(d.log_abs - t->log_determinant) - 1e-11L,
                      cabsl(t->phase - (d.phase_real + d.phase_imaginary * (exact)_Complex_I)));
    if (!(wrong <= 1e4 * FACTOR_EPS) && !(wrong <= scaled_condition(s, f) * FACTOR_EPS))
        COMPLAIN("log |det| %.17g, in truth %.17Lg", d.log_abs, t->log_determinant);
}

/* Whether zero pivots are said to be certain. */
static int is_certain(const libsolver_factor *f)
{
    libsolver_inertia_counts inertia;
    return libsolver_inertia(f, &inertia) == LIBSOLVER_OK && inertia.certain;
}

static void check(const request *q)
{
    dense *s = calloc(1, sizeof *s);
    triplets *v = malloc(sizeof *v);
    scalar b[LARGEST];
    int d[LARGEST];
    libsolver_options o;
    libsolver_factor *f = NULL;
    assert_true(s && v);
    const int in_range = build(q, s, b, d);
    truth t = truth_of(q, s, b, d);
    t.in_range &= in_range;
    dense_triplets(s, NULL, v);
    libsolver_options_default(&o);
    o.backend = BACKEND;
    o.threads = 1;
    o.mixed = CHOICE;
    o.kind = q->kind;
    o.scaling = q->scaling;
    const libsolver_status status = libsolver_factor_matrix(&v->view, &o, &f);
    counts[RUNS]++;
    if (t.is_finite && status < 0)
        COMPLAIN("%s: %s", libsolver_status_name(status), libsolver_factor_message(f));
    if (status >= 0 && t.is_finite) {
        if (t.in_range && status == LIBSOLVER_SINGULAR && !is_certain(f)) {
            t.in_range = 0;
            counts[UNCERTAIN]++;
        }
        if (t.in_range && q->spread == 0 && status != LIBSOLVER_OK && !(FACTOR_EPS > EPS))
            COMPLAIN("%s", libsolver_status_name(status));
        check_factor(q, f);
        check_solution(q, s, f, b, &t);
        if (t.in_range)
            check_estimates(q, s, f, status, &t);
    } else
        counts[REFUSED]++;
    libsolver_factor_free(f);
    free(s);
    free(v);
}

/* Exponents over the whole range, the ends included. */
static int exponent_at(int k, int steps)
{
    return LEAST - 4 + (int)((int64_t)(MOST_EXPONENT - LEAST + 4) * k / steps);
}

static void sweep(int steps, int spread, libsolver_choice scaling)
{
    static const int64_t sizes[] = {1, 2, 3, 7, 24};
    memset(counts, 0, sizeof counts);
    uint64_t seed = 0;
    for (int k = 0; k <= steps; k++)
        for (int right = 0; right < 6; right++)
            for (int shape = 0; shape < SHAPES; shape++)
                for (int sign = 0; sign < SIGNS; sign++) {
                    random_stream r = random_seeded(seed);
                    request q = {.seed = seed++, .shape = shape, .sign = sign, .scaling = scaling};
                    q.n = sizes[random_below(&r, 5)];
                    q.hermitian = SCALAR_COMPLEX ? random_below(&r, 2) : 0;
                    q.all = exponent_at(k, steps);
                    q.spread = spread ? 1 + random_below(&r, spread) : 0;
                    q.is_product = right % 2;
                    /* b or x alike to A, of ordinary size, anywhere */
                    q.right = right / 2 == 0   ? 0
                              : right / 2 == 1 ? q.all
                                               : exponent_at(random_below(&r, 101), 100);
                    q.kind = random_below(&r, 2) ? LIBSOLVER_KIND_INDEFINITE : LIBSOLVER_KIND_AUTO;
                    check(&q);
                }
    print_message("%d systems, %d solved, %d of them in range, %d estimates, %d bounds, %d missed, "
                  "%d refused, %d uncertain\n",
                  counts[RUNS], counts[SOLVED], counts[ACCURATE], counts[ESTIMATES], counts[BOUNDS],
                  counts[MISSED], counts[REFUSED], counts[UNCERTAIN]);
    /* an estimate from two vectors hardly ever misses the error; with pivots perturbed in single
     * precision and rows scaled by 2^400 it may */
    assert_true(counts[MISSED] * 2000 <= counts[SOLVED]);
}

/* A GPU takes ten milliseconds for each system. */
#define STEPS (BACKEND == LIBSOLVER_BACKEND_GPU ? 20 : 60)

static void scaled_alike(void **state)
{
    (void)state;
    sweep(STEPS, 0, LIBSOLVER_AUTO);
    sweep(STEPS, 0, LIBSOLVER_OFF);
}

static void scaled_by_rows(void **state)
{
    (void)state;
    sweep(STEPS, (MOST_EXPONENT - LEAST) / 4, LIBSOLVER_AUTO);
    sweep(STEPS, (MOST_EXPONENT - LEAST) / 4, LIBSOLVER_OFF);
}

/* Entries from one end of the range to the other. */
static void diagonals_from_end_to_end(void **state)
{
    (void)state;
    for (int form = 0; form < 8; form++) {
        dense *s = calloc(1, sizeof *s);
        triplets *v = malloc(sizeof *v);
        scalar b[LARGEST], x[LARGEST];
        libsolver_options o;
        libsolver_factor *f = NULL;
        libsolver_inertia_counts inertia;
        assert_true(s && v);
        s->n = LARGEST;
        s->hermitian = 1;
        for (int i = 0; i < LARGEST; i++) {
            const int exponent = (MOST_EXPONENT - 2) * (2 * i - LARGEST + 1) / (LARGEST - 1);
            s->a[i][i] = (scalar)((form & 1 && i % 2 ? -1.25 : 1.25) * ldexp(1, exponent));
            b[i] = form & 2 ? s->a[i][i] : 1; /* x = 1, or from end to end the other way */
        }
        dense_triplets(s, NULL, v);
        libsolver_options_default(&o);
        o.backend = BACKEND;
        o.mixed = CHOICE;
        o.scaling = form & 4 ? LIBSOLVER_OFF : LIBSOLVER_AUTO;
        const libsolver_vectors bv = dense_block(b, LARGEST, 1), xv = dense_block(x, LARGEST, 1);
        assert_int_equal(libsolver_factor_matrix(&v->view, &o, &f), LIBSOLVER_OK);
        assert_int_equal(libsolver_inertia(f, &inertia), LIBSOLVER_OK);
        assert_true(inertia.certain && inertia.negative == (form & 1 ? LARGEST / 2 : 0) &&
                    inertia.zero == 0);
        assert_int_equal(libsolver_solve(f, &bv, &xv), LIBSOLVER_OK);
        const double error = dense_backward_error(s, x, b);
        if (!(error <= TOLERANCE))
            fail_msg("form %d: error %g", form, error);
        libsolver_factor_free(f);
        free(s);
        free(v);
    }
}

/* Values of one end, then of the other by a shift: the answers are those to the shifted matrix. */
static void shifts_from_end_to_end(void **state)
{
    (void)state;
    const int exponents[] = {LEAST, NORMAL, NORMAL / 2, 0, MOST_EXPONENT / 2, MOST_EXPONENT - 4};
    for (int from = 0; from < 6; from++)
        for (int to = 0; to < 6; to++)
            for (int scaling = LIBSOLVER_AUTO; scaling <= LIBSOLVER_OFF;
                 scaling += LIBSOLVER_OFF - LIBSOLVER_AUTO) {
                const request q = {.seed = 5,
                                   .n = 7,
                                   .shape = RANDOM,
                                   .sign = ALTERNATING,
                                   .all = exponents[from],
                                   .right = exponents[to]};
                dense *s = calloc(1, sizeof *s);
                triplets *v = malloc(sizeof *v);
                scalar b[LARGEST], x[LARGEST], shift[LARGEST];
                int d[LARGEST];
                libsolver_options o;
                libsolver_factor *f = NULL;
                libsolver_solve_info info;
                assert_true(s && v);
                build(&q, s, b, d);
                dense_triplets(s, NULL, v);
                libsolver_options_default(&o);
                o.backend = BACKEND;
                o.mixed = CHOICE;
                o.scaling = (libsolver_choice)scaling;
                assert_true(libsolver_factor_matrix(&v->view, &o, &f) >= 0);
                for (int i = 0; i < 7; i++) {
                    shift[i] = scaled(i % 2 ? 5 : -5, exponents[to]);
                    s->a[i][i] += shift[i];
                }
                const libsolver_vectors sv = dense_block(shift, 7, 1), bv = dense_block(b, 7, 1),
                                        xv = dense_block(x, 7, 1);
                assert_true(libsolver_refactorize_shifted(f, NULL, &sv) >= 0);
                const libsolver_status status = libsolver_solve(f, &bv, &xv);
                libsolver_solve_query(f, NULL, &info);
                const double error = dense_backward_error(s, x, b);
                assert_true(status >= 0);
                if (!(fabs(error - info.backward_error) <= 0.01 * error + 1e-17) ||
                    (status == LIBSOLVER_OK && !(error <= 1.01 * TOLERANCE)))
                    fail_msg("2^%d shifted by 2^%d, scaling %d: %s, error %g, in truth %g",
                             exponents[from], exponents[to], scaling, libsolver_status_name(status),
                             info.backward_error, error);
                libsolver_factor_free(f);
                free(s);
                free(v);
            }
}

/* Entries of L that decay below the normal numbers: in single precision they are zeros, and the
 * caller's numbers are computed with as before. */
static void fill_that_decays(void **state)
{
    enum { LENGTH = 12 };
    volatile float least = FLT_MIN;
    (void)state;
    for (int sign = 1; sign >= -1; sign -= 2) {
        dense *s = calloc(1, sizeof *s);
        triplets *v = malloc(sizeof *v);
        int64_t order[LENGTH], entries, pointers[LENGTH + 1], indices[LENGTH * LENGTH];
        scalar b[LARGEST], x[LARGEST], values[LENGTH * LENGTH];
        libsolver_options o;
        libsolver_factor *f = NULL;
        int small = 0;
        assert_true(s && v);
        s->n = LENGTH;
        s->hermitian = 1;
        for (int i = 0; i < LENGTH; i++) { /* a ring, coupled weakly */
            s->a[i][i] = (scalar)(i % 2 ? sign : 1);
            s->stored[i][i] = 1;
            s->a[i > 0 ? i : LENGTH - 1][i > 0 ? i - 1 : 0] = (scalar)0x1p-29;
            order[i] = i;
            b[i] = 1;
        }
        dense_triplets(s, NULL, v);
        libsolver_options_default(&o);
        o.backend = BACKEND;
        o.mixed = CHOICE;
        o.ordering = LIBSOLVER_ORDERING_USER;
        o.permutation = order;
        const libsolver_vectors bv = dense_block(b, LENGTH, 1), xv = dense_block(x, LENGTH, 1);
        assert_int_equal(libsolver_factor_matrix(&v->view, &o, &f), LIBSOLVER_OK);
        assert_true(least / 2 > 0);
        assert_int_equal(libsolver_get_factor_l(f, &entries, pointers, indices, values, NULL),
                         LIBSOLVER_OK);
        for (int64_t k = 0; k < entries; k++)
            small += values[k] != 0 && scalar_abs(values[k]) < FLT_MIN;
        if (BACKEND == LIBSOLVER_BACKEND_CPU) /* a device keeps subnormal numbers */
            assert_int_equal(small > 0, !(FACTOR_EPS == FLT_EPSILON));
        assert_int_equal(libsolver_solve(f, &bv, &xv), LIBSOLVER_OK);
        assert_true(dense_backward_error(s, x, b) <= TOLERANCE);
        libsolver_factor_free(f);
        free(s);
        free(v);
    }
}

int main(void)
{
    if (!backend_is_here())
        return without_a_gpu();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fill_that_decays),       cmocka_unit_test(scaled_alike),
        cmocka_unit_test(scaled_by_rows),         cmocka_unit_test(diagonals_from_end_to_end),
        cmocka_unit_test(shifts_from_end_to_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
