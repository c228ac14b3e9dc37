/* dense/cuda/trsv/trsv_rows.cu: the one-kernel forms GRID and CLUSTER
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense/cuda/trsv/forms.h"
#include "dense/cuda/trsv/links.cuh"
#include "dense/cuda/trsv/rows_launch.cuh"

template <typename T>
libsolver_status trsv_grid(triangle_view<T> L, vector_view<T> x, void *workspace,
                           const libsolver_trsv_options &options, void *stream)
{
    return rows_launch<T, grid_link<T>>(
        L, x, {static_cast<workspace_head *>(workspace), packets_of(workspace), row_count(L.n)}, 0,
        options, stream);
}

template <typename T>
libsolver_status trsv_cluster(triangle_view<T> L, vector_view<T> x, void *workspace,
                              const libsolver_trsv_options &options, void *stream)
{
    const int rows = row_count(L.n);
    if (rows <= CLUSTER_BLOCKS)
        return rows_launch<T, cluster_link<T>>(L, x, {rows}, rows, options, stream);
    return rows_launch<T, clusters_link<T>>(
        L, x, {static_cast<workspace_head *>(workspace), packets_of(workspace), rows},
        CLUSTER_BLOCKS, options, stream);
}

#define INSTANCE(T) \
    template libsolver_status trsv_grid<T>(triangle_view<T>, vector_view<T>, void *, \
                                           const libsolver_trsv_options &, void *); \
    template libsolver_status trsv_cluster<T>(triangle_view<T>, vector_view<T>, void *, \
                                              const libsolver_trsv_options &, void *);
INSTANCE(float)
INSTANCE(double)
INSTANCE(complex_s)
INSTANCE(complex_d)
