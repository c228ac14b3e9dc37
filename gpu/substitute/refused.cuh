/* gpu/substitute/refused.cuh: warp scope: substitution with a diagonal block whose inverse is
 * refused (gpu/substitute/inverse.cuh)
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_SUBSTITUTE_REFUSED_CUH
#define GPU_SUBSTITUTE_REFUSED_CUH

#include "dense/cuda/device/multiply.cuh"
#include "gpu/substitute/inverse.cuh"

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
