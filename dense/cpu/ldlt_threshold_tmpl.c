/* dense/cpu/ldlt_threshold_tmpl.c: LDL^T with threshold partial pivoting, one pivot at a time
 * [Duff, Reid 1983]
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The last resort inside a front, for the few columns on which blocks have failed; and behind it
 * what is done when the columns that are left may not be delayed. */
#include "dense/cpu/ldlt.h"
#include <string.h>

void NAME(ldlt_swap)(const front_candidates *f, int i, int j)
{
    const int hermitian = f->hermitian, m = f->m;
    scalar *panel = f->panel, t;
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
    const real g = f->magnitude[i];
    f->magnitude[i] = f->magnitude[j];
    f->magnitude[j] = g;
    if (f->index) {
        const int32_t v = f->index[i];
        f->index[i] = f->index[j];
        f->index[j] = v;
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
static void whole_column(const front_candidates *f, int p, int c, scalar *x)
{
    const int m = f->m;
    for (int i = p; i < c; i++)
        x[i] = scalar_mirror(f->panel[c + (int64_t)i * m], f->hermitian);
    memcpy(x + c, f->panel + c + (int64_t)c * m, sizeof(scalar) * (size_t)(m - c));
    x[c] = scalar_diagonal(x[c], f->hermitian);
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

/* What a search for pivots holds: the level of is_noise and the threshold; two columns of the
 * panel, [p, m), which are reused as L D once the pivot is chosen; and for each candidate whether
 * it offered no pivot and has not changed since. */
typedef struct search {
    const front_candidates *f;
    real u, zero;
    scalar *x, *y;   /* m each */
    scalar *refused; /* k */
} search;

static search begin_search(const front_candidates *f, real u, real zero, int p)
{
    const search s = {f, u, zero, f->work, f->work + f->m, f->work + 2 * (int64_t)f->m};
    for (int c = p; c < f->k; c++)
        s.refused[c] = 0;
    return s;
}

/* Whether column c, in x, is zero up to rounding errors. */
static int column_is_zero(const search *s, int p, int c)
{
    const real *magnitude = s->f->magnitude;
    for (int i = p; i < s->f->pivot_rows; i++)
        if (s->x[i] != 0 && !is_noise(scalar_abs(s->x[i]), magnitude[i], magnitude[c], s->zero))
            return 0;
    return 1;
}

/* The pivot that column c of the candidates [p, k) offers: 0 none, 1: 1x1, 2: 2x2 with *partner,
 * -1: zero column.  *partner, unless it is zero: the candidate in whose row its largest entry
 * stands, or -1. */
static int offered_pivot(const search *s, int p, int c, int *partner)
{
    const front_candidates *f = s->f;
    const real *magnitude = f->magnitude;
    const scalar *x = s->x, *y = s->y;
    whole_column(f, p, c, s->x);
    if (column_is_zero(s, p, c))
        return -1;
    if (scalar_abs(x[c]) >= s->u * largest_but(f->pivot_rows, p, x, c, c) &&
        !is_noise(scalar_abs(x[c]), magnitude[c], magnitude[c], s->zero))
        return 1;
    const int t = *partner = row_of_largest(p, f->k, x, c);
    if (t < 0 || is_noise(scalar_abs(x[t]), magnitude[c], magnitude[t], s->zero))
        return 0;
    whole_column(f, p, t, s->y);
    const scalar a = x[c], b = x[t], d = y[t];
    if (!invertible(f->hermitian, a, b, d))
        return 0;
    /* | [x y] [a b'; b d]^-1 | <= 1 / u for the largest entries that x and y can have in a row */
    const real xs = largest_but(f->pivot_rows, p, x, c, t),
               ys = largest_but(f->pivot_rows, p, y, c, t), off = scalar_abs(b);
    const real det = relative_determinant(f->hermitian, a, b, d) * off;
    if (s->u * (scalar_abs(d) / off * xs + ys) > det ||
        s->u * (xs + scalar_abs(a) / off * ys) > det)
        return 0;
    return 2;
}

/* Columns [p + pivots, k) -= L W^T for the pivots in columns p.. of the panel; w: what L D was,
 * rows [p, m), stride m.  Columns that change have not been refused any more. */
static void update_candidates(const search *s, int p, int pivots)
{
    const front_candidates *f = s->f;
    const int m = f->m;
    real weight[2];
    ldlt_weights(pivots, f->d + p, f->e + p, weight);
    for (int q = 0; q < pivots; q++) {
        const scalar *l = f->panel + (int64_t)(p + q) * m, *w = f->work + (int64_t)q * m;
        for (int i = p + pivots; i < m; i++)
            f->magnitude[i] += ldlt_growth(l[i], weight[q]);
        for (int j = p + pivots; j < f->k; j++) {
            scalar *column = f->panel + (int64_t)j * m;
            const scalar factor = scalar_mirror(w[j], f->hermitian);
            if (factor == 0)
                continue;
            s->refused[j] = 0;
            for (int i = j; i < m; i++)
                column[i] -= l[i] * factor;
        }
    }
}

/* Divides the columns at p by their pivot, keeping L D in work, and updates the other candidates.
 */
static void eliminate(const search *s, int p, int pivots)
{
    const front_candidates *f = s->f;
    const int m = f->m, first = p + pivots;
    scalar *l0 = f->panel + (int64_t)p * m, *l1 = l0 + m, *d = f->d, *e = f->e, *w = f->work;
    const size_t bytes = sizeof(scalar) * (size_t)(m - first);
    d[p] = scalar_diagonal(l0[p], f->hermitian);
    e[p] = 0;
    memcpy(w + first, l0 + first, bytes);
    if (pivots == 1) {
        const scalar inverse = 1 / d[p];
        for (int i = first; i < m; i++)
            l0[i] *= inverse;
    } else {
        e[p] = l0[p + 1];
        d[p + 1] = scalar_diagonal(l1[p + 1], f->hermitian);
        e[p + 1] = 0;
        l0[p + 1] = 0;
        memcpy(w + m + first, l1 + first, bytes);
        for (int i = first; i < m; i++)
            divide_2x2(f->hermitian, d[p], e[p], d[p + 1], &l0[i], &l1[i]);
        l1[p + 1] = 1;
    }
    l0[p] = 1;
    update_candidates(s, p, pivots);
}

/* Candidate c comes to place p. */
static void bring(const search *s, int p, int c)
{
    if (c == p)
        return;
    NAME(ldlt_swap)(s->f, p, c);
    const scalar t = s->refused[p];
    s->refused[p] = s->refused[c];
    s->refused[c] = t;
}

/* Makes pivots of candidate c at place p: -1: a zero pivot, 1, or 2 with its partner t.  Returns
 * how many are eliminated. */
static int take(const search *s, int p, int c, int t, int pivots)
{
    const front_candidates *f = s->f;
    bring(s, p, c);
    if (pivots == -1) {
        scalar *column = f->panel + (int64_t)p * f->m;
        memset(column + p, 0, sizeof(scalar) * (size_t)(f->m - p));
        column[p] = 1;
        f->d[p] = f->e[p] = 0;
        f->report->zero++;
        return 1;
    }
    if (pivots == 2) /* the first swap may have moved the partner */
        bring(s, p + 1, t == p ? c : t);
    eliminate(s, p, pivots);
    const int last = p + pivots - 1;
    NAME(ldlt_count)(f->hermitian, f->report, f->d[p], f->e[p], f->d[last], f->magnitude[p],
                     f->magnitude[last]);
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

int NAME(ldlt_threshold)(const front_candidates *f, int p, real u, real zero)
{
    const search s = begin_search(f, u, zero, p);
    int first = p; /* pivots found before the round in which every candidate is asked again */
    /* Round and round the candidates until all have been refused, from each to the row of its
     * largest entry, where pivots are likelier.  One that has not changed may still take a partner
     * that has, or have become rounding error beside rows that grew: all are asked again before the
     * end. */
    for (int next = p; !front_panel_stopped(f->watch, f->m, f->k);) {
        const int c = next_candidate(p, f->k, next, s.refused);
        if (c < 0) {
            if (first == p || p == f->k)
                break;
            first = p;
            for (int j = p; j < f->k; j++)
                s.refused[j] = 0;
            continue;
        }
        int t = -1;
        const int pivots = offered_pivot(&s, p, c, &t);
        if (pivots == 0) {
            s.refused[c] = 1;
            next = t >= 0 && s.refused[t] == 0 ? t : c + 1;
            continue;
        }
        p += take(&s, p, c, t, pivots);
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
static int raise_best(const front_candidates *f, int p, real least, scalar *x)
{
    int best = p;
    real best_ratio = -1, best_size = 0;
    for (int c = p; c < f->k; c++) {
        whole_column(f, p, c, x);
        const real most = largest_but(f->pivot_rows, p, x, c, c), size = scalar_abs(x[c]);
        const real ratio = most > 0 ? size / most : INFINITY;
        if (ratio > best_ratio) {
            best = c;
            best_ratio = ratio;
            best_size = least * most;
        }
    }
    scalar *diagonal = f->panel + best + (int64_t)best * f->m;
    if (scalar_abs(*diagonal) < best_size)
        *diagonal = direction(scalar_diagonal(*diagonal, f->hermitian)) * best_size;
    return best;
}

int NAME(ldlt_forced)(const front_candidates *f, int p, int leave)
{
    const real least = (real)sqrt(EPS);
    const search s = begin_search(f, least, LDLT_ZERO, p);
    while (f->k - p > leave && !front_panel_stopped(f->watch, f->m, f->k)) {
        int pivots = 0, c = p - 1, t = -1;
        while (pivots == 0 && ++c < f->k) {
            if (s.refused[c] == 0)
                pivots = offered_pivot(&s, p, c, &t);
            s.refused[c] = pivots == 0;
        }
        if (pivots == 0) {
            c = raise_best(f, p, least, s.x);
            pivots = 1;
        }
        const int taken = take(&s, p, c, t, pivots);
        f->report->perturbed += pivots == -1 ? 0 : taken;
        p += taken;
    }
    return p;
}
