/* gpu/substitute/inverse.cuh: block scope: diagonal blocks of a factor inverted in place, and the
 * substitution where that would lose digits
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * With L = U D of a diagonal block, D its diagonal (of L D L^T: one), entry (i, j) of inv(U) lies
 * at (j, i), in the triangle above the diagonal that a panel does not use: its diagonal is one.
 * Where products with it could lose digits (growth.h) its last row's first entry is not a number,
 * and solves substitute. */
#ifndef GPU_SUBSTITUTE_INVERSE_CUH
#define GPU_SUBSTITUTE_INVERSE_CUH

#include "dense/cuda/device/invert.cuh"
#include "gpu/substitute/substitution.h"

/* Of growth.h's measure.  The componentwise error of a whole solve is at most that of substitution
 * with it, give or take; with 1e4 that of 494_bus is 160 times as large and of slam_manhattan 24
 * times.  Few blocks are above it: of 494_bus 4 of 44, else at most 2 % (doc/experiments.md). */
constexpr double SUBSTITUTE_GROWTH_LIMIT = 64;

template <typename T> struct invert_arguments {
    T *panel;
    const substitution_block *block;
    int32_t narrow, blocks; /* as substitution has them */
    bool cholesky;
};

template <typename T> __device__ __forceinline__ T not_a_number()
{
    return from_real<T>((real_of<T>)NAN);
}
template <typename T> __device__ __forceinline__ bool is_nan(T v)
{
    if constexpr (scalar<T>::is_complex)
        return v.re != v.re;
    else
        return v != v;
}

/* Where the mark of a block at D lies. */
template <typename T> __device__ __forceinline__ bool is_refused(const T *D, int64_t ld, int order)
{
    return order > 1 && is_nan(D[(order - 1) * ld]);
}

/* Entry (i, j) of U, of order `order`, identity behind it. */
template <typename T>
__device__ __forceinline__ T unit_entry(const T *D, int64_t ld, int order, int i, int j,
                                        bool cholesky)
{
    if (i <= j || i >= order)
        return from_real<T>(i == j);
    const T v = D[i + j * ld];
    return cholesky ? divide(v, D[j * (ld + 1)]) : v;
}

/* A block of more than SUBSTITUTE_NARROW pivots by 256 threads. */
template <typename T>
__device__ __forceinline__ void invert_wide(const invert_arguments<T> &a,
                                            const substitution_block &b, T *shared)
{
    __shared__ float sums[TILE];
    T *D = shared, *X = shared + TILE_AREA<T>, *P = a.panel + b.at;
    for (int k = threadIdx.x; k < TILE * TILE; k += TILE_THREADS)
        D[k % TILE + k / TILE * TILE_LD<T>] =
            unit_entry(P, b.ld, b.order, k % TILE, k / TILE, a.cholesky);
    tile_clear(X);
    __syncthreads();
    invert_blocks(D, X);
    invert_64(D, X);
    const bool refused = growth_exceeds(D, X, sums, SUBSTITUTE_GROWTH_LIMIT);
    for (int k = threadIdx.x; k < TILE * TILE; k += TILE_THREADS) {
        const int j = k % TILE, i = k / TILE;
        if (j < i && i < b.order)
            P[j + (int64_t)i * b.ld] = refused ? not_a_number<T>() : X[i + j * TILE_LD<T>];
    }
}

/* One of at most SUBSTITUTE_NARROW pivots by half a warp; both halves call, wanted or not. */
template <typename T>
__device__ __forceinline__ void invert_narrow(const invert_arguments<T> &a, bool wanted,
                                              const substitution_block &b, T *D)
{
    constexpr int N = SUBSTITUTE_NARROW, LD = N + 1;
    const int i = threadIdx.x % N, order = wanted ? b.order : 0;
    T *X = D + N * LD, *P = a.panel + (wanted ? b.at : 0);
#pragma unroll 4
    for (int j = 0; j < N; j++)
        D[i + j * LD] = unit_entry(P, b.ld, order, i, j, a.cholesky);
    __syncwarp();
    invert_small<N>(D, LD, X, LD);
    __syncwarp();
    float s = 0, g = 0;
    for (int j = 0; j <= i; j++)
        s += (float)magnitude(X[i + j * LD]);
    for (int j = 0; j < N; j++) {
        const float other = __shfl_sync(~0u, s, j, N);
        g += (float)magnitude(D[i + j * LD]) * (j <= i ? other : 0);
    }
    const unsigned grows = __ballot_sync(~0u, !(g <= (float)SUBSTITUTE_GROWTH_LIMIT));
    const bool refused = threadIdx.x % 32 < N ? grows & 0xffff : grows >> 16;
    for (int j = 0; j < i && i < order; j++)
        P[j + (int64_t)i * b.ld] = refused ? not_a_number<T>() : X[i + j * LD];
}

/* Narrow blocks that 256 threads invert together. */
constexpr int NARROW_TOGETHER = TILE_THREADS / SUBSTITUTE_NARROW,
              NARROW_AREA = SUBSTITUTE_NARROW * (SUBSTITUTE_NARROW + 1);
template <typename T>
constexpr int INVERT_SHARED =
    2 * (int)sizeof(T) *
    (TILE_AREA<T> > NARROW_TOGETHER * NARROW_AREA ? TILE_AREA<T> : NARROW_TOGETHER * NARROW_AREA);

template <typename T>
__global__ void __launch_bounds__(TILE_THREADS)
    invert_diagonal_blocks(const __grid_constant__ invert_arguments<T> a)
{
    extern __shared__ __align__(128) unsigned char memory[];
    T *shared = reinterpret_cast<T *>(memory);
    const int narrow_groups = (a.narrow + NARROW_TOGETHER - 1) / NARROW_TOGETHER;
    const int wide = (int)blockIdx.x - narrow_groups;
    if (wide >= 0)
        return invert_wide(a, a.block[a.narrow + wide], shared);
    const int group = (int)threadIdx.x / SUBSTITUTE_NARROW,
              number = (int)blockIdx.x * NARROW_TOGETHER + group;
    const bool wanted = number < a.narrow;
    invert_narrow(a, wanted, a.block[wanted ? number : 0], shared + group * 2 * NARROW_AREA);
}

/* The C columns of y := inv(L) y by substitution, L of order up to 64 and anywhere, row i of y at
 * y[i step]: a warp, whose lanes have rows l and l + 32 of all columns.  With L = U D the chain has
 * no division: U z = y, then D^-1 z. */
template <int C, typename T>
static __device__ __noinline__ void substitute_slowly(triangle_view<T> L, T *y, int step)
{
    const int lane = threadIdx.x % 32;
    const T one = from_real<T>(1);
    const int row[2] = {lane, lane + 32};
    T z[2][C], scale[2];
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const bool mine = row[h] < L.n;
        scale[h] = mine && !L.unit ? divide(one, *L.at(row[h], row[h])) : one;
#pragma unroll
        for (int c = 0; c < C; c++)
            z[h][c] = mine ? y[row[h] * step + c] : T{};
    }
    auto eliminate = [&](auto half, int j) { /* column 32 half + j */
        constexpr int H = decltype(half)::value;
        const T d = shuffle(scale[H], j);
        T u[2] = {};
#pragma unroll
        for (int h = H; h < 2; h++)
            if (row[h] < L.n && row[h] > 32 * H + j)
                u[h] = multiply(*L.at(row[h], 32 * H + j), d);
#pragma unroll
        for (int c = 0; c < C; c++) {
            const T found = -shuffle(z[H][c], j);
#pragma unroll
            for (int h = H; h < 2; h++)
                z[h][c] = multiply_add(z[h][c], found, u[h]);
        }
    };
#pragma unroll 4
    for (int j = 0; j < min(L.n, 32); j++)
        eliminate(std::integral_constant<int, 0>(), j);
#pragma unroll 4
    for (int j = 0; j < L.n - 32; j++)
        eliminate(std::integral_constant<int, 1>(), j);
#pragma unroll
    for (int h = 0; h < 2; h++)
#pragma unroll
        for (int c = 0; c < C; c++)
            if (row[h] < L.n)
                y[row[h] * step + c] = multiply(z[h][c], scale[h]);
    __syncwarp();
}

/* The same with the block at D, or with its transpose; row i of y at C i. */
template <int C, typename T>
__device__ __forceinline__ void substitute_block(const T *D, int64_t ld, int order, bool cholesky,
                                                 bool transposed, T *y)
{
    const int last = order - 1;
    const triangle_view<T> L =
        transposed ? triangle_view<T>{D + last * (ld + 1), -ld, -1, order, !cholesky, true}
                   : triangle_view<T>{D, 1, ld, order, !cholesky, false};
    substitute_slowly<C>(L, y + (transposed ? last * C : 0), transposed ? -C : C);
}

#endif
