/* dense/cuda/trsm/prepare.cu: makes the tiles of a prepared triangle, without the host
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense/cuda/device/inverses.cuh"
#include "dense/cuda/trsm/strips.cuh"

/* Tile (blockIdx.y, blockIdx.x) as strips.cuh has it, through shared memory. */
template <typename T>
__global__ void __launch_bounds__(TILE_THREADS)
    tiles_fill_kernel(triangle_view<T> L, inverse_blocks<T> blocks, const double *growth,
                      double limit, T *tiles)
{
    extern __shared__ __align__(16) unsigned char memory[];
    __shared__ product_shared<T> shared;
    T *M = reinterpret_cast<T *>(memory), a[TILE_SHARE];
    const int r = blockIdx.y, j = blockIdx.x, i0 = TILE * r, j0 = TILE * j, nb = blocks.nb;
    const int block = i0 / nb, inside = j0 - block * nb; /* column in the diagonal block */
    if (j > r)
        return;
    const bool inverted = growth[block] <= limit;
    T c[4][4] = {};
    if (!inverted && j == r) {
        if (L.transposed)
            diagonal_load<true>(M, L, i0);
        else
            diagonal_load<false>(M, L, i0);
    } else {
        if (inverted && inside < 0) {
            const int depth = i0 - block * nb + TILE;
            product_tile(
                c, operand<T>{blocks.X + blocks.at(block, i0 - block * nb, 0), 1, nb, TILE, depth},
                operand<T>{L.at(block * nb, j0), L.row, L.column, L.n - block * nb, TILE}, depth,
                shared);
        }
#pragma unroll
        for (int p = 0; p < 4; p++)
#pragma unroll
            for (int q = 0; q < 4; q++) {
                const int i = (int)threadIdx.x % 16 + 16 * p, k = (int)threadIdx.x / 16 + 16 * q;
                const bool real = i0 + i < L.n && j0 + k < L.n && j0 + k <= i0 + i;
                T v = T{};
                if (real && !inverted)
                    v = -*L.at(i0 + i, j0 + k);
                else if (real)
                    v = inside < 0 ? -c[p][q]
                                   : blocks.X[blocks.at(block, i0 - block * nb + i, inside + k)];
                M[i + k * TILE_LD<T>] = v;
            }
    }
    __syncthreads();
    part_get(a, M);
    stored_put(tiles, r, j, a);
}

template <typename T> prepared_layout<T> trsm_prepared_layout(int64_t n)
{
    const int64_t blocks = (n + PREPARED_BLOCK - 1) / PREPARED_BLOCK, rows = (n + TILE - 1) / TILE;
    const int64_t size = sizeof(T), inverses = blocks * PREPARED_BLOCK * PREPARED_BLOCK * size;
    prepared_layout<T> l;
    l.tiles = (blocks * (int64_t)sizeof(double) + 127) / 128 * 128;
    l.inverses = l.tiles + stored_tile<T>(rows, 0) * size;
    l.more = l.inverses + inverses;
    l.bytes = l.more + inverses;
    return l;
}

template <typename T>
libsolver_status trsm_prepare(triangle_view<T> L, void *storage, double limit, void *stream)
{
    const prepared_layout<T> layout = trsm_prepared_layout<T>(L.n);
    char *base = static_cast<char *>(storage);
    const inverse_blocks<T> blocks = {reinterpret_cast<T *>(base + layout.inverses),
                                      reinterpret_cast<T *>(base + layout.more), PREPARED_BLOCK};
    const unsigned rows = (unsigned)((L.n - 1) / TILE + 1);
    libsolver_status status =
        diagonal_inverses(L, blocks, reinterpret_cast<unsigned long long *>(base), 1, stream);
    const int shared = TILE_AREA<T> * (int)sizeof(T);
    if (status == LIBSOLVER_OK)
        status =
            status_of(cudaFuncSetAttribute(tiles_fill_kernel<T>,
                                           cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    if (status == LIBSOLVER_OK) {
        tiles_fill_kernel<T><<<dim3(rows, rows), TILE_THREADS, shared, (cudaStream_t)stream>>>(
            L, blocks, reinterpret_cast<const double *>(base), limit,
            reinterpret_cast<T *>(base + layout.tiles));
        status = status_of(cudaGetLastError());
    }
    return status;
}

#define INSTANCE(T) \
    template prepared_layout<T> trsm_prepared_layout<T>(int64_t); \
    template libsolver_status trsm_prepare<T>(triangle_view<T>, void *, double, void *);
INSTANCE(float)
INSTANCE(double)
INSTANCE(complex_s)
INSTANCE(complex_d)
