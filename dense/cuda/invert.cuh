/* dense/cuda/invert.cuh: block scope: diagonal blocks in shared memory, inverted by doubling, guarded, or substituted
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DENSE_CUDA_INVERT_CUH
#define DENSE_CUDA_INVERT_CUH

#include "dense/cuda/growth.h"
#include "dense/cuda/multiply.cuh"
#include "dense/cuda/tile.cuh"

/* Leading dimension of a tile in shared memory: multiply_8x8 reads its 8 x 4 parts without bank conflicts. */
template <typename T> constexpr int TILE_LD = TILE + (sizeof(T) == 16 ? 2 : 4);
template <typename T> constexpr int TILE_AREA = TILE * TILE_LD<T>;

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

/* D := the diagonal tile of L at i0: zeros above the diagonal, ones on it when unit, identity past n.  All threads
 * of the block call; the caller puts a barrier before D is read. */
template <typename T> __device__ __forceinline__ void diagonal_load(T *D, const triangle_view<T> &L, int i0)
{
    T a[TILE_SHARE];
    const bool by_rows = L.transposed;
#pragma unroll
    for (int k = 0; k < TILE_SHARE; k++) {
        const int i = tile_row(k, by_rows), j = tile_column(k, by_rows);
        const bool stored = i0 + i < L.n && (i > j || (i == j && !L.unit));
        a[k] = stored ? *L.at(i0 + i, i0 + j) : from_real<T>(i == j);
    }
    tile_put(D, a, by_rows);
}

/* One full warp: X := inv(D), both 16 x 16 lower, with zeros above the diagonal of X.  Lane c < 16 substitutes for
 * column c, right-looking; D is read as broadcasts. */
template <typename T> __device__ __forceinline__ void invert_16(const T *D, int ld, T *X, int ldx)
{
    const int c = threadIdx.x % 32;
    const T reciprocal = divide(from_real<T>(1), D[(c % 16) * (ld + 1)]);
    T x[16];
#pragma unroll
    for (int i = 0; i < 16; i++)
        x[i] = from_real<T>(i == c);
#pragma unroll
    for (int k = 0; k < 16; k++) {
        x[k] = multiply(x[k], shuffle(reciprocal, k));
#pragma unroll
        for (int i = k + 1; i < 16; i++)
            x[i] = multiply_add(x[i], -x[k], D[i + k * ld]);
    }
    if (c < 16) {
#pragma unroll
        for (int i = 0; i < 16; i++)
            X[i + c * ldx] = i < c ? T{} : x[i];
    }
}

/* One step of doubling: X holds the inverses of the diagonal blocks of order S; fills in those of order 2 S,
 *     X21 = -X22 (L21 X11),
 * a warp for 8 x 8 tiles of it; X21's place holds L21 X11 in between.  256 threads; ends with a barrier. */
template <typename T, int S> __device__ __forceinline__ void invert_double(const T *D, T *X)
{
    constexpr int LD = TILE_LD<T>;
    constexpr int WARPS = 8 / (TILE / (2 * S)); /* of a pair of blocks */
    constexpr int SIDE = S / 8, N = SIDE * SIDE / WARPS;
    const int warp = threadIdx.x / 32, first = warp / WARPS * 2 * S;
    const int i = 8 * (warp % SIDE), j = 8 * N * (warp % WARPS / SIDE); /* this warp's tiles of X21 */
    const T *L21 = D + first + S + first * LD;
    T *X11 = X + first * (LD + 1), *X21 = X11 + S, *X22 = X21 + S * LD;

    /* the zeros of the triangles X11 and X22 go along: short even loops are faster than fewer products */
    T c[N][2] = {};
    multiply_8x8(c, L21 + i, X11 + j * LD, LD, S);
#pragma unroll
    for (int t = 0; t < N; t++)
        multiply_put(X21 + i + (j + 8 * t) * LD, LD, c[t], false);
    __syncthreads();
    T d[N][2] = {};
    multiply_8x8(d, X22 + i, X21 + j * LD, LD, S);
    __syncthreads(); /* L21 X11 was used by all */
#pragma unroll
    for (int t = 0; t < N; t++)
        multiply_put(X21 + i + (j + 8 * t) * LD, LD, d[t], true);
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
 * Cost: 64^3 / 6 multiply-adds for the two doublings and 4 x 16^3 / 6 before them. */
template <typename T> __device__ __forceinline__ void invert_64(const T *D, T *X)
{
    if (threadIdx.x < 128) {
        const int first = 16 * (threadIdx.x / 32) * (TILE_LD<T> + 1);
        invert_16(D + first, TILE_LD<T>, X + first, TILE_LD<T>);
    }
    __syncthreads();
    invert_double<T, 16>(D, X);
    invert_double<T, 32>(D, X);
}

/* P := X M for X lower (zeros above), all 64 x 64; P may be M.  256 threads, warp w has rows 8 w .. 8 w + 7; M is
 * visible to all; ends with a barrier. */
template <typename T> __device__ __forceinline__ void scale_64(const T *X, const T *M, T *P)
{
    constexpr int LD = TILE_LD<T>;
    const int i = 8 * ((int)threadIdx.x / 32);
    T c[TILE / 8][2] = {};
    multiply_8x8(c, X + i, M, LD, i + 8);
    __syncthreads();
#pragma unroll
    for (int j = 0; j < TILE / 8; j++)
        multiply_put(P + i + 8 * j * LD, LD, c[j], false);
    __syncthreads();
}

/* True in all threads when max_i (|D||X| e)_i is above the limit or not a number.  256 threads; `parts` and `sums` are
 * scratch.  Four barriers. */
template <typename T>
__device__ __forceinline__ bool growth_exceeds(const T *D, const T *X, T (*parts)[TILE], T *sums, double limit)
{
    const int i = threadIdx.x % TILE, part = threadIdx.x / TILE;
    real_of<T> s[2] = {}, g[2] = {};
#pragma unroll
    for (int k = 0; k < 16; k++)
        s[k % 2] += magnitude(X[i + (16 * part + k) * TILE_LD<T>]);
    parts[part][i] = from_real<T>(s[0] + s[1]);
    __syncthreads();
    if (threadIdx.x < TILE)
        sums[i] = tile_row_sum(parts, i);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; k++)
        g[k % 2] += magnitude(D[i + (16 * part + k) * TILE_LD<T>]) * magnitude(sums[16 * part + k]);
    parts[part][i] = from_real<T>(g[0] + g[1]);
    __syncthreads();
    return __syncthreads_or(!((double)magnitude(tile_row_sum(parts, i)) <= limit));
}

/* y / d again and again: by the reciprocal, unless that would overflow or lose digits. */
template <typename T> struct pivot {
    T d, reciprocal;
    bool safe;

    __device__ __forceinline__ explicit pivot(T d) : d(d), reciprocal(divide(from_real<T>(1), d))
    {
        using R = real_of<T>;
        const R tiny = 4 * (sizeof(R) == 4 ? R(FLT_MIN) : R(DBL_MIN));
        safe = magnitude(d) > tiny && magnitude(d) < R(1) / tiny;
    }
    __device__ __forceinline__ T quotient(T y) const { return safe ? multiply(y, reciprocal) : divide(y, d); }
};

/* y := inv(D) y by substitution; one full warp, lane l has rows l and l + 32 in y0 and y1; order 64, D visible. */
template <typename T> __device__ __forceinline__ void substitute_64(const T *D, T &y0, T &y1)
{
    const int lane = threadIdx.x % 32;
    const pivot<T> p0(D[lane * (TILE_LD<T> + 1)]), p1(D[(lane + 32) * (TILE_LD<T> + 1)]);
#pragma unroll 4
    for (int j = 0; j < 32; j++) {
        const T x = shuffle(p0.quotient(y0), j);
        y0 = lane == j ? x : lane > j ? multiply_add(y0, -x, D[lane + j * TILE_LD<T>]) : y0;
        y1 = multiply_add(y1, -x, D[lane + 32 + j * TILE_LD<T>]);
    }
#pragma unroll 4
    for (int j = 0; j < 32; j++) {
        const T x = shuffle(p1.quotient(y1), j);
        y1 = lane == j ? x : lane > j ? multiply_add(y1, -x, D[lane + 32 + (j + 32) * TILE_LD<T>]) : y1;
    }
}

#endif
