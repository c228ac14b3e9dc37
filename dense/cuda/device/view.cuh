/* dense/cuda/device/view.cuh: every triangle seen as a lower one that is solved forward
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * op(A) x = b with A lower or upper and op none, transpose or conjugate transpose is one problem, L
 * y = c with L lower:
 *   - op(A) lower: L = op(A);
 *   - op(A) upper: L(i,j) = op(A)(n-1-i, n-1-j), y and c reversed: strides change their sign;
 *   - transpose: row and column stride change places;
 *   - conjugate: conj(L) x = b is L conj(x) = conj(b), so only the vector is conjugated.
 * The kernels know strides, not cases.  What remains of a transpose is the direction in
 * which memory is contiguous. */
#ifndef DENSE_CUDA_DEVICE_VIEW_CUH
#define DENSE_CUDA_DEVICE_VIEW_CUH

#include "dense/cuda/device/scalar.cuh"
#include "dense/libsolver_dense.h"

/* L(i,j) = entry[i row + j column], i >= j */
template <typename T> struct triangle_view {
    const T *entry;
    int64_t row, column;
    int n;
    bool unit;
    bool transposed; /* a row, not a column, is contiguous in memory */

    __device__ __forceinline__ const T *at(int i, int j) const
    {
        return entry + i * row + j * column;
    }
};

/* c(i) = entry[i step], conjugated on the way in and out */
template <typename T> struct vector_view {
    T *entry;
    int64_t step;
    bool conjugate;

    __device__ __forceinline__ T load(int i) const
    {
        return conjugate_if(entry[i * step], conjugate);
    }
    __device__ __forceinline__ void store(int i, T v) const
    {
        entry[i * step] = conjugate_if(v, conjugate);
    }
};

/* Which of the cases above a call is; uplo, trans and diag are run-time values in every kernel. */
struct triangle_case {
    libsolver_storage uplo;
    libsolver_transpose trans;
    libsolver_diagonal diag;
};

template <typename T>
INLINE triangle_view<T> view_triangle(triangle_case c, int64_t n, const T *a, int64_t lda)
{
    const bool transposed = c.trans != LIBSOLVER_NO_TRANSPOSE;
    const bool reversed = (c.uplo == LIBSOLVER_UPPER) != transposed;
    const int64_t sign = reversed ? -1 : 1;
    triangle_view<T> view;
    view.entry = reversed && n > 0 ? a + (n - 1) * (lda + 1) : a;
    view.row = transposed ? sign * lda : sign;
    view.column = transposed ? sign : sign * lda;
    view.n = (int)n;
    view.unit = c.diag == LIBSOLVER_UNIT;
    view.transposed = transposed;
    return view;
}

template <typename T>
INLINE vector_view<T> view_vector(triangle_case c, int64_t n, T *x, int64_t incx)
{
    const bool transposed = c.trans != LIBSOLVER_NO_TRANSPOSE;
    const bool reversed = (c.uplo == LIBSOLVER_UPPER) != transposed;
    /* BLAS: entry 0 of a vector with a negative increment lies at the far end */
    T *first = incx < 0 && n > 0 ? x - (n - 1) * incx : x;
    return {reversed && n > 0 ? first + (n - 1) * incx : first, reversed ? -incx : incx,
            c.trans == LIBSOLVER_CONJUGATE_TRANSPOSE};
}

#endif
