/* dense/cuda/batched/trsm_batched.cu: many independent solves in one launch
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense/cuda/batched/batch.h"
#include "dense/cuda/batched/deal.cuh"
#include "dense/cuda/batched/lanes.cuh"
#include "dense/cuda/batched/problem.cuh"
#include "dense/cuda/batched/solve.cuh"
#include "dense/cuda/batched/vector.cuh"
#include "dense/cuda/device/launch.cuh"
#include "dense/cuda/device/warp.cuh"

/* Of a block of threads, where a warp or part of one solves a problem. */
constexpr int BATCH_WARPS = 4;
/* Columns that a warp solves together, bench_batch columns. */
constexpr int FEW_COLUMNS = 4;
/* Most warps of a block where a lane solves a column. */
constexpr int LANES_WARPS = 4;

/* Up to C columns each, up to an order of W, or 128 for W = 32.  BY_ROWS: L.transposed.  The
 * compiler is told of rows alone: order 16 is solved in 3.0 us then instead of 4.4, but by columns
 * in 3.2 instead of 2.9 (1000 triangles, one column, double precision). */
template <bool BY_ROWS, typename T, int W, int C>
__global__ void __launch_bounds__(32 * BATCH_WARPS, sizeof(T) > 8 ? 2 : 4)
    vectors_kernel(solve_batch<T> batch)
{
    extern __shared__ __align__(16) unsigned char memory[];
    const int warp = threadIdx.x / 32;
    const int64_t k = (int64_t)blockIdx.x * (BATCH_WARPS * 32 / W) + threadIdx.x / W;
    /* lanes past the batch go along with an empty problem of the same case: all of a warp meet the
     * same barriers */
    problem<T> p = {};
    if (k < batch.count)
        p = problem_at(batch, k);
    p.L.transposed = BY_ROWS;
    const vector_group<T> x = {{p.x.entry, p.x.row, p.x.conjugate}, p.x.column, p.x.count};
    trsv_warp<C>(p.L, x, reinterpret_cast<warp_shared<T, W, true, C> *>(memory)[warp]);
}

/* One column, a block for each item.  BY_ROWS: L.transposed. */
template <bool BY_ROWS, typename T>
__global__ void __launch_bounds__(VECTOR_THREADS, VECTOR_BLOCKS<T>)
    vector_kernel(solve_batch<T> batch)
{
    extern __shared__ __align__(16) unsigned char memory[];
    const problem<T> p = problem_at(batch, blockIdx.x);
    const vector_view<T> x = {p.x.entry, p.x.row, p.x.conjugate};
    solve_vector<BY_ROWS>(p.L, x, *reinterpret_cast<vector_shared<T> *>(memory));
}

/* Many columns, orders up to W, a block for each item. */
template <typename T, int W>
__global__ void __launch_bounds__(32 * LANES_WARPS, sizeof(T) > 8 ? 2 : 4)
    lanes_kernel(solve_batch<T> batch)
{
    extern __shared__ __align__(16) unsigned char memory[];
    auto *const triangle = reinterpret_cast<lanes_triangle<T, W> *>(memory);
    const problem<T> p = problem_at(batch, blockIdx.x);
    solve_lanes(p.L, p.x, *triangle, reinterpret_cast<lanes_columns<T, W> *>(triangle + 1));
}

template <typename T> union mixed_shared {
    solve_shared<T> block;
    small_shared<T> warp[TILE_THREADS / 32];
};

/* FEW: at most eight columns. */
template <bool FEW, typename T>
__global__ void __launch_bounds__(TILE_THREADS, sizeof(T) > 8 ? 1 : 2)
    mixed_kernel(solve_batch<T> batch)
{
    constexpr int COLUMNS = FEW ? STEP : SOLVE_COLUMNS;
    extern __shared__ __align__(16) unsigned char memory[];
    auto &s = *reinterpret_cast<mixed_shared<T> *>(memory);
    deal_items(
        batch.count, SMALL, [&](int64_t k) { return batch.order.at(k); }, [](int64_t) {},
        [&](int64_t k) {
            const problem<T> p = problem_at(batch, k);
            solve_warp(p.L, p.x, s.warp[threadIdx.x / 32]);
        },
        [&](int64_t k) {
            const problem<T> p = problem_at(batch, k);
            for (int c = 0; c < p.x.count; c += COLUMNS)
                solve_block<FEW>(p.L, p.x.from(c, COLUMNS), solve_guard::SOLUTION, s.block);
        });
}

template <typename T> static bool by_rows(const solve_batch<T> &batch)
{
    return (batch.c.trans != LIBSOLVER_NO_TRANSPOSE) != batch.right;
}

template <typename T, int W, int C>
static libsolver_status launch_vectors(const solve_batch<T> &batch, void *stream)
{
    constexpr int PROBLEMS = BATCH_WARPS * 32 / W;
    return launch(by_rows(batch) ? vectors_kernel<true, T, W, C> : vectors_kernel<false, T, W, C>,
                  {(batch.count - 1) / PROBLEMS + 1, 32 * BATCH_WARPS,
                   BATCH_WARPS * (int)sizeof(warp_shared<T, W, true, C>)},
                  stream, batch);
}
template <int C, typename T>
static libsolver_status solve_vectors(const solve_batch<T> &batch, void *stream)
{
    return batch.order.same <= 8    ? launch_vectors<T, 8, C>(batch, stream)
           : batch.order.same <= 16 ? launch_vectors<T, 16, C>(batch, stream)
                                    : launch_vectors<T, 32, C>(batch, stream);
}

template <typename T, int W>
static libsolver_status launch_lanes(const solve_batch<T> &batch, void *stream)
{
    const int warps = (int)min((batch.columns.same - 1) / LANES + 1, (int64_t)LANES_WARPS);
    return launch(lanes_kernel<T, W>,
                  {batch.count, 32 * warps,
                   (int)(sizeof(lanes_triangle<T, W>) + warps * sizeof(lanes_columns<T, W>))},
                  stream, batch);
}
template <typename T>
static libsolver_status solve_by_lanes(const solve_batch<T> &batch, void *stream)
{
    return batch.order.same <= 8    ? launch_lanes<T, 8>(batch, stream)
           : batch.order.same <= 16 ? launch_lanes<T, 16>(batch, stream)
                                    : launch_lanes<T, 32>(batch, stream);
}

/* Whether one column is for vector_kernel: orders that take one warp long (of 1000 triangles of
 * order 128 it takes 31 us by columns or by rows, a warp each 26 and 42), while vectors leave room
 * for several blocks on an SM; and so many items that each SM has several, since two warps alone
 * do not keep its memory busy. */
template <typename T> static bool many_large(const solve_batch<T> &batch)
{
    int device, multiprocessors = 0;
    if (batch.order.each != nullptr || batch.order.same <= (by_rows(batch) ? 96 : WARP_ORDER) ||
        batch.order.same > 2048 || cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device) !=
            cudaSuccess)
        return false;
    return batch.count >= 4 * (int64_t)multiprocessors;
}
template <typename T>
static libsolver_status solve_large_vectors(const solve_batch<T> &batch, void *stream)
{
    return launch(by_rows(batch) ? vector_kernel<true, T> : vector_kernel<false, T>,
                  {batch.count, VECTOR_THREADS, (int)vector_shared<T>::bytes(batch.order.same)},
                  stream, batch);
}

/* Who solves a batch, by what is known of it here: one column; few, which a warp substitutes in
 * hardly more time than one; many, where a lane for each is less work; larger orders by blocks.
 * bench_batch and bench_mixed measure where they meet (H200, double precision). */
template <typename T> libsolver_status solve_batched(const solve_batch<T> &batch, void *stream)
{
    const int64_t order = batch.order.same, columns = batch.columns.same;
    if (columns == 1 && many_large(batch))
        return solve_large_vectors(batch, stream);
    if (columns == 1 && order <= WARP_ORDER)
        return solve_vectors<1>(batch, stream);
    if (columns <= FEW_COLUMNS && order <= WARP_ORDER)
        return solve_vectors<FEW_COLUMNS>(batch, stream);
    if (order <= SMALL)
        return solve_by_lanes(batch, stream);
    return launch(columns <= STEP ? mixed_kernel<true, T> : mixed_kernel<false, T>,
                  {deal_blocks(batch.count, batch.order.each == nullptr), TILE_THREADS,
                   (int)sizeof(mixed_shared<T>)},
                  stream, batch);
}

#define INSTANCE(T) template libsolver_status solve_batched<T>(const solve_batch<T> &, void *);
INSTANCE(float)
INSTANCE(double)
INSTANCE(complex_s)
INSTANCE(complex_d)
