/* dense/cpu/product_tmpl.c: C := beta C - L W^T by packed slivers, compiled for each precision and
 * each instruction set
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *           columns                 A block of MOST_ROWS x MOST_INNER of L stays in the second
 *          +--+--+--+               cache, a sliver of N rows of W in the first; a tile of
 *   sliver |  |  |  |  V vectors    V vectors x N columns of C is summed in registers over the
 *   of L   +--+--+--+               whole inner size of the block, then added to C once.
 *          |  |  |  |
 *          +--+--+--+               Complex: real and imaginary parts are packed apart, so that
 *           sliver of W             their four products need no exchange of lanes. */
#include "dense/cpu/product.h"
#include "dense/cpu/sets.h"
#include <string.h>

#if defined(SET_avx512)
#define VECTOR_BYTES 64
#elif defined(SET_avx2)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif

/* The tile fills the registers, 32 of AVX-512, else 16, with what a step loads beside it. */
#if SCALAR_COMPLEX && defined(SET_avx512)
#define VECTORS 2
#define WIDE 6
#elif SCALAR_COMPLEX
#define VECTORS 1
#define WIDE 6
#elif defined(SET_avx512)
#define VECTORS 3
#define WIDE 8
#else
#define VECTORS 3
#define WIDE 4
#endif
#define NARROW (WIDE / 2)

typedef real vector __attribute__((vector_size(VECTOR_BYTES)));
#define ROWS_A_VECTOR (VECTOR_BYTES / (int)sizeof(real))
#define SLIVER (VECTORS * ROWS_A_VECTOR)
#define PARTS (1 + SCALAR_COMPLEX)

/* A multiple of every SLIVER. */
#define MOST_ROWS 192
#define MOST_INNER (1024 / (int)sizeof(scalar))

typedef struct packed {
    real l[MOST_ROWS * MOST_INNER * PARTS] __attribute__((aligned(64)));
    real w[WIDE * MOST_INNER * PARTS] __attribute__((aligned(64)));
} packed;

static inline int least(int a, int b)
{
    return a < b ? a : b;
}

static inline vector load(const real *p)
{
    vector v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void store(real *p, vector v)
{
    memcpy(p, &v, sizeof v);
}

/* Rows [0, rows) of L as one sliver of V vectors, the last rows of it zero. */
INLINE_ALWAYS void pack_l(const int V, int rows, int inner, const scalar *l, ptrdiff_t ldl,
                          real *to)
{
    const int all = V * ROWS_A_VECTOR;
    for (int q = 0; q < inner; q++, l += ldl, to += all * PARTS) {
#if SCALAR_COMPLEX
        for (int i = 0; i < rows; i++) {
            to[i] = scalar_real(l[i]);
            to[all + i] = (real)cimag(l[i]);
        }
        for (int i = rows; i < all; i++)
            to[i] = to[all + i] = 0;
#else
        if (rows == all) {
            FOR_UNROLLED (3, int v = 0; v < V; v++)
                store(to + v * ROWS_A_VECTOR, load(l + v * ROWS_A_VECTOR));
            continue;
        }
        for (int i = 0; i < all; i++)
            to[i] = i < rows ? l[i] : 0;
#endif
    }
}

/* Rows [0, columns) of W as a sliver of N, conjugated for W^H. */
INLINE_ALWAYS void pack_w(const int N, int hermitian, int columns, int inner, const scalar *w,
                          ptrdiff_t ldw, real *to)
{
    for (int q = 0; q < inner; q++, w += ldw, to += N * PARTS)
        for (int j = 0; j < N; j++) {
            const scalar entry = j < columns ? scalar_mirror(w[j], hermitian) : 0;
            to[j * PARTS] = scalar_real(entry);
#if SCALAR_COMPLEX
            to[2 * j + 1] = (real)cimag(entry);
#else
            (void)hermitian;
#endif
        }
}

typedef struct tile {
    int rows, columns, add;
    scalar *c;
    ptrdiff_t ldc;
} tile;

/* The tile at t->c from slivers of V vectors and N columns. */
INLINE_ALWAYS void multiply(const int V, const int N, int inner, const real *l, const real *w,
                            const tile *t)
{
    vector sum[PARTS][VECTORS][WIDE];
    FOR_UNROLLED (8, int j = 0; j < N; j++) {
        if (j < t->columns)
            __builtin_prefetch(t->c + j * t->ldc, 1);
        FOR_UNROLLED (3, int v = 0; v < V; v++)
            FOR_UNROLLED (2, int part = 0; part < PARTS; part++)
                sum[part][v][j] = (vector){0};
    }
    for (int q = 0; q < inner; q++, l += V * ROWS_A_VECTOR * PARTS, w += N * PARTS) {
        vector a[PARTS][VECTORS];
        FOR_UNROLLED (3, int v = 0; v < V; v++)
            FOR_UNROLLED (2, int part = 0; part < PARTS; part++)
                a[part][v] = load(l + (part * V + v) * ROWS_A_VECTOR);
        FOR_UNROLLED (8, int j = 0; j < N; j++)
            FOR_UNROLLED (3, int v = 0; v < V; v++) {
#if SCALAR_COMPLEX
                sum[0][v][j] += a[0][v] * w[2 * j];
                sum[1][v][j] += a[1][v] * w[2 * j];
                sum[0][v][j] -= a[1][v] * w[2 * j + 1];
                sum[1][v][j] += a[0][v] * w[2 * j + 1];
#else
                sum[0][v][j] += a[0][v] * w[j];
#endif
            }
    }
#if !SCALAR_COMPLEX
    if (t->rows == V * ROWS_A_VECTOR && t->columns == N) {
        FOR_UNROLLED (8, int j = 0; j < N; j++)
            FOR_UNROLLED (3, int v = 0; v < V; v++) {
                real *const c = t->c + j * t->ldc + v * ROWS_A_VECTOR;
                store(c, (t->add ? load(c) : (vector){0}) - sum[0][v][j]);
            }
        return;
    }
#endif
    real out[WIDE][PARTS][SLIVER];
    FOR_UNROLLED (8, int j = 0; j < N; j++)
        FOR_UNROLLED (3, int v = 0; v < V; v++)
            FOR_UNROLLED (2, int part = 0; part < PARTS; part++)
                store(out[j][part] + v * ROWS_A_VECTOR, sum[part][v][j]);
    for (int j = 0; j < t->columns; j++) {
        scalar *const c = t->c + j * t->ldc;
        for (int i = 0; i < t->rows; i++) {
#if SCALAR_COMPLEX
            real *const parts = (real *)(c + i);
            parts[0] = (t->add ? parts[0] : 0) - out[j][0][i];
            parts[1] = (t->add ? parts[1] : 0) - out[j][1][i];
#else
            c[i] = (t->add ? c[i] : 0) - out[j][0][i];
#endif
        }
    }
}

/* Vectors of the sliver that begins with so many rows left. */
static inline int vectors_of(int left)
{
    return left >= SLIVER ? VECTORS : (left + ROWS_A_VECTOR - 1) / ROWS_A_VECTOR;
}

static void pack_block(int rows, int inner, const scalar *l, ptrdiff_t ldl, real *to)
{
    for (int i = 0; i < rows; i += SLIVER, to += SLIVER * inner * PARTS) {
        const int vectors = vectors_of(rows - i), now = least(SLIVER, rows - i);
        if (vectors == VECTORS)
            pack_l(VECTORS, now, inner, l + i, ldl, to);
        else if (VECTORS > 2 && vectors == 2)
            pack_l(VECTORS > 2 ? 2 : 1, now, inner, l + i, ldl, to);
        else
            pack_l(1, now, inner, l + i, ldl, to);
    }
}

/* A column of tiles, rows [0, rows), from row `from` on. */
INLINE_ALWAYS void multiply_column(const int N, int from, int rows, int inner, const packed *p,
                                   tile t)
{
    scalar *const c = t.c;
    for (int i = from / SLIVER * SLIVER; i < rows; i += SLIVER) {
        const int vectors = vectors_of(rows - i);
        const real *l = p->l + (ptrdiff_t)i * inner * PARTS;
        t.rows = least(SLIVER, rows - i);
        t.c = c + i;
        if (vectors == VECTORS)
            multiply(VECTORS, N, inner, l, p->w, &t);
        else if (VECTORS > 2 && vectors == 2)
            multiply(VECTORS > 2 ? 2 : 1, N, inner, l, p->w, &t);
        else
            multiply(1, N, inner, l, p->w, &t);
    }
}

void SET(product)(int hermitian, int trapezoid, int rows, int columns, int inner, const scalar *l,
                  int ldl, const scalar *w, int ldw, int add, scalar *c, int ldc)
{
    packed p;
    const ptrdiff_t ld_l = ldl, ld_w = ldw, ld_c = ldc;
    for (int j = 0; inner == 0 && !add && j < columns; j++)
        for (int i = 0; i < rows; i++)
            c[i + j * ld_c] = 0;
    for (int q = 0; q < inner; q += MOST_INNER)
        for (int i = 0; i < rows; i += MOST_ROWS) {
            const int some = least(MOST_ROWS, rows - i), steps = least(MOST_INNER, inner - q);
            pack_block(some, steps, l + i + q * ld_l, ld_l, p.l);
            for (int j = 0; j < columns && (!trapezoid || j < i + some); j += WIDE) {
                const int now = least(WIDE, columns - j), from = trapezoid && j > i ? j - i : 0;
                const tile t = {0, now, add || q > 0, c + i + j * ld_c, ld_c};
                if (now > NARROW) {
                    pack_w(WIDE, hermitian, now, steps, w + j + q * ld_w, ld_w, p.w);
                    multiply_column(WIDE, from, some, steps, &p, t);
                } else {
                    pack_w(NARROW, hermitian, now, steps, w + j + q * ld_w, ld_w, p.w);
                    multiply_column(NARROW, from, some, steps, &p, t);
                }
            }
        }
}

#if SCALAR_COMPLEX
/* Column by column, so that vectors of rows are made of what lies in sequence. */
void SET(solve_columns)(int hermitian, int unit, int rows, int n, const scalar *t, int ldt,
                        scalar *x, int ldx)
{
    for (int j = 0; j < n; j++) {
        real *const restrict y = (real *)(x + (ptrdiff_t)j * ldx);
        for (int q = 0; q < j; q++) {
            const scalar factor = scalar_mirror(t[j + (ptrdiff_t)q * ldt], hermitian);
            const real *const restrict z = (const real *)(x + (ptrdiff_t)q * ldx);
            const real re = scalar_real(factor), im = (real)cimag(factor);
            for (int i = 0; i < rows; i++) {
                y[2 * i] -= z[2 * i] * re - z[2 * i + 1] * im;
                y[2 * i + 1] -= z[2 * i + 1] * re + z[2 * i] * im;
            }
        }
        if (unit)
            continue;
        const scalar inverse = 1 / scalar_mirror(t[j + (ptrdiff_t)j * ldt], hermitian);
        const real re = scalar_real(inverse), im = (real)cimag(inverse);
        for (int i = 0; i < rows; i++) {
            const real a = y[2 * i], b = y[2 * i + 1];
            y[2 * i] = a * re - b * im;
            y[2 * i + 1] = b * re + a * im;
        }
    }
}
#endif
