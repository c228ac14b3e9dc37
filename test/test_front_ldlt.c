/* test/test_front_ldlt.c: LDL^T of the candidates of a front, against plain loops
 * SPDX-License-Identifier: BSD-3-Clause */
#define PREC_d
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "dense.h"
#include "dense/cpu/ldlt.h"
#include <stdlib.h>
#include <string.h>

/* The first k columns of a symmetric matrix of order m, and what became of them. */
typedef struct front {
    int m, k, may_delay, plain; /* plain: threshold pivoting alone */
    double u;
    double *a, *panel, *d, *e, *magnitude;
    const double *assembled; /* magnitudes before; NULL: the largest entries of A */
    int32_t *index;
    front_report report;
} front;

#define NAME_OF_ROW 1000 /* what index holds for row 0 before */

static front new_front(int m, int k)
{
    front f = {.m = m, .k = k, .may_delay = m > k, .u = 0.01, .a = nan_array((int64_t)m * k)};
    f.d = nan_array(k);
    f.e = nan_array(k);
    f.magnitude = nan_array(m);
    f.index = calloc((size_t)m + 1, sizeof(int32_t));
    assert_non_null(f.index);
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
static double *at(const front *f, int i, int j)
{
    return i > j ? &f->a[i + (int64_t)j * f->m] : &f->a[j + (int64_t)i * f->m];
}

static double initial_magnitude(const front *f, int i)
{
    double largest = f->assembled ? f->assembled[i] : 0;
    for (int j = 0; j < f->k && !f->assembled; j++)
        largest = fmax(largest, fabs(*at(f, i, j)));
    return largest;
}

static void run(void *arg)
{
    front *f = arg;
    double *work = nan_array(f->plain ? 2 * (int64_t)f->m + f->k : front_ldlt_work(f->m, f->k));
    free(f->panel);
    f->panel = copy_of(f->a, (int64_t)f->m * f->k);
    for (int i = 0; i < f->m; i++) {
        f->index[i] = NAME_OF_ROW + i;
        f->magnitude[i] = initial_magnitude(f, i);
    }
    f->report = (front_report){.smallest = INFINITY};
    if (f->plain)
        f->report.eliminated = ldlt_threshold_d(f->m, f->k, 0, f->panel, f->index, f->d, f->e, f->magnitude,
                                                f->u, LDLT_ZERO, work, &f->report);
    else
        front_ldlt_d(f->m, f->k, f->panel, f->index, f->d, f->e, f->magnitude, f->u, f->may_delay, work,
                     &f->report);
    free(work);
}

/* Makes the upper triangle of L, which is undefined, zero, and its diagonal is to be one. */
static void complete_l(front *f, int p)
{
    for (int q = 0; q < p; q++) {
        double *l = f->panel + (int64_t)q * f->m;
        for (int i = 0; i < q; i++)
            l[i] = 0;
        assert_true(l[q] == 1);
        assert_true(f->e[q] == 0 || l[q + 1] == 0);
    }
}

/* Signs, sizes and number of pivots as reported. */
static void check_report(const front *f, int p)
{
    front_report expected = {.eliminated = p, .smallest = INFINITY};
    long double smallest = INFINITY, error = 0;
    for (int q = 0; q < p; q++) {
        long double eigenvalue[2] = {f->d[q], 0}, b = f->e[q], slack = 4;
        const int pivots = b != 0 ? 2 : 1;
        double g = f->magnitude[q];
        if (pivots == 2) {
            assert_true(q + 1 < p && f->e[q + 1] == 0);
            g = fmax(g, f->magnitude[q + 1]);
            const long double a = f->d[q], c = f->d[q + 1];
            const long double mean = (a + c) / 2, radius = hypotl((a - c) / 2, b);
            eigenvalue[0] = mean >= 0 ? mean + radius : mean - radius;
            eigenvalue[1] = (a * c - b * b) / eigenvalue[0];
            slack = 8 * (1 + (fabsl(a * c) + b * b) / fabsl(a * c - b * b));
            expected.two_by_two++;
        } else if (f->d[q] == 0) {
            expected.zero++;
            continue;
        }
        for (int i = 0; i < pivots; i++) {
            expected.positive += eigenvalue[i] > 0;
            expected.negative += eigenvalue[i] < 0;
            expected.uncertain += fabsl(eigenvalue[i]) <= LDLT_UNCERTAIN * (long double)g;
            if (fabsl(eigenvalue[i]) < smallest) {
                smallest = fabsl(eigenvalue[i]);
                error = slack * EPS;
            }
        }
        q += pivots - 1;
    }
    assert_int_equal(f->report.eliminated, expected.eliminated);
    assert_int_equal(f->report.two_by_two, expected.two_by_two);
    assert_int_equal(f->report.positive, expected.positive);
    assert_int_equal(f->report.negative, expected.negative);
    assert_int_equal(f->report.zero, expected.zero);
    assert_int_equal(f->report.uncertain, expected.uncertain);
    if (smallest == INFINITY)
        assert_true(f->report.smallest == INFINITY);
    else
        assert_true(fabsl(f->report.smallest - smallest) <= error * smallest);
}

/* index: candidates permuted among themselves. */
static void check_index(const front *f)
{
    unsigned char *seen = calloc((size_t)f->m + 1, 1);
    assert_non_null(seen);
    for (int i = 0; i < f->m; i++) {
        const int row = f->index[i] - NAME_OF_ROW;
        assert_in_range(row, i < f->k ? 0 : i, i < f->k ? f->k - 1 : i);
        assert_int_equal(seen[row]++, 0);
    }
    free(seen);
}

/* P A P^T = L D L^T + what is left in the delayed columns, |L| <= limit, magnitudes, report. */
static void check(front *f, double limit)
{
    const int m = f->m, k = f->k, p = f->report.eliminated;
    assert_in_range(p, 0, k);
    if (!f->may_delay && !f->plain)
        assert_int_equal(p, k);
    check_index(f);
    check_report(f, p);
    complete_l(f, p);
    /* the sums, and multiplication with an inverse */
    long double *weight = pivot_weights(p, p + 8, f->d, f->e);
    for (int j = 0; j < k; j++) {
        const int zero = j < p && f->d[j] == 0 && (j == 0 || f->e[j - 1] == 0) && f->e[j] == 0;
        for (int i = j; i < m; i++) {
            if (j < p && i > j) {
                const double l = fabs(f->panel[i + (int64_t)j * m]);
                if (!(l <= limit * (1 + 1e-12)))
                    fail_msg("m %d, k %d, u %g: |L(%d, %d)| = %g", m, k, f->u, i, j, l);
                assert_true(!zero || l == 0);
            }
            const double a = *at(f, f->index[i] - NAME_OF_ROW, f->index[j] - NAME_OF_ROW);
            long double sum, scale;
            ldlt_product(p, f->panel, m, f->d, f->e, weight, i, j, &sum, &scale);
            long double allowed = EPS * (scale + p * fabsl(a)); /* a may cancel only after p roundings */
            if (zero)
                allowed += LDLT_ZERO * sqrtl((long double)f->magnitude[i] * f->magnitude[j]);
            const long double left = j < p ? 0 : f->panel[i + (int64_t)j * m];
            if (!(fabsl(a - sum - left) <= allowed))
                fail_msg("m %d, k %d, p %d, u %g: entry (%d, %d) is %g, L D L^T %Lg, left %Lg; off by %Lg, "
                         "allowed %Lg",
                         m, k, p, f->u, i, j, a, sum, left, fabsl(a - sum - left), allowed);
        }
    }
    for (int i = 0; i < m; i++) { /* magnitude: |l| |L D| over the pivots before row i's own */
        const int before = i >= p ? p : i > 0 && f->e[i - 1] != 0 ? i - 1 : i;
        long double exact = initial_magnitude(f, f->index[i] - NAME_OF_ROW), error = EPS * exact;
        for (int q = 0; q < before; q++) {
            const double *l = f->panel + (int64_t)q * m;
            const long double ld = (long double)l[i] * f->d[q] +
                                   (f->e[q] != 0 ? (long double)l[i + m] * f->e[q] : 0) +
                                   (q > 0 && f->e[q - 1] != 0 ? (long double)l[i - m] * f->e[q - 1] : 0);
            exact += fabsl(l[i] * ld);
        }
        long double unused, scale;
        ldlt_product(before, f->panel, m, f->d, f->e, weight, i, i, &unused, &scale);
        error += EPS * scale + (p + 2) * EPS * exact;
        if (!(fabsl(f->magnitude[i] - exact) <= error))
            fail_msg("m %d, k %d: magnitude of row %d is %g, expected %Lg", m, k, i, f->magnitude[i], exact);
    }
    free(weight);
}

/* |L| <= 1 / u; only at a root, where every candidate goes, may it be 4. */
static double limit(const front *f)
{
    return f->may_delay || f->plain || f->u < 0.25 ? 1 / f->u : 4;
}

#define KINDS 10

/* Fronts that are easy, delay pivots, need 2x2 pivots or are singular. */
static front random_front(random_stream *r, int m, int k, int kind)
{
    front f = new_front(m, k);
    const int half = k / 2, rank = random_below(r, k + 1);
    double *v = nan_array(m);
    for (int i = 0; i < m; i++)
        v[i] = kind == 6 ? pow(10, random_below(r, 17) - 8) : 1;
    for (int j = 0; j < k; j++)
        for (int i = j; i < m; i++) {
            double x = random_real(r);
            switch (kind) {
            case 1: /* zero diagonal */
                x = i == j ? 0 : x;
                break;
            case 2: /* [H B^T; B 0], H diagonal and badly scaled */
                x = i == j && j < half       ? pow(10, random_below(r, 13) - 6)
                    : j < half && i >= half  ? x
                    : i < k                  ? 0
                    : random_below(r, 3) > 0 ? 0
                                             : x;
                break;
            case 3: /* most rows below are too large for the pivots */
                x *= i >= k ? 1e4 : 1;
                break;
            case 4: /* sparse */
                x = random_below(r, 5) > 0 ? 0 : x;
                break;
            case 5: /* see below */
            case 7:
                x = 0;
                break;
            case 8: /* no pivot at all */
                x = i < k ? 0 : x;
                break;
            case 9: /* pivots that are nearly zero */
                x *= i < k ? 1e-14 : 1;
                break;
            default:
                x *= v[i] * v[j];
            }
            *at(&f, i, j) = x;
        }
    for (int q = 0; q < rank && kind == 5; q++) { /* of low rank, exactly */
        for (int i = 0; i < m; i++)
            v[i] = random_below(r, 3) - 1;
        for (int j = 0; j < k; j++)
            for (int i = j; i < m; i++)
                *at(&f, i, j) += v[i] * v[j] * (q % 2 ? 1 : -1);
    }
    free(v);
    return f;
}

static const double threshold[] = {0.01, 0.1, 0.5, 1e-8};

static void fronts_of_all_small_sizes(void **state)
{
    (void)state;
    for (int m = 0; m <= 40; m++)
        for (int k = 0; k <= m; k++)
            for (int kind = 0; kind < KINDS; kind++) {
                random_stream r = random_seeded((uint64_t)((m * 100 + k) * 100 + kind));
                front f = random_front(&r, m, k, kind);
                f.u = threshold[random_below(&r, 4)];
                run(&f);
                check(&f, limit(&f));
                free_front(&f);
            }
}

static void fronts_at_block_borders(void **state)
{
    (void)state;
    static const int size[] = {33, 63, 64, 65, 97, 127, 128, 129, 130, 257, 300};
    for (int a = 0; a < 11; a++)
        for (int kind = 0; kind < KINDS; kind++) {
            random_stream r = random_seeded((uint64_t)(a * 100 + kind));
            const int m = size[a], k = kind % 3 == 0   ? m
                                       : kind % 3 == 1 ? size[random_below(&r, a + 1)]
                                                       : m / 2;
            front f = random_front(&r, m, k, kind);
            f.u = threshold[random_below(&r, 4)];
            run(&f);
            check(&f, limit(&f));
            free_front(&f);
        }
}

static void plain_threshold_pivoting(void **state)
{
    (void)state;
    for (int m = 0; m <= 24; m++)
        for (int k = 0; k <= m; k++)
            for (int kind = 0; kind < KINDS; kind++) {
                random_stream r = random_seeded((uint64_t)((m * 100 + k) * 100 + kind));
                front f = random_front(&r, m, k, kind);
                f.u = threshold[random_below(&r, 4)];
                f.plain = 1;
                run(&f);
                check(&f, limit(&f));
                free_front(&f);
            }
}

static void candidates_without_a_stable_pivot_are_delayed(void **state)
{
    (void)state;
    static const int size[] = {1, 2, 5, 31, 32, 33, 64, 65, 130};
    for (int s = 0; s < 9; s++) {
        random_stream r = random_seeded((uint64_t)s);
        const int k = size[s], m = k + 1 + random_below(&r, 20);
        front f = random_front(&r, m, k, 8);
        run(&f);
        assert_int_equal(f.report.eliminated, 0);
        check(&f, limit(&f));
        free_front(&f);

        /* good pivots in even columns, coupled to the others, which have none: their diagonal stays tiny
           against the rows below */
        f = random_front(&r, m, k, 7);
        for (int j = 0; j < k; j++)
            for (int i = j; i < m; i++)
                *at(&f, i, j) = i == j   ? (j % 2 ? 1e-6 : k)
                                : i >= k ? (j % 2 ? 1e3 : 1) * (1 + random_real(&r) / 2)
                                : j % 2  ? 1e-6 * random_real(&r)
                                : i % 2  ? 1e-3 * random_real(&r)
                                         : random_real(&r);
        run(&f);
        assert_int_equal(f.report.eliminated, (k + 1) / 2);
        assert_int_equal(f.report.positive, (k + 1) / 2);
        for (int i = 0; i < f.k; i++)
            assert_int_equal((f.index[i] - NAME_OF_ROW) % 2, i >= f.report.eliminated);
        check(&f, limit(&f));
        free_front(&f);
    }
}

static void a_candidate_refused_at_first_is_taken_when_others_have_changed_it(void **state)
{
    (void)state;
    /* neither alone can be a pivot, both together are one */
    front f = new_front(3, 2);
    *at(&f, 0, 0) = *at(&f, 1, 1) = 1e-6;
    *at(&f, 1, 0) = 1;
    *at(&f, 2, 0) = 50;
    *at(&f, 2, 1) = 60;
    run(&f);
    assert_int_equal(f.report.eliminated, 2);
    assert_int_equal(f.report.two_by_two, 1);
    check(&f, 100);
    free_front(&f);
    /* 40 columns, so two blocks: column 0 finds no partner in the first, nor column 39 in the second, where
       it would leave |l| = 1000; the second pass has them together */
    f = random_front(&(random_stream){3}, 41, 40, 7);
    for (int j = 1; j < 40; j++)
        *at(&f, j, j) = 1;
    *at(&f, 39, 0) = 1;
    *at(&f, 39, 39) = 1e-3;
    *at(&f, 40, 0) = 90;
    run(&f);
    assert_int_equal(f.report.eliminated, 40);
    check(&f, 100);
    free_front(&f);
}

static void a_root_delays_nothing(void **state)
{
    (void)state;
    /* 1 between rows of large magnitude is noise; 0.1 beside it is none, but no pivot either when u = 1/2 */
    static const double assembled[] = {1e40, 1e40, 1e-40, 1e-40};
    front f = random_front(&(random_stream){1}, 4, 4, 7);
    f.assembled = assembled;
    f.u = 0.5;
    *at(&f, 0, 1) = 1;
    *at(&f, 0, 2) = *at(&f, 1, 3) = 0.1;
    run(&f);
    assert_int_equal(f.report.eliminated, 4);
    assert_int_equal(f.report.two_by_two, 2);
    assert_int_equal(f.report.uncertain, 2);
    check(&f, 4);
    free_front(&f);
}

static void pairs_without_diagonal_are_2x2_pivots(void **state)
{
    (void)state;
    for (int pairs = 0; pairs <= 70; pairs++) {
        random_stream r = random_seeded((uint64_t)pairs);
        int32_t where[140];
        random_permutation(&r, 2 * pairs, where);
        front f = random_front(&r, 2 * pairs, 2 * pairs, 7);
        for (int i = 0; i < pairs; i++)
            *at(&f, where[2 * i], where[2 * i + 1]) = 1 + random_below(&r, 5);
        run(&f);
        assert_int_equal(f.report.two_by_two, pairs);
        assert_int_equal(f.report.positive, pairs);
        assert_int_equal(f.report.negative, pairs);
        check(&f, 1);
        free_front(&f);
    }
}

static void zero_columns_are_zero_pivots(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        random_stream r = random_seeded(seed);
        const int k = 1 + random_below(&r, 90), m = k + random_below(&r, 10);
        front f = random_front(&r, m, k, 0);
        int zero = 0;
        for (int j = 0; j < k; j++)
            if (random_below(&r, 4) == 0) {
                for (int i = 0; i < m; i++)
                    *at(&f, i, j) = 0;
                zero++;
            }
        run(&f);
        assert_int_equal(f.report.zero, zero);
        assert_true(m > k || f.report.positive + f.report.negative == k - zero);
        check(&f, limit(&f));
        free_front(&f);
    }
}

/* A = S^T B S with B nonsingular and S repeating some of its rows with factors: as many eigenvalues are zero.
 */
static void inertia_of_repeated_rows(void **state)
{
    (void)state;
    int certain = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        random_stream r = random_seeded(seed);
        const int rank = 1 + random_below(&r, seed < 200 ? 30 : 120), zero = random_below(&r, 10),
                  n = rank + zero;
        int of[160], place[160], positive = 0;
        for (int i = 0; i < n; i++)
            of[i] = i < rank ? i : random_below(&r, rank);
        random_permutation(&r, n, place);
        /* B = M + M^T dominated by its diagonal, whose signs are the inertia */
        double *b = nan_array((int64_t)rank * rank);
        for (int j = 0; j < rank; j++)
            for (int i = j; i < rank; i++)
                b[i + j * rank] = i == j ? (random_below(&r, 2) ? rank : -rank) : random_real(&r);
        for (int j = 0; j < rank; j++)
            positive += b[j + j * rank] > 0;
        front f = new_front(n, n);
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++) {
                const int x = of[i] > of[j] ? of[i] : of[j], y = of[i] > of[j] ? of[j] : of[i];
                *at(&f, place[i], place[j]) = b[x + y * rank];
            }
        f.u = seed % 2 ? 0.5 : 0.01;
        run(&f);
        check(&f, limit(&f));
        certain += f.report.uncertain == 0;
        if (f.report.uncertain == 0 && (f.report.positive != positive || f.report.zero != zero))
            fail_msg("seed %d: inertia %d %d %d is given as certain, it is %d %d %d", (int)seed,
                     f.report.positive, f.report.negative, f.report.zero, positive, rank - positive, zero);
        free(b);
        free_front(&f);
    }
    assert_in_range(certain, 290, 300);
}

static void levels_of_zero_and_of_certain_pivots(void **state)
{
    (void)state;
    /* [1 1; 1 1 + x EPS] leaves x EPS, which is measured against 2: 1 assembled, 1 subtracted.  Of a block
       the largest entry comes first, which must be the first one for that. */
    static const struct {
        double x;
        int zero, uncertain;
    } known[] = {{0, 1, 0},    {8, 1, 0},   {16, 1, 0},  {17, 0, 1},    {2048, 0, 1},
                 {2049, 0, 0}, {-16, 1, 0}, {-17, 0, 1}, {-2048, 0, 1}, {-2049, 0, 0}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        for (int plain = known[i].x > 0; plain < 2; plain++) {
            front f = new_front(2, 2);
            f.plain = plain;
            *at(&f, 0, 0) = *at(&f, 1, 0) = 1;
            *at(&f, 1, 1) = 1 + known[i].x * EPS;
            run(&f);
            assert_int_equal(f.report.zero, known[i].zero);
            assert_int_equal(f.report.uncertain, known[i].uncertain);
            assert_int_equal(f.report.negative, known[i].zero == 0 && known[i].x < 0);
            check(&f, 100);
            free_front(&f);
        }
}

static void blocks_with_complete_pivoting(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        random_stream r = random_seeded(seed);
        const int n = random_below(&r, LDLT_BLOCK + 1), kind = random_below(&r, KINDS);
        front f = random_front(&r, n, n, kind);
        int order[LDLT_BLOCK];
        f.panel = copy_of(f.a, (int64_t)n * n);
        for (int i = 0; i < n; i++)
            f.magnitude[i] = initial_magnitude(&f, i);
        const int found = ldlt_block_d(n, f.panel, order, f.d, f.e, f.magnitude);
        for (int i = 0; i < n; i++)
            f.index[i] = NAME_OF_ROW + order[i];
        f.report.smallest = INFINITY;
        f.report.eliminated = found;
        for (int q = 0; q < found; q++) { /* the pivots stand where L has its ones */
            assert_true(f.d[q] == f.panel[q + q * n]);
            f.panel[q + q * n] = 1;
            const int pivots = f.e[q] != 0 ? 2 : 1;
            if (pivots == 2)
                f.panel[q + 1 + (q + 1) * n] = 1;
            ldlt_count_d(&f.report, f.d[q], f.e[q], f.d[q + pivots - 1], f.magnitude[q],
                         f.magnitude[q + pivots - 1]);
            q += pivots - 1;
        }
        f.may_delay = 1;
        check(&f, 4);
        for (int j = found; j < n; j++) /* what is left is rounding errors */
            for (int i = j; i < n; i++) {
                /* at most the largest entry, which is noise in its place */
                double level = 0;
                for (int row = found; row < n; row++)
                    level = fmax(level, f.magnitude[row]);
                assert_true(fabs(f.panel[i + j * n]) <= LDLT_ZERO * level);
            }
        if (kind == 0)
            assert_int_equal(found, n);
        free_front(&f);
    }
}

static void rows_and_columns_are_swapped(void **state)
{
    (void)state;
    for (int m = 2; m <= 12; m++)
        for (int k = 2; k <= m; k++)
            for (int i = 0; i < k; i++)
                for (int j = i + 1; j < k; j++) {
                    random_stream r = random_seeded((uint64_t)(((m * 20 + k) * 20 + i) * 20 + j));
                    front f = random_front(&r, m, k, 0);
                    f.panel = copy_of(f.a, (int64_t)m * k);
                    for (int t = 0; t < m; t++) {
                        f.index[t] = t;
                        f.magnitude[t] = t;
                    }
                    ldlt_swap_d(m, f.panel, i, j, f.index, f.magnitude);
                    for (int t = 0; t < m; t++) {
                        const int from = t == i ? j : t == j ? i : t;
                        assert_int_equal(f.index[t], from);
                        assert_true(f.magnitude[t] == from);
                        for (int c = 0; c < k && c <= t; c++)
                            assert_true(f.panel[t + c * m] == *at(&f, from, c == i ? j : c == j ? i : c));
                    }
                    free_front(&f);
                }
}

/* A power of two changes exponents only. */
static void pivots_do_not_depend_on_the_unit(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 400; seed++) {
        random_stream r = random_seeded(seed);
        const int k = 1 + random_below(&r, 40), m = k + random_below(&r, 8), power = seed % 2 ? 900 : -900;
        front f = random_front(&r, m, k, (int)(seed / 2 % KINDS));
        f.plain = seed % 3 == 0;
        run(&f);
        double *one = copy_of(f.panel, (int64_t)m * k), *d = copy_of(f.d, k);
        const front_report report = f.report;
        for (int j = 0; j < k; j++)
            for (int i = j; i < m; i++)
                *at(&f, i, j) = ldexp(*at(&f, i, j), power);
        run(&f);
        assert_int_equal(f.report.eliminated, report.eliminated);
        assert_int_equal(f.report.zero, report.zero);
        assert_int_equal(f.report.two_by_two, report.two_by_two);
        assert_int_equal(f.report.uncertain, report.uncertain);
        for (int j = 0; j < report.eliminated; j++) {
            assert_true(f.d[j] == ldexp(d[j], power));
            for (int i = j; i < m; i++)
                assert_true(f.panel[i + j * m] == one[i + j * m]);
        }
        free(one);
        free(d);
        free_front(&f);
    }
}

static void large_fronts_have_the_same_bits_for_any_threads(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind += 3) {
        random_stream r = random_seeded((uint64_t)kind);
        front f = random_front(&r, 900, 200, kind);
        assert_true(front_is_large(f.m, LDLT_BLOCK));
        with_threads(1, run, &f);
        double *one = copy_of(f.panel, (int64_t)f.m * f.k), *d = copy_of(f.d, f.k),
               *g = copy_of(f.magnitude, f.m);
        const int threads[] = {2, 5}, p = f.report.eliminated;
        for (int t = 0; t < 2; t++) {
            with_threads(threads[t], run, &f);
            for (int j = 0; j < f.k; j++)
                assert_memory_equal(f.panel + j + (int64_t)j * f.m, one + j + (int64_t)j * f.m,
                                    (size_t)(f.m - j) * sizeof(double));
            assert_memory_equal(f.d, d, (size_t)p * sizeof(double));
            assert_memory_equal(f.magnitude, g, (size_t)f.m * sizeof(double));
        }
        check(&f, limit(&f));
        free(one);
        free(d);
        free(g);
        free_front(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(rows_and_columns_are_swapped, print_last_seed),
        cmocka_unit_test_teardown(blocks_with_complete_pivoting, print_last_seed),
        cmocka_unit_test_teardown(plain_threshold_pivoting, print_last_seed),
        cmocka_unit_test_teardown(fronts_of_all_small_sizes, print_last_seed),
        cmocka_unit_test_teardown(fronts_at_block_borders, print_last_seed),
        cmocka_unit_test_teardown(candidates_without_a_stable_pivot_are_delayed, print_last_seed),
        cmocka_unit_test(a_candidate_refused_at_first_is_taken_when_others_have_changed_it),
        cmocka_unit_test(a_root_delays_nothing),
        cmocka_unit_test_teardown(pairs_without_diagonal_are_2x2_pivots, print_last_seed),
        cmocka_unit_test_teardown(zero_columns_are_zero_pivots, print_last_seed),
        cmocka_unit_test_teardown(inertia_of_repeated_rows, print_last_seed),
        cmocka_unit_test(levels_of_zero_and_of_certain_pivots),
        cmocka_unit_test_teardown(pivots_do_not_depend_on_the_unit, print_last_seed),
        cmocka_unit_test_teardown(large_fronts_have_the_same_bits_for_any_threads, print_last_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
