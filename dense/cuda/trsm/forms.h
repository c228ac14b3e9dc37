/* dense/cuda/trsm/forms.h: one shot and prepared, as the public calls choose between them
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DENSE_CUDA_TRSM_FORMS_H
#define DENSE_CUDA_TRSM_FORMS_H

#include "dense/cuda/device/view.cuh"

/* Right-hand sides that one launch solves with at most. */
constexpr int MOST_SIDES = 64;
/* Order of the diagonal blocks that preparation inverts. */
constexpr int PREPARED_BLOCK = 256;

/* The right-hand sides of L Y = alpha C: entry i of side k is entry[i row + k column], conjugated
 * on the way in and out. */
template <typename T> struct sides_view {
    T *entry;
    int64_t row, column;
    int count;
    T alpha;
    bool conjugate;

    __device__ __forceinline__ T load(int i, int k) const
    {
        return conjugate_if(multiply(alpha, entry[i * row + k * column]), conjugate);
    }
    __device__ __forceinline__ void store(int i, int k, T v) const
    {
        entry[i * row + k * column] = conjugate_if(v, conjugate);
    }
};

/* n > 0, 0 < count <= MOST_SIDES, arguments checked.  stream: a cudaStream_t. */
template <typename T>
libsolver_status trsm_rows(triangle_view<T> L, sides_view<T> b, void *workspace, void *stream);

/* What a prepared triangle's storage holds, in this order: the growth of each diagonal block, the
 * tiles, two sets of inverses that only preparation needs. */
template <typename T> struct prepared_layout {
    int64_t tiles, inverses, more, bytes; /* offsets in bytes; all of it */
};
template <typename T> prepared_layout<T> trsm_prepared_layout(int64_t n);
template <typename T>
libsolver_status trsm_prepare(triangle_view<T> L, void *storage, double limit, void *stream);
template <typename T>
libsolver_status trsm_prepared(const void *storage, int n, double limit, sides_view<T> b,
                               void *workspace, void *stream);

#endif
