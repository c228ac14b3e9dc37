/* test/sweeps/oracle.c: L D L^T with complete pivoting in numbers of 113 bits, and signs that it
 * proves  [Bunch, Parlett 1971]
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Signs are proved thus: let r = rank A be known, L11 D1 L11^H + ... the factor after r columns,
 * what is left of A dropped.  This product M has exactly r eigenvalues other than 0, with the signs
 * of D1 [Sylvester], none smaller than mu = min |lambda(D1)| / |L11^-1|^2.  If |A - M| < mu, A has
 * at least as many positive and as many negative ones [Weyl], and no more, as its rank is r. */
#include "oracle_numbers.h"
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUAD_ROUNDOFF 0x1p-113

void *oracle_room(size_t count, size_t size)
{
    void *p = calloc(count + 1, size);
    if (!p) {
        fprintf(stderr, "oracle: out of memory\n");
        abort();
    }
    return p;
}

double quad_abs(quad_complex v)
{
    return v.im == 0 ? fabs((double)v.re) : hypot((double)v.re, (double)v.im);
}

/* ---- Matrices ---- */

oracle_matrix oracle_matrix_new(int n, int is_complex, int is_hermitian)
{
    return (oracle_matrix){n, is_complex, is_hermitian,
                           oracle_room((size_t)n * (size_t)n, sizeof(quad_complex))};
}

void oracle_matrix_free(oracle_matrix *a)
{
    free(a->entry);
    a->entry = NULL;
}

/* Powers of two that bring the entries near 1, in the mean of their logarithms by least squares,
 * which undoes any diagonal scaling that A has been given [Curtis, Reid 1972]; by Gauss and
 * Seidel's iteration. */
static void equilibrate(const oracle_matrix *a, int *scale)
{
    const int n = a->n;
    int *size = oracle_room((size_t)n * (size_t)n, sizeof *size); /* of entries: exponents */
    double *s = oracle_room((size_t)n, sizeof *s), moved = INFINITY;
    for (int k = 0; k < n * n; k++) {
        const int re = exponent_of(a->entry[k].re),
                  im = a->is_complex ? exponent_of(a->entry[k].im) : INT32_MIN;
        size[k] = re > im ? re : im;
    }
    for (int round = 0; round < 100 && moved > 0.5; round++) {
        moved = 0;
        for (int j = 0; j < n; j++) {
            double sum = 0, weight = 0;
            for (int i = 0; i < n; i++)
                if (size[i + j * n] > INT32_MIN) {
                    sum += size[i + j * n] + (i == j ? 0 : s[i]);
                    weight += i == j ? 2 : 1;
                }
            const double wanted = weight > 0 ? -sum / weight : 0;
            moved = fmax(moved, fabs(wanted - s[j]));
            s[j] = wanted;
        }
    }
    for (int j = 0; j < n; j++)
        scale[j] = (int)lrint(s[j]);
    free(size);
    free(s);
}

/* ---- Elimination ---- */

typedef struct elimination {
    oracle_factor *f;
    quad_complex *s; /* S A S and its Schur complements, in pivot order */
    double *size;    /* |s| */
} elimination;

static void exchange(elimination *x, int k, int r)
{
    oracle_factor *f = x->f;
    const int n = f->n;
    if (k == r)
        return;
    for (int i = 0; i < n; i++) {
        quad_complex t = x->s[i + k * n];
        x->s[i + k * n] = x->s[i + r * n];
        x->s[i + r * n] = t;
        double m = x->size[i + k * n];
        x->size[i + k * n] = x->size[i + r * n];
        x->size[i + r * n] = m;
    }
    for (int j = 0; j < n; j++) {
        quad_complex t = x->s[k + j * n];
        x->s[k + j * n] = x->s[r + j * n];
        x->s[r + j * n] = t;
        t = f->l[k + j * n];
        f->l[k + j * n] = f->l[r + j * n];
        f->l[r + j * n] = t;
        double m = x->size[k + j * n];
        x->size[k + j * n] = x->size[r + j * n];
        x->size[r + j * n] = m;
    }
    const int row = f->perm[k];
    f->perm[k] = f->perm[r];
    f->perm[r] = row;
}

/* Entry (i, j) of the lower triangle of the Schur complement, and its mirror image. */
static void store(elimination *x, int i, int j, quad_complex v)
{
    const int n = x->f->n;
    if (i == j && x->f->is_hermitian)
        v.im = 0;
    x->s[i + j * n] = v;
    x->s[j + i * n] = mirror(v, x->f->is_hermitian);
    x->size[i + j * n] = x->size[j + i * n] = fabs((double)v.re) + fabs((double)v.im);
}

static void eliminate_one(elimination *x, int k)
{
    oracle_factor *f = x->f;
    const int n = f->n, c = f->is_complex;
    const quad_complex pivot = f->d[k] = x->s[k + k * n];
    for (int i = k + 1; i < n; i++)
        f->l[i + k * n] = quotient(x->s[i + k * n], pivot, c);
    for (int j = k + 1; j < n; j++) {
        if (x->size[j + k * n] == 0 && x->s[j + k * n].re == 0 && x->s[j + k * n].im == 0)
            continue;
        const quad_complex row = mirror(x->s[j + k * n], f->is_hermitian);
        for (int i = j; i < n; i++)
            if (x->size[i + k * n] > 0)
                store(x, i, j, difference(x->s[i + j * n], product(f->l[i + k * n], row, c), c));
    }
}

/* [l1 l2] = [s1 s2] D^-1 with D = [a, mirror(b); b, d] */
static void eliminate_two(elimination *x, int k)
{
    oracle_factor *f = x->f;
    const int n = f->n, c = f->is_complex, h = f->is_hermitian;
    const quad_complex a = x->s[k + k * n], b = x->s[k + 1 + k * n], d = x->s[k + 1 + (k + 1) * n];
    const quad_complex det = difference(product(a, d, c), product(b, mirror(b, h), c), c);
    f->d[k] = a, f->e[k] = b, f->d[k + 1] = d;
    f->two[k] = 1, f->two[k + 1] = 2;
    for (int i = k + 2; i < n; i++) {
        const quad_complex u = x->s[i + k * n], v = x->s[i + (k + 1) * n];
        f->l[i + k * n] = quotient(difference(product(u, d, c), product(v, b, c), c), det, c);
        f->l[i + (k + 1) * n] =
            quotient(difference(product(v, a, c), product(u, mirror(b, h), c), c), det, c);
    }
    for (int j = k + 2; j < n; j++) {
        const quad_complex u = mirror(x->s[j + k * n], h), v = mirror(x->s[j + (k + 1) * n], h);
        if (x->size[j + k * n] == 0 && x->size[j + (k + 1) * n] == 0)
            continue;
        for (int i = j; i < n; i++) {
            const quad_complex first =
                difference(x->s[i + j * n], product(f->l[i + k * n], u, c), c);
            store(x, i, j, difference(first, product(f->l[i + (k + 1) * n], v, c), c));
        }
    }
}

/* Eliminates columns until `rank` are done or nothing is left.  Returns how many. */
static int eliminate(elimination *x)
{
    oracle_factor *f = x->f;
    const int n = f->n;
    const double alpha = (1 + sqrt(17.)) / 8;
    int k = 0;
    while (k < f->rank) {
        int r = k, p = k, q = k;
        double off = 0;
        for (int j = k; j < n; j++) {
            r = x->size[j + j * n] > x->size[r + r * n] ? j : r;
            for (int i = j + 1; i < n; i++)
                if (x->size[i + j * n] > off)
                    off = x->size[i + j * n], p = j, q = i;
        }
        const double diagonal = x->size[r + r * n];
        if (off == 0 && diagonal == 0)
            break;
        if (diagonal >= alpha * off || k + 1 == f->rank) {
            if (diagonal == 0)
                break;
            exchange(x, k, r);
            eliminate_one(x, k++);
        } else {
            exchange(x, k, p);
            exchange(x, k + 1, q);
            eliminate_two(x, k);
            k += 2;
        }
    }
    return k;
}

/* Frobenius norm of |L||D||L^T|, which rounding errors are measured by. */
static double growth_norm(const oracle_factor *f, int done)
{
    const int n = f->n;
    double sum = 0, *l = oracle_room((size_t)n * (size_t)n, sizeof *l),
           *ld = oracle_room((size_t)n * (size_t)n, sizeof *ld);
    for (int j = 0; j < done; j++)
        for (int i = j; i < n; i++)
            l[i + j * n] = quad_abs(f->l[i + j * n]);
    for (int j = 0; j < done; j++)
        for (int i = 0; i < n; i++) {
            ld[i + j * n] += l[i + j * n] * quad_abs(f->d[j]);
            if (f->two[j] == 1) {
                ld[i + j * n] += l[i + (j + 1) * n] * quad_abs(f->e[j]);
                ld[i + (j + 1) * n] += l[i + j * n] * quad_abs(f->e[j]);
            }
        }
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) {
            double entry = 0;
            for (int k = 0; k <= j && k < done; k++)
                entry += ld[i + k * n] * l[j + k * n];
            sum += (i == j ? 1 : 2) * entry * entry;
        }
    free(l);
    free(ld);
    return sqrt(sum);
}

/* |L11^-1|_F of the leading block, infinite if double precision cannot tell. */
static double inverse_norm(const oracle_factor *f, int r)
{
    const int n = f->n;
    double sum = 0, most = 1, *x = oracle_room((size_t)r, sizeof *x),
           *l = oracle_room((size_t)r * (size_t)r, sizeof *l);
    double *im = oracle_room((size_t)r, sizeof *im),
           *li = oracle_room((size_t)r * (size_t)r, sizeof *li);
    for (int j = 0; j < r; j++)
        for (int i = j + 1; i < r; i++) {
            l[j + i * r] = (double)f->l[i + j * n].re;
            li[j + i * r] = (double)f->l[i + j * n].im;
            most = fmax(most, quad_abs(f->l[i + j * n]));
        }
    for (int column = 0; column < r; column++) {
        for (int i = column; i < r; i++) {
            x[i] = i == column;
            im[i] = 0;
            for (int j = column; j < i; j++) {
                const double a = l[j + i * r], b = li[j + i * r];
                x[i] -= a * x[j] - b * im[j];
                im[i] -= a * im[j] + b * x[j];
            }
            sum += x[i] * x[i] + im[i] * im[i];
        }
    }
    free(x);
    free(l);
    free(im);
    free(li);
    return sqrt(sum) * most * r < 1e10 ? sqrt(sum) * (1 + 1e-3) : INFINITY;
}

static void count(oracle_factor *f, int done)
{
    for (int k = 0; k < done; k++) {
        f->signs.positive += f->two[k] ? f->two[k] == 1 : f->d[k].re > 0;
        f->signs.negative += f->two[k] ? f->two[k] == 2 : f->d[k].re < 0;
    }
    f->signs.zero = f->n - f->rank;
}

/* Least |eigenvalue| of a block of D. */
static double least_pivot(const oracle_factor *f, int done)
{
    double least = INFINITY;
    for (int k = 0; k < done; k += f->two[k] ? 2 : 1) {
        const double a = quad_abs(f->d[k]), b = quad_abs(f->e[k]);
        if (!f->two[k]) {
            least = fmin(least, a);
            continue;
        }
        const double d = quad_abs(f->d[k + 1]);
        least = fmin(least, (b * b - a * d) / (2 * b + a + d)); /* a d <= alpha^2 b^2 */
    }
    return least;
}

oracle_factor *oracle_factorize(const oracle_matrix *a)
{
    const int n = a->n, square = n * n;
    oracle_factor *f = oracle_room(1, sizeof *f);
    *f = (oracle_factor){.n = n,
                         .is_complex = a->is_complex,
                         .is_hermitian = a->is_hermitian || !a->is_complex};
    f->perm = oracle_room((size_t)n, sizeof *f->perm);
    f->scale = oracle_room((size_t)n, sizeof *f->scale);
    f->two = oracle_room((size_t)n, 1);
    f->l = oracle_room((size_t)square, sizeof *f->l);
    f->d = oracle_room((size_t)n, sizeof *f->d);
    f->e = oracle_room((size_t)n, sizeof *f->e);
    f->rank = oracle_rank(a);
    equilibrate(a, f->scale);
    elimination x = {f, oracle_room((size_t)square, sizeof *x.s),
                     oracle_room((size_t)square, sizeof *x.size)};
    double norm = 0, left = 0;
    for (int j = 0; j < n; j++) {
        f->perm[j] = j;
        for (int i = 0; i < n; i++) {
            const quad_complex v = a->entry[i + j * n];
            const int e = f->scale[i] + f->scale[j];
            quad_complex *s = &x.s[i + j * n];
            *s = (quad_complex){shifted(v.re, e), a->is_complex ? shifted(v.im, e) : 0};
            x.size[i + j * n] = fabs((double)s->re) + fabs((double)s->im);
            norm += x.size[i + j * n] * x.size[i + j * n];
        }
    }
    const int done = eliminate(&x);
    for (int j = done; j < n; j++)
        for (int i = done; i < n; i++)
            left += x.size[i + j * n] * x.size[i + j * n];
    for (int k = 0; k < n; k++)
        f->l[k + k * n] = (quad_complex){1, 0};
    count(f, done);
    const double inverse = inverse_norm(f, done), mu = least_pivot(f, done) / (inverse * inverse);
    const double error =
        100 * (n + 1) * QUAD_ROUNDOFF * (growth_norm(f, done) + sqrt(norm)) + sqrt(left);
    f->signs.decided = done == f->rank && (done == 0 ? left == 0 : error < mu / 2);
    free(x.s);
    free(x.size);
    return f;
}

void oracle_factor_free(oracle_factor *f)
{
    if (!f)
        return;
    free(f->perm);
    free(f->scale);
    free(f->two);
    free(f->l);
    free(f->d);
    free(f->e);
    free(f);
}

oracle_signs oracle_factor_signs(const oracle_factor *f)
{
    return f->signs;
}

oracle_signs oracle_inertia(const oracle_matrix *a)
{
    oracle_factor *f = oracle_factorize(a);
    const oracle_signs signs = f->signs;
    oracle_factor_free(f);
    return signs;
}

oracle_signs oracle_signs_beyond(const oracle_factor *f, const oracle_matrix *a, double margin)
{
    const int n = a->n;
    oracle_signs signs[2];
    for (int k = 0; k < 2; k++) {
        oracle_matrix b = oracle_matrix_new(n, a->is_complex, a->is_hermitian);
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++) {
                const int e = f->scale[i] + f->scale[j];
                const quad_complex v = a->entry[i + j * n];
                b.entry[i + j * n] =
                    (quad_complex){shifted(v.re, e) + (i == j ? (k ? margin : -margin) : 0),
                                   a->is_complex ? shifted(v.im, e) : 0};
            }
        signs[k] = oracle_inertia(&b);
        oracle_matrix_free(&b);
    }
    const int positive = signs[0].positive, negative = signs[1].negative;
    return (oracle_signs){positive, negative, n - positive - negative,
                          signs[0].decided && signs[1].decided};
}
