/* dense/cuda/trsv/trsv_launches.cu: the form LAUNCHES: kernels in stream order are the
 * synchronisation  [Hogg 2013, section 3, figure 2]
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * For every block of nb columns a solve with the diagonal block, by what is fastest at that order,
 * and the product of what lies below it. */
#include "dense/cuda/trsv/forms.h"
#include "dense/cuda/device/launch.cuh"
#include "dense/cuda/device/tile.cuh"

/* Columns that a block of threads has in registers at a time: half a tile, mapped as tiles are (see
 * tile.cuh): by columns, rows l + 32 h and columns 4 w + c, entry 4 h + c; by rows, rows 8 w + k
 * and column l, entry k. */
constexpr int STRIP = 32;

/* Entry k of this thread's share of the strip L(row0:row0+63, j0:j0+31); its row and column. */
template <bool BY_ROWS> __device__ __forceinline__ int strip_row(int k)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    return BY_ROWS ? 8 * warp + k : lane + 32 * (k / 4);
}
template <bool BY_ROWS> __device__ __forceinline__ int strip_column(int k)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    return BY_ROWS ? lane : 4 * warp + k % 4;
}

/* x(i0:n-1) -= L(i0:n-1, i0-nb:i0-1) x(i0-nb:i0-1); a block of threads for 64 rows. */
template <bool BY_ROWS, typename T>
__global__ void __launch_bounds__(TILE_THREADS)
    update_kernel(triangle_view<T> L, vector_view<T> x, int i0, int nb)
{
    __shared__ T solved[ONE_CLUSTER_ORDER];
    __shared__ T partial[TILE_PARTS][TILE];
    const int row0 = i0 + TILE * (int)blockIdx.x, j0 = i0 - nb;
    for (int j = (int)threadIdx.x; j < nb; j += TILE_THREADS)
        solved[j] = x.load(j0 + j);
    __syncthreads();
    T sum[TILE_SUMS] = {};
#pragma unroll 4
    for (int first = 0; first < nb; first += STRIP) {
        T a[TILE_SUMS];
#pragma unroll
        for (int k = 0; k < TILE_SUMS; k++) {
            const int i = row0 + strip_row<BY_ROWS>(k), j = first + strip_column<BY_ROWS>(k);
            a[k] = i < L.n ? *L.at(i, j0 + j) : T{};
        }
#pragma unroll
        for (int k = 0; k < TILE_SUMS; k++)
            sum[k] = multiply_add(sum[k], a[k], solved[first + strip_column<BY_ROWS>(k)]);
    }
    tile_reduce<BY_ROWS>(sum, partial);
    const int i = row0 + (int)threadIdx.x;
    if (threadIdx.x < TILE && i < L.n)
        x.store(i, x.load(i) - tile_row_sum(partial, (int)threadIdx.x));
}

template <typename T>
libsolver_status trsv_launches(triangle_view<T> L, vector_view<T> x, int64_t block, void *stream)
{
    if (block % STRIP != 0 || block > ONE_CLUSTER_ORDER)
        return LIBSOLVER_INVALID;
    const int most = block > 0 ? (int)block : LAUNCHES_BLOCK;
    libsolver_trsv_options options = libsolver_trsv_default_options();
    options.scale_from = INT64_MAX; /* as the automatic choice has it for clusters */
    for (int i0 = 0; i0 < L.n;) {
        const int nb = L.n - i0 < most ? L.n - i0 : most;
        triangle_view<T> diagonal = L;
        diagonal.entry += i0 * (L.row + L.column);
        diagonal.n = nb;
        const vector_view<T> part = {x.entry + i0 * x.step, x.step, x.conjugate};
        libsolver_status status = nb <= WARP_UNTIL
                                      ? trsv_one_block(LIBSOLVER_TRSV_WARP, diagonal, part, stream)
                                      : trsv_cluster(diagonal, part, nullptr, options, stream);
        i0 += nb;
        if (status == LIBSOLVER_OK && i0 < L.n)
            status = launch(L.transposed ? update_kernel<true, T> : update_kernel<false, T>,
                            {(L.n - i0 - 1) / TILE + 1, TILE_THREADS}, stream, L, x, i0, nb);
        if (status != LIBSOLVER_OK)
            return status;
    }
    return LIBSOLVER_OK;
}

#define INSTANCE(T) \
    template libsolver_status trsv_launches<T>(triangle_view<T>, vector_view<T>, int64_t, void *);
INSTANCE(float)
INSTANCE(double)
INSTANCE(complex_s)
INSTANCE(complex_d)
