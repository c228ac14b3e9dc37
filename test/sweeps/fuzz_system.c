/* test/sweeps/fuzz_system.c: small random symmetric and Hermitian matrices of many families, and
 * other values on their patterns
 * SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz_system.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *fuzz_room(int64_t count, size_t size)
{
    void *p = calloc((size_t)count + 1, size);
    if (!p) {
        fprintf(stderr, "out of memory\n");
        abort();
    }
    return p;
}

double system_eps(const fuzz_system *a)
{
    return a->is_single ? FLT_EPSILON : DBL_EPSILON;
}

double system_round(const fuzz_system *a, double v)
{
    return a->is_single ? (double)(float)v : v;
}

static int chance(random_stream *r, int percent)
{
    return random_below(r, 100) < percent;
}

static double integer(random_stream *r, int most)
{
    return random_below(r, 2 * most + 1) - most;
}

/* ---- Real values, in the lower triangle; the pattern is what is not 0 ---- */

static void set(fuzz_system *a, int i, int j, double v)
{
    a->re[(i > j ? i : j) + (i > j ? j : i) * a->n] = v;
}

static double *at(fuzz_system *a, int i, int j)
{
    return &a->re[(i > j ? i : j) + (i > j ? j : i) * a->n];
}

/* Pairs of rows that are joined: a path, a star, a grid, at random, all. */
static void fill_graph(random_stream *r, fuzz_system *a, int first, int last,
                       double (*value)(random_stream *r))
{
    const int n = last - first, shape = random_below(r, 5), width = 1 + random_below(r, 7),
              percent = 5 + random_below(r, 60);
    for (int j = 0; j < n; j++)
        for (int i = j + 1; i < n; i++) {
            const int joined = shape == 0   ? i == j + 1
                               : shape == 1 ? j == 0
                               : shape == 2 ? i == j + width || (i == j + 1 && i % width != 0)
                               : shape == 3 ? chance(r, percent)
                                            : 1;
            if (joined)
                set(a, first + i, first + j, value(r));
        }
}

static double any_value(random_stream *r)
{
    return random_real(r);
}

static double small_integer(random_stream *r)
{
    return integer(r, 3);
}

static double minus_one(random_stream *r)
{
    (void)r;
    return -1;
}

static double minus_weight(random_stream *r)
{
    return -ldexp(1 + fabs(random_real(r)), random_below(r, 6));
}

static void make_sparse(random_stream *r, fuzz_system *a, int first, int last)
{
    const int integers = chance(r, 50), zero = random_below(r, 3) * 40;
    fill_graph(r, a, first, last, integers ? small_integer : any_value);
    for (int i = first; i < last; i++)
        set(a, i, i, chance(r, zero) ? 0 : integers ? integer(r, 6) : 3 * random_real(r));
}

static void make_laplacian(random_stream *r, fuzz_system *a, int first, int last)
{
    const double shift = chance(r, 25) ? ldexp(random_real(r), -random_below(r, 60)) : 0;
    fill_graph(r, a, first, last, chance(r, 70) ? minus_one : minus_weight);
    for (int i = first; i < last; i++) {
        double sum = 0;
        for (int j = first; j < last; j++)
            sum -= i == j ? 0 : *at(a, i, j);
        set(a, i, i, sum + shift);
    }
}

static void make_definite(random_stream *r, fuzz_system *a, int first, int last)
{
    fill_graph(r, a, first, last, chance(r, 50) ? small_integer : any_value);
    for (int i = first; i < last; i++) {
        double sum = ldexp(1, -random_below(r, 8));
        for (int j = first; j < last; j++)
            sum += i == j ? 0 : fabs(*at(a, i, j));
        set(a, i, i, sum);
    }
}

/* B D B^T, B of integers, n x rank: of known nullity, unless a small number is added. */
static void make_product(random_stream *r, fuzz_system *a, int first, int last)
{
    const int n = last - first, rank = random_below(r, n + 1), definite = chance(r, 40),
              percent = 10 + random_below(r, 60);
    const int scale = random_below(r, 70);
    int b[64], d;
    for (int k = 0; k < rank; k++) {
        d = definite || chance(r, 50) ? 1 : -1;
        for (int i = 0; i < n; i++)
            b[i] = chance(r, percent) ? (int)integer(r, 2) : 0;
        for (int j = 0; j < n; j++)
            for (int i = j; i < n; i++)
                *at(a, first + i, first + j) += d * b[i] * b[j];
    }
    for (int i = first; i < last && chance(r, 30); i++)
        *at(a, i, i) += ldexp(integer(r, 4), -scale);
}

/* [H G; G^T -K], K = 0 or positive; rows of G may depend on each other */
static void make_saddle(random_stream *r, fuzz_system *a, int first, int last)
{
    const int n = last - first, m = n / (2 + random_below(r, 3)), h = n - m, quasi = chance(r, 40),
              integers = chance(r, 60);
    for (int i = 0; i < h; i++)
        set(a, first + i, first + i, integers ? 1 + random_below(r, 4) : exp(8 * random_real(r)));
    for (int k = h; k < n; k++) {
        for (int t = 0; t < 3 && h > 0; t++)
            set(a, first + k, first + random_below(r, h),
                integers ? integer(r, 2) : random_real(r));
        if (k > h && chance(r, 10)) /* the row before once more */
            for (int j = 0; j < h; j++)
                set(a, first + k, first + j, *at(a, first + k - 1, first + j));
        if (quasi)
            set(a, first + k, first + k,
                -(integers ? 1 + random_below(r, 3) : exp(8 * random_real(r))));
    }
}

static void make_cauchy(random_stream *r, fuzz_system *a, int first, int last)
{
    const double offset = chance(r, 50) ? 1 : 0.5 + random_below(r, 9);
    for (int j = 0; j < last - first; j++)
        for (int i = j; i < last - first; i++)
            set(a, first + i, first + j, 1 / (i + j + offset));
}

static void make_diagonal(random_stream *r, fuzz_system *a, int first, int last)
{
    const int spread = 1 + random_below(r, a->is_single ? 15 : 60);
    for (int i = first; i < last; i++)
        set(a, i, i,
            chance(r, 10) ? 0 : ldexp(random_real(r), random_below(r, 2 * spread) - spread));
}

/* Rows that come twice but for a few units in the last place, so that what is left of them
 * cancels. */
static void make_cancelling(random_stream *r, fuzz_system *a, int first, int last)
{
    make_sparse(r, a, first, last);
    for (int i = first + 1; i < last; i += 2) {
        for (int j = first; j < last; j++)
            if (j != i && j != i - 1)
                set(a, i, j, *at(a, i - 1, j) * (1 + system_eps(a) * integer(r, 2)));
        set(a, i, i, *at(a, i - 1, i - 1) * (1 + system_eps(a) * integer(r, 3)));
        set(a, i, i - 1, *at(a, i - 1, i - 1) * (1 + system_eps(a) * integer(r, 1)));
    }
}

typedef void maker(random_stream *r, fuzz_system *a, int first, int last);

static const struct {
    const char *name;
    maker *make;
} families[] = {{"sparse", make_sparse},       {"Laplacian", make_laplacian},
                {"definite", make_definite},   {"product", make_product},
                {"saddle point", make_saddle}, {"Cauchy", make_cauchy},
                {"diagonal", make_diagonal},   {"cancelling", make_cancelling}};
#define FAMILIES ((int)(sizeof families / sizeof families[0]))

/* D A D with powers of two, or numbers that are rounded. */
static void scale_badly(random_stream *r, fuzz_system *a)
{
    const int spread = a->is_single ? 12 : 90, rounded = chance(r, 30);
    double d[64];
    for (int i = 0; i < a->n; i++)
        d[i] = ldexp(rounded ? 1 + fabs(random_real(r)) : 1, random_below(r, 2 * spread) - spread);
    for (int j = 0; j < a->n; j++)
        for (int i = j; i < a->n; i++)
            a->re[i + j * a->n] *= d[i] * d[j];
}

/* Far up or down, where products leave the range of the type. */
static void go_to_extremes(random_stream *r, fuzz_system *a)
{
    const int far = a->is_single ? 60 + random_below(r, 45) : 600 + random_below(r, 350),
              up = chance(r, 50);
    for (int k = 0; k < a->n * a->n; k++)
        a->re[k] = ldexp(a->re[k], up ? far : -far);
}

/* a(i,j) i^(k_i - k_j), or i^(k_i + k_j): a congruence; or imaginary parts of their own. */
static void make_complex(random_stream *r, fuzz_system *a)
{
    const int own = chance(r, 40);
    int turn[64];
    for (int i = 0; i < a->n; i++)
        turn[i] = random_below(r, 4);
    for (int j = 0; j < a->n; j++)
        for (int i = j; i < a->n; i++) {
            double *re = &a->re[i + j * a->n], *im = &a->im[i + j * a->n];
            const int k = ((a->is_hermitian ? turn[i] - turn[j] : turn[i] + turn[j]) + 4) % 4;
            const double v = *re;
            *re = k == 0 ? v : k == 2 ? -v : 0;
            *im = k == 1 ? v : k == 3 ? -v : 0;
            if (own && !(a->is_hermitian && i == j))
                *im += v * integer(r, 4) / 4;
        }
}

static void make_values(random_stream *r, fuzz_system *a)
{
    const int split = chance(r, 20) && a->n > 1 ? 1 + random_below(r, a->n - 1) : 0;
    memset(a->re, 0, sizeof *a->re * (size_t)a->n * (size_t)a->n);
    memset(a->im, 0, sizeof *a->im * (size_t)a->n * (size_t)a->n);
    int family = random_below(r, FAMILIES);
    if (split > 0) {
        families[family].make(r, a, 0, split);
        family = random_below(r, FAMILIES);
    }
    families[family].make(r, a, split, a->n);
    a->family = families[family].name;
    if (chance(r, 15))
        scale_badly(r, a);
    else if (chance(r, 4))
        go_to_extremes(r, a);
    if (a->is_complex)
        make_complex(r, a);
    for (int k = 0; k < a->n * a->n; k++) {
        a->re[k] = system_round(a, a->re[k]);
        a->im[k] = system_round(a, a->im[k]);
    }
}

/* Rows and columns in another order: families are made in the order that suits them. */
static void shuffle(random_stream *r, fuzz_system *a)
{
    const int n = a->n;
    int32_t to[64];
    fuzz_system b = system_copy(a);
    random_permutation(r, n, to);
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) {
            const int turned = to[i] < to[j],
                      at_new = turned ? to[j] + to[i] * n : to[i] + to[j] * n;
            a->re[at_new] = b.re[i + j * n];
            a->im[at_new] = turned && a->is_hermitian ? -b.im[i + j * n] : b.im[i + j * n];
        }
    system_free(&b);
}

static fuzz_system empty(int n, libsolver_type type, libsolver_symmetry symmetry)
{
    fuzz_system a = {.n = n, .type = type, .symmetry = symmetry};
    a.is_complex = type == LIBSOLVER_Z || type == LIBSOLVER_C;
    a.is_single = type == LIBSOLVER_S || type == LIBSOLVER_C;
    a.is_hermitian = !a.is_complex || symmetry == LIBSOLVER_HERMITIAN;
    a.stored = fuzz_room((int64_t)n * n, 1);
    a.re = fuzz_room((int64_t)n * n, sizeof *a.re);
    a.im = fuzz_room((int64_t)n * n, sizeof *a.im);
    return a;
}

fuzz_system system_random(random_stream *r, libsolver_type type, libsolver_symmetry symmetry)
{
    const int size = random_below(r, 100);
    const int n = size < 3    ? random_below(r, 2)
                  : size < 60 ? 2 + random_below(r, 9)
                  : size < 96 ? 2 + random_below(r, 23)
                              : 25 + random_below(r, 36);
    fuzz_system a = empty(n, type, symmetry);
    make_values(r, &a);
    if (chance(r, 60))
        shuffle(r, &a);
    const int explicit_zeros = chance(r, 30) ? 10 : 0, whole_diagonal = chance(r, 50);
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++)
            a.stored[i + j * n] = a.re[i + j * n] != 0 || a.im[i + j * n] != 0 ||
                                  (i == j && whole_diagonal) || chance(r, explicit_zeros);
    return a;
}

/* Another family's values, where there is an entry for them: in a band of the pattern they are as
 * good as new. */
static void other_family(random_stream *r, fuzz_system *a)
{
    make_values(r, a);
    for (int k = 0; k < a->n * a->n; k++)
        if (!a->stored[k])
            a->re[k] = a->im[k] = 0;
}

/* Row sums 0 on the pattern, if it has a diagonal. */
static void laplacian_of_pattern(fuzz_system *a)
{
    const int n = a->n;
    memset(a->im, 0, sizeof *a->im * (size_t)n * (size_t)n);
    for (int j = 0; j < n; j++)
        a->re[j + j * n] = 0;
    for (int j = 0; j < n; j++)
        for (int i = j + 1; i < n; i++) {
            a->re[i + j * n] = a->stored[i + j * n] ? -1 : 0;
            a->re[i + i * n] += a->stored[i + j * n] && a->stored[i + i * n];
            a->re[j + j * n] += a->stored[i + j * n] && a->stored[j + j * n];
        }
}

const char *system_revalue(random_stream *r, fuzz_system *a)
{
    const int n = a->n, what = random_below(r, 6);
    const double factor = ldexp(1, random_below(r, 11) - 5);
    if (what == 0)
        return "the same values";
    if (what == 1) {
        other_family(r, a);
        return "values of another family";
    }
    if (what == 2) {
        laplacian_of_pattern(a);
        return "values of a Laplacian";
    }
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) {
            double *re = &a->re[i + j * n], *im = &a->im[i + j * n];
            if (what == 3) /* exact: the same signs */
                *re *= factor, *im *= factor;
            else if (what == 4 && i == j)
                *re = system_round(a, -*re), *im = system_round(a, -*im);
            else if (what == 5 && a->stored[i + j * n])
                *re = integer(r, 3),
                *im = a->is_complex && !(a->is_hermitian && i == j) ? integer(r, 2) : 0;
        }
    return what == 3   ? "a power of two times the values"
           : what == 4 ? "the negative diagonal"
                       : "small integers";
}

fuzz_system system_copy(const fuzz_system *a)
{
    const size_t square = (size_t)a->n * (size_t)a->n;
    fuzz_system b = empty(a->n, a->type, a->symmetry);
    b.family = a->family;
    memcpy(b.stored, a->stored, square);
    memcpy(b.re, a->re, square * sizeof *b.re);
    memcpy(b.im, a->im, square * sizeof *b.im);
    return b;
}

void system_free(fuzz_system *a)
{
    free(a->stored);
    free(a->re);
    free(a->im);
    *a = (fuzz_system){0};
}

oracle_matrix system_matrix(const fuzz_system *a, const double *shift_re, const double *shift_im)
{
    const int n = a->n;
    oracle_matrix m = oracle_matrix_new(n, a->is_complex, a->symmetry == LIBSOLVER_HERMITIAN);
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) {
            double re = a->re[i + j * n], im = a->im[i + j * n];
            if (i == j && shift_re) {
                re = system_round(a, re + shift_re[i]);
                im = system_round(a, im + shift_im[i]);
            }
            m.entry[i + j * n] = (quad_complex){re, im};
            m.entry[j + i * n] = (quad_complex){re, a->is_hermitian && i != j ? -im : im};
        }
    return m;
}
