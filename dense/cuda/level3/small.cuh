/* dense/cuda/level3/small.cuh: kernels of what is not a product
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DENSE_CUDA_LEVEL3_SMALL_CUH
#define DENSE_CUDA_LEVEL3_SMALL_CUH

#include "dense/cuda/device/scalar.cuh"
#include "dense/libsolver_dense.h"

constexpr int SMALL_THREADS = 256, STRIP = 64;

/* Blocks of threads for m x n entries, an entry each but for very large matrices. */
static inline int64_t small_blocks(int64_t m, int64_t n)
{
    const int64_t blocks = (m * n + SMALL_THREADS - 1) / SMALL_THREADS;
    return blocks < 8192 ? blocks : 8192;
}

/* visit(i, j) for the m x n entries, by columns. */
template <typename F> __device__ __forceinline__ void for_entries(int64_t m, int64_t n, F visit)
{
    for (int64_t e = (int64_t)blockIdx.x * SMALL_THREADS + threadIdx.x; e < m * n;
         e += (int64_t)gridDim.x * SMALL_THREADS)
        visit(e % m, e / m);
}

template <typename T> __global__ void scale_kernel(T alpha, int64_t m, int64_t n, T *b, int64_t ldb)
{
    for_entries(m, n,
                [&](int64_t i, int64_t j) { b[i + j * ldb] = multiply(alpha, b[i + j * ldb]); });
}

/* Diagonal blocks of order `leaf`, the last one smaller, behind each other, each with that leading
 * dimension, and zeros for the other triangle. */
template <typename T>
__global__ void take_blocks_kernel(libsolver_storage uplo, int64_t n, int64_t leaf, const T *a,
                                   int64_t lda, T *blocks)
{
    for_entries(leaf, n, [&](int64_t k, int64_t j) {
        const int64_t i = j / leaf * leaf + k;
        const bool stored = i < n && (uplo == LIBSOLVER_LOWER ? i >= j : i <= j);
        blocks[k + j * leaf] = stored ? a[i + j * lda] : T{};
    });
}

/* info of a factorization from those of its leading n columns and of the rest. */
static __global__ void join_info_kernel(int *info, const int *rest, int n)
{
    if (threadIdx.x == 0 && *info == 0 && *rest != 0)
        *info = n + *rest;
}

#endif
