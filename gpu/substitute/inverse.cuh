/* gpu/substitute/inverse.cuh: block scope: diagonal blocks of a factor inverted in place, and the
 * substitution where that would lose digits
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * With L = U D of a diagonal block, D its diagonal (of L D L^T: one), entry (i, j) of inv(U) lies
 * at (j, i), in the triangle above the diagonal that a panel does not use: its diagonal is one.
 * Where products with it could lose digits (growth.h) its last row's first entry is not a number:
 * it is refused.  Of more than SUBSTITUTE_NARROW pivots, the inverses of the diagonal blocks of so
 * many rows then lie where they would be without it, each with its own mark, and solves go from one
 * of these blocks to the next; in a block that is refused itself, from row to row. */
#ifndef GPU_SUBSTITUTE_INVERSE_CUH
#define GPU_SUBSTITUTE_INVERSE_CUH

#include "dense/cuda/device/invert.cuh"
#include "dense/cuda/device/multiply.cuh"
#include "gpu/substitute/substitution.h"

/* Of growth.h's measure.  With 1e4 the componentwise error of a whole solve is hundreds of times
 * that of substitution for some Cholesky factors (494_bus, slam_manhattan, bcsstk18).  L D L^T has
 * more blocks that grow, and pivots whose own error hides them. */
constexpr double CHOLESKY_GROWTH_LIMIT = 32, PIVOTS_GROWTH_LIMIT = 256;
__device__ __forceinline__ double substitute_growth_limit(bool cholesky)
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

__device__ __forceinline__ void prefetch_line(const void *p)
{
    asm volatile("prefetch.global.L1 [%0];" ::"l"(p));
}
/* Brings a block that substitution reads, of which the inverse's triangle alone was asked for, near
 * to a block of threads. */
template <typename T>
__device__ __forceinline__ void prefetch_block(const T *D, int64_t ld, int order)
{
    constexpr int LINE = 128 / (int)sizeof(T);
    const int column = threadIdx.x / 4;
    for (int i = threadIdx.x % 4 * LINE; column < order && i < order; i += 4 * LINE)
        prefetch_line(D + i + column * ld);
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
    const double limit = substitute_growth_limit(a.cholesky);
    const bool refused = growth_exceeds(D, X, sums, limit);
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
        if (j < i && i < b.order)
            P[j + (int64_t)i * b.ld] = kept ? X[i + j * TILE_LD<T>] : not_a_number<T>();
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
    const unsigned grows = __ballot_sync(~0u, !(g <= (float)substitute_growth_limit(a.cholesky)));
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

/* The C columns of y := inv(L) y by substitution, L of order up to 32 and anywhere, row i of y at
 * y[i step]: a warp, whose lanes have a row of all columns.  With L = U D the chain has no
 * division: U z = y, then D^-1 z. */
template <int C, typename T>
static __device__ __noinline__ void substitute_slowly(triangle_view<T> L, T *y, int step)
{
    const int i = threadIdx.x % 32;
    const bool mine = i < L.n;
    const T scale = mine && !L.unit ? divide(from_real<T>(1), *L.at(i, i)) : from_real<T>(1);
    T z[C];
#pragma unroll
    for (int c = 0; c < C; c++)
        z[c] = mine ? y[i * step + c] : T{};
#pragma unroll 4
    for (int j = 0; j < L.n; j++) {
        const T d = shuffle(scale, j), u = mine && i > j ? multiply(*L.at(i, j), d) : T{};
#pragma unroll
        for (int c = 0; c < C; c++)
            z[c] = multiply_add(z[c], -shuffle(z[c], j), u);
    }
#pragma unroll
    for (int c = 0; c < C; c++)
        if (mine)
            y[i * step + c] = multiply(z[c], scale);
    __syncwarp();
}

/* combine(i, c, v) for the entries v of the 16 x C product of a(i, k), k < depth, with as many rows
 * of y. */
template <int C, typename T, typename A, typename F>
__device__ __forceinline__ void multiply_rows_of(const T *y, int depth, A a, F combine)
{
    product_sum<T, 1> sum;
    multiply_16_of(
        sum, depth, [&](int i, int k) { return k < depth ? a(i, k) : T{}; },
        [&](int k, int c) { return k < depth && c < C ? y[k * C + c] : T{}; });
    __syncwarp();
    each_entry_of(sum, [&](int i, int c, T v) {
        if (c < C)
            combine(i, c, v);
    });
    __syncwarp();
}

/* The C columns of y := inv(L) y, or inv(L)^T, where the inverse of L at D, of order up to 64, is
 * refused: by blocks of SUBSTITUTE_NARROW rows.  Row i of y at C i.  A warp calls; out of line,
 * since it is rare. */
template <int C, typename T>
static __device__ __noinline__ void substitute_block(const T *D, int ld, int order, bool cholesky,
                                                     bool transposed, T *y)
{
    constexpr int N = SUBSTITUTE_NARROW;
    const int blocks = (order + N - 1) / N;
#pragma unroll 1
    for (int number = 0; number < blocks; number++) {
        const int first = N * (transposed ? blocks - 1 - number : number),
                  size = min(N, order - first), last = size - 1;
        const T *B = D + first * (ld + 1);
        T *z = y + first * C;
        if (is_refused(B, ld, size)) {
            const triangle_view<T> L =
                transposed ? triangle_view<T>{B + last * (ld + 1), -ld, -1, size, !cholesky, true}
                           : triangle_view<T>{B, 1, ld, size, !cholesky, false};
            substitute_slowly<C>(L, z + (transposed ? last * C : 0), transposed ? -C : C);
        } else {
            auto reciprocal = [&](int i) {
                return from_real<T>(cholesky ? quick_reciprocal(real_part(B[i * (ld + 1)]))
                                             : real_of<T>(1));
            };
            for (int k = threadIdx.x % 32; transposed && k < size * C; k += 32)
                z[k] = multiply(z[k], reciprocal(k / C));
            __syncwarp();
            multiply_rows_of<C>(
                z, size,
                [&](int i, int k) {
                    return i >= size    ? T{}
                           : transposed ? (k > i ? B[i + k * ld] : T{})
                                        : (k < i ? B[k + i * ld] : T{});
                },
                [&](int i, int c, T v) {
                    if (i < size)
                        z[i * C + c] = transposed ? z[i * C + c] + v
                                                  : multiply(z[i * C + c] + v, reciprocal(i));
                });
        }
        const int end = transposed ? first : order;
#pragma unroll 1
        for (int row = transposed ? 0 : first + size; row < end; row += N)
            multiply_rows_of<C>(
                z, size,
                [&](int i, int k) {
                    return row + i >= end ? T{}
                           : transposed   ? B[k + (row + i - first) * ld]
                                          : B[row + i - first + k * ld];
                },
                [&](int i, int c, T v) {
                    if (row + i < end)
                        y[(row + i) * C + c] = y[(row + i) * C + c] - v;
                });
    }
}

#endif
