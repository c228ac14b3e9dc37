/* test/support/ldlt_front.c: a front whose candidates become L D L^T, and all that must then hold
 * SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "ldlt_front.h"
#include <stdlib.h>

ldlt_front front_new(int m, int k)
{
    ldlt_front f = {.m = m, .k = k, .may_delay = m > k, .u = 0.01, .a = nan_array((int64_t)m * k)};
    f.d = nan_array(k);
    f.e = nan_array(k);
    f.magnitude = nan_array(m);
    f.index = calloc((size_t)m + 1, sizeof(int32_t));
    assert_non_null(f.index);
    return f;
}

void front_free(ldlt_front *f)
{
    free(f->a);
    free(f->panel);
    free(f->d);
    free(f->e);
    free(f->magnitude);
    free(f->index);
}

ldlt_front front_random(random_stream *r, int m, int k, int kind)
{
    ldlt_front f = front_new(m, k);
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
            *front_at(&f, i, j) = x;
        }
    for (int q = 0; q < rank && kind == 5; q++) { /* of low rank, exactly */
        for (int i = 0; i < m; i++)
            v[i] = random_below(r, 3) - 1;
        for (int j = 0; j < k; j++)
            for (int i = j; i < m; i++)
                *front_at(&f, i, j) += v[i] * v[j] * (q % 2 ? 1 : -1);
    }
    free(v);
    return f;
}

double *front_at(const ldlt_front *f, int i, int j)
{
    return i > j ? &f->a[i + (int64_t)j * f->m] : &f->a[j + (int64_t)i * f->m];
}

double front_magnitude(const ldlt_front *f, int i)
{
    double largest = f->assembled ? f->assembled[i] : 0;
    for (int j = 0; j < f->k && !f->assembled; j++)
        largest = fmax(largest, fabs(*front_at(f, i, j)));
    return largest;
}

void front_run(void *front)
{
    ldlt_front *f = front;
    double *work = nan_array(f->plain ? 2 * (int64_t)f->m + f->k : front_ldlt_work(f->m, f->k));
    free(f->panel);
    f->panel = copy_of(f->a, (int64_t)f->m * f->k);
    for (int i = 0; i < f->m; i++) {
        f->index[i] = NAME_OF_ROW + i;
        f->magnitude[i] = front_magnitude(f, i);
    }
    f->report = (front_report){.smallest = INFINITY, .doubt_level = 0x1p-26};
    const front_candidates in = {0,    f->m, f->k,         f->m, f->panel, f->index,
                                 f->d, f->e, f->magnitude, work, NULL,     &f->report};
    if (f->plain)
        f->report.eliminated = ldlt_threshold_d(&in, 0, f->u, LDLT_ZERO);
    else
        front_ldlt_d(&in, f->u, LDLT_ZERO, f->may_delay ? f->k : 0);
    free(work);
}

double front_limit(const ldlt_front *f)
{
    return f->may_delay || f->plain || f->u < 0.25 ? 1 / f->u : 4;
}

/* Makes the upper triangle of L, which is undefined, zero, and its diagonal is to be one. */
static void complete_l(ldlt_front *f, int p)
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
static void check_report(const ldlt_front *f, int p)
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
            expected.uncertain += fabsl(eigenvalue[i]) <= f->report.doubt_level * (long double)g;
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
static void check_index(const ldlt_front *f)
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

/* What pivots may outgrow the entries of the front by, or 1 / u where that is tiny: errors are
 * measured by them. */
#define MOST_GROWTH 2000

static void check_growth(const ldlt_front *f, int p)
{
    double largest = 0, pivot = 0;
    for (int j = 0; j < f->k; j++)
        for (int i = j; i < f->m; i++)
            largest = fmax(largest, fabs(*front_at(f, i, j)));
    for (int q = 0; q < p; q++)
        pivot = fmax(pivot, fmax(fabs(f->d[q]), fabs(f->e[q])));
    if (!(pivot <= fmax(MOST_GROWTH, 1 / f->u) * largest))
        fail_msg("m %d, k %d, u %g: a pivot of %g, entries of %g", f->m, f->k, f->u, pivot,
                 largest);
}

void front_check(ldlt_front *f, double limit)
{
    const int m = f->m, k = f->k, p = f->report.eliminated;
    assert_in_range(p, 0, k);
    if (!f->may_delay && !f->plain)
        assert_int_equal(p, k);
    check_index(f);
    check_report(f, p);
    check_growth(f, p);
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
            const double a = *front_at(f, f->index[i] - NAME_OF_ROW, f->index[j] - NAME_OF_ROW);
            long double sum, scale;
            ldlt_product(p, f->panel, m, f->d, f->e, weight, i, j, &sum, &scale);
            /* a may cancel only after p roundings */
            long double allowed = EPS * (scale + p * fabsl(a));
            if (zero)
                allowed += LDLT_ZERO * sqrtl((long double)f->magnitude[i] * f->magnitude[j]);
            const long double left = j < p ? 0 : f->panel[i + (int64_t)j * m];
            if (!(fabsl(a - sum - left) <= allowed))
                fail_msg("m %d, k %d, p %d, u %g: entry (%d, %d) is %g, L D L^T %Lg, left %Lg; off "
                         "by %Lg, "
                         "allowed %Lg",
                         m, k, p, f->u, i, j, a, sum, left, fabsl(a - sum - left), allowed);
        }
    }
    for (int i = 0; i < m; i++) { /* magnitude: |l|^2 by the rows' sums of |D|, over the pivots
                                     before row i's own */
        const int before = i >= p ? p : i > 0 && f->e[i - 1] != 0 ? i - 1 : i;
        long double exact = front_magnitude(f, f->index[i] - NAME_OF_ROW);
        for (int q = 0; q < before; q++) {
            const long double l = f->panel[i + (int64_t)q * m];
            exact += l * l *
                     (fabsl((long double)f->d[q]) + fabsl((long double)f->e[q]) +
                      (q > 0 ? fabsl((long double)f->e[q - 1]) : 0));
        }
        const long double error = (4 * p + 4) * EPS * exact;
        if (!(fabsl(f->magnitude[i] - exact) <= error))
            fail_msg("m %d, k %d: magnitude of row %d is %g, expected %Lg", m, k, i,
                     f->magnitude[i], exact);
    }
    free(weight);
}
