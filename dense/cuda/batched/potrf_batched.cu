/* dense/cuda/batched/potrf_batched.cu: Cholesky factorizations of many matrices in one launch
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * By block rows of 64:
 *     L(i, 0:i-1)^H = inv(L(0:i-1, 0:i-1)) A(i, 0:i-1)^H      solve_block, a row of L is a column
 *     L(i,i) = cholesky(A(i,i) - L(i, 0:i-1) L(i, 0:i-1)^H)
 * A = U^H U is the same with L(i,j) at U(j,i): the factor of conj(A) is then U^T. */
#include "dense/cuda/batched/batch.h"
#include "dense/cuda/batched/deal.cuh"
#include "dense/cuda/batched/solve.cuh"
#include "dense/cuda/device/cholesky.cuh"
#include "dense/cuda/device/launch.cuh"

constexpr int FACTOR_WARP = 32; /* order that a warp factorizes */

/* What cholesky_columns wants beside the front. */
template <typename T, int N> struct factor_scratch {
    T X[2 * CHOLESKY_STEP * CHOLESKY_STEP];
    real_of<T> pivot[N];
    int grows[2];
};
template <typename T> struct factor_warp {
    T F[FACTOR_WARP * (FACTOR_WARP + 4)];
    factor_scratch<T, FACTOR_WARP> scratch;
};
template <typename T> struct factor_block {
    solve_shared<T> solve;
    factor_scratch<T, TILE> scratch;
    unsigned refused[2];
};
template <typename T> union factor_shared {
    factor_block<T> block;
    factor_warp<T> warp[TILE_THREADS / 32];
};

template <typename R> __device__ __forceinline__ bool pivot_refused(R pivot)
{
    return !(pivot >= least_normal<R>());
}

/* n <= 32 by a warp; returns info. */
template <typename T>
__device__ __noinline__ int factor_small(const triangle_view<T> &A, factor_warp<T> &s)
{
    constexpr int LD = FACTOR_WARP + 4;
    const int lane = threadIdx.x % 32;
    __syncwarp();
    for (int other = 0; other < FACTOR_WARP; other++) {
        const int i = A.transposed ? other : lane, j = A.transposed ? lane : other;
        s.F[i + j * LD] = i < A.n && i >= j ? *A.at(i, j) : from_real<T>(i == j);
    }
    __syncwarp();
    cholesky_columns<1, false>(s.F, LD, A.n, A.n, s.scratch.X, 0, CHOLESKY_STEP, s.scratch.pivot,
                               s.scratch.grows);
    for (int other = 0; other < A.n; other++) {
        const int i = A.transposed ? other : lane, j = A.transposed ? lane : other;
        if (i < A.n && i >= j)
            *const_cast<T *>(A.at(i, j)) = s.F[i + j * LD];
    }
    return __ffs((int)__ballot_sync(~0u, lane < A.n && pivot_refused(s.scratch.pivot[lane])));
}

/* F := A(i,i) - L(i, 0:i-1) L(i, 0:i-1)^H, lower triangle; returns where it lies.  Ends with a
 * barrier. */
template <typename T>
__device__ __noinline__ T *factor_diagonal(const triangle_view<T> &A, int i, solve_shared<T> &s)
{
    const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, l = threadIdx.x % 4;
    const tile_layout<T> layout(A);
    tile_stream<false, T> tiles(A, s.tile, i, i + 1);
    column_sums<T, TILE> sum;
    for (int j = 0; j < i; j++, tiles.turn()) {
        tiles.await();
        tiles.fetch();
        const T *a = layout.entry(tiles.now(), g, l), *b = a + STEP * warp * layout.row;
#pragma unroll
        for (int d = 0; d < TILE / STEP;
             d++, a += STEP * layout.column, b += STEP * layout.column) {
            const T right[2] = {b[0], b[4 * layout.column]};
#pragma unroll
            for (int m = 0; m < TILE / 16; m++)
                if (16 * m + 16 > STEP * warp) {
                    T left[4];
                    take_16(left, a + 16 * m * layout.row, layout.row, layout.column);
                    multiply_entries<true>(sum[m], 0, left, right);
                }
        }
    }
    tiles.await();
    T *const F = tiles.now();
#pragma unroll
    for (int m = 0; m < TILE / 16; m++)
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const int row = 16 * m + g + 8 * (e / 2), column = STEP * warp + 2 * l + e % 2;
            T *const entry = F + row + column * TILE_LD<T>;
            if (row >= column)
                *entry = *entry - sum[m].entry(0, e);
        }
    tiles.finish();
    return F;
}

/* n > 32; returns info in all threads. */
template <typename T>
__device__ __forceinline__ int factor_large(const triangle_view<T> &A, factor_block<T> &s)
{
    constexpr int LD = TILE_LD<T>;
    const auto at = [&](int i, int j) { return const_cast<T *>(A.at(i, j)); };
    for (int i0 = 0; i0 < A.n; i0 += TILE) {
        triangle_view<T> leading = A;
        leading.n = i0;
        if (i0 > 0)
            solve_block<false>(
                leading, given_columns<T>{at(i0, 0), A.column, A.row, min(A.n - i0, TILE), true},
                solve_guard::FACTOR, s.solve);
        T *F = factor_diagonal(A, i0 / TILE, s.solve);
        cholesky_columns<8, true>(F, LD, TILE, TILE, s.scratch.X, 0, CHOLESKY_STEP, s.scratch.pivot,
                                  s.scratch.grows);
        if (threadIdx.x < TILE) {
            const unsigned refused =
                __ballot_sync(~0u, pivot_refused(s.scratch.pivot[threadIdx.x]));
            if (threadIdx.x % 32 == 0)
                s.refused[threadIdx.x / 32] = refused;
        }
        const int near = threadIdx.x % TILE;
        for (int far = threadIdx.x / TILE; far < TILE; far += TILE_THREADS / TILE) {
            const int i = A.transposed ? far : near, j = A.transposed ? near : far;
            if (i >= j && i0 + i < A.n)
                *at(i0 + i, i0 + j) = F[i + j * LD];
        }
        __syncthreads();
        if (s.refused[0] != 0)
            return i0 + __ffs((int)s.refused[0]);
        if (s.refused[1] != 0)
            return i0 + 32 + __ffs((int)s.refused[1]);
    }
    return 0;
}

template <typename T>
__global__ void __launch_bounds__(TILE_THREADS, sizeof(T) > 8 ? 1 : 2)
    factor_kernel(place_batch<T> batch)
{
    extern __shared__ __align__(16) unsigned char memory[];
    auto &s = *reinterpret_cast<factor_shared<T> *>(memory);
    const auto at = [&](int64_t k) {
        const bool upper = batch.uplo == LIBSOLVER_UPPER;
        return view_triangle<T>({batch.uplo, upper ? LIBSOLVER_TRANSPOSE : LIBSOLVER_NO_TRANSPOSE,
                                 LIBSOLVER_NON_UNIT},
                                batch.order.at(k), batch.a.at(k), batch.a.ld.at(k));
    };
    deal_items(
        batch.count, FACTOR_WARP, [&](int64_t k) { return batch.order.at(k); },
        [&](int64_t k) { batch.info[k] = 0; },
        [&](int64_t k) {
            const int info = factor_small(at(k), s.warp[threadIdx.x / 32]);
            if (threadIdx.x % 32 == 0)
                batch.info[k] = info;
        },
        [&](int64_t k) {
            const int info = factor_large(at(k), s.block);
            if (threadIdx.x == 0)
                batch.info[k] = info;
        });
}

template <typename T> libsolver_status cholesky_batched(const place_batch<T> &batch, void *stream)
{
    return launch(factor_kernel<T>,
                  {deal_blocks(batch.count,
                               batch.order.each == nullptr && batch.order.same > FACTOR_WARP),
                   TILE_THREADS, (int)sizeof(factor_shared<T>)},
                  stream, batch);
}

#define INSTANCE(T) template libsolver_status cholesky_batched<T>(const place_batch<T> &, void *);
INSTANCE(float)
INSTANCE(double)
INSTANCE(complex_s)
INSTANCE(complex_d)
