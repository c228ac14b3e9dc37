/* dense/cpu/substitute_single_tmpl.c: the kernels of substitute.h for one right-hand side, compiled
 * for each precision and each instruction set
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense/cpu/substitute_sets.h"
#include <stdint.h>

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
/* Four columns of no more bytes are short: processors foresee them too late.  Before they are
 * worked on, as many bytes as they have are asked for, so far further on, to the first level: those
 * of other columns or, as fronts lie one behind the other, of other fronts.  Both sweeps of
 * lap2d:300, packed, one core of an AMD EPYC 9004, ms: without 3.7, by 1024 3.3, 2048 3.1,
 * 4096 2.6, 8192 2.4, 16384 2.3. */
#define BYTES_AHEAD 8192

/* The functions of W columns are inlined with W a constant, 4, 2 or 1.  next: as many columns that
 * will be wanted after them, or NULL. */

/* bytes, distance from `from`, which may be outside of what is there: nothing is read. */
static inline void prefetch_run(const scalar *from, ptrdiff_t bytes, ptrdiff_t distance)
{
    for (ptrdiff_t k = 0; k < bytes; k += 64)
        __builtin_prefetch((const void *)((uintptr_t)from + (uintptr_t)(distance + k)), 0, 3);
}

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

static inline vec load(const real *x)
{
    return __builtin_convertvector(*(const reals *)x, vec);
}

/* Where W columns of A begin. */
INLINE_ALWAYS void find_columns(const int W, ptrdiff_t ld, int packed, const scalar *a,
                                const scalar **column)
{
    for (int j = 0; j < W; j++)
        column[j] = a + substitution_column(ld, packed, j);
}

/* y(i) - A(i,:) x */
INLINE_ALWAYS sum row_minus(const int W, const scalar *const *column, int i, const sum *x,
                            const scalar *y)
{
    sum product = column[0][i] * x[0];
    if (W > 1)
        product += column[1][i] * x[1];
    if (W > 2)
        product += column[2][i] * x[2] + column[3][i] * x[3];
    return y[i] - product;
}

#if SCALAR_COMPLEX

/* y(first:end) -= A(first:end,:) x */
INLINE_ALWAYS void minus_rows(const int W, int first, int end, const scalar *const *column,
                              const sum *x, scalar *restrict y)
{
    for (int i = first; i < end; i++)
        y[i] = (scalar)row_minus(W, column, i, x, y);
}

#else

/* The same of rows i to i + LANES - 1. */
INLINE_ALWAYS vec lanes_minus(const int W, const scalar *const *column, int i, const sum *x,
                              const scalar *y)
{
    vec product = load(column[0] + i) * x[0];
    if (W > 1)
        product += load(column[1] + i) * x[1];
    if (W > 2)
        product += load(column[2] + i) * x[2] + load(column[3] + i) * x[3];
    return load(y + i) - product;
}

static inline void store(vec from, real *to)
{
    *(reals *)to = __builtin_convertvector(from, reals);
}

/* y(first:end) -= A(first:end,:) x.  What does not fill a vector is done with the rows before it,
 * from what these were. */
INLINE_ALWAYS void minus_rows(const int W, int first, int end, const scalar *const *column,
                              const sum *x, scalar *restrict y)
{
    if (end - first < LANES) {
        for (int i = first; i < end; i++)
            y[i] = (scalar)row_minus(W, column, i, x, y);
        return;
    }
    const vec last = lanes_minus(W, column, end - LANES, x, y);
    for (int i = first; i + LANES < end; i += LANES)
        store(lanes_minus(W, column, i, x, y), y + i);
    store(last, y + end - LANES);
}

#endif

/* y(0:rows) -= A x,  A rows x W */
INLINE_ALWAYS void minus_columns(const int W, int rows, ptrdiff_t ld, int packed, const scalar *a,
                                 const scalar *next, const scalar *x, scalar *restrict y)
{
    const scalar *column[4];
    sum factor[4];
    find_columns(W, ld, packed, a, column);
    for (int j = 0; j < W; j++)
        factor[j] = x[j];
    for (int first = 0, end; first < rows; first = end) {
        end = next ? least(first + ROWS_AHEAD, rows) : rows;
        prefetch_columns(W, end - first, ld, next ? next + first : NULL);
        minus_rows(W, first, end, column, factor, y);
    }
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
#if SCALAR_COMPLEX
    double even = 0, odd = 0, turned_even = 0, turned_odd = 0;
    for (int q = 0; q < LANES; q += 2) {
        even += v[0][q];
        odd += v[0][q + 1];
        turned_even += v[1][q];
        turned_odd += v[1][q + 1];
    }
    /* glibc defines CMPLX for gcc only */
    return __builtin_complex(even - turned_odd, odd + turned_even);
#else
    const vec both = v[0] + v[1];
#if VECTOR_BYTES == 32
    return (both[0] + both[2]) + (both[1] + both[3]);
#else
    return both[0] + both[1];
#endif
#endif
}

#if !SCALAR_COMPLEX
typedef int64_t bits __attribute__((vector_size(VECTOR_BYTES), aligned(8), may_alias));

/* s += products of rows `whole` to `rows`, fewer than 2 LANES; of those before, which the last
 * vector holds too, x counts as zero.  rows >= LANES. */
INLINE_ALWAYS void add_rest(const int W, int whole, int rows, const scalar *const *column,
                            const scalar *x, vec (*s)[2])
{
#if VECTOR_BYTES == 32
    static const int64_t mask[2 * LANES] = {0, 0, 0, 0, -1, -1, -1, -1};
#else
    static const int64_t mask[2 * LANES] = {0, 0, -1, -1};
#endif
    if (whole + LANES <= rows) {
        for (int j = 0; j < W; j++)
            s[j][0] += load(column[j] + whole) * load(x + whole);
        whole += LANES;
    }
    if (whole < rows) {
        const vec end = load(x + rows - LANES),
                  factor = (vec)((bits)end & *(const bits *)(mask + (rows - whole)));
        for (int j = 0; j < W; j++)
            s[j][1] += load(column[j] + rows - LANES) * factor;
    }
}
#endif

/* y(0:W) -= A^T x,  A rows x W */
INLINE_ALWAYS void minus_dots(const int W, int rows, ptrdiff_t ld, int packed, const scalar *a,
                              const scalar *next, const scalar *restrict x, scalar *y)
{
    const scalar *column[4];
    vec s[4][2];
    find_columns(W, ld, packed, a, column);
    for (int j = 0; j < W; j++)
        s[j][0] = s[j][1] = (vec){0};
    int whole = rows / STEP * STEP;
    for (int i = 0; i < whole; i += STEP) {
        vec factor[2], entry[2];
        load_factors(x + i, factor);
        FOR_UNROLLED (4, int j = 0; j < W; j++) {
            load_entries(column[j] + i, entry);
            s[j][0] += entry[0] * factor[0];
            s[j][1] += entry[1] * factor[1];
        }
        prefetch_columns(W, STEP, ld, next ? next + i : NULL);
    }
#if !SCALAR_COMPLEX
    if (rows >= LANES) {
        add_rest(W, whole, rows, column, x, s);
        whole = rows;
    }
#endif
    for (int j = 0; j < W; j++) {
        sum rest = 0;
        for (int i = whole; i < rows; i++)
            rest += (sum)column[j][i] * x[i];
        y[j] = (scalar)(y[j] - (total(s[j]) + rest));
    }
}

/* Entry (i, j) of the panel at l. */
#define L(i, j) ((sum)l[(i) + substitution_column(ld, packed, j)])

/* The next W of the columns of forward. */
INLINE_ALWAYS void forward_columns(const int W, int m, ptrdiff_t ld, int packed, int unit,
                                   const scalar *l, const scalar *next, scalar *z)
{
    scalar x[4];
    for (int j = 0; j < W; j++) {
        sum left = z[j];
        for (int q = 0; q < j; q++)
            left -= L(j, q) * x[q];
        /* the quotient does not wait for what is left */
        z[j] = x[j] = (scalar)(unit ? left : left * (1 / L(j, j)));
    }
    minus_columns(W, m - W, ld, packed, l + W, next, x, z + W);
}

INLINE_ALWAYS void backward_columns(const int W, int m, ptrdiff_t ld, int packed, int unit,
                                    const scalar *l, const scalar *next, scalar *z)
{
    minus_dots(W, m - W, ld, packed, l + W, next, z + W, z);
    for (int j = W - 1; j >= 0; j--) {
        sum x = z[j];
        for (int q = W - 1; q > j; q--) /* the one that is known last comes last */
            x -= L(q, j) * z[q];
        z[j] = (scalar)(unit ? x : x * (1 / L(j, j)));
    }
}

/* The kernels; ahead: whether they ask for what comes next. */

static inline int is_short(int m)
{
    return m <= BYTES_AHEAD / 4 / (int)sizeof(scalar);
}

/* What is left of a panel from column j on: where it begins. */
static inline const scalar *corner(const scalar *panel, ptrdiff_t ld, int packed, int j)
{
    return panel + substitution_column(ld, packed, j) + j;
}

INLINE_ALWAYS void forward_by(const int ahead, int m, int p, ptrdiff_t ld, const int packed,
                              int unit, const scalar *panel, scalar *z)
{
    int j = 0;
#define COLUMNS(W, next) \
    forward_columns(W, m - j, packed ? ld - j : ld, packed, unit, corner(panel, ld, packed, j), \
                    next, z + j)
    for (; j + 4 <= p; j += 4) {
        const scalar *after = corner(panel, ld, packed, j + 4);
        if (ahead && is_short(m - j))
            prefetch_run(after, 4 * (m - j) * (ptrdiff_t)sizeof(scalar), BYTES_AHEAD);
        COLUMNS(4, ahead && !is_short(m - j) && j + 4 < p ? after : NULL);
    }
    if (p & 2) {
        COLUMNS(2, NULL);
        j += 2;
    }
    if (p & 1)
        COLUMNS(1, NULL);
#undef COLUMNS
}

INLINE_ALWAYS void backward_by(const int ahead, int m, int p, ptrdiff_t ld, const int packed,
                               int unit, const scalar *panel, scalar *z)
{
    int j = p;
#define COLUMNS(W, next) \
    backward_columns(W, m - j, packed ? ld - j : ld, packed, unit, corner(panel, ld, packed, j), \
                     next, z + j)
    if (p & 1) {
        j--;
        COLUMNS(1, NULL);
    }
    if (p & 2) {
        j -= 2;
        COLUMNS(2, NULL);
    }
    while (j > 0) {
        j -= 4;
        if (ahead && is_short(m - j))
            prefetch_run(corner(panel, ld, packed, j), 4 * (m - j) * (ptrdiff_t)sizeof(scalar),
                         -BYTES_AHEAD);
        COLUMNS(4, ahead && !is_short(m - j) && j > 0 ? corner(panel, ld, packed, j - 4) : NULL);
    }
#undef COLUMNS
}

INLINE_ALWAYS void product_by(const int ahead, int rows, int columns, ptrdiff_t ld, const scalar *a,
                              const scalar *x, scalar *y)
{
    int j = 0;
    for (; j + 4 <= columns; j += 4)
        minus_columns(4, rows, ld, 0, a + j * ld,
                      ahead && j + 4 < columns ? a + (j + 4) * ld : NULL, x + j, y);
    for (; j < columns; j++)
        minus_columns(1, rows, ld, 0, a + j * ld, NULL, x + j, y);
}

INLINE_ALWAYS void product_transposed_by(const int ahead, int rows, int columns, ptrdiff_t ld,
                                         const scalar *a, const scalar *x, scalar *y)
{
    int j = 0;
    for (; j + 4 <= columns; j += 4)
        minus_dots(4, rows, ld, 0, a + j * ld, ahead && j + 4 < columns ? a + (j + 4) * ld : NULL,
                   x, y + j);
    for (; j < columns; j++)
        minus_dots(1, rows, ld, 0, a + j * ld, NULL, x, y + j);
}

#define KERNELS(suffix, ahead) \
    static void forward##suffix(int m, int p, int ld, int packed, int unit, const scalar *l, \
                                int width, scalar *z) \
    { \
        (void)width; \
        if (packed) \
            forward_by(ahead, m, p, ld, 1, unit, l, z); \
        else \
            forward_by(ahead, m, p, ld, 0, unit, l, z); \
    } \
    static void backward##suffix(int m, int p, int ld, int packed, int unit, const scalar *l, \
                                 int width, scalar *z) \
    { \
        (void)width; \
        if (packed) \
            backward_by(ahead, m, p, ld, 1, unit, l, z); \
        else \
            backward_by(ahead, m, p, ld, 0, unit, l, z); \
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

#ifdef SUBSTITUTE_SMALL_VECTORS
#define SMALL \
    (SUBSTITUTE_SMALL_VECTORS) * SUBSTITUTE_SMALL_LANES, SET(substitute_small_forward), \
        SET(substitute_small_backward)
#else
#define SMALL 0, NULL, NULL
#endif

const substitution SET(single_substitution)[2] = {
    {forward_here, backward_here, product_here, product_transposed_here, SMALL},
    {forward_ahead, backward_ahead, product_ahead, product_transposed_ahead, SMALL}};
