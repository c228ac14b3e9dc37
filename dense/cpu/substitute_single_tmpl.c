/* dense/cpu/substitute_single_tmpl.c: the kernels of substitute.h for one right-hand side, compiled
 * for each precision and each instruction set
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense/cpu/substitute_sets.h"

/* Single precision is summed in double: refinement on such a factor takes a quarter fewer steps,
 * and fewer of them fail. */
#if SCALAR_COMPLEX
typedef double _Complex sum;
#else
typedef double sum;
#endif

/* Bytes of vectors of sums. */
#if defined(SET_avx512) || defined(SET_avx2)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif
#define LANES (VECTOR_BYTES / (int)sizeof(double))
typedef double vec __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(real)), may_alias));
typedef real reals
    __attribute__((vector_size(LANES * sizeof(real)), aligned(sizeof(real)), may_alias));

/* Rows between which the columns that come next are asked for, to the second level of the
 * caches.  Processors foresee one long run of memory, not four short ones: two threads of an AMD
 * EPYC 9004 read four columns of 500 rows at a time at 27 GB/s, with this at 34 as one run (columns
 * of 150 rows: 19 and 31). */
#define ROWS_AHEAD 64
#define LINE (64 / (int)sizeof(scalar))

/* The functions of W columns are inlined with W a constant, 4, 2 or 1.  next: as many columns that
 * will be wanted after them, or NULL. */

static inline void prefetch_columns(const int W, int rows, ptrdiff_t ld, const scalar *next)
{
    for (int j = 0; j < W && next; j++)
        for (int i = 0; i < rows; i += LINE)
            __builtin_prefetch(next + j * ld + i, 0, 2);
}

static inline int least(int a, int b)
{
    return a < b ? a : b;
}

/* y(0:rows) -= A x,  A rows x W */
static inline void minus_columns(const int W, int rows, ptrdiff_t ld, const scalar *a,
                                 const scalar *next, const scalar *x, scalar *restrict y)
{
    const scalar *restrict a0 = a, *restrict a1 = a + (W > 1 ? ld : 0);
    const scalar *restrict a2 = a + (W > 2 ? 2 * ld : 0), *restrict a3 = a + (W > 3 ? 3 * ld : 0);
    const sum x0 = x[0], x1 = x[W > 1 ? 1 : 0], x2 = x[W > 2 ? 2 : 0], x3 = x[W > 3 ? 3 : 0];
    for (int first = 0, end; first < rows; first = end) {
        end = next ? least(first + ROWS_AHEAD, rows) : rows;
        prefetch_columns(W, end - first, ld, next ? next + first : NULL);
        if (W == 4)
            for (int i = first; i < end; i++)
                y[i] = (scalar)(y[i] - ((a0[i] * x0 + a1[i] * x1) + (a2[i] * x2 + a3[i] * x3)));
        else if (W == 2)
            for (int i = first; i < end; i++)
                y[i] = (scalar)(y[i] - (a0[i] * x0 + a1[i] * x1));
        else
            for (int i = first; i < end; i++)
                y[i] = (scalar)(y[i] - a0[i] * x0);
    }
}

static inline vec load(const real *x)
{
    return __builtin_convertvector(*(const reals *)x, vec);
}

/* Entries whose products are added at a time. */
#define STEP (SCALAR_COMPLEX ? LANES / 2 : 2 * LANES)

/* Of STEP entries of A and of x: what is multiplied lane by lane.  Complex: A's parts by the real,
 * then by the imaginary one of x. */
static inline void load_entries(const scalar *a, vec *v)
{
    v[0] = load((const real *)a);
    v[1] = SCALAR_COMPLEX ? v[0] : load((const real *)a + LANES);
}

static inline void load_factors(const scalar *x, vec *v)
{
    load_entries(x, v);
    for (int q = 0; SCALAR_COMPLEX && q < LANES; q += 2) {
        v[0][q + 1] = v[0][q];
        v[1][q] = v[1][q + 1];
    }
}

/* The sum of the products that were added up in v[0] and v[1]. */
static inline sum total(const vec *v)
{
    double even = 0, odd = 0, turned_even = 0, turned_odd = 0;
    for (int q = 0; q < LANES; q += 2) {
        even += v[0][q];
        odd += v[0][q + 1];
        turned_even += v[1][q];
        turned_odd += v[1][q + 1];
    }
#if SCALAR_COMPLEX
    /* glibc defines CMPLX for gcc only */
    return __builtin_complex(even - turned_odd, odd + turned_even);
#else
    return (even + turned_even) + (odd + turned_odd);
#endif
}

/* y(0:W) -= A^T x,  A rows x W */
static inline void minus_dots(const int W, int rows, ptrdiff_t ld, const scalar *a,
                              const scalar *next, const scalar *restrict x, scalar *y)
{
    vec s[4][2];
    for (int j = 0; j < W; j++)
        s[j][0] = s[j][1] = (vec){0};
    const int whole = rows / STEP * STEP;
    for (int i = 0; i < whole; i += STEP) {
        vec factor[2], entry[2];
        load_factors(x + i, factor);
#pragma GCC unroll 4
        for (int j = 0; j < W; j++) {
            load_entries(a + j * ld + i, entry);
            s[j][0] += entry[0] * factor[0];
            s[j][1] += entry[1] * factor[1];
        }
        prefetch_columns(W, STEP, ld, next ? next + i : NULL);
    }
    for (int j = 0; j < W; j++) {
        sum rest = 0;
        for (int i = whole; i < rows; i++)
            rest += (sum)a[j * ld + i] * x[i];
        y[j] = (scalar)(y[j] - (total(s[j]) + rest));
    }
}

/* The next W of the columns of forward. */
static inline void forward_columns(const int W, int m, ptrdiff_t ld, int unit, const scalar *l,
                                   const scalar *next, scalar *z)
{
    for (int j = 0; j < W; j++) {
        sum x = z[j];
        for (int q = 0; q < j; q++)
            x -= (sum)l[j + q * ld] * z[q];
        /* the quotient does not wait for x */
        z[j] = (scalar)(unit ? x : x * (1 / (sum)l[j + j * ld]));
    }
    minus_columns(W, m - W, ld, l + W, next, z, z + W);
}

static inline void backward_columns(const int W, int m, ptrdiff_t ld, int unit, const scalar *l,
                                    const scalar *next, scalar *z)
{
    minus_dots(W, m - W, ld, l + W, next, z + W, z);
    for (int j = W - 1; j >= 0; j--) {
        sum x = z[j];
        for (int q = j + 1; q < W; q++)
            x -= (sum)l[q + j * ld] * z[q];
        z[j] = (scalar)(unit ? x : x * (1 / (sum)l[j + j * ld]));
    }
}

/* The kernels; ahead: whether they ask for the columns that come next. */

INLINE_ALWAYS void forward_by(const int ahead, int m, int p, int ld, int unit, const scalar *l,
                              scalar *z)
{
    const ptrdiff_t step = (ptrdiff_t)ld + 1;
    int j = 0;
    for (; j + 4 <= p; j += 4)
        forward_columns(4, m - j, ld, unit, l + j * step,
                        ahead && j + 4 < p ? l + (j + 4) * step : NULL, z + j);
    if (p & 2) {
        forward_columns(2, m - j, ld, unit, l + j * step, NULL, z + j);
        j += 2;
    }
    if (p & 1)
        forward_columns(1, m - j, ld, unit, l + j * step, NULL, z + j);
}

INLINE_ALWAYS void backward_by(const int ahead, int m, int p, int ld, int unit, const scalar *l,
                               scalar *z)
{
    const ptrdiff_t step = (ptrdiff_t)ld + 1;
    int j = p;
    if (p & 1) {
        j--;
        backward_columns(1, m - j, ld, unit, l + j * step, NULL, z + j);
    }
    if (p & 2) {
        j -= 2;
        backward_columns(2, m - j, ld, unit, l + j * step, NULL, z + j);
    }
    while (j > 0) {
        j -= 4;
        backward_columns(4, m - j, ld, unit, l + j * step,
                         ahead && j > 0 ? l + (j - 4) * step : NULL, z + j);
    }
}

INLINE_ALWAYS void product_by(const int ahead, int rows, int columns, ptrdiff_t ld, const scalar *a,
                              const scalar *x, scalar *y)
{
    int j = 0;
    for (; j + 4 <= columns; j += 4)
        minus_columns(4, rows, ld, a + j * ld, ahead && j + 4 < columns ? a + (j + 4) * ld : NULL,
                      x + j, y);
    for (; j < columns; j++)
        minus_columns(1, rows, ld, a + j * ld, NULL, x + j, y);
}

INLINE_ALWAYS void product_transposed_by(const int ahead, int rows, int columns, ptrdiff_t ld,
                                         const scalar *a, const scalar *x, scalar *y)
{
    int j = 0;
    for (; j + 4 <= columns; j += 4)
        minus_dots(4, rows, ld, a + j * ld, ahead && j + 4 < columns ? a + (j + 4) * ld : NULL, x,
                   y + j);
    for (; j < columns; j++)
        minus_dots(1, rows, ld, a + j * ld, NULL, x, y + j);
}

#define KERNELS(suffix, ahead) \
    static void forward##suffix(int m, int p, int ld, int unit, const scalar *l, int width, \
                                scalar *z) \
    { \
        (void)width; \
        forward_by(ahead, m, p, ld, unit, l, z); \
    } \
    static void backward##suffix(int m, int p, int ld, int unit, const scalar *l, int width, \
                                 scalar *z) \
    { \
        (void)width; \
        backward_by(ahead, m, p, ld, unit, l, z); \
    } \
    static void product##suffix(int rows, int columns, int ld, const scalar *a, int width, \
                                const scalar *x, scalar *y) \
    { \
        (void)width; \
        product_by(ahead, rows, columns, ld, a, x, y); \
    } \
    static void product_transposed##suffix(int rows, int columns, int ld, const scalar *a, \
                                           int width, const scalar *x, scalar *y) \
    { \
        (void)width; \
        product_transposed_by(ahead, rows, columns, ld, a, x, y); \
    }
KERNELS(_here, 0)
KERNELS(_ahead, 1)

const substitution SET(single_substitution)[2] = {
    {forward_here, backward_here, product_here, product_transposed_here},
    {forward_ahead, backward_ahead, product_ahead, product_transposed_ahead}};
