/* dense/cuda/invert.cuh: block scope: diagonal blocks in shared memory, inverted by doubling, guarded, or substituted
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DENSE_CUDA_INVERT_CUH
#define DENSE_CUDA_INVERT_CUH

#include "dense/cuda/growth.h"
#include "dense/cuda/tile.cuh"

/* Leading dimension in shared memory: odd, so that rows and columns are both read without bank conflicts. */
constexpr int TILE_LD = TILE + 1;
constexpr int TILE_AREA = TILE * TILE_LD;

/* D := the diagonal tile of L at i0: zeros above the diagonal, ones on it when unit, identity past n.  All threads
 * of the block call; the caller puts a barrier before D is read. */
template <typename T> __device__ __forceinline__ void diagonal_load(T *D, const triangle_view<T> &L, int i0)
{
    T a[TILE_SHARE];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const bool by_rows = L.transposed;
#pragma unroll
    for (int k = 0; k < TILE_SHARE; k++) {
        const int i = by_rows ? 8 * warp + k % 8 : (int)threadIdx.x % TILE;
        const int j = by_rows ? lane + 32 * (k / 8) : tile_first_column() + k;
        const bool stored = i0 + i < L.n && (i > j || (i == j && !L.unit));
        a[k] = stored ? *L.at(i0 + i, i0 + j) : from_real<T>(i == j);
    }
#pragma unroll
    for (int k = 0; k < TILE_SHARE; k++) {
        const int i = by_rows ? 8 * warp + k % 8 : (int)threadIdx.x % TILE;
        const int j = by_rows ? lane + 32 * (k / 8) : tile_first_column() + k;
        D[i + j * TILE_LD] = a[k];
    }
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
 *     X21 = -X22 (L21 X11).   256 threads; X21's place holds L21 X11 in between.  Barriers: one at the end. */
template <typename T, int S> __device__ __forceinline__ void invert_double(const T *D, T *X)
{
    constexpr int PAIRS = 32 / S;            /* pairs of blocks side by side in a warp's lanes */
    constexpr int SHARE = S / 8;             /* rows or columns of X21 for a warp */
    const int lane = threadIdx.x % S, warp = threadIdx.x / 32;
    const int first = 2 * S * (threadIdx.x % 32 / S); /* where this lane's pair begins */
    static_assert(PAIRS * 2 * S == TILE);
    const T *L21 = D + first + S + first * TILE_LD;
    T *X11 = X + first * (TILE_LD + 1), *X22 = X11 + S * (TILE_LD + 1), *X21 = X11 + S;

    T sum[SHARE] = {};
    for (int k = warp; k < S; k++) { /* row `lane`, columns warp + 8 m: X11(k,j) = 0 for k < j */
        const T a = L21[lane + k * TILE_LD];
#pragma unroll
        for (int m = 0; m < SHARE; m++)
            sum[m] = multiply_add(sum[m], a, X11[k + (warp + 8 * m) * TILE_LD]);
    }
#pragma unroll
    for (int m = 0; m < SHARE; m++)
        X21[lane + (warp + 8 * m) * TILE_LD] = sum[m];
    __syncthreads();
#pragma unroll
    for (int m = 0; m < SHARE; m++)
        sum[m] = T{};
    for (int k = 0; k < S - 8 + warp + 1; k++) { /* column `lane`, rows warp + 8 m: X22(i,k) = 0 for k > i */
        const T b = X21[k + lane * TILE_LD];
#pragma unroll
        for (int m = 0; m < SHARE; m++)
            sum[m] = multiply_add(sum[m], X22[warp + 8 * m + k * TILE_LD], -b);
    }
    __syncthreads();
#pragma unroll
    for (int m = 0; m < SHARE; m++)
        X21[warp + 8 * m + lane * TILE_LD] = sum[m];
    __syncthreads();
}

/* X := inv(D), 64 x 64.  256 threads; D is visible to all.  Ends with a barrier.
 * Cost: 64^3 / 6 multiply-adds for the two doublings and 4 x 16^3 / 6 before them. */
template <typename T> __device__ __forceinline__ void invert_64(const T *D, T *X)
{
    for (int e = threadIdx.x; e < TILE * TILE; e += TILE_THREADS)
        X[e % TILE + e / TILE * TILE_LD] = T{};
    __syncthreads();
    if (threadIdx.x < 128) {
        const int first = 16 * (threadIdx.x / 32) * (TILE_LD + 1);
        invert_16(D + first, TILE_LD, X + first, TILE_LD);
    }
    __syncthreads();
    invert_double<T, 16>(D, X);
    invert_double<T, 32>(D, X);
}

/* True in all threads when max_i (|D||X| e)_i is above the limit or not a number.  256 threads; `sums` (4 x 64) is
 * scratch.  Three barriers. */
template <typename T>
__device__ __forceinline__ bool growth_exceeds(const T *D, const T *X, T (*sums)[TILE], double limit)
{
    const int i = threadIdx.x % TILE, part = threadIdx.x / TILE;
    real_of<T> s = 0;
#pragma unroll
    for (int k = 0; k < 16; k++)
        s += magnitude(X[i + (16 * part + k) * TILE_LD]);
    sums[part][i] = from_real<T>(s);
    __syncthreads();
    T g = T{};
#pragma unroll
    for (int k = 0; k < 16; k++) {
        const int j = 16 * part + k;
        g = multiply_add(g, from_real<T>(magnitude(D[i + j * TILE_LD])), tile_row_sum(sums, j));
    }
    __syncthreads();
    sums[part][i] = g;
    __syncthreads();
    return __syncthreads_or(!((double)magnitude(tile_row_sum(sums, i)) <= limit));
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
    const pivot<T> p0(D[lane * (TILE_LD + 1)]), p1(D[(lane + 32) * (TILE_LD + 1)]);
#pragma unroll 4
    for (int j = 0; j < 32; j++) {
        const T x = shuffle(p0.quotient(y0), j);
        y0 = lane == j ? x : lane > j ? multiply_add(y0, -x, D[lane + j * TILE_LD]) : y0;
        y1 = multiply_add(y1, -x, D[lane + 32 + j * TILE_LD]);
    }
#pragma unroll 4
    for (int j = 0; j < 32; j++) {
        const T x = shuffle(p1.quotient(y1), j);
        y1 = lane == j ? x : lane > j ? multiply_add(y1, -x, D[lane + 32 + (j + 32) * TILE_LD]) : y1;
    }
}

#endif
