/* dense/cuda/trsv/prepare.cu: makes the strips of a prepared triangle: inverts by doubling,
 * measures growth, scales the rows
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense/cuda/trsv/forms.h"
#include "dense/cuda/device/inverses.cuh"
#include "dense/cuda/trsv/strips.cuh"

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
    const int tiles = (L.n - 1) / TILE + 1;
    libsolver_status status = diagonal_inverses(L, blocks, bits, 0, stream);
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
