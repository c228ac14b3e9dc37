/* gpu/substitute/refused.cuh: warp scope: substitution with a diagonal block whose inverse is
 * refused (gpu/substitute/inverse.cuh)
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_SUBSTITUTE_REFUSED_CUH
#define GPU_SUBSTITUTE_REFUSED_CUH

#include "gpu/substitute/inverse.cuh"
#include "gpu/substitute/slots.cuh"

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

/* The C columns of y := inv(L) y by substitution, L of order up to SUBSTITUTE_NARROW and anywhere,
 * row i of y at y[i step]: a warp, of which each half has half of the columns, a lane a row of
 * them.  With L = U D the chain has no division: U z = y, then D^-1 z. */
template <int C, typename T>
static __device__ __noinline__ void substitute_slowly(triangle_view<T> L, T *y, int step)
{
    constexpr int N = SUBSTITUTE_NARROW, EACH = (C + 1) / 2;
    const int i = threadIdx.x % N, first = threadIdx.x % 32 / N * EACH;
    const bool mine = i < L.n && first < C;
    const T scale = mine && !L.unit ? divide(from_real<T>(1), *L.at(i, i)) : from_real<T>(1);
    T z[EACH];
    y += first;
#pragma unroll
    for (int c = 0; c < EACH; c++)
        z[c] = mine ? y[i * step + c] : T{};
#pragma unroll 2
    for (int j = 0; j < L.n; j++) {
        const T d = shuffle(scale, j, N), u = mine && i > j ? multiply(*L.at(i, j), d) : T{};
#pragma unroll
        for (int c = 0; c < EACH; c++)
            z[c] = multiply_add(z[c], -shuffle(z[c], j, N), u);
    }
#pragma unroll
    for (int c = 0; c < EACH; c++)
        if (mine)
            y[i * step + c] = multiply(z[c], scale);
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
            product_sum<T, 1> sum;
            multiply_slots<C>(sum, z, 0, size, [&](int i, int k) {
                return i >= size    ? T{}
                       : transposed ? (k > i ? B[i + k * ld] : T{})
                                    : (k < i ? B[k + i * ld] : T{});
            });
            __syncwarp();
            put_sum<C>(sum, z, 0, size, [&](int i, T f, T v) {
                return transposed ? f + v : multiply(f + v, reciprocal(i));
            });
            __syncwarp();
        }
        const int end = transposed ? first : order;
#pragma unroll 1
        for (int row = transposed ? 0 : first + size; row < end; row += N) {
            product_sum<T, 1> sum;
            multiply_slots<C>(sum, z, 0, size, [&](int i, int k) {
                return row + i >= end ? T{}
                       : transposed   ? B[k + (row + i - first) * ld]
                                      : B[row + i - first + k * ld];
            });
            put_sum<C>(sum, y, row, end, [](int, T f, T v) { return f - v; });
            __syncwarp();
        }
    }
}

#endif
