/* dense/cuda/trsv/trsv_prepared.cu: solves with a prepared triangle
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense/cuda/trsv/forms.h"
#include "dense/cuda/device/launch.cuh"
#include "dense/cuda/trsv/strips.cuh"

/* So many clusters of 8 blocks, one an SM, are resident on an H100 or H200 together: 132 SMs in
 * groups of 16 and 18. */
constexpr int CLUSTERS_TOGETHER = 14;

template <typename T>
__global__ void __launch_bounds__(STRIP_THREADS, 1)
    strips_kernel(const T *strips, int n, vector_view<T> x, workspace_head *head, int clusters,
                  bool together)
{
    extern __shared__ __align__(128) unsigned char memory[];
    const strips_grid grid = {head, reinterpret_cast<packet_word *>(head + 1), clusters, together};
    strips_solve(strips, n, x, grid, *reinterpret_cast<strips_shared<T> *>(memory));
}

template <typename T> int64_t prepared_block()
{
    return strip_shape<T>::BLOCK;
}

template <typename T>
libsolver_status trsv_strips(const T *strips, int n, vector_view<T> x, void *workspace,
                             void *stream)
{
    using S = strip_shape<T>;
    const int count = (int)strip_count(n), cluster = count < S::CLUSTER ? count : S::CLUSTER;
    const int clusters = (count + cluster - 1) / cluster;
    auto *head = static_cast<workspace_head *>(workspace);
    launch_shape shape = {(int64_t)clusters * cluster, STRIP_THREADS, sizeof(strips_shared<T>),
                          cluster, true};
    libsolver_status status = LIBSOLVER_CUDA;
    if (clusters > 1 && clusters <= CLUSTERS_TOGETHER)
        status = launch(strips_kernel<T>, shape, stream, strips, n, x, head, clusters, true);
    shape.together = false;
    /* the device may be smaller than thought: nothing was launched then */
    return status == LIBSOLVER_OK
               ? status
               : launch(strips_kernel<T>, shape, stream, strips, n, x, head, clusters, false);
}

#define INSTANCE(T) \
    template int64_t prepared_block<T>(); \
    template libsolver_status trsv_strips<T>(const T *, int, vector_view<T>, void *, void *);
INSTANCE(float)
INSTANCE(double)
INSTANCE(complex_s)
INSTANCE(complex_d)
