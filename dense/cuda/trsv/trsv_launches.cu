/* dense/cuda/trsv/trsv_launches.cu: the form LAUNCHES: kernels in stream order are the
 * synchronisation [paper 000, figure 2]
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense/cuda/trsv/forms.h"
#include "dense/cuda/device/launch.cuh"
#include "dense/cuda/trsv/panels.cuh"

template <typename T>
__global__ void __launch_bounds__(PANEL_THREADS, 1)
    diagonal_kernel(triangle_view<T> L, vector_view<T> x, int i0, int count)
{
    extern __shared__ __align__(16) unsigned char memory[];
    panels_solve(*reinterpret_cast<panels_shared<T> *>(memory), L, x, i0, count, false);
}

/* x(i0:n-1) -= L(i0:n-1, i0-128:i0-1) x(i0-128:i0-1); a block of threads for 64 rows */
template <bool BY_ROWS, typename T>
__global__ void __launch_bounds__(TILE_THREADS)
    update_kernel(triangle_view<T> L, vector_view<T> x, int i0)
{
    __shared__ T solved[ONE_BLOCK_ORDER];
    __shared__ T partial[TILE_PARTS][TILE];
    const int row0 = i0 + TILE * (int)blockIdx.x, lane = threadIdx.x % 32;
    T sum[TILE_SUMS] = {}, a[TILE_SHARE];
    tile_load<BY_ROWS>(a, L, row0, i0 - 2 * TILE);
    if (threadIdx.x < ONE_BLOCK_ORDER)
        solved[threadIdx.x] = x.load(i0 - ONE_BLOCK_ORDER + (int)threadIdx.x);
    __syncthreads();
    for (int t = 0; t < 2; t++) {
        const T *from = solved + TILE * t;
        if (t == 1)
            tile_load<BY_ROWS>(a, L, row0, i0 - TILE);
        if constexpr (BY_ROWS)
            tile_apply_rows(sum, a, from[lane], from[lane + 32]);
        else
            tile_apply_columns(sum, a, from + tile_first_column());
    }
    tile_reduce<BY_ROWS>(sum, partial);
    const int i = row0 + (int)threadIdx.x;
    if (threadIdx.x < TILE && i < L.n)
        x.store(i, x.load(i) - tile_row_sum(partial, (int)threadIdx.x));
}

template <typename T>
libsolver_status trsv_launches(triangle_view<T> L, vector_view<T> x, void *stream)
{
    for (int i0 = 0; i0 < L.n;) {
        const int count = L.n - i0 < ONE_BLOCK_ORDER ? L.n - i0 : ONE_BLOCK_ORDER;
        libsolver_status status =
            launch(diagonal_kernel<T>, {1, PANEL_THREADS, panels_shared_bytes<T>(count)}, stream, L,
                   x, i0, count);
        i0 += count;
        if (status == LIBSOLVER_OK && i0 < L.n)
            status = launch(L.transposed ? update_kernel<true, T> : update_kernel<false, T>,
                            {(L.n - i0 - 1) / TILE + 1, TILE_THREADS}, stream, L, x, i0);
        if (status != LIBSOLVER_OK)
            return status;
    }
    return LIBSOLVER_OK;
}

#define INSTANCE(T) \
    template libsolver_status trsv_launches<T>(triangle_view<T>, vector_view<T>, void *);
INSTANCE(float)
INSTANCE(double)
INSTANCE(complex_s)
INSTANCE(complex_d)
