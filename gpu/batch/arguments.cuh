/* gpu/batch/arguments.cuh: what kernels of a batch are given
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_BATCH_ARGUMENTS_CUH
#define GPU_BATCH_ARGUMENTS_CUH

#include "dense/cuda/device/scalar.cuh"
#include "gpu/batch/batch_tables.h"

/* Blocks or values of all items; row and column: steps of a block, in scalars. */
template <typename T> struct item_blocks {
    T *values;
    T *const *items;                     /* NULL: strided */
    int64_t stride, row, column, offset; /* offset: of the first scalar of a block */

    __device__ __forceinline__ T *of(int64_t item) const
    {
        return (items ? items[item] : values + item * stride) + offset;
    }
};

template <typename T> struct batch_arguments {
    const batch_front *front;
    const int32_t *row, *shared, *top_row, *row_of; /* see batch_tables; shared: of blocks */
    batch_share share;
    int32_t n, fronts;
    bool hermitian; /* A = A^H, no difference for real types */
    int64_t pivots; /* L D L^T: scalars before the diagonal of D behind the panels; -1: Cholesky */
    const int32_t *item; /* of this launch */
    int32_t items;
    int64_t columns;
    const T *panel;
    const real_of<T> *scale;          /* by rows of A */
    int64_t panel_bytes, scale_bytes; /* from one item to the next */
    T *work;                          /* places() for each item, in the order of P A P^T */
    item_blocks<T> b, x;

    /* Scalars of a solution that a block works on. */
    __host__ __device__ __forceinline__ int64_t places() const
    {
        return n + (int64_t)share.parts * share.top;
    }

    __device__ __forceinline__ const T *panel_of(int64_t i) const
    {
        return reinterpret_cast<const T *>(reinterpret_cast<const char *>(panel) + i * panel_bytes);
    }
    __device__ __forceinline__ const real_of<T> *scale_of(int64_t i) const
    {
        return reinterpret_cast<const real_of<T> *>(reinterpret_cast<const char *>(scale) +
                                                    i * scale_bytes);
    }
};

#endif
