/* dense/cuda/device/inverses.cuh: grid scope: diagonal blocks of a triangle inverted by doubling,
 * and their growth
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DENSE_CUDA_DEVICE_INVERSES_CUH
#define DENSE_CUDA_DEVICE_INVERSES_CUH

#include "dense/cuda/device/invert.cuh"
#include "dense/cuda/device/launch.cuh"
#include "dense/cuda/device/product.cuh"

/* Diagonal block r of order nb is inverted in X + r apart, column-major. */
template <typename T> struct inverse_blocks {
    T *X, *W; /* W: scratch of the same shape */
    int nb;
    int64_t apart = (int64_t)nb * nb;

    __device__ __forceinline__ int64_t at(int r, int i, int j) const
    {
        return r * apart + (int64_t)j * nb + i;
    }
};

/* One block of threads for each diagonal tile of 64. */
template <typename T>
__global__ void __launch_bounds__(TILE_THREADS)
    invert_kernel(triangle_view<T> L, inverse_blocks<T> to)
{
    extern __shared__ __align__(16) unsigned char memory[];
    T *D = reinterpret_cast<T *>(memory), *X = D + TILE_AREA<T>;
    const int tile = blockIdx.x, i0 = tile * TILE, r = i0 / to.nb;
    if (L.transposed)
        diagonal_load<true>(D, L, i0);
    else
        diagonal_load<false>(D, L, i0);
    tile_clear(X);
    __syncthreads();
    invert_blocks(D, X);
    invert_64(D, X);
    for (int e = threadIdx.x; e < TILE * TILE; e += TILE_THREADS)
        to.X[to.at(r, i0 % to.nb + e % TILE, i0 % to.nb + e / TILE)] =
            X[e % TILE + e / TILE * TILE_LD<T>];
}

/* From inverses of order `size` to 2 size: W = L21 X11, then X21 = -X22 W.  blockIdx.x: pair, .y,
 * .z: tile.
 */
template <typename T>
__global__ void __launch_bounds__(TILE_THREADS)
    double_kernel(triangle_view<T> L, inverse_blocks<T> blocks, int size, bool second)
{
    __shared__ product_shared<T> shared;
    const int first = 2 * size * (int)blockIdx.x, r = first / blocks.nb, f = first % blocks.nb;
    const int i = TILE * (int)blockIdx.y, j = TILE * (int)blockIdx.z, nb = blocks.nb;
    const int row = first + size + i;
    if (row >= L.n)
        return;
    T c[4][4] = {};
    if (!second) /* X11(k,:) = 0 above the diagonal: k from j on */
        product_tile(c, operand<T>{L.at(row, first + j), L.row, L.column, L.n - row, size - j},
                     operand<T>{blocks.X + blocks.at(r, f + j, f + j), 1, nb, size - j, TILE},
                     size - j, shared);
    else /* X22(i,k) = 0 past the diagonal: k to the end of the tile */
        product_tile(
            c, operand<T>{blocks.X + blocks.at(r, f + size + i, f + size), 1, nb, TILE, i + TILE},
            operand<T>{blocks.W + blocks.at(r, f + size, f + j), 1, nb, L.n - first - size, TILE},
            i + TILE, shared);
    T *to = (second ? blocks.X : blocks.W) + blocks.at(r, f + size + i, f + j);
#pragma unroll
    for (int p = 0; p < 4; p++)
#pragma unroll
        for (int q = 0; q < 4; q++)
            to[threadIdx.x % 16 + 16 * p + (int64_t)(threadIdx.x / 16 + 16 * q) * nb] =
                second ? -c[p][q] : c[p][q];
}

/* growth[r stride] := max of what it was and max_i (|L_rr||X_rr| e)_i, as the bits of a double,
 * which order as the values do; infinite when not a number.  stride 0: the maximum over all blocks.
 * A block of threads for each diagonal block, of order 256 at most. */
template <typename T>
__global__ void __launch_bounds__(TILE_THREADS)
    growth_kernel(triangle_view<T> L, inverse_blocks<T> blocks, unsigned long long *growth,
                  int stride)
{
    __shared__ real_of<T> sum[256];
    const int r = blockIdx.x, i0 = r * blocks.nb, count = min(blocks.nb, L.n - i0);
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        real_of<T> s = 0;
        for (int j = 0; j <= i; j++)
            s += magnitude(blocks.X[blocks.at(r, i, j)]);
        sum[i] = s;
    }
    __syncthreads();
    double largest = 0;
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        real_of<T> g = L.unit ? sum[i] : magnitude(*L.at(i0 + i, i0 + i)) * sum[i];
        for (int j = 0; j < i; j++)
            g += magnitude(*L.at(i0 + i, i0 + j)) * sum[j];
        largest = g == g ? fmax(largest, (double)g) : INFINITY;
    }
    if (largest > 0)
        atomicMax(growth + r * stride, (unsigned long long)__double_as_longlong(largest));
}

/* blocks.X := the inverses of L's diagonal blocks, by doubling; growth as growth_kernel finds it,
 * its place cleared first.  Asynchronous on the stream. */
template <typename T>
static libsolver_status diagonal_inverses(const triangle_view<T> &L,
                                          const inverse_blocks<T> &blocks,
                                          unsigned long long *growth, int stride, void *stream)
{
    const int tiles = (L.n - 1) / TILE + 1, nb = blocks.nb;
    const int64_t counts = stride == 0 ? 1 : (L.n - 1) / nb + 1;
    libsolver_status status = status_of(
        cudaMemsetAsync(growth, 0, (size_t)counts * sizeof *growth, (cudaStream_t)stream));
    if (status == LIBSOLVER_OK)
        status = launch(invert_kernel<T>, {tiles, TILE_THREADS, 2 * TILE_AREA<T> * (int)sizeof(T)},
                        stream, L, blocks);
    for (int size = TILE; size < nb && size < L.n; size *= 2)
        for (int second = 0; second < 2 && status == LIBSOLVER_OK; second++) {
            double_kernel<T>
                <<<dim3((L.n - 1) / (2 * size) + 1, size / TILE, size / TILE), TILE_THREADS, 0,
                   (cudaStream_t)stream>>>(L, blocks, size, second == 1);
            status = status_of(cudaGetLastError());
        }
    if (status == LIBSOLVER_OK)
        status = launch(growth_kernel<T>, {(L.n - 1) / nb + 1, TILE_THREADS}, stream, L, blocks,
                        growth, stride);
    return status;
}

#endif
