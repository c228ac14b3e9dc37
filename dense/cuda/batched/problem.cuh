/* dense/cuda/batched/problem.cuh: an item of a batch as the kernels see it, from the left and lower
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DENSE_CUDA_BATCHED_PROBLEM_CUH
#define DENSE_CUDA_BATCHED_PROBLEM_CUH

#include "dense/cuda/batched/batch.h"
#include "dense/cuda/batched/columns.cuh"

template <typename T> struct problem {
    triangle_view<T> L;
    given_columns<T> x;
};

/* Item k, seen as L X = B: X op(A) = B is op(A)^T X^T = B^T; of products likewise. */
template <typename T>
__device__ __forceinline__ problem<T> problem_at(const solve_batch<T> &batch, int64_t k)
{
    triangle_case c = batch.c;
    if (batch.right)
        c.trans = c.trans == LIBSOLVER_NO_TRANSPOSE ? LIBSOLVER_TRANSPOSE : LIBSOLVER_NO_TRANSPOSE;
    const int64_t n = batch.order.at(k), ldb = batch.b.ld.at(k);
    const int64_t step = batch.incx != 0 ? batch.incx : batch.right ? ldb : 1;
    const vector_view<T> first = view_vector(c, n, batch.b.at(k), step);
    return {view_triangle(c, n, batch.a.at(k), batch.a.ld.at(k)),
            {first.entry, first.step, batch.right ? 1 : ldb, (int)batch.columns.at(k),
             batch.c.trans == LIBSOLVER_CONJUGATE_TRANSPOSE}};
}

#endif
