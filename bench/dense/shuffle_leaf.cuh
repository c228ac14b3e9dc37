/* bench/dense/shuffle_leaf.cuh: solves and products with small triangles as paper 004 has them, to
 * be compared with ours
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Charara, Keyes, Ltaief, "A framework for dense triangular matrix kernels on various manycore
 * architectures", algorithms 1 and 2: tiles of 32 x 32, left-looking, in place.  A warp has C
 * columns of B, a lane the entry of each in its row; entries of other rows come by shuffles.  Tiles
 * of A are in shared memory, for all warps of the block. */
#ifndef BENCH_DENSE_SHUFFLE_LEAF_CUH
#define BENCH_DENSE_SHUFFLE_LEAF_CUH

#include "dense/cuda/device/scalar.cuh"

constexpr int LEAF_TILE = 32;

/* B := inv(A) B or A B, A lower, from the left; n a multiple of 32.  blockDim: (32, warps); a block
 * for warps * C of the `count` columns. */
template <bool SOLVES, int C, typename T>
__global__ void shuffle_leaf_kernel(int n, int count, const T *a, int64_t lda, T *b, int64_t ldb)
{
    __shared__ T tile[LEAF_TILE][LEAF_TILE + 1];
    const int lane = threadIdx.x, first = C * (int)(blockIdx.x * blockDim.y + threadIdx.y);
    const int rows = n / LEAF_TILE;
    const auto at = [&](int r, int c) {
        return b + LEAF_TILE * r + lane + min(first + c, count - 1) * ldb;
    };
    const auto fetch = [&](int r, int j) {
        __syncthreads();
        for (int k = threadIdx.y; k < LEAF_TILE; k += blockDim.y)
            tile[k][lane] = a[LEAF_TILE * r + lane + (LEAF_TILE * j + k) * lda];
        __syncthreads();
    };
    for (int step = 0; step < rows; step++) {
        const int r = SOLVES ? step : rows - 1 - step;
        T own[C], sum[C], x[C];
#pragma unroll
        for (int c = 0; c < C; c++) {
            own[c] = *at(r, c);
            sum[c] = SOLVES ? own[c] : T{};
        }
        for (int j = 0; j < r; j++) {
            fetch(r, j);
#pragma unroll
            for (int c = 0; c < C; c++)
                x[c] = SOLVES ? -*at(j, c) : *at(j, c);
#pragma unroll
            for (int k = 0; k < LEAF_TILE; k++)
#pragma unroll
                for (int c = 0; c < C; c++)
                    sum[c] = multiply_add(sum[c], tile[k][lane], shuffle(x[c], k));
        }
        fetch(r, r);
        const T reciprocal = SOLVES ? divide(from_real<T>(1), tile[lane][lane]) : T{};
#pragma unroll
        for (int k = 0; k < LEAF_TILE; k++)
#pragma unroll
            for (int c = 0; c < C; c++) {
                const T v = shuffle(SOLVES ? multiply(-sum[c], reciprocal) : own[c], k);
                if (SOLVES ? lane > k : lane >= k)
                    sum[c] = multiply_add(sum[c], tile[k][lane], v);
            }
#pragma unroll
        for (int c = 0; c < C; c++)
            if (first + c < count)
                *at(r, c) = SOLVES ? multiply(sum[c], reciprocal) : sum[c];
        __syncwarp();
    }
}

template <bool SOLVES, int C, typename T>
void shuffle_leaf(int warps, int n, int64_t count, const T *a, int64_t lda, T *b, int64_t ldb,
                  cudaStream_t stream)
{
    const int64_t columns = warps * C;
    shuffle_leaf_kernel<SOLVES, C>
        <<<(unsigned)((count - 1) / columns + 1), dim3(LEAF_TILE, (unsigned)warps), 0, stream>>>(
            n, (int)count, a, lda, b, ldb);
}

#endif
