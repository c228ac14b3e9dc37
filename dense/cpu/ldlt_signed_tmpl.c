/* dense/cpu/ldlt_signed_tmpl.c: LDL^T of the candidates of a front without pivoting, the signs of D
 * given  [Vanderbei 1995]
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A quasi-definite matrix has an L D L^T in every order, and D has the signs of its diagonal
 * blocks.  Where rounding errors or the values say otherwise, the pivot is put right. */
#include "dense/cpu/ldlt.h"
#include <string.h>

/* The pivot that is used in place of d: it has the sign given, unless that is 0, and is clear of
 * rounding errors.  In a complex symmetric matrix the sign is that of the real part. */
static scalar signed_pivot(int hermitian, scalar d, int sign, real g, front_report *report)
{
    const int is_real = !SCALAR_COMPLEX || hermitian;
    const real wanted = sign < 0 ? -scalar_real(d) : scalar_real(d),
               size = is_real ? wanted : scalar_abs(d);
    /* a real part that is rounding error beside the imaginary one may have either sign */
    const int has_sign =
        wanted >= 0 || sign == 0 || (!is_real && is_noise(-wanted, g, g, LDLT_ZERO));
    if (has_sign && size > 0 && !is_noise(size, g, g, LDLT_ZERO))
        return d;
    report->perturbed++;
    const real to = sign < 0 ? -1 : 1;
    const scalar kept = to * (real)fabs(wanted) + (is_real ? 0 : d - scalar_real(d));
    const real least = (real)sqrt(EPS) * g, nonzero = least > 0 ? least : 1; /* a row of zeros */
    return scalar_abs(kept) > least ? kept : (scalar)(to * nonzero);
}

/* L11 D11 L11^T of the nb x nb triangle b, leading dimension m. */
static void factorize_triangle(int hermitian, int nb, int m, scalar *b, const int8_t *sign,
                               scalar *d, real *g, front_report *report)
{
    scalar w[LDLT_BLOCK];
    for (int p = 0; p < nb; p++) {
        scalar *l = b + (int64_t)p * m;
        const scalar pivot = signed_pivot(hermitian, l[p], sign[p], g[p], report);
        d[p] = scalar_diagonal(pivot, hermitian);
        l[p] = 1;
        NAME(ldlt_count)(hermitian, report, d[p], 0, 0, g[p], g[p]);
        for (int i = p + 1; i < nb; i++) {
            w[i] = l[i];
            l[i] = hermitian ? l[i] / scalar_real(pivot) : l[i] / pivot;
            g[i] += scalar_abs(l[i]) * scalar_abs(w[i]);
        }
        for (int j = p + 1; j < nb; j++) {
            const scalar factor = scalar_mirror(w[j], hermitian);
            for (int i = j; i < nb; i++)
                b[i + (int64_t)j * m] -= l[i] * factor;
        }
    }
}

/* Pivots [p, end), when their triangle L11 is done:  W := A21 L11^-T,  L21 := W D^-1, and the
 * magnitudes of the rows below. */
static void rows_below(const front_candidates *f, int p, int end)
{
    const int m = f->m, rows = m - end, nb = end - p;
    const scalar *l11 = f->panel + p + (int64_t)p * m;
    scalar *l21 = f->panel + end + (int64_t)p * m, *w = f->work;
    real *g = f->magnitude + end;
    for (int c = 0; c < nb; c++)
        memcpy(w + (int64_t)c * rows, l21 + (int64_t)c * m, sizeof(scalar) * (size_t)rows);
    NAME(front_solve_right)(f->hermitian, 1, rows, nb, l11, m, w, rows);
    for (int c = 0; c < nb; c++) {
        const scalar *from = w + (int64_t)c * rows;
        scalar *l = l21 + (int64_t)c * m;
        const scalar inverse = 1 / f->d[p + c];
        for (int i = 0; i < rows; i++) {
            l[i] = from[i] * inverse;
            g[i] += scalar_abs(l[i]) * scalar_abs(from[i]);
        }
    }
}

void NAME(front_ldlt_signed)(const front_candidates *f, const int8_t *sign)
{
    const int m = f->m, k = f->k;
    for (int p = 0, end; p < k && !front_panel_stopped(f->watch, m, k); p = end) {
        end = p + LDLT_BLOCK < k ? p + LDLT_BLOCK : k;
        scalar *corner = f->panel + p + (int64_t)p * m;
        memset(f->e + p, 0, sizeof(scalar) * (size_t)(end - p));
        factorize_triangle(f->hermitian, end - p, m, corner, sign + p, f->d + p, f->magnitude + p,
                           f->report);
        rows_below(f, p, end);
        NAME(front_update_columns)(f->hermitian, m, f->panel, p, end, f->work, m - end, end, end, k,
                                   f->watch);
    }
    f->report->eliminated = k;
}
