/* dense/cpu/ldlt_threshold_tmpl.c: LDL^T with threshold partial pivoting, one pivot at a time
 * [Duff, Reid 1983]
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The last resort inside a front, for the few columns on which blocks have failed; and behind it
 * what is done when the columns that are left may not be delayed. */
#include "dense/cpu/ldlt.h"
#include <string.h>

void NAME(ldlt_swap)(int hermitian, int m, scalar *panel, int i, int j, int32_t *index,
                     real *magnitude)
{
    scalar t;
    for (int c = 0; c < i; c++) {
        scalar *column = panel + (int64_t)c * m;
        t = column[i], column[i] = column[j], column[j] = t;
    }
    scalar *ci = panel + (int64_t)i * m, *cj = panel + (int64_t)j * m;
    for (int c = i + 1; c < j; c++) {
        scalar *mirror = panel + j + (int64_t)c * m;
        t = ci[c], ci[c] = scalar_mirror(*mirror, hermitian), *mirror = scalar_mirror(t, hermitian);
    }
    ci[j] = scalar_mirror(ci[j], hermitian);
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

/* Eigenvalues of [a b; b c], b >= 0: the larger by the stable formula, the smaller from the
 * determinant. */
static void eigenvalues(double a, double b, double c, double *value)
{
    const double mean = a / 2 + c / 2, radius = hypot(a / 2 - c / 2, b);
    value[0] = mean >= 0 ? mean + radius : mean - radius;
    value[1] = (a / b * (c / b) - 1) * b * (b / value[0]);
}

/* Singular values of the complex symmetric [a b; b c] = b M: s0 s1 = |det M|, s0^2 + s1^2 =
 * |M|_F^2. */
static void singular_values(scalar a, scalar b, scalar c, double *value)
{
    const double off = (double)scalar_abs(b), x = (double)scalar_abs(a) / off,
                 y = (double)scalar_abs(c) / off;
    const double det = (double)relative_determinant(0, a, b, c), half = (x * x + y * y) / 2 + 1;
    const double larger = sqrt(half + sqrt(half > det ? (half - det) * (half + det) : 0));
    value[0] = larger * off;
    value[1] = det / larger * off;
}

void NAME(ldlt_count)(int hermitian, front_report *report, scalar d, scalar e, scalar d2, real g1,
                      real g2)
{
    const int without_sign = SCALAR_COMPLEX && !hermitian, pivots = e == 0 ? 1 : 2;
    double value[2] = {without_sign ? (double)scalar_abs(d) : (double)scalar_real(d), 0};
    if (pivots == 2) {
        if (without_sign)
            singular_values(d, e, d2, value);
        else
            eigenvalues((double)scalar_real(d), (double)scalar_abs(e), (double)scalar_real(d2),
                        value);
        report->two_by_two++;
    }
    for (int i = 0; i < pivots; i++) {
        const double size = fabs(value[i]);
        if (value[i] > 0)
            report->positive++;
        else
            report->negative++;
        if (size < report->smallest)
            report->smallest = size;
        if (size <= report->doubt_level * (double)(g1 > g2 ? g1 : g2))
            report->uncertain++;
    }
}

/* Column c of the matrix that is left, rows [p, m), from the lower trapezoid. */
static void whole_column(int hermitian, int m, int p, int c, const scalar *panel, scalar *x)
{
    for (int i = p; i < c; i++)
        x[i] = scalar_mirror(panel[c + (int64_t)i * m], hermitian);
    memcpy(x + c, panel + c + (int64_t)c * m, sizeof(scalar) * (size_t)(m - c));
    x[c] = scalar_diagonal(x[c], hermitian);
}

/* max |x(i)| over rows [first, last) */
static real largest(int first, int last, const scalar *x)
{
    real most = 0;
#pragma omp simd reduction(max : most)
    for (int i = first; i < last; i++)
        most = scalar_abs(x[i]) > most ? scalar_abs(x[i]) : most;
    return most;
}

/* max |x(i)| over rows [p, end) without i = c and i = t */
static real largest_but(int end, int p, const scalar *x, int c, int t)
{
    const int low = c < t ? c : t, high = c < t ? t : c;
    const real a = largest(p, low, x), b = largest(low + 1, high, x), z = largest(high + 1, end, x);
    return a > b ? (a > z ? a : z) : (b > z ? b : z);
}

/* Row of the largest |x(i)|, first <= i < last, without i = c; -1 if there is none.  The first of
 * equals. */
static int row_of_largest(int first, int last, const scalar *x, int c)
{
    int row = -1;
    for (int i = first; i < last; i++)
        if (i != c && (row < 0 || scalar_abs(x[i]) > scalar_abs(x[row])))
            row = i;
    return row;
}

static int column_is_zero(int judged, int p, int c, const scalar *x, const real *magnitude,
                          real zero)
{
    for (int i = p; i < judged; i++)
        if (x[i] != 0 && !is_noise(scalar_abs(x[i]), magnitude[i], magnitude[c], zero))
            return 0;
    return 1;
}

/* The pivot that column c of the candidates [p, k) offers: 0 none, 1: 1x1, 2: 2x2 with *partner,
 * -1: zero column.  *partner, unless it is zero: the candidate in whose row its largest entry
 * stands, or -1.  x, y: workspace of m scalars each. */
static int offered_pivot(int hermitian, int m, int k, int judged, int p, int c, const scalar *panel,
                         const real *magnitude, real u, real zero, int *partner, scalar *x,
                         scalar *y)
{
    whole_column(hermitian, m, p, c, panel, x);
    if (column_is_zero(judged, p, c, x, magnitude, zero))
        return -1;
    if (scalar_abs(x[c]) >= u * largest_but(judged, p, x, c, c) &&
        !is_noise(scalar_abs(x[c]), magnitude[c], magnitude[c], zero))
        return 1;
    const int t = *partner = row_of_largest(p, k, x, c);
    if (t < 0 || is_noise(scalar_abs(x[t]), magnitude[c], magnitude[t], zero))
        return 0;
    whole_column(hermitian, m, p, t, panel, y);
    const scalar a = x[c], b = x[t], d = y[t];
    if (!invertible(hermitian, a, b, d))
        return 0;
    /* | [x y] [a b'; b d]^-1 | <= 1 / u for the largest entries that x and y can have in a row */
    const real xs = largest_but(judged, p, x, c, t), ys = largest_but(judged, p, y, c, t),
               off = scalar_abs(b);
    const real det = relative_determinant(hermitian, a, b, d) * off;
    if (u * (scalar_abs(d) / off * xs + ys) > det || u * (xs + scalar_abs(a) / off * ys) > det)
        return 0;
    return 2;
}

/* Columns [p + pivots, k) -= L W^T for the pivots in columns p.. of the panel; w: what L D was,
 * rows [p, m), stride m.  Columns that change have not been refused any more. */
static void update_candidates(int hermitian, int m, int k, int p, int pivots, scalar *panel,
                              const scalar *w, real *magnitude, scalar *refused)
{
    for (int q = 0; q < pivots; q++) {
        const scalar *l = panel + (int64_t)(p + q) * m, *wq = w + (int64_t)q * m;
        for (int i = p + pivots; i < m; i++)
            magnitude[i] += scalar_abs(l[i]) * scalar_abs(wq[i]);
        for (int j = p + pivots; j < k; j++) {
            scalar *column = panel + (int64_t)j * m;
            const scalar factor = scalar_mirror(wq[j], hermitian);
            if (factor == 0)
                continue;
            refused[j] = 0;
            for (int i = j; i < m; i++)
                column[i] -= l[i] * factor;
        }
    }
}

/* Divides the columns at p by their pivot, keeping L D in w, and updates the other candidates. */
static void eliminate(int hermitian, int m, int k, int p, int pivots, scalar *panel, scalar *d,
                      scalar *e, real *magnitude, scalar *w, scalar *refused)
{
    scalar *l0 = panel + (int64_t)p * m, *l1 = l0 + m;
    const int first = p + pivots;
    const size_t bytes = sizeof(scalar) * (size_t)(m - first);
    d[p] = scalar_diagonal(l0[p], hermitian);
    e[p] = 0;
    memcpy(w + first, l0 + first, bytes);
    if (pivots == 1) {
        const scalar inverse = 1 / d[p];
        for (int i = first; i < m; i++)
            l0[i] *= inverse;
    } else {
        e[p] = l0[p + 1];
        d[p + 1] = scalar_diagonal(l1[p + 1], hermitian);
        e[p + 1] = 0;
        l0[p + 1] = 0;
        memcpy(w + m + first, l1 + first, bytes);
        for (int i = first; i < m; i++)
            divide_2x2(hermitian, d[p], e[p], d[p + 1], &l0[i], &l1[i]);
        l1[p + 1] = 1;
    }
    l0[p] = 1;
    update_candidates(hermitian, m, k, p, pivots, panel, w, magnitude, refused);
}

/* Candidate c comes to place p. */
static void bring(int hermitian, int m, scalar *panel, int p, int c, int32_t *index,
                  real *magnitude, scalar *refused)
{
    if (c == p)
        return;
    NAME(ldlt_swap)(hermitian, m, panel, p, c, index, magnitude);
    const scalar t = refused[p];
    refused[p] = refused[c];
    refused[c] = t;
}

/* Makes pivots of candidate c at place p: -1: a zero pivot, 1, or 2 with its partner t.  Returns
 * how many are eliminated. */
static int take(int hermitian, int m, int k, int p, int c, int t, int pivots, scalar *panel,
                int32_t *index, scalar *d, scalar *e, real *magnitude, scalar *work,
                scalar *refused, front_report *report)
{
    bring(hermitian, m, panel, p, c, index, magnitude, refused);
    if (pivots == -1) {
        scalar *column = panel + (int64_t)p * m;
        memset(column + p, 0, sizeof(scalar) * (size_t)(m - p));
        column[p] = 1;
        d[p] = e[p] = 0;
        report->zero++;
        return 1;
    }
    if (pivots == 2) /* the first swap may have moved the partner */
        bring(hermitian, m, panel, p + 1, t == p ? c : t, index, magnitude, refused);
    eliminate(hermitian, m, k, p, pivots, panel, d, e, magnitude, work, refused);
    NAME(ldlt_count)(hermitian, report, d[p], e[p], d[p + pivots - 1], magnitude[p],
                     magnitude[p + pivots - 1]);
    return pivots;
}

/* The first of the candidates from c on, and round again, that has not been refused; -1: all
 * have. */
static int next_candidate(int p, int k, int c, const scalar *refused)
{
    for (int j = c; j < k; j++)
        if (refused[j] == 0)
            return j;
    for (int j = p; j < c && j < k; j++)
        if (refused[j] == 0)
            return j;
    return -1;
}

int NAME(ldlt_threshold)(int hermitian, int m, int k, int judged, int p, scalar *panel,
                         int32_t *index, scalar *d, scalar *e, real *magnitude, real u, real zero,
                         scalar *work, front_watch *watch, front_report *report)
{
    scalar *x = work, *y = work + m;         /* reused as L D once the pivot is chosen */
    scalar *refused = work + 2 * (int64_t)m; /* nonzero: offered no pivot, and has not changed since
                                              */
    int first = p; /* pivots found before the round in which every candidate is asked again */
    for (int c = p; c < k; c++)
        refused[c] = 0;
    /* Round and round the candidates until all have been refused, from each to the row of its
     * largest entry, where pivots are likelier.  One that has not changed may still take a partner
     * that has, or have become rounding error beside rows that grew: all are asked again before the
     * end. */
    for (int next = p; !front_panel_stopped(watch, m, k);) {
        const int c = next_candidate(p, k, next, refused);
        if (c < 0) {
            if (first == p || p == k)
                break;
            first = p;
            for (int j = p; j < k; j++)
                refused[j] = 0;
            continue;
        }
        int t = -1;
        const int pivots =
            offered_pivot(hermitian, m, k, judged, p, c, panel, magnitude, u, zero, &t, x, y);
        if (pivots == 0) {
            refused[c] = 1;
            next = t >= 0 && refused[t] == 0 ? t : c + 1;
            continue;
        }
        p += take(hermitian, m, k, p, c, t, pivots, panel, index, d, e, magnitude, work, refused,
                  report);
        next = c < p ? p : c + 1;
    }
    return p;
}

/* a / |a|, 1 for 0 */
static scalar direction(scalar a)
{
    const real size = scalar_abs(a);
    return size > 0 ? (scalar)(a / size) : 1;
}

/* The candidate of [p, k) with the largest |diagonal| beside the largest entry of its column; that
 * diagonal is raised to `least` times the largest entry if it is less.  x: workspace of m scalars.
 */
static int raise_best(int hermitian, int m, int k, int judged, int p, scalar *panel, real least,
                      scalar *x)
{
    int best = p;
    real best_ratio = -1, best_size = 0;
    for (int c = p; c < k; c++) {
        whole_column(hermitian, m, p, c, panel, x);
        const real most = largest_but(judged, p, x, c, c), size = scalar_abs(x[c]);
        const real ratio = most > 0 ? size / most : INFINITY;
        if (ratio > best_ratio) {
            best = c;
            best_ratio = ratio;
            best_size = least * most;
        }
    }
    scalar *diagonal = panel + best + (int64_t)best * m;
    if (scalar_abs(*diagonal) < best_size)
        *diagonal = direction(scalar_diagonal(*diagonal, hermitian)) * best_size;
    return best;
}

int NAME(ldlt_forced)(int hermitian, int m, int k, int judged, int p, int leave, scalar *panel,
                      int32_t *index, scalar *d, scalar *e, real *magnitude, scalar *work,
                      front_watch *watch, front_report *report)
{
    const real least = (real)sqrt(EPS);
    scalar *x = work, *y = work + m, *refused = work + 2 * (int64_t)m;
    for (int c = p; c < k; c++)
        refused[c] = 0;
    while (k - p > leave && !front_panel_stopped(watch, m, k)) {
        int pivots = 0, c = p - 1, t = -1;
        while (pivots == 0 && ++c < k) {
            if (refused[c] == 0)
                pivots = offered_pivot(hermitian, m, k, judged, p, c, panel, magnitude, least,
                                       LDLT_ZERO, &t, x, y);
            refused[c] = pivots == 0;
        }
        if (pivots == 0) {
            c = raise_best(hermitian, m, k, judged, p, panel, least, x);
            pivots = 1;
        }
        const int taken = take(hermitian, m, k, p, c, t, pivots, panel, index, d, e, magnitude,
                               work, refused, report);
        report->perturbed += pivots == -1 ? 0 : taken;
        p += taken;
    }
    return p;
}
