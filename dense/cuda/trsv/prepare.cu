/* dense/cuda/trsv/prepare.cu: makes the strips of a prepared triangle: inverts by doubling,
 * measures growth, scales the rows
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense/cuda/trsv/forms.h"
#include "dense/cuda/device/invert.cuh"
#include "dense/cuda/device/launch.cuh"
#include "dense/cuda/trsv/product.cuh"
#include "dense/cuda/trsv/strips.cuh"

/* Diagonal block r of order nb is inverted in X + r nb^2, column-major. */
template <typename T> struct inverse_blocks {
    T *X, *W; /* W: scratch of the same shape */
    int nb;

    __device__ __forceinline__ int64_t at(int r, int i, int j) const
    {
        return ((int64_t)r * nb + j) * nb + i;
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

/* growth := max over the diagonal blocks of max_i (|L_kk||X_kk| e)_i, as the bits of a double,
 * which order as the values do; infinite when not a number.  A block of threads for each diagonal
 * block. */
template <typename T>
__global__ void __launch_bounds__(TILE_THREADS)
    growth_kernel(triangle_view<T> L, inverse_blocks<T> blocks, unsigned long long *growth)
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
        atomicMax(growth, (unsigned long long)__double_as_longlong(largest));
}

/* Strips of the 64 rows at 64 blockIdx.y, columns 64 blockIdx.x: -X_r L(r,:) before the diagonal
 * block, X_r in it. */
template <typename T>
__global__ void __launch_bounds__(TILE_THREADS)
    strips_fill_kernel(triangle_view<T> L, inverse_blocks<T> blocks, T *strips)
{
    __shared__ product_shared<T> shared;
    const int i0 = TILE * (int)blockIdx.y, j0 = TILE * (int)blockIdx.x, r = i0 / blocks.nb,
              nb = blocks.nb;
    if (j0 > i0)
        return;
    const bool inside = j0 >= r * nb;
    T c[4][4] = {};
    if (!inside) {
        const int depth = i0 - r * nb + TILE;
        product_tile(c, operand<T>{blocks.X + blocks.at(r, i0 - r * nb, 0), 1, nb, TILE, depth},
                     operand<T>{L.at(r * nb, j0), L.row, L.column, L.n - r * nb, TILE}, depth,
                     shared);
    }
#pragma unroll
    for (int p = 0; p < 4; p++)
#pragma unroll
        for (int q = 0; q < 4; q++) {
            const int i = i0 + (int)threadIdx.x % 16 + 16 * p,
                      j = j0 + (int)threadIdx.x / 16 + 16 * q;
            const int strip = i / STRIP;
            if (strip >= strip_count(L.n) || j >= STRIP * (strip + 1))
                continue;
            const bool real = i < L.n && j < L.n;
            T v = real ? -c[p][q] : T{};
            if (inside && real)
                v = blocks.X[blocks.at(r, i - r * nb, j - r * nb)];
            strips[strip_start(strip) + (int64_t)j * STRIP + i % STRIP] = v;
        }
}

template <typename T> prepare_sizes trsv_prepare_sizes(int64_t n)
{
    const int64_t nb = strip_shape<T>::BLOCK, blocks = (n + nb - 1) / nb;
    return {strip_start(strip_count(n)) * (int64_t)sizeof(T),
            blocks * nb * nb * (int64_t)sizeof(T)};
}

template <typename T>
libsolver_status trsv_prepare_strips(triangle_view<T> L, void *storage, void *stream,
                                     double *growth)
{
    const prepare_sizes sizes = trsv_prepare_sizes<T>(L.n);
    char *base = static_cast<char *>(storage);
    auto *bits = reinterpret_cast<unsigned long long *>(base);
    T *strips = reinterpret_cast<T *>(base + PREPARED_HEAD), *X = strips + sizes.strips / sizeof(T);
    const inverse_blocks<T> blocks = {X, X + sizes.inverses / sizeof(T), strip_shape<T>::BLOCK};
    const int tiles = (L.n - 1) / TILE + 1, nb = blocks.nb;
    libsolver_status status =
        status_of(cudaMemsetAsync(bits, 0, sizeof *bits, (cudaStream_t)stream));
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
        status =
            launch(growth_kernel<T>, {(L.n - 1) / nb + 1, TILE_THREADS}, stream, L, blocks, bits);
    if (status == LIBSOLVER_OK) {
        strips_fill_kernel<T>
            <<<dim3(tiles, tiles), TILE_THREADS, 0, (cudaStream_t)stream>>>(L, blocks, strips);
        status = status_of(cudaGetLastError());
    }
    if (status == LIBSOLVER_OK)
        status = status_of(cudaMemcpyAsync(growth, bits, sizeof *growth, cudaMemcpyDeviceToHost,
                                           (cudaStream_t)stream));
    if (status == LIBSOLVER_OK)
        status = status_of(cudaStreamSynchronize((cudaStream_t)stream));
    return status;
}

#define INSTANCE(T) \
    template prepare_sizes trsv_prepare_sizes<T>(int64_t); \
    template libsolver_status trsv_prepare_strips<T>(triangle_view<T>, void *, void *, double *);
INSTANCE(float)
INSTANCE(double)
INSTANCE(complex_s)
INSTANCE(complex_d)
