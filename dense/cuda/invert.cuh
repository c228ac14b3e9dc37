/* dense/cuda/invert.cuh: block scope: diagonal blocks in shared memory, inverted by doubling, guarded, or
 * substituted
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DENSE_CUDA_INVERT_CUH
#define DENSE_CUDA_INVERT_CUH

#include "dense/cuda/growth.h"
#include "dense/cuda/multiply.cuh"
#include "dense/cuda/pivot.cuh"
#include "dense/cuda/tile.cuh"

/* Leading dimension of a tile in shared memory: multiply_16 reads its 8 x 4 parts without bank conflicts. */
template <typename T> constexpr int TILE_LD = TILE + (sizeof(T) == 16 ? 2 : 4);
template <typename T> constexpr int TILE_AREA = TILE *TILE_LD<T>;

/* D := the tile whose shares are a; no barrier. */
template <typename T> __device__ __forceinline__ void tile_put(T *D, const T (&a)[TILE_SHARE], bool by_rows)
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

/* D := the diagonal tile of L at i0: zeros above the diagonal, ones on it when unit, identity past n.  All
 * threads of the block call; the caller puts a barrier before D is read. */
template <bool BY_ROWS, typename T>
__device__ __forceinline__ void diagonal_load(T *D, const triangle_view<T> &L, int i0)
{
    constexpr bool by_rows = BY_ROWS;
    T a[TILE_SHARE];
    /* neighbouring shares: k mod 8 rows and k div 8 halves of 32 columns, or k columns */
    const T *p = L.at(i0 + tile_row(0, by_rows), i0 + tile_column(0, by_rows));
#pragma unroll
    for (int k = 0; k < TILE_SHARE; k++) {
        const int i = tile_row(k, by_rows), j = tile_column(k, by_rows);
        const int64_t offset = by_rows ? (k % 8) * L.row + (k / 8) * 32 * L.column : k * L.column;
        const bool stored = i0 + i < L.n && i >= j + (L.unit ? 1 : 0);
        const T v = stored ? p[offset] : T{};
        a[k] = choose(i == j && !stored, from_real<T>(1), v);
    }
    tile_put(D, a, by_rows);
}

/* Each group of N lanes of a full warp: X := inv(D), both N x N lower, with zeros above the diagonal of X; D
 * and X may be others for each group.  Lane c of a group substitutes for column c, right-looking; D is read
 * as broadcasts. */
template <int N, typename T> __device__ __forceinline__ void invert_small(const T *D, int ld, T *X, int ldx)
{
    const int c = threadIdx.x % N;
    const T reciprocal = divide(from_real<T>(1), D[c * (ld + 1)]);
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

/* invert_double for S = 8, an entry of X21 for each of 256 threads: there tensor cores would be half idle. */
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

/* One step of doubling: X holds the inverses of the diagonal blocks of order S; fills in those of order 2 S,
 *     X21 = -X22 (L21 X11),
 * a warp for a 16 x 8 tile of it; X21's place holds L21 X11 in between.  256 threads; ends with a barrier. */
template <typename T, int S> __device__ __forceinline__ void invert_double(const T *D, T *X)
{
    constexpr int LD = TILE_LD<T>;
    constexpr int TILES =
        S / 16 * (S / 8); /* of a pair of blocks; the 64 / (2 S) pairs come to 4 or 8 tiles */
    const int warp = threadIdx.x / 32, first = warp / TILES * 2 * S;
    const int i = 16 * (warp % TILES / (S / 8)), j = 8 * (warp % (S / 8));
    const bool active = first < TILE;
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

/* X := 0; no barrier */
template <typename T> __device__ __forceinline__ void tile_clear(T *X)
{
#pragma unroll
    for (int k = 0; k < TILE_SHARE; k++)
        X[tile_row(k, false) + tile_column(k, false) * TILE_LD<T>] = T{};
}

/* X := inv(D), 64 x 64, X zero before.  256 threads; D and X are visible to all.  Ends with a barrier.
 * Cost: 64^3 / 6 multiply-adds, most of them in the last two doublings. */
template <typename T> __device__ __forceinline__ void invert_64(const T *D, T *X)
{
    if (threadIdx.x < TILE) {
        const int first = 8 * (threadIdx.x / 8) * (TILE_LD<T> + 1);
        invert_small<8>(D + first, TILE_LD<T>, X + first, TILE_LD<T>);
    }
    __syncthreads();
    invert_double_8(D, X);
    invert_double<T, 16>(D, X);
    invert_double<T, 32>(D, X);
}

/* P := X M for X lower (zeros above), all 64 x 64; P may be M.  256 threads; M is visible to all; ends with a
 * barrier. A warp has 16 rows and 32 columns; warps w and w + 4, which share a quarter of the SM, have 80
 * rows of M in all. */
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

/* True in all threads when max_i (|D||X| e)_i is above the limit or not a number.  256 threads; `sums` is
 * scratch.  Two barriers, one at the end.  In single precision: where it overflows the answer is true, and
 * what underflows is too small to matter. */
template <typename T>
__device__ __forceinline__ bool growth_exceeds(const T *D, const T *X, float (&sums)[TILE], double limit)
{
    /* 4 lanes for a row, columns 4 k + part */
    const int i = threadIdx.x / 4, part = threadIdx.x % 4;
    float s[4] = {}, g[4] = {};
#pragma unroll
    for (int k = 0; k < 16; k++)
        s[k % 4] += (float)magnitude(X[i + (4 * k + part) * TILE_LD<T>]);
    s[0] = (s[0] + s[1]) + (s[2] + s[3]);
    s[0] += shuffle_xor(s[0], 1);
    s[0] += shuffle_xor(s[0], 2);
    if (part == 0)
        sums[i] = s[0];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; k++)
        g[k % 4] += (float)magnitude(D[i + (4 * k + part) * TILE_LD<T>]) * sums[4 * k + part];
    g[0] = (g[0] + g[1]) + (g[2] + g[3]);
    g[0] += shuffle_xor(g[0], 1);
    g[0] += shuffle_xor(g[0], 2);
    return __syncthreads_or(!(g[0] <= (float)limit));
}

/* y := inv(D) y by substitution; one full warp, lane l has rows l and l + 32 in y0 and y1; order 64, D
 * visible. */
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
