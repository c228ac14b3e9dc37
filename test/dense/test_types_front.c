/* test/dense/test_types_front.c: the kernels of a front in one precision (-DPREC_x), symmetric and
 * Hermitian, against plain loops
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Bounds count roundings of the precision, EPS, for each term of a sum; a complex operation makes
 * four times as many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "dense.h"
#include "dense/cpu/front_kernels.h"
#include "dense/cpu/ldlt.h"
#include "typed_pivots.h"
#include <stdlib.h>
#include <string.h>

/* count scalars, each NaN */
static scalar *nan_scalars(int64_t count)
{
    scalar *a = malloc((size_t)(count + 1) * sizeof(scalar));
    assert_non_null(a);
    for (int64_t i = 0; i <= count; i++)
        a[i] = NAN;
    return a;
}

static scalar *copy_scalars(const scalar *from, int64_t count)
{
    scalar *a = nan_scalars(count);
    memcpy(a, from, (size_t)count * sizeof(scalar));
    return a;
}

/* ---- Cholesky -------------------------------------------------------------------------------- */

/* The first k columns of G G^H + I, G random. */
static scalar *positive_columns(random_stream *r, int m, int k)
{
    scalar *g = nan_scalars((int64_t)m * k), *a = nan_scalars((int64_t)m * k);
    for (int64_t i = 0; i < (int64_t)m * k; i++)
        g[i] = random_scalar(r);
    for (int j = 0; j < k; j++)
        for (int i = j; i < m; i++) {
            exact sum = i == j;
            for (int q = 0; q < k; q++)
                sum += (exact)g[i + (int64_t)q * m] * conjl((exact)g[j + (int64_t)q * m]);
            a[i + (int64_t)j * m] = (scalar)sum;
        }
    free(g);
    return a;
}

static int cholesky(int m, int k, scalar *panel)
{
    real *diagonal = calloc((size_t)k + 1, sizeof(real));
    assert_non_null(diagonal);
    for (int j = 0; j < k; j++)
        diagonal[j] = scalar_abs(panel[j + (int64_t)j * m]);
    const int done = NAME(front_cholesky)(m, k, panel, diagonal, NULL);
    free(diagonal);
    return done;
}

static void check_cholesky(int m, int k, const scalar *a, const scalar *l)
{
    for (int j = 0; j < k; j++) {
        assert_true(l[j + (int64_t)j * m] == scalar_real(l[j + (int64_t)j * m]));
        for (int i = j; i < m; i++) {
            exact rest = a[i + (int64_t)j * m];
            long double scale = 0;
            for (int q = 0; q <= j; q++) {
                const exact product =
                    (exact)l[i + (int64_t)q * m] * conjl((exact)l[j + (int64_t)q * m]);
                rest -= product;
                scale += cabsl(product);
            }
            if (!(cabsl(rest) <= (j + 4) * ROUNDING * scale))
                fail_msg("m %d, k %d: (A - L L^H)(%d, %d) is %Lg, allowed %Lg", m, k, i, j,
                         cabsl(rest), (j + 4) * ROUNDING * scale);
        }
    }
}

static void cholesky_of_panels(void **state)
{
    (void)state;
    static const int size[] = {31, 32, 33, 64, 65, 129, 160};
    for (uint64_t seed = 0; seed < 200; seed++) {
        random_stream r = random_seeded(seed);
        const int m = seed < 170 ? random_below(&r, 30) : size[seed % 7],
                  k = random_below(&r, m + 1);
        scalar *a = positive_columns(&r, m, k), *l = copy_scalars(a, (int64_t)m * k);
        assert_int_equal(cholesky(m, k, l), k);
        check_cholesky(m, k, a, l);
        free(a);
        free(l);
    }
}

static void cholesky_names_the_pivot_that_fails(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        random_stream r = random_seeded(seed);
        const int m = 1 + random_below(&r, 100), q = random_below(&r, m);
        scalar *a = positive_columns(&r, m, m), *l = copy_scalars(a, (int64_t)m * m);
        assert_int_equal(cholesky(m, m, l), m);
        const real root = scalar_real(l[q + (int64_t)q * m]);
        a[q + (int64_t)q * m] -= root * root * (seed % 2 ? (real)2 : (real)(1 + 16 * EPS));
        assert_int_equal(cholesky(m, m, a), q);
        free(a);
        free(l);
    }
}

/* ---- LDL^T ----------------------------------------------------------------------------------- */

/* The first k columns of a matrix of order m, and what became of them. */
typedef struct front {
    int hermitian, m, k, most_delayed;
    real u;
    scalar *a, *panel, *d, *e;
    real *magnitude;
    int32_t *index;
    front_report report;
} front;

static front new_front(int hermitian, int m, int k)
{
    front f = {
        .hermitian = hermitian, .m = m, .k = k, .most_delayed = m > k ? k : 0, .u = (real)0.01};
    f.a = nan_scalars((int64_t)m * k);
    f.d = nan_scalars(k);
    f.e = nan_scalars(k);
    f.magnitude = calloc((size_t)m + 1, sizeof(real));
    f.index = calloc((size_t)m + 1, sizeof(int32_t));
    assert_true(f.magnitude && f.index);
    return f;
}

static void free_front(front *f)
{
    free(f->a);
    free(f->panel);
    free(f->d);
    free(f->e);
    free(f->magnitude);
    free(f->index);
}

/* Entry (i, j) of A, min(i, j) < k. */
static exact entry(const front *f, int i, int j)
{
    return i >= j ? f->a[i + (int64_t)j * f->m]
                  : exact_mirror(f->a[j + (int64_t)i * f->m], f->hermitian);
}

static void set(front *f, int i, int j, scalar a)
{
    f->a[i + (int64_t)j * f->m] = i == j ? scalar_diagonal(a, f->hermitian) : a;
}

static void run(void *arg)
{
    front *f = arg;
    scalar *work = nan_scalars(front_ldlt_work(f->m, f->k));
    free(f->panel);
    f->panel = copy_scalars(f->a, (int64_t)f->m * f->k);
    for (int i = 0; i < f->m; i++) {
        f->index[i] = i;
        f->magnitude[i] = 0;
        for (int j = 0; j < f->k; j++)
            f->magnitude[i] = (real)fmaxl(f->magnitude[i], cabsl(entry(f, i, j)));
    }
    f->report = (front_report){.smallest = INFINITY};
    const front_candidates in = {f->hermitian, f->m, f->k,         f->m, f->panel, f->index,
                                 f->d,         f->e, f->magnitude, work, NULL,     &f->report};
    NAME(front_ldlt)(&in, f->u, LDLT_ZERO, f->most_delayed);
    free(work);
}

/* Roundings that dividing by the pivot [a b'; b c] can add, in those of |L||D||L^H|; see
 * pair_weight in dense.h. */
static long double weight_of_pair(const front *f, int q)
{
    const exact a = f->d[q], b = f->e[q], c = f->d[q + 1];
    const exact ratio = a * c / (b * exact_mirror(b, f->hermitian));
    const long double det = cabsl(ratio - 1), off = cabsl(b);
    const long double norm = fmaxl(cabsl(a), cabsl(c)) + off;
    return (2 * (cabsl(ratio) + 1) / det + 6) * norm * norm / (det * off * off);
}

/* (L D L^H)(i, j) over the first `pivots` pivots and the sum of the terms' sizes, weighted */
static exact product(const front *f, const long double *weight, int i, int j, int pivots,
                     long double *scale)
{
    exact sum = 0;
    *scale = 0;
    for (int q = 0; q < pivots; q++) {
        const scalar *l = f->panel + (int64_t)q * f->m, *next = l + f->m;
        const exact li = i < q ? 0 : l[i], lj = exact_mirror(j < q ? 0 : l[j], f->hermitian);
        exact term = li * f->d[q] * lj;
        sum += term;
        *scale += weight[q] * cabsl(term);
        if (f->e[q] != 0) {
            const exact ni = i < q + 1 ? 0 : next[i],
                        nj = exact_mirror(j < q + 1 ? 0 : next[j], f->hermitian);
            term = ni * f->e[q] * lj;
            const exact other = li * exact_mirror(f->e[q], f->hermitian) * nj;
            sum += term + other;
            *scale += weight[q] * (cabsl(term) + cabsl(other));
        }
    }
    return sum;
}

static long double *weights(const front *f)
{
    const int p = f->report.eliminated;
    long double *weight = calloc((size_t)p + 1, sizeof *weight);
    assert_non_null(weight);
    for (int q = 0; q < p; q++) {
        weight[q] = p + 8;
        if (f->e[q] != 0) {
            weight[q] = weight[q + 1] = p + 8 + weight_of_pair(f, q);
            q++;
        }
    }
    return weight;
}

static int is_zero_pivot(const front *f, int j)
{
    return f->d[j] == 0 && f->e[j] == 0 && (j == 0 || f->e[j - 1] == 0);
}

/* What pivots may outgrow the entries of the front by, whatever 1 / u would allow: errors are
 * measured by them. */
#define MOST_GROWTH 2000

static void check_growth(const front *f, int p)
{
    long double largest = 0, pivot = 0;
    for (int j = 0; j < f->k; j++)
        for (int i = j; i < f->m; i++)
            largest = fmaxl(largest, cabsl(entry(f, i, j)));
    for (int q = 0; q < p; q++)
        pivot = fmaxl(pivot, fmaxl(cabsl((exact)f->d[q]), cabsl((exact)f->e[q])));
    if (!(pivot <= MOST_GROWTH * largest))
        fail_msg("m %d, k %d, u %g: a pivot of %Lg, entries of %Lg", f->m, f->k, (double)f->u,
                 pivot, largest);
}

/* P A P^T = L D L^H + what is left in the delayed columns, but for diagonal entries where pivots
 * were perturbed; |L| <= limit; D Hermitian if A is; the counts. */
static void check_front(const front *f, long double limit)
{
    const int m = f->m, k = f->k, p = f->report.eliminated;
    int zero = 0, pairs = 0;
    assert_in_range(p, k - f->most_delayed, k);
    check_growth(f, p);
    long double largest = 0;
    for (int i = 0; i < m; i++)
        largest = fmaxl(largest, f->magnitude[i]);
    long double *weight = weights(f);
    for (int j = 0; j < p; j++) {
        zero += is_zero_pivot(f, j);
        pairs += f->e[j] != 0;
        assert_true(!f->hermitian || f->d[j] == scalar_real(f->d[j]));
        assert_true(f->panel[j + (int64_t)j * m] == 1);
    }
    assert_int_equal(f->report.zero, zero);
    assert_int_equal(f->report.two_by_two, pairs);
    assert_int_equal(f->report.positive + f->report.negative + zero, p);
    assert_true(f->report.negative == 0 || f->hermitian || !SCALAR_COMPLEX);
    /* singular values of a pair that are nearly equal have half the digits of its determinant */
    const long double smallest = smallest_of_pivots(f->hermitian, p, f->d, f->e);
    const long double error =
        SCALAR_COMPLEX && !f->hermitian && pairs > 0 ? 2 * sqrtl(ROUNDING) : 16 * ROUNDING;
    if (!(f->report.smallest == smallest ||
          fabsl(f->report.smallest - smallest) <= error * smallest))
        fail_msg("hermitian %d, m %d, k %d: smallest pivot %g, it is %Lg", f->hermitian, m, k,
                 f->report.smallest, smallest);
    for (int j = 0; j < k; j++)
        for (int i = j; i < m; i++) {
            if (j < p && i > j &&
                !(cabsl((exact)f->panel[i + (int64_t)j * m]) <= limit * (1 + 100 * EPS)))
                fail_msg("m %d, k %d: |L(%d, %d)| = %Lg", m, k, i, j,
                         cabsl((exact)f->panel[i + (int64_t)j * m]));
            const exact a = entry(f, f->index[i], f->index[j]);
            long double scale;
            const exact sum = product(f, weight, i, j, p, &scale);
            const exact left = j < p ? 0 : f->panel[i + (int64_t)j * m];
            long double allowed = ROUNDING * (scale + (p + 1) * cabsl(a));
            if (j < p && is_zero_pivot(f, j))
                allowed += 8 * EPS * sqrtl((long double)f->magnitude[i] * f->magnitude[j]);
            if (j < p && i == j && f->report.perturbed > 0)
                allowed += sqrtl(EPS) * largest;
            if (!(cabsl(a - sum - left) <= allowed))
                fail_msg(
                    "hermitian %d, m %d, k %d, p %d: entry (%d, %d) is off by %Lg, allowed %Lg",
                    f->hermitian, m, k, p, i, j, cabsl(a - sum - left), allowed);
        }
    free(weight);
}

enum { DENSE, ZERO_DIAGONAL, SADDLE, LARGE_BELOW, SPARSE, LOW_RANK, NO_PIVOT, KINDS };

static front random_front(random_stream *r, int hermitian, int m, int k, int kind)
{
    front f = new_front(hermitian, m, k);
    for (int j = 0; j < k; j++)
        for (int i = j; i < m; i++) {
            scalar x = random_scalar(r);
            const int keep = kind == ZERO_DIAGONAL ? i != j
                             : kind == SADDLE
                                 ? i >= k || i == j ? j < k / 2 : j < k / 2 && i >= k / 2
                             : kind == SPARSE   ? random_below(r, 5) == 0
                             : kind == NO_PIVOT ? i >= k
                                                : kind != LOW_RANK;
            if (kind == LARGE_BELOW && i >= k)
                x *= 10000;
            set(&f, i, j, keep ? x : 0);
        }
    scalar *v = nan_scalars(m);
    /* small integers: exact */
    for (int q = random_below(r, k + 1); q > 0 && kind == LOW_RANK; q--) {
        for (int i = 0; i < m; i++)
            v[i] = (scalar)(random_below(r, 3) - 1) +
                   (SCALAR_COMPLEX ? (real)(random_below(r, 3) - 1) : 0) * (scalar)_Complex_I;
        for (int j = 0; j < k; j++)
            for (int i = j; i < m; i++)
                set(&f, i, j,
                    f.a[i + (int64_t)j * m] +
                        v[i] * scalar_mirror(v[j], hermitian) * (q % 2 ? 1 : -1));
    }
    free(v);
    return f;
}

static void ldlt_of_fronts(void **state)
{
    (void)state;
    static const int size[] = {32, 33, 64, 65, 97, 129, 150};
    static const real threshold[] = {(real)0.01, (real)0.1, (real)0.5};
    int delayed = 0, pairs = 0, zero = 0;
    for (uint64_t seed = 0; seed < 350; seed++)
        for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++) {
            random_stream r = random_seeded(seed);
            const int m = seed < 300 ? random_below(&r, 41) : size[random_below(&r, 7)];
            const int k = random_below(&r, 3) ? random_below(&r, m + 1) : m;
            front f = random_front(&r, hermitian, m, k, (int)(seed % KINDS));
            f.u = threshold[random_below(&r, 3)];
            run(&f);
            check_front(&f, f.most_delayed > 0 || f.u < (real)0.25 ? 1 / f.u : 4);
            delayed += k - f.report.eliminated;
            pairs += f.report.two_by_two;
            zero += f.report.zero;
            free_front(&f);
        }
    assert_true(delayed > 500 && pairs > 500 && zero > 200); /* all ways were gone */
}

/* No more than so many columns are left over, at the price of a larger L and of changes on the
 * diagonal. */
static void delays_end_at_the_cap(void **state)
{
    (void)state;
    int perturbed = 0;
    for (uint64_t seed = 0; seed < 200; seed++)
        for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++) {
            random_stream r = random_seeded(seed);
            const int m = 2 + random_below(&r, seed < 180 ? 60 : 150),
                      k = 1 + random_below(&r, m - 1);
            front f = random_front(&r, hermitian, m, k, (int)(seed % KINDS));
            run(&f);
            const int delayed = k - f.report.eliminated;
            assert_int_equal(f.report.perturbed, 0);
            f.most_delayed = delayed / 3;
            run(&f);
            assert_true(delayed == 0 || f.report.perturbed > 0 || f.report.zero > 0);
            perturbed += f.report.perturbed;
            check_front(&f, f.report.perturbed > 0 ? 1 / sqrtl(EPS) : 1 / f.u);
            free_front(&f);
        }
    assert_true(perturbed > 300);
}

/* A = M S M^H with M well conditioned, S = diag(+-1) or blocks [0 s'; s 0]: the signs of S are
 * counted on D. */
static void pivots_have_the_signs_of_the_eigenvalues(void **state)
{
    (void)state;
    int pairs = 0;
    for (uint64_t seed = 0; seed < 150; seed++) {
        random_stream r = random_seeded(seed);
        const int blocks = seed % 2,
                  m = blocks ? 2 + 2 * random_below(&r, 30) : 1 + random_below(&r, 60);
        const int positive = blocks ? m / 2 : random_below(&r, m + 1);
        const exact s = random_scalar(&r) + 2;
        exact *g = calloc((size_t)m * (size_t)m, sizeof *g);
        assert_non_null(g);
        for (int j = 0; j < m; j++)
            for (int i = 0; i < m; i++)
                g[i + j * m] = i == j ? 2 : (exact)random_scalar(&r) / m;
        front f = new_front(1, m, m);
        for (int j = 0; j < m; j++)
            for (int i = j; i < m; i++) {
                exact sum = 0;
                for (int q = 0; q < m; q++)
                    sum += !blocks ? g[i + q * m] * (q < positive ? 1 : -1) * conjl(g[j + q * m])
                           : q % 2 == 0 ? g[i + (q + 1) * m] * s * conjl(g[j + q * m])
                                        : g[i + (q - 1) * m] * conjl(s) * conjl(g[j + q * m]);
                set(&f, i, j, (scalar)sum);
            }
        run(&f);
        assert_int_equal(f.report.positive, positive);
        assert_int_equal(f.report.negative, m - positive);
        check_front(&f, 100);
        pairs += f.report.two_by_two;
        free(g);
        free_front(&f);
    }
    assert_true(pairs > 500);
}

/* The size of a 2x2 pivot that is reported: least |eigenvalue|, of complex symmetric ones the least
 * singular value. */
static void sizes_of_pairs(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++)
        for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++) {
            random_stream r = random_seeded(seed);
            const scalar a = scalar_diagonal(random_scalar(&r) / 4, hermitian),
                         b = random_scalar(&r) + (scalar)1.5;
            const scalar c = scalar_diagonal(random_scalar(&r) / 4, hermitian);
            front_report report = {.smallest = INFINITY};
            NAME(ldlt_count)(hermitian, &report, a, b, c, 1, 1);
            assert_int_equal(report.two_by_two, 1);
            assert_int_equal(report.positive, !SCALAR_COMPLEX || hermitian ? 1 : 2);
            /* s0^2 and s1^2 are the roots of x^2 - |M|_F^2 x + |det|^2 */
            const exact det = (exact)a * c - (exact)b * exact_mirror(b, hermitian);
            const long double f2 =
                creall(a * conjl(a)) + 2 * creall(b * conjl(b)) + creall(c * conjl(c));
            const long double d2 = creall(det * conjl(det)),
                              x = (long double)report.smallest * report.smallest;
            if (!(fabsl(x * x - f2 * x + d2) <= 100 * EPS * f2 * f2) ||
                !(2 * x <= f2 * (1 + 10 * EPS)))
                fail_msg("hermitian %d: smallest %g is no singular value", hermitian,
                         report.smallest);
        }
}

/* [1 b'; b 1] with |b| a little above 1 is a 2x2 pivot unless its determinant, 1 - b b', nearly
 * vanishes. */
static void nearly_singular_pairs_are_no_pivots(void **state)
{
    (void)state;
    for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++)
        for (int turn = 0; turn <= 4 * SCALAR_COMPLEX; turn++) {
            const double angle = 0.3926990816987241 * turn; /* pi / 8 */
            const scalar b =
                (scalar)(1.001 * (cos(angle) + (SCALAR_COMPLEX ? sin(angle) : 0) * _Complex_I));
            scalar a[16] = {1, b, [8] = 0, 1}, d[2], e[2]; /* ldlt_block_ld(2) = 8 */
            real g[2] = {1, 1};
            int order[2];
            assert_int_equal(NAME(front_kernels_here)()->ldlt_block(hermitian, 2, LDLT_ZERO, a,
                                                                    order, d, e, g),
                             2);
            const int pair = cabsl(1 - (exact)b * exact_mirror(b, hermitian)) >=
                             0.51L * scalar_abs(b) * scalar_abs(b);
            assert_int_equal(e[0] != 0, pair);
            assert_true(turn == 4 && !hermitian ? pair : turn > 0 || !pair);
        }
}

/* ---- contribution blocks --------------------------------------------------------------------- */

static void contribution(const front *f, scalar *cb)
{
    scalar *scratch = nan_scalars((int64_t)FRONT_TASK_SCRATCH * 5);
    NAME(front_contribution)(&(front_pivots){f->hermitian, f->m, f->report.eliminated, f->panel,
                                             f->d, f->e},
                             f->k, cb, scratch, FRONT_TASK_SCRATCH, NULL);
    free(scratch);
}

/* C = -L21 D L21^H behind the delayed columns, which are taken as they stand in the panel. */
static void contribution_blocks_are_the_schur_update(void **state)
{
    (void)state;
    static const int size[] = {129, 200, 290};
    for (uint64_t seed = 0; seed < 100; seed++)
        for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++) {
            random_stream r = random_seeded(seed);
            const int m = seed < 94 ? 1 + random_below(&r, 60) : size[seed % 3],
                      k = random_below(&r, m);
            front f = random_front(&r, hermitian, m, k, (int)(seed % KINDS));
            run(&f);
            const int p = f.report.eliminated, order = m - p;
            scalar *cb = nan_scalars(cb_entries(order));
            contribution(&f, cb);
            long double *weight = weights(&f);
            for (int j = 0; j < order; j++)
                for (int i = j; i < order; i++) {
                    const scalar got = cb[cb_column(order, j) + i];
                    long double scale;
                    const exact sum = product(&f, weight, p + i, p + j, p, &scale);
                    if (p + j < k)
                        assert_true(got == f.panel[p + i + (int64_t)(p + j) * m]);
                    else if (!(cabsl(got + sum) <= ROUNDING * scale))
                        fail_msg(
                            "hermitian %d, m %d, p %d: entry (%d, %d) is off by %Lg, allowed %Lg",
                            hermitian, m, p, i, j, cabsl(got + sum), ROUNDING * scale);
                }
            free(weight);
            free(cb);
            free_front(&f);
        }
}

/* The lower triangle of panel and contribution block. */
typedef struct both {
    front f;
    scalar *cb;
} both;

static void run_both(void *arg)
{
    both *b = arg;
    run(&b->f);
    contribution(&b->f, b->cb);
}

static void large_fronts_have_the_same_bits_for_any_threads(void **state)
{
    (void)state;
    const int m = 900, k = 70;
    for (int hermitian = 0; hermitian < SYMMETRIES; hermitian++) {
        both one, more;
        for (int threads = 1; threads <= 5; threads += 2) {
            random_stream r = random_seeded(5);
            both *b = threads == 1 ? &one : &more;
            b->f = random_front(&r, hermitian, m, k, DENSE);
            b->cb = nan_scalars(cb_entries(m));
            with_threads(threads, run_both, b);
            const int p = b->f.report.eliminated;
            assert_true(front_is_large(m - p, p));
            if (threads == 1)
                continue;
            assert_int_equal(p, one.f.report.eliminated);
            for (int j = 0; j < k; j++)
                assert_memory_equal(more.f.panel + j + (int64_t)j * m,
                                    one.f.panel + j + (int64_t)j * m,
                                    sizeof(scalar) * (size_t)(m - j));
            for (int j = 0; j < m - p; j++)
                assert_memory_equal(more.cb + cb_column(m - p, j) + j,
                                    one.cb + cb_column(m - p, j) + j,
                                    sizeof(scalar) * (size_t)(m - p - j));
            free_front(&more.f);
            free(more.cb);
        }
        free_front(&one.f);
        free(one.cb);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(cholesky_of_panels, print_last_seed),
        cmocka_unit_test_teardown(cholesky_names_the_pivot_that_fails, print_last_seed),
        cmocka_unit_test_teardown(ldlt_of_fronts, print_last_seed),
        cmocka_unit_test_teardown(delays_end_at_the_cap, print_last_seed),
        cmocka_unit_test_teardown(pivots_have_the_signs_of_the_eigenvalues, print_last_seed),
        cmocka_unit_test_teardown(sizes_of_pairs, print_last_seed),
        cmocka_unit_test(nearly_singular_pairs_are_no_pivots),
        cmocka_unit_test_teardown(contribution_blocks_are_the_schur_update, print_last_seed),
        cmocka_unit_test_teardown(large_fronts_have_the_same_bits_for_any_threads, print_last_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
