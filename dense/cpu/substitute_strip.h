/* dense/cpu/substitute_strip.h: the block kernels of substitute.h for right-hand sides that fill
 * STRIP_BYTES of a row
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Included once for each width, by substitute_block_tmpl.c, with a name STRIP(f).  A row of the
 * strip is one or two vectors; an entry of L multiplies them as it is, or a complex one by its two
 * parts. */
#define VECTOR_BYTES (STRIP_BYTES < SET_BYTES ? STRIP_BYTES : SET_BYTES)
#define VECTORS (STRIP_BYTES / VECTOR_BYTES)
/* columns of L at a time: what is kept for them fills half of the registers */
#define BLOCK_W \
    (REGISTERS / 2 / VECTORS / (SCALAR_COMPLEX ? 2 : 1) < 8 \
         ? REGISTERS / 2 / VECTORS / (SCALAR_COMPLEX ? 2 : 1) \
         : 8)
#define LANES ((int)(VECTOR_BYTES / sizeof(real)))
#define vec STRIP(vec)
typedef real vec __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(real)), may_alias));

/* A row of the strip, and i times it if it is to be multiplied by complex numbers. */
#define row STRIP(row)
typedef struct row {
    vec v[VECTORS];
#if SCALAR_COMPLEX
    vec turned[VECTORS];
#endif
} row;

static inline vec STRIP(times_i)(vec x)
{
    vec turned;
    for (int q = 0; q < LANES; q += 2) {
        turned[q] = -x[q + 1];
        turned[q + 1] = x[q];
    }
    return turned;
}

static inline row STRIP(load)(const scalar *z)
{
    row x;
    for (int k = 0; k < VECTORS; k++)
        x.v[k] = *(const vec *)((const real *)z + k * LANES);
    return x;
}

static inline void STRIP(store)(scalar *z, const row *x)
{
    for (int k = 0; k < VECTORS; k++)
        *(vec *)((real *)z + k * LANES) = x->v[k];
}

/* To be called before x is a factor of minus_product. */
static inline void STRIP(turn)(row *x)
{
#if SCALAR_COMPLEX
    for (int k = 0; k < VECTORS; k++)
        x->turned[k] = STRIP(times_i)(x->v[k]);
#else
    (void)x;
#endif
}

/* y -= a x */
static inline void STRIP(minus_product)(row *y, scalar a, const row *x)
{
    for (int k = 0; k < VECTORS; k++)
#if SCALAR_COMPLEX
        y->v[k] = y->v[k] - (real)creal(a) * x->v[k] - (real)cimag(a) * x->turned[k];
#else
        y->v[k] -= a * x->v[k];
#endif
}

/* x /= a */
static inline void STRIP(divide)(row *x, scalar a)
{
    const scalar inverse = 1 / a;
    STRIP(turn)(x);
    for (int k = 0; k < VECTORS; k++)
#if SCALAR_COMPLEX
        x->v[k] = (real)creal(inverse) * x->v[k] + (real)cimag(inverse) * x->turned[k];
#else
        x->v[k] *= inverse;
#endif
}

/* The functions of W columns are inlined with W a constant, at most BLOCK_W. */

/* y(0:rows) -= A x,  A rows x W */
static inline void STRIP(minus_columns)(const int W, int rows, ptrdiff_t ld, int packed,
                                        const scalar *a, const row *x, int width, scalar *y)
{
    const scalar *column[BLOCK_W];
    FOR_UNROLLED (8, int j = 0; j < W; j++)
        column[j] = a + substitution_column(ld, packed, j);
    for (int i = 0; i < rows; i++) {
        row sum = STRIP(load)(y + (ptrdiff_t)i * width);
        FOR_UNROLLED (8, int j = 0; j < W; j++)
            STRIP(minus_product)(&sum, column[j][i], &x[j]);
        STRIP(store)(y + (ptrdiff_t)i * width, &sum);
    }
}

/* y(0:W) -= A^T x,  A rows x W */
static inline void STRIP(minus_dots)(const int W, int rows, ptrdiff_t ld, int packed,
                                     const scalar *a, int width, const scalar *x, row *y)
{
    row sum[BLOCK_W];
    const scalar *column[BLOCK_W];
    FOR_UNROLLED (8, int j = 0; j < W; j++)
        column[j] = a + substitution_column(ld, packed, j);
    FOR_UNROLLED (8, int j = 0; j < W; j++)
        for (int k = 0; k < VECTORS; k++) {
            sum[j].v[k] = (vec){0};
#if SCALAR_COMPLEX
            sum[j].turned[k] = (vec){0};
#endif
        }
    for (int i = 0; i < rows; i++) {
        const row z = STRIP(load)(x + (ptrdiff_t)i * width);
        FOR_UNROLLED (8, int j = 0; j < W; j++) {
            const scalar l = column[j][i];
            for (int k = 0; k < VECTORS; k++) {
#if SCALAR_COMPLEX
                sum[j].v[k] += (real)creal(l) * z.v[k];
                sum[j].turned[k] += (real)cimag(l) * z.v[k];
#else
                sum[j].v[k] += l * z.v[k];
#endif
            }
        }
    }
    FOR_UNROLLED (8, int j = 0; j < W; j++)
        for (int k = 0; k < VECTORS; k++) {
            y[j].v[k] -= sum[j].v[k];
#if SCALAR_COMPLEX
            y[j].v[k] -= STRIP(times_i)(sum[j].turned[k]);
#endif
        }
}

/* The next W of the columns of forward. */
static inline void STRIP(forward_columns)(const int W, int m, ptrdiff_t ld, int packed, int unit,
                                          const scalar *l, int width, scalar *z)
{
    row x[BLOCK_W];
    FOR_UNROLLED (8, int j = 0; j < W; j++) {
        x[j] = STRIP(load)(z + (ptrdiff_t)j * width);
        FOR_UNROLLED (8, int q = 0; q < j; q++)
            STRIP(minus_product)(&x[j], l[j + substitution_column(ld, packed, q)], &x[q]);
        if (!unit)
            STRIP(divide)(&x[j], l[j + substitution_column(ld, packed, j)]);
        STRIP(turn)(&x[j]);
        STRIP(store)(z + (ptrdiff_t)j * width, &x[j]);
    }
    STRIP(minus_columns)(W, m - W, ld, packed, l + W, x, width, z + (ptrdiff_t)W * width);
}

static inline void STRIP(backward_columns)(const int W, int m, ptrdiff_t ld, int packed, int unit,
                                           const scalar *l, int width, scalar *z)
{
    row x[BLOCK_W];
    FOR_UNROLLED (8, int j = 0; j < W; j++)
        x[j] = STRIP(load)(z + (ptrdiff_t)j * width);
    STRIP(minus_dots)(W, m - W, ld, packed, l + W, width, z + (ptrdiff_t)W * width, x);
    FOR_UNROLLED (8, int j = W - 1; j >= 0; j--) {
        FOR_UNROLLED (8, int q = j + 1; q < W; q++)
            STRIP(minus_product)(&x[j], l[q + substitution_column(ld, packed, j)], &x[q]);
        if (!unit)
            STRIP(divide)(&x[j], l[j + substitution_column(ld, packed, j)]);
        STRIP(turn)(&x[j]);
        STRIP(store)(z + (ptrdiff_t)j * width, &x[j]);
    }
}

static void STRIP(forward)(int m, int p, int ld, int packed, int unit, const scalar *l, int width,
                           scalar *z)
{
    int j = 0;
#define COLUMNS(W) \
    STRIP(forward_columns)(W, m - j, packed ? ld - j : ld, packed, unit, \
                           l + substitution_column(ld, packed, j) + j, width, \
                           z + (ptrdiff_t)j * width); \
    j += W
    while (j + BLOCK_W <= p) {
        COLUMNS(BLOCK_W);
    }
    if (BLOCK_W > 4 && (p - j) & 4) {
        COLUMNS(4);
    }
    if (BLOCK_W > 2 && (p - j) & 2) {
        COLUMNS(2);
    }
    if ((p - j) & 1) {
        COLUMNS(1);
    }
#undef COLUMNS
}

static void STRIP(backward)(int m, int p, int ld, int packed, int unit, const scalar *l, int width,
                            scalar *z)
{
    int j = p;
#define COLUMNS(W) \
    j -= W; \
    STRIP(backward_columns)(W, m - j, packed ? ld - j : ld, packed, unit, \
                            l + substitution_column(ld, packed, j) + j, width, \
                            z + (ptrdiff_t)j * width)
    if (p & 1) {
        COLUMNS(1);
    }
    if (BLOCK_W > 2 && p & 2) {
        COLUMNS(2);
    }
    if (BLOCK_W > 4 && p & 4) {
        COLUMNS(4);
    }
    while (j > 0) {
        COLUMNS(BLOCK_W);
    }
#undef COLUMNS
}

static void STRIP(product)(int rows, int columns, int ld, const scalar *a, int width,
                           const scalar *x, scalar *y)
{
    row factor[BLOCK_W];
    int j = 0;
#define COLUMNS(W) \
    for (int q = 0; q < W; q++) { \
        factor[q] = STRIP(load)(x + (ptrdiff_t)(j + q) * width); \
        STRIP(turn)(&factor[q]); \
    } \
    STRIP(minus_columns)(W, rows, ld, 0, a + (ptrdiff_t)j * ld, factor, width, y); \
    j += W
    while (j + BLOCK_W <= columns) {
        COLUMNS(BLOCK_W);
    }
    while (j < columns) {
        COLUMNS(1);
    }
#undef COLUMNS
}

static void STRIP(product_transposed)(int rows, int columns, int ld, const scalar *a, int width,
                                      const scalar *x, scalar *y)
{
    row sum[BLOCK_W];
    int j = 0;
#define COLUMNS(W) \
    for (int q = 0; q < W; q++) \
        sum[q] = STRIP(load)(y + (ptrdiff_t)(j + q) * width); \
    STRIP(minus_dots)(W, rows, ld, 0, a + (ptrdiff_t)j * ld, width, x, sum); \
    for (int q = 0; q < W; q++) \
        STRIP(store)(y + (ptrdiff_t)(j + q) * width, &sum[q]); \
    j += W
    while (j + BLOCK_W <= columns) {
        COLUMNS(BLOCK_W);
    }
    while (j < columns) {
        COLUMNS(1);
    }
#undef COLUMNS
}
#undef VECTORS
#undef VECTOR_BYTES
#undef BLOCK_W
#undef STRIP_BYTES
#undef STRIP
#undef LANES
#undef vec
#undef row
