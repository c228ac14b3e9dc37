/* dense/cpu/substitute_small_tmpl.c: the kernels of substitute.h for one right-hand side and fronts
 * whose rows fit the registers, compiled for each real precision and for AVX2 and AVX-512
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows stand in vectors of four, sums in double in any precision, and never go through memory
 * inside a front.  Four columns are worked on at a time: their triangle entry by entry, where a
 * pivot waits for one product of the pivot before it, then the rows of other vectors.  Fronts of a
 * few pivots are so short that the next one begins before the last has ended, if nothing makes it
 * wait: hence rows are gathered, as a vector that is loaded right after its parts were stored waits
 * for these stores, and hence stores of whole vectors, as stores with a mask hold up whatever is
 * loaded from beside them. */
#include "dense/cpu/substitute_sets.h"

#ifdef SUBSTITUTE_SMALL_VECTORS
#include <immintrin.h>

#define LANES SUBSTITUTE_SMALL_LANES
#define VECTORS SUBSTITUTE_SMALL_VECTORS
#define PIVOT_VECTORS (SUBSTITUTE_SMALL_PIVOTS / LANES)
_Static_assert(VECTORS *LANES <= SUBSTITUTE_SMALL_ROWS, "the most of any kernels");
_Static_assert(PIVOT_VECTORS == 4, "each has its call in forward_by and backward_by");

/* Bytes from what is worked on to what is asked for, as in substitute_single_tmpl.c: 2048 and 32768
 * take a fifth longer for lap2d:300 on an AMD EPYC 9005, 4096 and 16384 a tenth. */
#define BYTES_AHEAD 8192

typedef __m256d vec;
#if defined(PREC_d)
typedef __m256i lane_mask; /* of scalars in memory */
typedef int64_t lane_word;
#else
typedef __m128i lane_mask;
typedef int32_t lane_word;
#endif

/* What is read for a column that the front has not. */
static const scalar zeros[LANES * VECTORS];

static inline vec load(const scalar *from)
{
#if defined(PREC_d)
    return _mm256_loadu_pd(from);
#else
    return _mm256_cvtps_pd(_mm_loadu_ps(from));
#endif
}

/* Lanes outside of the mask are zero and not read. */
static inline vec load_lanes(lane_mask lanes, const scalar *from)
{
#if defined(PREC_d)
    return _mm256_maskload_pd(from, lanes);
#else
    return _mm256_cvtps_pd(_mm_maskload_ps(from, lanes));
#endif
}

static inline void store(vec v, scalar *to)
{
#if defined(PREC_d)
    _mm256_storeu_pd(to, v);
#else
    _mm_storeu_ps(to, _mm256_cvtpd_ps(v));
#endif
}

static inline int least(int a, int b)
{
    return a < b ? a : b;
}

/* The first `count` lanes, 0 to 4 of them. */
static inline lane_mask first_lanes(int count)
{
    static const lane_word words[2 * LANES] = {-1, -1, -1, -1};
#if defined(PREC_d)
    return _mm256_loadu_si256((const __m256i *)(words + LANES - count));
#else
    return _mm_loadu_si128((const __m128i *)(words + LANES - count));
#endif
}

/* v in the first `count` lanes, zero in the others. */
static inline vec keep_lanes(int count, vec v)
{
    static const int64_t words[2 * LANES] = {-1, -1, -1, -1};
    return _mm256_and_pd(v, _mm256_loadu_pd((const double *)(words + LANES - count)));
}

/* x(index(0:count)), 1 <= count, and zeros. */
INLINE_ALWAYS vec gather(int count, const int32_t *index, const scalar *x)
{
    if (count >= LANES)
        return _mm256_set_pd(x[index[3]], x[index[2]], x[index[1]], x[index[0]]);
    const double a = x[index[0]], b = x[index[least(1, count - 1)]],
                 c = x[index[least(2, count - 1)]];
    return keep_lanes(count, _mm256_set_pd(c, c, b, a));
}

/* What the front takes, asked for at this distance.  (A call of a function that only asks counts as
 * one without effect: gcc leaves it out.) */
INLINE_ALWAYS void prefetch_front(const substitution_front *f, ptrdiff_t distance)
{
    const ptrdiff_t entries =
        f->packed ? substitution_column(f->m, 1, f->p) + f->p : (ptrdiff_t)f->m * f->p;
    const ptrdiff_t bytes = entries * (ptrdiff_t)sizeof(scalar);
    for (ptrdiff_t k = 0; k < bytes && f->ahead; k += 64)
        __builtin_prefetch((const void *)((uintptr_t)f->panel + (uintptr_t)(distance + k)), 0, 3);
}

/* The columns whose pivots are the lanes of one vector.  Those that the front has not are columns
 * of the unit matrix: forward, such a row stays as it is when other columns have been subtracted;
 * backward, it is known. */
typedef struct columns {
    const scalar *row[LANES];   /* of column j: row i of the front at row[j][i] */
    double inverse[LANES];      /* 1 / L(j,j), here and below with j and i counted from the first */
    double below[LANES][LANES]; /* L(i,j) at [j][i], i > j */
    lane_mask last;             /* of the front's last vector */
} columns;

/* Those of vector g; is_full: the front has them all. */
INLINE_ALWAYS void find_columns(const substitution_front *f, const int g, const int is_full,
                                columns *c)
{
    const int first = LANES * g;
    const scalar *column = f->panel + substitution_column(f->m, f->packed, first);
    ptrdiff_t step = f->m - (f->packed ? first + 1 : 0);
    for (int j = 0; j < LANES; j++) {
        c->row[j] = is_full || first + j < f->p ? column : zeros;
        column += step;
        step -= f->packed;
    }
    vec diagonal = _mm256_set_pd(c->row[3][first + 3], c->row[2][first + 2], c->row[1][first + 1],
                                 c->row[0][first]);
    const vec one = _mm256_set1_pd(1);
    if (f->unit)
        diagonal = one;
    else if (!is_full)
        diagonal = _mm256_blendv_pd(one, diagonal, keep_lanes(f->p - first, _mm256_set1_pd(-1)));
    const vec inverse = one / diagonal;
    for (int j = 0; j < LANES; j++)
        c->inverse[j] = inverse[j];
    for (int j = 0; j < LANES; j++)
        for (int i = j + 1; i < LANES; i++) { /* rows that the front has not are zero */
            const int is_there = is_full || first + i < f->m;
            c->below[j][i] = *(is_there ? c->row[j] + first + i : zeros);
        }
}

/* Vector q of V of column j. */
INLINE_ALWAYS vec rows_of(const int V, const int q, const columns *c, int j)
{
    return q == V - 1 ? load_lanes(c->last, c->row[j] + LANES * q) : load(c->row[j] + LANES * q);
}

/* Forward by the columns of vector g.  z keeps what is left of each right-hand side until the
 * triangle is done, so that a pivot waits for one product of the one before it, not for a quotient
 * too; so does backward. */
INLINE_ALWAYS void forward_columns(const int V, const int g, const int is_full,
                                   const substitution_front *f, lane_mask last, vec *z)
{
    columns c = {.last = last};
    find_columns(f, g, is_full, &c);
    const double *const inv = c.inverse, left0 = z[g][0],
                        left1 = z[g][1] - c.below[0][1] * inv[0] * left0,
                        left2 = z[g][2] - c.below[0][2] * inv[0] * left0 -
                                c.below[1][2] * inv[1] * left1,
                        left3 = z[g][3] - c.below[0][3] * inv[0] * left0 -
                                c.below[1][3] * inv[1] * left1 - c.below[2][3] * inv[2] * left2;
    const double x[LANES] = {left0 * inv[0], left1 * inv[1], left2 * inv[2], left3 * inv[3]};
    for (int j = 0; j < LANES; j++) {
        const vec factor = _mm256_set1_pd(x[j]);
        FOR_UNROLLED (16, int q = g + 1; q < V; q++)
            z[q] -= rows_of(V, q, &c, j) * factor;
    }
    z[g] = _mm256_set_pd(x[3], x[2], x[1], x[0]);
}

/* The same where the front has some of these columns. */
INLINE_ALWAYS void forward_group(const int V, const int g, const substitution_front *f,
                                 lane_mask last, vec *z)
{
    if (g < V && LANES * g + LANES <= f->p)
        forward_columns(V, g, 1, f, last, z);
    else if (g < V && LANES * g < f->p)
        forward_columns(V, g, 0, f, last, z);
}

INLINE_ALWAYS void forward_by(const int V, const substitution_front *f, const scalar *x,
                              int is_leaf, scalar *z)
{
    vec v[VECTORS];
    const lane_mask last = first_lanes(f->m - LANES * (V - 1));
    prefetch_front(f, BYTES_AHEAD);
    FOR_UNROLLED (16, int q = 0; q < V; q++) {
        v[q] = is_leaf      ? _mm256_setzero_pd()
               : q == V - 1 ? load_lanes(last, z + LANES * q)
                            : load(z + LANES * q);
        if (q < PIVOT_VECTORS && LANES * q < f->p)
            v[q] += gather(f->p - LANES * q, f->index + LANES * q, x);
    }
    forward_group(V, 0, f, last, v);
    forward_group(V, 1, f, last, v);
    forward_group(V, 2, f, last, v);
    forward_group(V, 3, f, last, v);
    FOR_UNROLLED (16, int q = 0; q < V; q++)
        store(v[q], z + LANES * q);
}

/* Lane j: the sum of all lanes of a[j]. */
static inline vec sums(const vec *a)
{
    const vec first = _mm256_hadd_pd(a[0], a[1]), second = _mm256_hadd_pd(a[2], a[3]);
    return _mm256_blend_pd(first, second, 0xc) + _mm256_permute2f128_pd(first, second, 0x21);
}

/* Backward by the columns of vector g, the rows of the vectors behind it being known. */
INLINE_ALWAYS void backward_columns(const int V, const int g, const int is_full,
                                    const substitution_front *f, lane_mask last, vec *z, scalar *x)
{
    columns c = {.last = last};
    find_columns(f, g, is_full, &c);
    vec sum[LANES];
    for (int j = 0; j < LANES; j++) {
        vec even = _mm256_setzero_pd(), odd = even;
        FOR_UNROLLED (16, int q = g + 1; q < V; q++)
            if ((q - g) & 1)
                odd += rows_of(V, q, &c, j) * z[q];
            else
                even += rows_of(V, q, &c, j) * z[q];
        sum[j] = even + odd;
    }
    const vec left = z[g] - sums(sum);
    const double *const inv = c.inverse, left3 = left[3],
                        left2 = left[2] - c.below[2][3] * inv[3] * left3,
                        left1 = left[1] - c.below[1][3] * inv[3] * left3 -
                                c.below[1][2] * inv[2] * left2,
                        left0 = left[0] - c.below[0][3] * inv[3] * left3 -
                                c.below[0][2] * inv[2] * left2 - c.below[0][1] * inv[1] * left1;
    const double solution[LANES] = {left0 * inv[0], left1 * inv[1], left2 * inv[2], left3 * inv[3]};
    for (int j = 0; j < LANES; j++)
        if (is_full || LANES * g + j < f->p)
            x[f->index[LANES * g + j]] = (scalar)solution[j];
    z[g] = _mm256_set_pd(solution[3], solution[2], solution[1], solution[0]);
}

INLINE_ALWAYS void backward_group(const int V, const int g, const substitution_front *f,
                                  lane_mask last, vec *z, scalar *x)
{
    if (g < V && LANES * g + LANES <= f->p)
        backward_columns(V, g, 1, f, last, z, x);
    else if (g < V && LANES * g < f->p)
        backward_columns(V, g, 0, f, last, z, x);
}

INLINE_ALWAYS void backward_by(const int V, const substitution_front *f, scalar *x)
{
    vec v[VECTORS];
    const lane_mask last = first_lanes(f->m - LANES * (V - 1));
    prefetch_front(f, -BYTES_AHEAD);
    FOR_UNROLLED (16, int q = 0; q < V; q++)
        v[q] = gather(f->m - LANES * q, f->index + LANES * q, x);
    backward_group(V, 3, f, last, v, x);
    backward_group(V, 2, f, last, v, x);
    backward_group(V, 1, f, last, v, x);
    backward_group(V, 0, f, last, v, x);
}

/* call(V), V a constant: vectors of the front's rows. */
#define CASE(V, call) \
    case V: \
        call(V); \
        break;
#define UP_TO_8(call) \
    CASE(1, call) \
    CASE(2, call) \
    CASE(3, call) CASE(4, call) CASE(5, call) CASE(6, call) CASE(7, call) CASE(8, call)
#if defined(SET_avx512)
#define UP_TO_MOST(call) \
    UP_TO_8(call) \
    CASE(9, call) \
    CASE(10, call) \
    CASE(11, call) CASE(12, call) CASE(13, call) CASE(14, call) CASE(15, call) CASE(16, call)
#else
#define UP_TO_MOST(call) UP_TO_8(call)
#endif

void SET(substitute_small_forward)(const substitution_front *f, const scalar *x, int is_leaf,
                                   scalar *z)
{
#define FORWARD(V) forward_by(V, f, x, is_leaf, z)
    switch ((f->m + LANES - 1) / LANES) {
        UP_TO_MOST(FORWARD)
    }
}

void SET(substitute_small_backward)(const substitution_front *f, scalar *x)
{
#define BACKWARD(V) backward_by(V, f, x)
    switch ((f->m + LANES - 1) / LANES) {
        UP_TO_MOST(BACKWARD)
    }
}

#endif
