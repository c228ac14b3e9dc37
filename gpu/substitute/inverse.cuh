/* gpu/substitute/inverse.cuh: block scope: diagonal blocks of a factor inverted in place
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * With L = U D of a diagonal block, D its diagonal (of L D L^T: one), entry (i, j) of inv(U) lies
 * at (j, i), in the triangle above the diagonal that a panel does not use: its diagonal is one.
 * Where products with it could lose digits (growth.h) it is refused.  Of more than
 * SUBSTITUTE_NARROW pivots, the inverses of the diagonal blocks of so many rows then lie where they
 * would be without it, each with its own mark, and solves go from one of these blocks to the next;
 * in a block that is refused itself, from row to row.
 *
 * Of a wide block of a large node, on whose chain others wait, the inverse is refused later:
 * before, products with it are refined once, y + inv(U) (f - U y), which leaves the error of
 * substitution while growth times roundoff is small, and takes the time of two products more.
 *
 * An inverse's last row's first entry tells: not a number, it is refused; an odd last bit, products
 * are refined. */
#ifndef GPU_SUBSTITUTE_INVERSE_CUH
#define GPU_SUBSTITUTE_INVERSE_CUH

#include "dense/cuda/device/invert.cuh"
#include "gpu/device/waits.cuh"
#include "gpu/substitute/substitution.h"

/* Up to which growth products are enough.  With 1e4 the componentwise error of a whole solve
 * is hundreds of times that of substitution for some Cholesky factors (494_bus, slam_manhattan,
 * bcsstk18).  L D L^T has more blocks that grow, and pivots whose own error hides them. */
constexpr double CHOLESKY_GROWTH_LIMIT = 32, PIVOTS_GROWTH_LIMIT = 256;
__device__ __forceinline__ double plain_growth_limit(bool cholesky)
{
    return cholesky ? CHOLESKY_GROWTH_LIMIT : PIVOTS_GROWTH_LIMIT;
}

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

__device__ __forceinline__ bool is_odd(double v)
{
    return (__double_as_longlong(v) & 1) != 0;
}
__device__ __forceinline__ bool is_odd(float v)
{
    return (__float_as_uint(v) & 1) != 0;
}
/* v with its last bit as wanted. */
__device__ __forceinline__ double marked(double v, bool odd)
{
    return __longlong_as_double((__double_as_longlong(v) & ~1ll) | odd);
}
__device__ __forceinline__ float marked(float v, bool odd)
{
    return __uint_as_float((__float_as_uint(v) & ~1u) | odd);
}
template <typename T> __device__ __forceinline__ T marked(T v, bool odd)
{
    return {marked(v.re, odd), v.im};
}

/* Of a block at D: its mark; that its inverse is refused; and of a wide one of a large node, that
 * products with it are enough. */
template <typename T> __device__ __forceinline__ T inverse_mark(const T *D, int64_t ld, int order)
{
    return order > 1 ? D[(order - 1) * ld] : T{};
}
template <typename T> __device__ __forceinline__ bool is_refused(const T *D, int64_t ld, int order)
{
    return is_nan(inverse_mark(D, ld, order));
}
template <typename T> __device__ __forceinline__ bool is_plain(const T *D, int64_t ld, int order)
{
    const T mark = inverse_mark(D, ld, order);
    return !is_nan(mark) && !(order > SUBSTITUTE_NARROW && is_odd(real_part(mark)));
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
#pragma unroll 8
    for (int k = threadIdx.x; k < TILE * TILE; k += TILE_THREADS)
        D[k % TILE + k / TILE * TILE_LD<T>] =
            unit_entry(P, b.ld, b.order, k % TILE, k / TILE, a.cholesky);
    tile_clear(X);
    __syncthreads();
    invert_blocks(D, X);
    invert_64(D, X);
    const double limit = plain_growth_limit(a.cholesky);
    const float growth = growth_of_row(D, X, sums);
    const bool refined = __syncthreads_or(!(growth <= (float)limit)),
               refused = b.large ? __syncthreads_or(!(growth <= (float)GROWTH_LIMIT)) : refined;
    constexpr int N = SUBSTITUTE_NARROW;
    if (refused && threadIdx.x < TILE) {
        const bool grows = growth_of_blocks_exceeds<N>(D, X, threadIdx.x, limit);
        const unsigned which = __ballot_sync(~0u, grows);
        sums[threadIdx.x] = (which >> threadIdx.x % 32 / N * N & 0xffff) != 0;
    }
    __syncthreads();
    for (int k = threadIdx.x; k < TILE * TILE; k += TILE_THREADS) {
        const int j = k % TILE, i = k / TILE;
        const bool kept = !refused || (i / N == j / N && sums[i] == 0);
        if (j < i && i < b.order) {
            const T x = kept ? X[i + j * TILE_LD<T>] : not_a_number<T>();
            P[j + (int64_t)i * b.ld] = j == 0 && i == b.order - 1 ? marked(x, refined) : x;
        }
    }
}

/* One of at most SUBSTITUTE_NARROW pivots by half a warp; both halves call, wanted or not. */
template <typename T>
__device__ __forceinline__ void invert_narrow(const invert_arguments<T> &a, bool wanted,
                                              const substitution_block &b, T *D)
{
    constexpr int N = SUBSTITUTE_NARROW, LD = N + 1;
    const int i = threadIdx.x % N, order = wanted ? b.order : 0;
    T *X = D + N * LD, *P = a.panel + (wanted ? b.at : 0), v[N];
#pragma unroll
    for (int j = 0; j < N; j++) /* all on their way at a time */
        v[j] = j <= i && i < order ? P[i + j * (int64_t)b.ld] : from_real<T>(i == j);
#pragma unroll
    for (int j = 0; j < N; j++) {
        const T pivot = shuffle(v[j], j, N);
        D[i + j * LD] = i == j                             ? from_real<T>(1)
                        : a.cholesky && j < i && i < order ? divide(v[j], pivot)
                                                           : v[j];
    }
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
    const unsigned grows = __ballot_sync(~0u, !(g <= (float)plain_growth_limit(a.cholesky)));
    const bool refused = threadIdx.x % 32 < N ? grows & 0xffff : grows >> 16;
    for (int j = 1; j < order; j++) /* lanes have what is next to each other */
        if (i < j)
            P[i + (int64_t)j * b.ld] = refused ? not_a_number<T>() : X[j + i * LD];
}

/* Narrow blocks that 256 threads invert together. */
constexpr int NARROW_TOGETHER = TILE_THREADS / SUBSTITUTE_NARROW,
              NARROW_AREA = SUBSTITUTE_NARROW * (SUBSTITUTE_NARROW + 1);
template <typename T>
constexpr int INVERT_SHARED =
    2 * (int)sizeof(T) *
    (TILE_AREA<T> > NARROW_TOGETHER * NARROW_AREA ? TILE_AREA<T> : NARROW_TOGETHER * NARROW_AREA);

/* What block `index` of the threads for one system inverts. */
template <typename T>
__device__ __forceinline__ void invert_share(const invert_arguments<T> &a, int index)
{
    extern __shared__ __align__(128) unsigned char memory[];
    T *shared = reinterpret_cast<T *>(memory);
    wait_for_kernel_before();
    const int narrow_groups = (a.narrow + NARROW_TOGETHER - 1) / NARROW_TOGETHER;
    const int wide = index - narrow_groups;
    if (wide >= 0)
        return invert_wide(a, a.block[a.narrow + wide], shared);
    const int group = (int)threadIdx.x / SUBSTITUTE_NARROW,
              number = index * NARROW_TOGETHER + group;
    const bool wanted = number < a.narrow;
    invert_narrow(a, wanted, a.block[wanted ? number : 0], shared + group * 2 * NARROW_AREA);
}

template <typename T>
__global__ void __launch_bounds__(TILE_THREADS)
    invert_diagonal_blocks(const __grid_constant__ invert_arguments<T> a)
{
    invert_share(a, (int)blockIdx.x);
}

#endif
