/* dense/cpu/substitute_small_tmpl.c: the kernels of substitute.h for one right-hand side and fronts
 * whose rows fit the registers, compiled for each real precision where these have 64 bytes
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows stand in vectors of eight, sums in double in any precision, and never go through memory
 * inside a front; a loop over its columns is what is left.  Fronts of a few pivots are so short
 * that the next one begins before the last has ended, if nothing makes it wait: hence the gathers,
 * as a vector that is loaded right after its parts were stored waits for these stores, and hence
 * stores of whole vectors, as stores with a mask hold up whatever is loaded from beside them. */
#include "dense/cpu/substitute_sets.h"

#if defined(SET_avx512) && !SCALAR_COMPLEX
#include <immintrin.h>

#define LANES 8
#define VECTORS (SUBSTITUTE_SMALL_ROWS / LANES)

/* Bytes from what is worked on to what is asked for, as in substitute_single_tmpl.c: 2048 and 32768
 * take a fifth longer for lap2d:300, 4096 and 16384 a tenth. */
#define BYTES_AHEAD 8192

typedef __m512d vec;

/* Lanes outside of `lanes` are zero and not read. */
static inline vec load(__mmask8 lanes, const scalar *from)
{
#if defined(PREC_d)
    return _mm512_maskz_loadu_pd(lanes, from);
#else
    return _mm512_cvtps_pd(_mm256_maskz_loadu_ps(lanes, from));
#endif
}

static inline vec gather(__mmask8 lanes, const int32_t *index, const scalar *x)
{
    const __m256i at = _mm256_maskz_loadu_epi32(lanes, index);
#if defined(PREC_d)
    return _mm512_mask_i32gather_pd(_mm512_setzero_pd(), lanes, at, x, sizeof(scalar));
#else
    return _mm512_cvtps_pd(
        _mm256_mmask_i32gather_ps(_mm256_setzero_ps(), lanes, at, x, sizeof(scalar)));
#endif
}

static inline void store(vec v, scalar *to)
{
#if defined(PREC_d)
    _mm512_storeu_pd(to, v);
#else
    _mm256_storeu_ps(to, _mm512_cvtpd_ps(v));
#endif
}

/* Lane j in all lanes. */
static inline vec spread(vec v, int j)
{
    return _mm512_permutexvar_pd(_mm512_set1_epi64(j), v);
}

/* The first `count` lanes, 0 to 8 of them or, if there are fewer or more, as many as there are. */
static inline __mmask8 first_lanes(int count)
{
    return (__mmask8)(count <= 0 ? 0 : count >= LANES ? 0xff : (1 << count) - 1);
}

static inline int least(int a, int b)
{
    return a < b ? a : b;
}

/* A front at work: row i of the column at hand is at column[i], `step` before the next one's. */
typedef struct cursor {
    const scalar *column;
    ptrdiff_t step;
    int packed, unit;
    __mmask8 last; /* lanes of the last vector that are rows */
} cursor;

static inline cursor cursor_at(const substitution_front *f, int j)
{
    const int left = f->m % LANES;
    return (cursor){f->panel + substitution_column(f->m, f->packed, j),
                    f->m - (f->packed ? j + 1 : 0), f->packed, f->unit,
                    first_lanes(left ? left : LANES)};
}

static inline void next_column(cursor *c)
{
    c->column += c->step;
    c->step -= c->packed;
}

/* Vector q of V of the column at hand. */
INLINE_ALWAYS vec rows_of(const int V, const int q, const cursor *c)
{
    return load(q == V - 1 ? c->last : 0xff, c->column + LANES * q);
}

/* 1 / L(j,j), lane j - LANES g of group g. */
static inline vec inverse(const cursor *c, int row)
{
    return _mm512_set1_pd(c->unit ? 1 : 1 / (double)c->column[row]);
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

/* The forward solve by `count` columns whose pivots are the first lanes of z[g].  z[g] keeps what
 * is left of each right-hand side until the end, so that a column waits for one product of the
 * column before it, not for a quotient too. */
INLINE_ALWAYS void forward_group(const int V, const int g, int count, cursor *c, vec *z)
{
    vec pivots = _mm512_set1_pd(1);
    for (int j = 0; j < count; j++) {
        const __mmask8 lane = (__mmask8)(1 << j), below = (__mmask8)(0xff << (j + 1));
        const vec inv = inverse(c, LANES * g + j), left = spread(z[g], j), x = left * inv;
        pivots = _mm512_mask_mov_pd(pivots, lane, inv);
        z[g] = _mm512_mask3_fnmadd_pd(rows_of(V, g, c) * inv, left, z[g], below);
        FOR_UNROLLED (8, int q = g + 1; q < V; q++)
            z[q] = _mm512_fnmadd_pd(rows_of(V, q, c), x, z[q]);
        next_column(c);
    }
    z[g] *= pivots;
}

INLINE_ALWAYS void forward_by(const int V, const substitution_front *f, const scalar *x,
                              int is_leaf, scalar *z)
{
    vec v[VECTORS];
    cursor c = cursor_at(f, 0);
    prefetch_front(f, BYTES_AHEAD);
    FOR_UNROLLED (8, int q = 0; q < V; q++)
        v[q] = is_leaf ? _mm512_setzero_pd() : load(q == V - 1 ? c.last : 0xff, z + LANES * q);
    v[0] += gather(first_lanes(f->p), f->index, x);
    if (V > 1 && f->p > LANES)
        v[1] += gather(first_lanes(f->p - LANES), f->index + LANES, x);
    forward_group(V, 0, least(f->p, LANES), &c, v);
    if (V > 1 && f->p > LANES)
        forward_group(V, 1, f->p - LANES, &c, v);
    FOR_UNROLLED (8, int q = 0; q < V; q++)
        store(v[q], z + LANES * q);
}

/* Lane j: the sum of all lanes of a[j]. */
static inline vec sums(const vec *a)
{
    vec pair[4], four[2];
    for (int k = 0; k < 4; k++)
        pair[k] =
            _mm512_unpacklo_pd(a[2 * k], a[2 * k + 1]) + _mm512_unpackhi_pd(a[2 * k], a[2 * k + 1]);
    for (int k = 0; k < 2; k++)
        four[k] = _mm512_shuffle_f64x2(pair[2 * k], pair[2 * k + 1], 0x88) +
                  _mm512_shuffle_f64x2(pair[2 * k], pair[2 * k + 1], 0xdd);
    return _mm512_shuffle_f64x2(four[0], four[1], 0x88) +
           _mm512_shuffle_f64x2(four[0], four[1], 0xdd);
}

/* Lane j of a[i] and lane i of a[j] change places. */
static inline void transpose(vec *a)
{
    vec pair[8], four[8];
    for (int k = 0; k < 8; k += 2) { /* rows of the same parity in pairs of columns */
        pair[k] = _mm512_unpacklo_pd(a[k], a[k + 1]);
        pair[k + 1] = _mm512_unpackhi_pd(a[k], a[k + 1]);
    }
    for (int k = 0; k < 8; k += 4)
        for (int odd = 0; odd < 2; odd++) { /* rows 0 and 4, 2 and 6 beyond that, in fours */
            four[k + odd] = _mm512_shuffle_f64x2(pair[k + odd], pair[k + 2 + odd], 0x88);
            four[k + 2 + odd] = _mm512_shuffle_f64x2(pair[k + odd], pair[k + 2 + odd], 0xdd);
        }
    for (int row = 0; row < 4; row++) {
        a[row] = _mm512_shuffle_f64x2(four[row], four[4 + row], 0x88);
        a[4 + row] = _mm512_shuffle_f64x2(four[row], four[4 + row], 0xdd);
    }
}

/* The solutions of `count` columns whose pivots are the first lanes of vector g; rhs: their right-
 * hand sides there.  The other lanes of z[g], and the vectors behind it, are known.  Sums of known
 * rows run along the columns and are added up together; the triangle of the pivots is turned, so
 * that a solution is subtracted from those before it at once. */
INLINE_ALWAYS vec backward_group(const int V, const int g, int count, cursor c, const vec *z,
                                 vec rhs)
{
    const __mmask8 pivots = first_lanes(count);
    const vec zero = _mm512_setzero_pd();
    vec sum[LANES], row[LANES], inverses = _mm512_set1_pd(1);
    FOR_UNROLLED (8, int j = 0; j < LANES; j++) {
        sum[j] = row[j] = zero;
        if (j >= count)
            continue;
        const vec first = rows_of(V, g, &c);
        vec even = _mm512_maskz_mul_pd((__mmask8)~pivots, first, z[g]), odd = zero;
        inverses = _mm512_mask_mov_pd(inverses, (__mmask8)(1 << j), inverse(&c, LANES * g + j));
        row[j] = _mm512_maskz_mov_pd((__mmask8)(pivots & 0xff << (j + 1)), first);
        FOR_UNROLLED (8, int q = g + 1; q < V; q++)
            if ((q - g) & 1)
                odd = _mm512_fmadd_pd(rows_of(V, q, &c), z[q], odd);
            else
                even = _mm512_fmadd_pd(rows_of(V, q, &c), z[q], even);
        sum[j] = even + odd;
        next_column(&c);
    }
    rhs -= sums(sum);
    transpose(row);
    for (int i = count - 1; i > 0; i--)
        rhs = _mm512_fnmadd_pd(row[i] * spread(inverses, i), spread(rhs, i), rhs);
    return rhs * inverses;
}

INLINE_ALWAYS void backward_by(const int V, const substitution_front *f, scalar *x)
{
    const cursor c = cursor_at(f, 0);
    const int is_wide = V > 1 && f->p > LANES;
    vec v[VECTORS];
    scalar solution[2 * LANES];
    prefetch_front(f, -BYTES_AHEAD);
    FOR_UNROLLED (8, int q = 0; q < V; q++)
        v[q] = gather(q == V - 1 ? c.last : 0xff, f->index + LANES * q, x);
    if (is_wide) {
        const vec y = backward_group(V, 1, f->p - LANES, cursor_at(f, LANES), v, v[1]);
        store(y, solution + LANES);
        v[1] = _mm512_mask_mov_pd(v[1], first_lanes(f->p - LANES), y);
    }
    store(backward_group(V, 0, least(f->p, LANES), c, v, v[0]), solution);
    for (int j = 0; j < f->p; j++)
        x[f->index[j]] = solution[j];
}

/* call(V), V a constant: vectors of the front's rows. */
#define BY_VECTORS(f, call) \
    switch (((f)->m + LANES - 1) / LANES) { \
    case 1: \
        call(1); \
        break; \
    case 2: \
        call(2); \
        break; \
    case 3: \
        call(3); \
        break; \
    case 4: \
        call(4); \
        break; \
    case 5: \
        call(5); \
        break; \
    case 6: \
        call(6); \
        break; \
    case 7: \
        call(7); \
        break; \
    default: \
        call(8); \
    }

void SET(substitute_small_forward)(const substitution_front *f, const scalar *x, int is_leaf,
                                   scalar *z)
{
#define FORWARD(V) forward_by(V, f, x, is_leaf, z)
    BY_VECTORS(f, FORWARD)
}

void SET(substitute_small_backward)(const substitution_front *f, scalar *x)
{
#define BACKWARD(V) backward_by(V, f, x)
    BY_VECTORS(f, BACKWARD)
}

#endif
