/* dense/cpu/substitute_single_tmpl.c: the kernels of substitute.h for one right-hand side, compiled for each precision and each
 * instruction set
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense/cpu/substitute_sets.h"

/* Single precision is summed in double: refinement on such a factor takes a quarter fewer steps, and fewer of them fail. */
#if SCALAR_COMPLEX
typedef double _Complex sum;
#else
typedef double sum;
#endif

/* The functions of W columns are inlined with W a constant, 4, 2 or 1. */

/* y(0:rows) -= A x,  A rows x W */
static inline void minus_columns(const int W, int rows, ptrdiff_t ld, const scalar *a, const scalar *x,
                                 scalar *restrict y)
{
    const scalar *restrict a0 = a, *restrict a1 = a + (W > 1 ? ld : 0);
    const scalar *restrict a2 = a + (W > 2 ? 2 * ld : 0), *restrict a3 = a + (W > 3 ? 3 * ld : 0);
    const sum x0 = x[0], x1 = x[W > 1 ? 1 : 0], x2 = x[W > 2 ? 2 : 0], x3 = x[W > 3 ? 3 : 0];
    if (W == 4)
        for (int i = 0; i < rows; i++)
            y[i] = (scalar)(y[i] - ((a0[i] * x0 + a1[i] * x1) + (a2[i] * x2 + a3[i] * x3)));
    else if (W == 2)
        for (int i = 0; i < rows; i++)
            y[i] = (scalar)(y[i] - (a0[i] * x0 + a1[i] * x1));
    else
        for (int i = 0; i < rows; i++)
            y[i] = (scalar)(y[i] - a0[i] * x0);
}

/* y(0:W) -= A^T x,  A rows x W */
static inline void minus_dots(const int W, int rows, ptrdiff_t ld, const scalar *a, const scalar *restrict x,
                              scalar *y)
{
    const scalar *restrict a0 = a, *restrict a1 = a + (W > 1 ? ld : 0);
    const scalar *restrict a2 = a + (W > 2 ? 2 * ld : 0), *restrict a3 = a + (W > 3 ? 3 * ld : 0);
    sum s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    if (W == 4) {
#pragma omp simd reduction(+ : s0, s1, s2, s3)
        for (int i = 0; i < rows; i++) {
            s0 += (sum)a0[i] * x[i];
            s1 += (sum)a1[i] * x[i];
            s2 += (sum)a2[i] * x[i];
            s3 += (sum)a3[i] * x[i];
        }
    } else if (W == 2) {
#pragma omp simd reduction(+ : s0, s1)
        for (int i = 0; i < rows; i++) {
            s0 += (sum)a0[i] * x[i];
            s1 += (sum)a1[i] * x[i];
        }
    } else {
#pragma omp simd reduction(+ : s0)
        for (int i = 0; i < rows; i++)
            s0 += (sum)a0[i] * x[i];
    }
    const sum sums[4] = {s0, s1, s2, s3};
    for (int j = 0; j < W; j++)
        y[j] = (scalar)(y[j] - sums[j]);
}

/* The next W of the columns of forward. */
static inline void forward_columns(const int W, int m, ptrdiff_t ld, int unit, const scalar *l, scalar *z)
{
    for (int j = 0; j < W; j++) {
        sum x = z[j];
        for (int q = 0; q < j; q++)
            x -= (sum)l[j + q * ld] * z[q];
        z[j] = (scalar)(unit ? x : x * (1 / (sum)l[j + j * ld])); /* the quotient does not wait for x */
    }
    minus_columns(W, m - W, ld, l + W, z, z + W);
}

static inline void backward_columns(const int W, int m, ptrdiff_t ld, int unit, const scalar *l, scalar *z)
{
    minus_dots(W, m - W, ld, l + W, z + W, z);
    for (int j = W - 1; j >= 0; j--) {
        sum x = z[j];
        for (int q = j + 1; q < W; q++)
            x -= (sum)l[q + j * ld] * z[q];
        z[j] = (scalar)(unit ? x : x * (1 / (sum)l[j + j * ld]));
    }
}

static void forward(int m, int p, int ld, int unit, const scalar *l, int width, scalar *z)
{
    (void)width;
    const ptrdiff_t step = (ptrdiff_t)ld + 1;
    int j = 0;
    for (; j + 4 <= p; j += 4)
        forward_columns(4, m - j, ld, unit, l + j * step, z + j);
    if (p & 2) {
        forward_columns(2, m - j, ld, unit, l + j * step, z + j);
        j += 2;
    }
    if (p & 1)
        forward_columns(1, m - j, ld, unit, l + j * step, z + j);
}

static void backward(int m, int p, int ld, int unit, const scalar *l, int width, scalar *z)
{
    (void)width;
    const ptrdiff_t step = (ptrdiff_t)ld + 1;
    int j = p;
    if (p & 1) {
        j--;
        backward_columns(1, m - j, ld, unit, l + j * step, z + j);
    }
    if (p & 2) {
        j -= 2;
        backward_columns(2, m - j, ld, unit, l + j * step, z + j);
    }
    while (j > 0) {
        j -= 4;
        backward_columns(4, m - j, ld, unit, l + j * step, z + j);
    }
}

static void product(int rows, int columns, int ld, const scalar *a, int width, const scalar *x, scalar *y)
{
    (void)width;
    int j = 0;
    for (; j + 4 <= columns; j += 4)
        minus_columns(4, rows, ld, a + (ptrdiff_t)j * ld, x + j, y);
    for (; j < columns; j++)
        minus_columns(1, rows, ld, a + (ptrdiff_t)j * ld, x + j, y);
}

static void product_transposed(int rows, int columns, int ld, const scalar *a, int width, const scalar *x, scalar *y)
{
    (void)width;
    int j = 0;
    for (; j + 4 <= columns; j += 4)
        minus_dots(4, rows, ld, a + (ptrdiff_t)j * ld, x, y + j);
    for (; j < columns; j++)
        minus_dots(1, rows, ld, a + (ptrdiff_t)j * ld, x, y + j);
}

const substitution SET(single_substitution) = {forward, backward, product, product_transposed};
