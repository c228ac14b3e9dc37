/* dense/cuda/batched/batch.h: batches as the public calls hand them to the kernels
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DENSE_CUDA_BATCHED_BATCH_H
#define DENSE_CUDA_BATCHED_BATCH_H

#include "dense/cuda/device/view.cuh"

/* A number for each item: the same for all, or on the device. */
struct batch_number {
    int64_t same; /* with `each`: a bound */
    const int64_t *each;

    __device__ __forceinline__ int64_t at(int64_t k) const
    {
        return each != nullptr ? each[k] : same;
    }
};

/* A matrix for each item: behind each other at a stride, or by pointers on the device. */
template <typename T> struct batch_matrix {
    T *first;
    int64_t stride;
    T *const *each;
    batch_number ld;

    __device__ __forceinline__ T *at(int64_t k) const
    {
        return each != nullptr ? each[k] : first + k * stride;
    }
};

/* op(A) X = B, or X op(A) = B, X over B; or alpha op(A) B or alpha B op(A) over B.  order, columns:
 * of A, and of B seen from the left. */
template <typename T> struct solve_batch {
    triangle_case c;
    bool right;
    batch_number order, columns;
    batch_matrix<const T> a;
    batch_matrix<T> b;
    int64_t incx; /* 0: B is a matrix; otherwise a vector of this increment */
    int64_t count;
};

/* In place: A := inv(A), or its Cholesky factor, when info is what is asked for. */
template <typename T> struct place_batch {
    libsolver_storage uplo;
    libsolver_diagonal diag;
    batch_number order;
    batch_matrix<T> a;
    int *info;
    int64_t count;
};

/* Arguments checked, count > 0.  stream: a cudaStream_t. */
template <typename T> libsolver_status solve_batched(const solve_batch<T> &batch, void *stream);
template <typename T>
libsolver_status multiply_batched(const solve_batch<T> &batch, T alpha, void *stream);
template <typename T> libsolver_status invert_batched(const place_batch<T> &batch, void *stream);
template <typename T> libsolver_status cholesky_batched(const place_batch<T> &batch, void *stream);

#endif
