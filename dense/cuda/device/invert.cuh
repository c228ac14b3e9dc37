/* dense/cuda/device/invert.cuh: block scope: diagonal blocks in shared memory, inverted by
 * doubling, guarded, or substituted
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DENSE_CUDA_DEVICE_INVERT_CUH
#define DENSE_CUDA_DEVICE_INVERT_CUH

#include "dense/cuda/device/growth.h"
#include "dense/cuda/device/multiply.cuh"
#include "dense/cuda/device/pivot.cuh"
#include "dense/cuda/device/tile.cuh"

/* Leading dimension of a tile in shared memory: multiply_16 reads its 8 x 4 parts without bank
 * conflicts. */
template <typename T> constexpr int TILE_LD = TILE + (sizeof(T) == 16 ? 2 : 4);
template <typename T> constexpr int TILE_AREA = TILE * TILE_LD<T>;

/* D := the tile whose shares are a; no barrier. */
template <typename T>
__device__ __forceinline__ void tile_put(T *D, const T (&a)[TILE_SHARE], bool by_rows)
{
#pragma unroll
    for (int k = 0; k < TILE_SHARE; k++)
        D[tile_row(k, by_rows) + tile_column(k, by_rows) * TILE_LD<T>] = a[k];
}

/* a := this thread's share, in the map by columns, of a tile in shared memory */
template <typename T> __device__ __forceinline__ void tile_get(T (&a)[TILE_SHARE], const T *D)
{
#pragma unroll
    for (int k = 0; k < TILE_SHARE; k++)
        a[k] = D[tile_row(k, false) + tile_column(k, false) * TILE_LD<T>];
}

/* D := the diagonal tile of L at i0: zeros above the diagonal, ones on it when unit, identity past
 * n.  All threads of the block call; the caller puts a barrier before D is read. */
template <bool BY_ROWS, typename T>
__device__ __forceinline__ void diagonal_load(T *D, const triangle_view<T> &L, int i0)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, unit = L.unit ? 1 : 0;
    const int i = BY_ROWS ? 8 * warp : lane, j = BY_ROWS ? lane : 8 * warp; /* of entry 0 */
    const int64_t far = BY_ROWS ? L.row : L.column;
    const T *p = L.at(i0 + i, i0 + j), *q = p + 32 * (BY_ROWS ? L.column : L.row);
    /* stored are the entries k of the first and of the second half with from <= k < to: i + k or i
     * in rows, j or j + k in columns */
    const int count = L.n - i0, last = BY_ROWS ? count - i : i + 1 - unit - j;
    const int from = BY_ROWS ? j + unit - i : 0, to = BY_ROWS || i < count ? last : 0;
    const int from2 = BY_ROWS ? from + 32 : 0, to2 = BY_ROWS ? to : i + 32 < count ? last + 32 : 0;
    T a[TILE_SHARE] = {};
#pragma unroll
    for (int k = 0; k < TILE_SHARE / 2; k++, p += far, q += far) {
        if (k >= from && k < to)
            a[k] = *p;
        if (k >= from2 && k < to2)
            a[k + TILE_SHARE / 2] = *q;
    }
    tile_put(D, a, BY_ROWS);
    const int own = 8 * warp + lane % 8; /* the diagonal's entry own is this thread's in both maps
                                          */
    if (lane / 8 == warp % 4 && (L.unit || own >= count))
        D[own * (TILE_LD<T> + 1)] = from_real<T>(1);
}

/* Each group of N lanes of a full warp: X := inv(D), both N x N lower, with zeros above the
 * diagonal of X; D and X may be others for each group.  Lane c of a group substitutes for column c,
 * right-looking; D is read as broadcasts. */
template <int N, typename T>
__device__ __forceinline__ void invert_small(const T *D, int ld, T *X, int ldx)
{
    const int c = threadIdx.x % N;
    const T reciprocal = reciprocal_of(D[c * (ld + 1)]);
    T x[N];
#pragma unroll
    for (int i = 0; i < N; i++)
        x[i] = from_real<T>(i == c);
#pragma unroll
    for (int k = 0; k < N; k++) {
        x[k] = multiply(x[k], shuffle(reciprocal, k, N));
#pragma unroll
        for (int i = k + 1; i < N; i++)
            x[i] = multiply_add(x[i], -x[k], D[i + k * ld]);
    }
#pragma unroll
    for (int i = 0; i < N; i++)
        X[i + c * ldx] = i < c ? T{} : x[i];
}

/* invert_double for S = 8, an entry of X21 for each of 256 threads: there tensor cores would be
 * half idle. */
template <typename T> __device__ __forceinline__ void invert_double_8(const T *D, T *X)
{
    constexpr int LD = TILE_LD<T>;
    const int first = 16 * ((int)threadIdx.x / 64), i = threadIdx.x % 8, j = threadIdx.x / 8 % 8;
    const T *L21 = D + first + 8 + first * LD;
    T *X11 = X + first * (LD + 1), *X21 = X11 + 8, *X22 = X21 + 8 * LD;
    T c[2] = {}, d[2] = {};
#pragma unroll
    for (int k = 0; k < 8; k++)
        c[k % 2] = multiply_add(c[k % 2], L21[i + k * LD], X11[k + j * LD]);
    X21[i + j * LD] = c[0] + c[1];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; k++)
        d[k % 2] = multiply_add(d[k % 2], X22[i + k * LD], X21[k + j * LD]);
    __syncthreads(); /* L21 X11 was used by all */
    X21[i + j * LD] = -(d[0] + d[1]);
    __syncthreads();
}

/* Doubling from 16 to 32 to 64: X holds the inverses of the diagonal blocks of order S; those of
 * order 2 S get
 *     X21 = -X22 (L21 X11),
 * a warp for a 16 x 8 tile of it; X21's place holds L21 X11 in between.  256 threads; ends with a
 * barrier.  One copy of the code for both: every instruction is met for the first time in a solve,
 * and fetching one costs more than executing it. */
template <typename T> __device__ __forceinline__ void invert_double(const T *D, T *X)
{
    constexpr int LD = TILE_LD<T>;
    const int warp = threadIdx.x / 32;
#pragma unroll 1
    for (int wide = 1; wide <= 2; wide++) {
        const int S = 8 << wide; /* S/16 x S/8 tiles for a pair of blocks */
        const int i = 16 * ((warp >> wide) & (wide - 1)), j = 8 * (warp & (S / 8 - 1));
        const int first = 2 * S * (warp >> (2 * wide - 1));
        const bool active = first < TILE; /* 4 or 8 warps */
        const T *L21 = D + first + S + first * LD;
        T *X11 = X + first * (LD + 1), *X21 = X11 + S, *X22 = X21 + S * LD;
        /* X11 is zero above its diagonal, X22 too: only part of the common index counts */
        if (active) {
            product_sum<T, 1> c;
            multiply_16(c, L21 + i + j * LD, X11 + j * (LD + 1), LD, S - j);
            multiply_put(X21 + i + j * LD, LD, c, false);
        }
        __syncthreads();
        product_sum<T, 1> d;
        if (active)
            multiply_16(d, X22 + i, X21 + j * LD, LD, i + 16);
        __syncthreads(); /* L21 X11 was used by all */
        if (active)
            multiply_put(X21 + i + j * LD, LD, d, true);
        __syncthreads();
    }
}

/* X := 0; no barrier */
template <typename T> __device__ __forceinline__ void tile_clear(T *X)
{
#pragma unroll
    for (int k = 0; k < TILE_SHARE; k++)
        X[tile_row(k, false) + tile_column(k, false) * TILE_LD<T>] = T{};
}

/* X := the inverses of D's 8 x 8 diagonal blocks, X zero before.  256 threads; D and X are visible
 * to all; ends with a barrier. */
template <typename T> __device__ __forceinline__ void invert_blocks(const T *D, T *X)
{
    if (threadIdx.x < TILE) {
        const int first = 8 * (threadIdx.x / 8) * (TILE_LD<T> + 1);
        invert_small<8>(D + first, TILE_LD<T>, X + first, TILE_LD<T>);
    }
    __syncthreads();
}

/* X := inv(D), 64 x 64, from the inverses of the 8 x 8 blocks.  256 threads; ends with a barrier.
 * Cost: 64^3 / 6 multiply-adds, most of them in the last two doublings. */
template <typename T> __device__ __forceinline__ void invert_64(const T *D, T *X)
{
    invert_double_8(D, X);
    invert_double(D, X);
}

/* P := X M for X lower (zeros above), all 64 x 64; P may be M.  256 threads; M is visible to all;
 * ends with a barrier. A warp has 16 rows and 32 columns; warps w and w + 4, which share a quarter
 * of the SM, have 80 rows of M in all. */
template <typename T> __device__ __forceinline__ void scale_64(const T *X, const T *M, T *P)
{
    constexpr int LD = TILE_LD<T>;
    const int warp = threadIdx.x / 32, j = 32 * (warp % 2);
    const int i = 16 * (warp < 4 ? warp / 2 : 3 - (warp - 4) / 2);
    product_sum<T, 4> c;
    multiply_16(c, X + i, M + j * LD, LD, i + 16);
    __syncthreads();
    multiply_put(P + i + j * LD, LD, c, false);
    __syncthreads();
}

/* (|D||X| e)_i, i = thread div 4: the largest of them is the block's growth.  256 threads; `sums`
 * is scratch; a barrier.  In single precision: where it overflows no limit admits it, and what
 * underflows is too small to matter. */
template <typename T>
__device__ __forceinline__ float growth_of_row(const T *D, const T *X, float (&sums)[TILE])
{
    /* 4 lanes for a row, columns 4 k + part */
    const int i = threadIdx.x / 4, part = threadIdx.x % 4;
    float s = 0, g = 0;
#pragma unroll 8
    for (int k = part; k < TILE; k += 4)
        s += (float)magnitude(X[i + k * TILE_LD<T>]);
    s += shuffle_xor(s, 1);
    s += shuffle_xor(s, 2);
    if (part == 0)
        sums[i] = s;
    __syncthreads();
#pragma unroll 8
    for (int k = part; k < TILE; k += 4)
        g += (float)magnitude(D[i + k * TILE_LD<T>]) * sums[k];
    g += shuffle_xor(g, 1);
    return g + shuffle_xor(g, 2);
}
/* True in all threads when a block's growth is above the limit or not a number.  Ends with a
 * barrier. */
template <typename T>
__device__ __forceinline__ bool growth_exceeds(const T *D, const T *X, float (&sums)[TILE],
                                               double limit)
{
    return __syncthreads_or(!(growth_of_row(D, X, sums) <= (float)limit));
}

/* For the N x N diagonal blocks alone, N lanes of a warp for each, row i of 64 by this thread; the
 * answer is that row's. */
template <int N, typename T>
__device__ __forceinline__ bool growth_of_blocks_exceeds(const T *D, const T *X, int i,
                                                         double limit)
{
    const int first = i / N * N;
    float s = 0, g = 0;
#pragma unroll
    for (int k = 0; k < N; k++)
        s += (float)magnitude(X[i + (first + k) * TILE_LD<T>]);
#pragma unroll
    for (int k = 0; k < N; k++)
        g += (float)magnitude(D[i + (first + k) * TILE_LD<T>]) * shuffle(s, k, N);
    return !(g <= (float)limit);
}

/* v := inv(D) y by substitution with the inverses X of the 8 x 8 diagonal blocks; one full warp,
 * lane l has rows l and l + 32 in y0 and y1; v in shared memory, aligned to 16 bytes.  Eight steps,
 * each an exchange, a product with the block's inverse, another and the products below. */
template <typename T>
__device__ __forceinline__ void substitute_blocks(const T *D, const T *X, T y0, T y1, T *v)
{
    constexpr int LD = TILE_LD<T>;
    const int lane = threadIdx.x % 32, row = lane % 8;
#pragma unroll 1
    for (int k = 0; k < TILE; k += 8) {
        T x[8], part[2] = {}, below[8], far[8];
        if (lane / 8 == k / 8 % 4)
            v[k + row] = choose(k < 32, y0, y1);
#pragma unroll
        for (int c = 0; c < 8; c++)
            x[c] = X[k + row + (k + c) * LD];
        __syncwarp();
#pragma unroll
        for (int c = 0; c < 8; c++)
            part[c % 2] = multiply_add(part[c % 2], x[c], v[k + c]);
#pragma unroll
        for (int c = 0; c < 8; c++) {
            below[c] = D[lane + (k + c) * LD];
            far[c] = D[lane + 32 + (k + c) * LD];
        }
        __syncwarp(); /* all have read what was left of b */
        if (lane < 8)
            v[k + row] = part[0] + part[1];
        __syncwarp();
        T sum[2][2] = {}; /* rows up to k + 7 are done: what they become is not used */
#pragma unroll
        for (int c = 0; c < 8; c++) {
            sum[0][c % 2] = multiply_add(sum[0][c % 2], below[c], v[k + c]);
            sum[1][c % 2] = multiply_add(sum[1][c % 2], far[c], v[k + c]);
        }
        y0 = y0 - (sum[0][0] + sum[0][1]);
        y1 = y1 - (sum[1][0] + sum[1][1]);
    }
}

/* y := inv(D) y by substitution; one full warp, lane l has rows l and l + 32 in y0 and y1; order
 * 64, D visible. */
template <typename T> __device__ __forceinline__ void substitute_64(const T *D, T &y0, T &y1)
{
    const int lane = threadIdx.x % 32;
    const pivot<T> p0(D[lane * (TILE_LD<T> + 1)]), p1(D[(lane + 32) * (TILE_LD<T> + 1)]);
    with_pivots(p0.safe && p1.safe, [&](auto safe) {
        constexpr bool SAFE = decltype(safe)::value;
#pragma unroll 8
        for (int j = 0; j < 32; j++) {
            const T below = D[lane + j * TILE_LD<T>], far = D[lane + 32 + j * TILE_LD<T>];
            const T x = shuffle(p0.template quotient<SAFE>(y0), j);
            y0 = choose(lane > j, multiply_add(y0, -x, below), y0);
            y1 = multiply_add(y1, -x, far);
        }
#pragma unroll 8
        for (int j = 0; j < 32; j++) {
            const T below = D[lane + 32 + (j + 32) * TILE_LD<T>];
            const T x = shuffle(p1.template quotient<SAFE>(y1), j);
            y1 = choose(lane > j, multiply_add(y1, -x, below), y1);
        }
        y0 = p0.template quotient<SAFE>(y0);
        y1 = p1.template quotient<SAFE>(y1);
    });
}

#endif
