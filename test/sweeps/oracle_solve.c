/* test/sweeps/oracle_solve.c: solutions, determinants, inverses and backward errors in numbers of
 * 113 bits
 * SPDX-License-Identifier: BSD-3-Clause */
#include "oracle_numbers.h"
#include <stdlib.h>

/* y := D^-1 y */
static void divide(const oracle_factor *f, quad_complex *y)
{
    const int c = f->is_complex, h = f->is_hermitian;
    for (int k = 0; k < f->n; k++) {
        if (!f->two[k]) {
            y[k] = quotient(y[k], f->d[k], c);
            continue;
        }
        const quad_complex a = f->d[k], b = f->e[k], d = f->d[k + 1], u = y[k], v = y[k + 1];
        const quad_complex det = difference(product(a, d, c), product(b, mirror(b, h), c), c);
        y[k] = quotient(difference(product(u, d, c), product(v, mirror(b, h), c), c), det, c);
        y[k + 1] = quotient(difference(product(v, a, c), product(u, b, c), c), det, c);
        k++;
    }
}

/* x := S P^T (L D L^H)^-1 P S x */
static void substitute(const oracle_factor *f, quad_complex *x)
{
    const int n = f->n, c = f->is_complex;
    quad_complex *y = oracle_room((size_t)n, sizeof *y);
    for (int k = 0; k < n; k++) {
        const int e = f->scale[f->perm[k]];
        y[k] = (quad_complex){shifted(x[f->perm[k]].re, e), shifted(x[f->perm[k]].im, e)};
    }
    for (int j = 0; j < n; j++)
        for (int i = j + 1; i < n; i++)
            y[i] = difference(y[i], product(f->l[i + j * n], y[j], c), c);
    divide(f, y);
    for (int j = n - 1; j >= 0; j--)
        for (int i = j + 1; i < n; i++)
            y[j] = difference(y[j], product(mirror(f->l[i + j * n], f->is_hermitian), y[i], c), c);
    for (int k = 0; k < n; k++) {
        const int e = f->scale[f->perm[k]];
        x[f->perm[k]] = (quad_complex){shifted(y[k].re, e), shifted(y[k].im, e)};
    }
    free(y);
}

void oracle_solve(const oracle_factor *f, const oracle_matrix *a, quad_complex *x)
{
    const int n = f->n, c = f->is_complex;
    quad_complex *b = oracle_room((size_t)n, sizeof *b), *r = oracle_room((size_t)n, sizeof *r);
    memcpy(b, x, sizeof *b * (size_t)n);
    substitute(f, x);
    memcpy(r, b, sizeof *b * (size_t)n);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            r[i] = difference(r[i], product(a->entry[i + j * n], x[j], c), c);
    substitute(f, r);
    for (int i = 0; i < n; i++)
        x[i] = (quad_complex){x[i].re + r[i].re, x[i].im + r[i].im};
    free(b);
    free(r);
}

void oracle_determinant(const oracle_factor *f, double *log_abs, double *re, double *im)
{
    const int c = f->is_complex;
    double sum = 0, angle = 0;
    for (int k = 0; k < f->n; k++) {
        quad_complex pivot = f->d[k];
        if (f->two[k] == 1)
            pivot = difference(product(pivot, f->d[k + 1], c),
                               product(f->e[k], mirror(f->e[k], f->is_hermitian), c), c);
        if (f->two[k] != 2) {
            const int e = exponent_of(pivot.re) > exponent_of(pivot.im) ? exponent_of(pivot.re)
                                                                        : exponent_of(pivot.im);
            sum += log2_abs(pivot);
            angle += atan2((double)shifted(pivot.im, -e), (double)shifted(pivot.re, -e));
        }
        sum -= 2 * f->scale[k];
    }
    *log_abs = sum * log(2.);
    *re = cos(angle);
    *im = sin(angle);
}

/* y := (L D L^H)^-1 y in long double, parts re and im in turn; l: L as y is, q: length n */
static void substitute_long(const oracle_factor *f, const long double *l, long double *y,
                            quad_complex *q)
{
    const int n = f->n;
    const long double sign = f->is_hermitian ? -1 : 1;
    for (int j = 0; j < n; j++)
        for (int i = j + 1; i < n && (y[2 * j] != 0 || y[2 * j + 1] != 0); i++) {
            const long double *p = l + 2 * (i + j * n);
            y[2 * i] -= p[0] * y[2 * j] - p[1] * y[2 * j + 1];
            y[2 * i + 1] -= p[0] * y[2 * j + 1] + p[1] * y[2 * j];
        }
    for (int k = 0; k < n; k++)
        q[k] = (quad_complex){y[2 * k], y[2 * k + 1]};
    divide(f, q);
    for (int k = 0; k < n; k++)
        y[2 * k] = (long double)q[k].re, y[2 * k + 1] = (long double)q[k].im;
    for (int j = n - 1; j >= 0; j--)
        for (int i = j + 1; i < n; i++) {
            const long double *p = l + 2 * (i + j * n);
            y[2 * j] -= p[0] * y[2 * i] - sign * p[1] * y[2 * i + 1];
            y[2 * j + 1] -= p[0] * y[2 * i + 1] + sign * p[1] * y[2 * i];
        }
}

/* Whether the scaling makes so much of small entries of (S A S)^-1 that their errors in long double
 * count. */
static int is_far_scaled(const oracle_factor *f)
{
    int least = 0, most = 0;
    for (int k = 0; k < f->n; k++) {
        least = k == 0 || f->scale[k] < least ? f->scale[k] : least;
        most = k == 0 || f->scale[k] > most ? f->scale[k] : most;
    }
    return most - least > 4;
}

/* Columns of A^-1 in numbers of 113 bits. */
static void inverse_by_solves(const oracle_factor *f, const oracle_matrix *a, long double *inverse)
{
    const int n = f->n;
    quad_complex *x = oracle_room((size_t)n, sizeof *x);
    for (int column = 0; column < n; column++) {
        memset(x, 0, sizeof *x * (size_t)n);
        x[column].re = 1;
        oracle_solve(f, a, x);
        for (int i = 0; i < n; i++)
            inverse[i + column * n] = long_abs(x[i]);
    }
    free(x);
}

/* Columns of S P^T (L D L^H)^-1 P S in long double: as exact as 10^-19 times the condition of S A
 * S. */
void oracle_inverse(const oracle_factor *f, const oracle_matrix *a, long double *inverse)
{
    if (is_far_scaled(f)) {
        inverse_by_solves(f, a, inverse);
        return;
    }

    const int n = f->n;
    long double *l = oracle_room(2 * (size_t)n * (size_t)n, sizeof *l),
                *y = oracle_room(2 * (size_t)n, sizeof *y);
    quad_complex *q = oracle_room((size_t)n, sizeof *q);
    for (int k = 0; k < n * n; k++) {
        l[2 * k] = (long double)f->l[k].re;
        l[2 * k + 1] = (long double)f->l[k].im;
    }
    for (int column = 0; column < n; column++) {
        memset(y, 0, sizeof *y * 2 * (size_t)n);
        y[2 * column] = 1;
        substitute_long(f, l, y, q);
        for (int k = 0; k < n; k++)
            inverse[f->perm[k] + f->perm[column] * n] =
                ldexpl(hypotl(y[2 * k], y[2 * k + 1]),
                       f->scale[f->perm[k]] + f->scale[f->perm[column]]);
    }
    free(l);
    free(y);
    free(q);
}

double oracle_condition(const oracle_factor *f, const oracle_matrix *a, const double *s)
{
    const int n = f->n;
    long double norm = 0, norm_of_inverse = 0,
                *inverse = oracle_room((size_t)n * (size_t)n, sizeof *inverse);
    oracle_inverse(f, a, inverse);
    for (int j = 0; j < n; j++) {
        long double sum = 0, other = 0;
        for (int i = 0; i < n; i++) {
            const long double scale = s ? (long double)s[i] * s[j] : 1;
            sum += scale * long_abs(a->entry[i + j * n]);
            other += inverse[i + j * n] / scale;
        }
        norm = fmaxl(norm, sum);
        norm_of_inverse = fmaxl(norm_of_inverse, other);
    }
    free(inverse);
    return n == 0 ? 1 : (double)(norm * norm_of_inverse);
}

void oracle_scaling(const oracle_factor *f, double *s)
{
    for (int i = 0; i < f->n; i++)
        s[i] = ldexp(1, f->scale[i]);
}

/* ---- Backward errors ---- */

oracle_error oracle_backward_error(const oracle_matrix *a, const quad_complex *x,
                                   const quad_complex *b, double eps)
{
    const int n = a->n, c = a->is_complex;
    long double norm = 0, least[2] = {0, 0}, most[2] = {0, 0};
    for (int i = 0; i < n; i++)
        norm = fmaxl(norm, long_abs(x[i]));
    for (int i = 0; i < n; i++) {
        quad_complex r = b[i];
        long double sum = 0, row = 0;
        for (int j = 0; j < n; j++) {
            const quad_complex v = a->entry[i + j * n];
            if (v.re == 0 && v.im == 0)
                continue;
            const long double size = long_abs(v);
            r = difference(r, product(v, x[j], c), c);
            sum += size * long_abs(x[j]);
            row += size;
        }
        const long double right = long_abs(b[i]), residual = long_abs(r),
                          slack = 4 * (n + 2) * (long double)eps;
        const long double border = 1000.0L * n * eps * (row * norm + right);
        if (residual == 0)
            continue;
        const int may_be_large = sum + right > border * (1 - slack),
                  may_be_small = !(sum + right > border * (1 + slack));
        const long double omega[2] = {residual / (sum + right), residual / (sum + row * norm)};
        for (int small = 0; small < 2; small++) {
            if (!(small ? may_be_small : may_be_large))
                continue;
            most[small] = fmaxl(most[small], omega[small]);
            if (!(may_be_large && may_be_small))
                least[small] = fmaxl(least[small], omega[small]);
        }
    }
    return (oracle_error){(double)(least[0] + least[1]), (double)(most[0] + most[1])};
}
