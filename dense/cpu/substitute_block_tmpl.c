/* dense/cpu/substitute_block_tmpl.c: the kernels of substitute.h for blocks of right-hand sides,
 * compiled for each precision and each instruction set
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A block is worked on in strips of columns that are as wide as two vector registers, the last ones
 * narrower.  L is then read from the cache for all strips but the first, a block of its columns at
 * a time. */
#include "dense/cpu/substitute_sets.h"

#if defined(SET_avx512)
#define SET_BYTES 64
#define REGISTERS 32
#elif defined(SET_avx2)
#define SET_BYTES 32
#define REGISTERS 16
#else
#define SET_BYTES 16
#define REGISTERS 16
#endif
#define STRIP_MOST (2 * SET_BYTES)
/* Bytes of L between two strips. */
#define BYTES_AT_A_TIME 131072

#define STRIP_BYTES 16
#define STRIP(f) f##_16
#include "dense/cpu/substitute_strip.h"
#define STRIP_BYTES 32
#define STRIP(f) f##_32
#include "dense/cpu/substitute_strip.h"
#if STRIP_MOST >= 64
#define STRIP_BYTES 64
#define STRIP(f) f##_64
#include "dense/cpu/substitute_strip.h"
#endif
#if STRIP_MOST >= 128
#define STRIP_BYTES 128
#define STRIP(f) f##_128
#include "dense/cpu/substitute_strip.h"
#endif

static const int strip_most = STRIP_MOST / (int)sizeof(scalar);

/* Bytes of the strip that begins at column c of a row. */
static inline int strip_bytes(int width, int c)
{
    const int left = (width - c) * (int)sizeof(scalar);
    return left >= STRIP_MOST ? STRIP_MOST : left >= 64 ? 64 : left >= 32 ? 32 : 16;
}

#if STRIP_MOST >= 128
#define CALL_STRIP(bytes, f, ...) \
    (bytes == 128  ? f##_128(__VA_ARGS__) \
     : bytes == 64 ? f##_64(__VA_ARGS__) \
     : bytes == 32 ? f##_32(__VA_ARGS__) \
                   : f##_16(__VA_ARGS__))
#elif STRIP_MOST >= 64
#define CALL_STRIP(bytes, f, ...) \
    (bytes == 64 ? f##_64(__VA_ARGS__) : bytes == 32 ? f##_32(__VA_ARGS__) : f##_16(__VA_ARGS__))
#else
#define CALL_STRIP(bytes, f, ...) (bytes == 32 ? f##_32(__VA_ARGS__) : f##_16(__VA_ARGS__))
#endif

/* Columns of L, of m rows, that every strip takes before the next ones: all of them for one
 * strip. */
static inline int columns_at_a_time(int m, int p, int width)
{
    const int columns = BYTES_AT_A_TIME / ((int)sizeof(scalar) * (m + 1)) / 8 * 8;
    return width <= strip_most ? p : columns < 8 ? 8 : columns;
}

static void forward(int m, int p, int ld, int packed, int unit, const scalar *l, int width,
                    scalar *z)
{
    const int step = columns_at_a_time(m, p, width);
    for (int j = 0; j < p; j += step) {
        const int columns = p - j < step ? p - j : step;
        for (int c = 0, bytes; c < width; c += bytes / (int)sizeof(scalar)) {
            bytes = strip_bytes(width, c);
            CALL_STRIP(bytes, forward, m - j, columns, packed ? ld - j : ld, packed, unit,
                       l + substitution_column(ld, packed, j) + j, width,
                       z + (ptrdiff_t)j * width + c);
        }
    }
}

static void backward(int m, int p, int ld, int packed, int unit, const scalar *l, int width,
                     scalar *z)
{
    const int step = columns_at_a_time(m, p, width);
    for (int end = p; end > 0; end -= step) {
        const int j = end > step ? end - step : 0;
        for (int c = 0, bytes; c < width; c += bytes / (int)sizeof(scalar)) {
            bytes = strip_bytes(width, c);
            CALL_STRIP(bytes, backward, m - j, end - j, packed ? ld - j : ld, packed, unit,
                       l + substitution_column(ld, packed, j) + j, width,
                       z + (ptrdiff_t)j * width + c);
        }
    }
}

static void product(int rows, int columns, int ld, const scalar *a, int width, const scalar *x,
                    scalar *y)
{
    for (int c = 0, bytes; c < width; c += bytes / (int)sizeof(scalar)) {
        bytes = strip_bytes(width, c);
        CALL_STRIP(bytes, product, rows, columns, ld, a, width, x + c, y + c);
    }
}

static void product_transposed(int rows, int columns, int ld, const scalar *a, int width,
                               const scalar *x, scalar *y)
{
    for (int c = 0, bytes; c < width; c += bytes / (int)sizeof(scalar)) {
        bytes = strip_bytes(width, c);
        CALL_STRIP(bytes, product_transposed, rows, columns, ld, a, width, x + c, y + c);
    }
}

const substitution SET(block_substitution) = {forward, backward, product, product_transposed,
                                              0,       NULL,     NULL};
