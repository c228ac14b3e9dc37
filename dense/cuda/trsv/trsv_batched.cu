/* dense/cuda/trsv/trsv_batched.cu: many independent solves in one launch
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense/cuda/trsv/forms.h"
#include "dense/cuda/device/launch.cuh"
#include "dense/cuda/trsv/rows.cuh"
#include "dense/cuda/device/warp.cuh"

constexpr int BATCH_WARPS = 4; /* of a block of threads, where a warp or part of one solves a
                                  problem */

template <typename T> struct problem {
    triangle_view<T> L;
    vector_view<T> x;
};

template <typename T>
__device__ __forceinline__ problem<T> problem_at(const triangle_case &c, const batch_view<T> &batch,
                                                 int64_t k)
{
    const int64_t n = batch.ns != nullptr ? batch.ns[k] : batch.max_n;
    const int64_t lda = batch.ldas != nullptr ? batch.ldas[k] : batch.lda;
    const T *a = batch.as != nullptr ? batch.as[k] : batch.a + k * batch.stride_a;
    T *x = batch.xs != nullptr ? batch.xs[k] : batch.x + k * batch.stride_x;
    return {view_triangle(c, n, a, lda), view_vector(c, n, x, batch.incx)};
}

/* BY_ROWS: L.transposed.  The compiler is told of rows alone: order 16 is solved in 3.0 us then
 * instead of 4.4, but by columns in 3.2 instead of 2.9 (1000 triangles, double precision). */
template <bool BY_ROWS, typename T, int W>
__global__ void __launch_bounds__(32 * BATCH_WARPS, sizeof(T) > 8 ? 2 : 4)
    batch_warp_kernel(triangle_case c, batch_view<T> batch)
{
    if (BY_ROWS)
        __builtin_assume(c.trans != LIBSOLVER_NO_TRANSPOSE);
    extern __shared__ __align__(16) unsigned char memory[];
    const int warp = threadIdx.x / 32;
    const int64_t k = (int64_t)blockIdx.x * (BATCH_WARPS * 32 / W) + threadIdx.x / W;
    /* lanes past the batch go along with an empty problem of the same case: all of a warp meet the
     * same barriers */
    problem<T> p = {view_triangle(c, 0, batch.a, 1), view_vector(c, 0, batch.x, 1)};
    if (k < batch.count)
        p = problem_at(c, batch, k);
    trsv_warp(p.L, p.x, reinterpret_cast<warp_shared<T, W> *>(memory)[warp]);
}

template <bool BY_ROWS, typename T>
__global__ void __launch_bounds__(TILE_THREADS, sizeof(T) > 8 ? 1 : 2)
    batch_rows_kernel(triangle_case c, batch_view<T> batch)
{
    extern __shared__ __align__(16) unsigned char memory[];
    const problem<T> p = problem_at(c, batch, blockIdx.x);
    const block_link<T> link = {p.x};
    const rows_options options = {LIBSOLVER_CACHE_AHEAD, 0, INT32_MAX, nullptr};
    for (int r = 0; TILE * r < p.L.n; r++) {
        rows_solve<BY_ROWS, true>(p.L, p.x, options, link,
                                  *reinterpret_cast<rows_shared<T> *>(memory), r);
        __syncthreads();
    }
}

template <typename T, int W>
static libsolver_status batch_by_warps(triangle_case c, const batch_view<T> &batch, void *stream)
{
    constexpr int PROBLEMS = BATCH_WARPS * 32 / W;
    return launch(c.trans != LIBSOLVER_NO_TRANSPOSE ? batch_warp_kernel<true, T, W>
                                                    : batch_warp_kernel<false, T, W>,
                  {(batch.count - 1) / PROBLEMS + 1, 32 * BATCH_WARPS,
                   BATCH_WARPS * (int)sizeof(warp_shared<T, W>)},
                  stream, c, batch);
}

template <typename T>
libsolver_status trsv_batch(triangle_case c, batch_view<T> batch, void *stream)
{
    if (batch.max_n <= 8)
        return batch_by_warps<T, 8>(c, batch, stream);
    if (batch.max_n <= 16)
        return batch_by_warps<T, 16>(c, batch, stream);
    if (batch.max_n <= WARP_ORDER)
        return batch_by_warps<T, 32>(c, batch, stream);
    return launch(c.trans != LIBSOLVER_NO_TRANSPOSE ? batch_rows_kernel<true, T>
                                                    : batch_rows_kernel<false, T>,
                  {batch.count, TILE_THREADS, rows_shared_bytes<T>(LIBSOLVER_CACHE_AHEAD)}, stream,
                  c, batch);
}

#define INSTANCE(T) template libsolver_status trsv_batch<T>(triangle_case, batch_view<T>, void *);
INSTANCE(float)
INSTANCE(double)
INSTANCE(complex_s)
INSTANCE(complex_d)
