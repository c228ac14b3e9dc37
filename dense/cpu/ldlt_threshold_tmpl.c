/* dense/cpu/ldlt_threshold_tmpl.c: LDL^T with threshold partial pivoting, one pivot at a time  [Duff, Reid
 * 1983] SPDX-License-Identifier: BSD-3-Clause
 *
 * The last resort inside a front, for the few columns on which blocks have failed. */
#include "dense/cpu/ldlt.h"
#include <string.h>

void NAME(ldlt_swap)(int m, scalar *panel, int i, int j, int32_t *index, real *magnitude)
{
    scalar t;
    for (int c = 0; c < i; c++) {
        scalar *column = panel + (int64_t)c * m;
        t = column[i], column[i] = column[j], column[j] = t;
    }
    scalar *ci = panel + (int64_t)i * m, *cj = panel + (int64_t)j * m;
    for (int c = i + 1; c < j; c++) {
        scalar *mirror = panel + j + (int64_t)c * m;
        t = ci[c], ci[c] = *mirror, *mirror = t;
    }
    t = ci[i], ci[i] = cj[j], cj[j] = t;
    for (int r = j + 1; r < m; r++)
        t = ci[r], ci[r] = cj[r], cj[r] = t;
    const real g = magnitude[i];
    magnitude[i] = magnitude[j];
    magnitude[j] = g;
    if (index) {
        const int32_t v = index[i];
        index[i] = index[j];
        index[j] = v;
    }
}

void NAME(ldlt_count)(front_report *report, scalar d, scalar e, scalar d2, real g1, real g2)
{
    const double a = (double)scalar_real(d), c = (double)scalar_real(d2), b = (double)scalar_abs(e);
    double eigenvalue[2] = {a, a};
    const int pivots = e == 0 ? 1 : 2;
    if (pivots == 2) {
        /* of [a b; b c]: the larger by the stable formula, the smaller from the determinant */
        const double mean = a / 2 + c / 2, radius = hypot(a / 2 - c / 2, b);
        eigenvalue[0] = mean >= 0 ? mean + radius : mean - radius;
        eigenvalue[1] = (a / b * (c / b) - 1) * b * (b / eigenvalue[0]);
        report->two_by_two++;
    }
    for (int i = 0; i < pivots; i++) {
        const double size = fabs(eigenvalue[i]);
        if (eigenvalue[i] > 0)
            report->positive++;
        else
            report->negative++;
        if (size < report->smallest)
            report->smallest = size;
        if (size <= LDLT_UNCERTAIN * (double)(g1 > g2 ? g1 : g2))
            report->uncertain++;
    }
}

/* Column c of the symmetric matrix that is left, rows [p, m), from the lower trapezoid. */
static void whole_column(int m, int p, int c, const scalar *panel, scalar *x)
{
    for (int i = p; i < c; i++)
        x[i] = panel[c + (int64_t)i * m];
    memcpy(x + c, panel + c + (int64_t)c * m, sizeof(scalar) * (size_t)(m - c));
}

/* max |x(i)| over rows [p, m) without i = c and i = t */
static real largest_but(int m, int p, const scalar *x, int c, int t)
{
    real largest = 0;
    for (int i = p; i < m; i++)
        if (scalar_abs(x[i]) > largest && i != c && i != t)
            largest = scalar_abs(x[i]);
    return largest;
}

static int column_is_zero(int m, int p, int c, const scalar *x, const real *magnitude, real zero)
{
    for (int i = p; i < m; i++)
        if (!is_noise(scalar_abs(x[i]), magnitude[i], magnitude[c], zero))
            return 0;
    return 1;
}

/* The pivot that column c of the candidates [p, k) offers: 0 none, 1: 1x1, 2: 2x2 with *partner, -1: zero
 * column. x, y: workspace of m scalars each. */
static int offered_pivot(int m, int k, int p, int c, const scalar *panel, const real *magnitude, real u,
                         real zero, int *partner, scalar *x, scalar *y)
{
    whole_column(m, p, c, panel, x);
    if (column_is_zero(m, p, c, x, magnitude, zero))
        return -1;
    if (scalar_abs(x[c]) >= u * largest_but(m, p, x, c, c) &&
        !is_noise(scalar_abs(x[c]), magnitude[c], magnitude[c], zero))
        return 1;
    int t = -1;
    for (int i = p; i < k; i++)
        if (i != c && (t < 0 || scalar_abs(x[i]) > scalar_abs(x[t])))
            t = i;
    if (t < 0 || is_noise(scalar_abs(x[t]), magnitude[c], magnitude[t], zero))
        return 0;
    whole_column(m, p, t, panel, y);
    const scalar a = x[c], b = x[t], d = y[t];
    if (!invertible(a, b, d))
        return 0;
    /* | [x y] [a b; b d]^-1 | <= 1 / u for the largest entries that x and y can have in a row */
    const real xs = largest_but(m, p, x, c, t), ys = largest_but(m, p, y, c, t), off = scalar_abs(b);
    const real det = scalar_abs((a / off) * (d / off) - (b / off) * (b / off)) * off;
    if (u * (scalar_abs(d) / off * xs + ys) > det || u * (xs + scalar_abs(a) / off * ys) > det)
        return 0;
    *partner = t;
    return 2;
}

/* Columns [p + pivots, k) -= L W^T for the pivots in columns p.. of the panel; w: what L D was, rows [p, m),
 * stride m. */
static void update_candidates(int m, int k, int p, int pivots, scalar *panel, const scalar *w,
                              real *magnitude)
{
    for (int q = 0; q < pivots; q++) {
        const scalar *l = panel + (int64_t)(p + q) * m, *wq = w + (int64_t)q * m;
        for (int i = p + pivots; i < m; i++)
            magnitude[i] += scalar_abs(l[i]) * scalar_abs(wq[i]);
        for (int j = p + pivots; j < k; j++) {
            scalar *column = panel + (int64_t)j * m;
            const scalar factor = wq[j];
            for (int i = j; i < m; i++)
                column[i] -= l[i] * factor;
        }
    }
}

/* Divides the columns at p by their pivot, keeping L D in w, and updates the other candidates. */
static void eliminate(int m, int k, int p, int pivots, scalar *panel, scalar *d, scalar *e, real *magnitude,
                      scalar *w)
{
    scalar *l0 = panel + (int64_t)p * m, *l1 = l0 + m;
    const int first = p + pivots;
    const size_t bytes = sizeof(scalar) * (size_t)(m - first);
    d[p] = l0[p];
    e[p] = 0;
    memcpy(w + first, l0 + first, bytes);
    if (pivots == 1) {
        const scalar inverse = 1 / d[p];
        for (int i = first; i < m; i++)
            l0[i] *= inverse;
    } else {
        e[p] = l0[p + 1];
        d[p + 1] = l1[p + 1];
        e[p + 1] = 0;
        l0[p + 1] = 0;
        memcpy(w + m + first, l1 + first, bytes);
        for (int i = first; i < m; i++)
            divide_2x2(d[p], e[p], d[p + 1], &l0[i], &l1[i]);
        l1[p + 1] = 1;
    }
    l0[p] = 1;
    update_candidates(m, k, p, pivots, panel, w, magnitude);
}

int NAME(ldlt_threshold)(int m, int k, int p, scalar *panel, int32_t *index, scalar *d, scalar *e,
                         real *magnitude, real u, real zero, scalar *work, front_report *report)
{
    scalar *x = work, *y = work + m; /* reused as L D once the pivot is chosen */
    int c = p;
    while (c < k) {
        int t = -1;
        const int pivots = offered_pivot(m, k, p, c, panel, magnitude, u, zero, &t, x, y);
        if (pivots == 0) {
            c++;
            continue;
        }
        if (c != p)
            NAME(ldlt_swap)(m, panel, p, c, index, magnitude);
        if (pivots == -1) {
            scalar *column = panel + (int64_t)p * m;
            memset(column + p, 0, sizeof(scalar) * (size_t)(m - p));
            column[p] = 1;
            d[p] = e[p] = 0;
            report->zero++;
            p++;
        } else {
            if (pivots == 2) {
                const int where = t == p ? c : t; /* the first swap may have moved it */
                if (where != p + 1)
                    NAME(ldlt_swap)(m, panel, p + 1, where, index, magnitude);
            }
            eliminate(m, k, p, pivots, panel, d, e, magnitude, work);
            NAME(ldlt_count)(report, d[p], e[p], d[p + pivots - 1], magnitude[p], magnitude[p + pivots - 1]);
            p += pivots;
        }
        c = p; /* what was refused before may be accepted now */
    }
    return p;
}
