/* test/sweeps/oracle_numbers.h: complex numbers of 113 bits, and the factor that is made of them
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_SWEEPS_ORACLE_NUMBERS_H
#define TEST_SWEEPS_ORACLE_NUMBERS_H

#include "oracle.h"
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct oracle_factor {
    int n, is_complex, is_hermitian, rank;
    oracle_signs signs;
    int *perm, *scale;       /* row of A eliminated k-th; S = 2^scale by rows of A */
    unsigned char *two;      /* 1, then 2: the columns of a 2 x 2 pivot */
    quad_complex *l, *d, *e; /* n x n by columns, diagonals 1; D(k,k) and D(k+1,k) */
};

/* Zeros; the program ends if there is no memory. */
void *oracle_room(size_t count, size_t size);

/* ---- Numbers; `c` false: real ones, of which only re is computed ---- */

static inline quad_complex product(quad_complex a, quad_complex b, int c)
{
    if (!c)
        return (quad_complex){a.re * b.re, 0};
    return (quad_complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static inline quad_complex difference(quad_complex a, quad_complex b, int c)
{
    return (quad_complex){a.re - b.re, c ? a.im - b.im : 0};
}

static inline quad_complex mirror(quad_complex a, int hermitian)
{
    return hermitian ? (quad_complex){a.re, -a.im} : a;
}

static inline quad_complex quotient(quad_complex a, quad_complex b, int c)
{
    if (!c)
        return (quad_complex){a.re / b.re, 0};
    const quad size = b.re * b.re + b.im * b.im;
    const quad_complex p = product(a, (quad_complex){b.re, -b.im}, 1);
    return (quad_complex){p.re / size, p.im / size};
}

/* v 2^e */
static inline quad shifted(quad v, int e)
{
    static const quad up = 0x1p60, down = 0x1p-60;
    for (; e >= 60; e -= 60)
        v *= up;
    for (; e <= -60; e += 60)
        v *= down;
    return v * (quad)ldexp(1, e);
}

/* floor(log2 |v|), INT32_MIN for 0; subnormal numbers do not occur */
static inline int exponent_of(quad v)
{
    __extension__ unsigned __int128 bits;
    memcpy(&bits, &v, sizeof bits);
    return v == 0 ? INT32_MIN : ((int)(bits >> 112) & 0x7fff) - 16383;
}

/* log2 |v| of one that is not 0, with v beyond the range of double precision too */
static inline double log2_abs(quad_complex v)
{
    const int re = exponent_of(v.re), im = exponent_of(v.im), e = re > im ? re : im;
    return e + log2(hypot((double)shifted(v.re, -e), (double)shifted(v.im, -e)));
}

/* |v| to 63 bits, as far as double precision reaches and further */
static inline long double long_abs(quad_complex v)
{
    return v.im == 0 ? fabsl((long double)v.re) : hypotl((long double)v.re, (long double)v.im);
}

#endif
