/* dense/cuda/trsv/trsv_counter.cu: the one-kernel form COUNTER
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense/cuda/trsv/forms.h"
#include "dense/cuda/trsv/counter.cuh"
#include "dense/cuda/trsv/rows_launch.cuh"

template <typename T>
libsolver_status trsv_counter(triangle_view<T> L, vector_view<T> x, void *workspace,
                              const libsolver_trsv_options &options, void *stream)
{
    return rows_launch<T, counter_link<T>>(
        L, x, {static_cast<workspace_head *>(workspace), x, L.n, row_count(L.n)}, 0, options,
        stream);
}

#define INSTANCE(T) \
    template libsolver_status trsv_counter<T>(triangle_view<T>, vector_view<T>, void *, \
                                              const libsolver_trsv_options &, void *);
INSTANCE(float)
INSTANCE(double)
INSTANCE(complex_s)
INSTANCE(complex_d)
