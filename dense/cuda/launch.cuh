/* dense/cuda/launch.cuh: host side: choosing the instance for a type, shared memory, clusters, statuses
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DENSE_CUDA_LAUNCH_CUH
#define DENSE_CUDA_LAUNCH_CUH

#include "dense/cuda/scalar.cuh"
#include "dense/libsolver_dense.h"
#include <cuda_runtime.h>

/* call(T{}) for the type; INVALID for another. */
template <typename Call> libsolver_status with_type(libsolver_type type, Call call)
{
    switch (type) {
    case LIBSOLVER_D: return call(double{});
    case LIBSOLVER_S: return call(float{});
    case LIBSOLVER_Z: return call(complex_d{});
    case LIBSOLVER_C: return call(complex_s{});
    }
    return LIBSOLVER_INVALID;
}

static inline libsolver_status status_of(cudaError_t error)
{
    if (error == cudaSuccess)
        return LIBSOLVER_OK;
    cudaGetLastError(); /* leave nothing behind for the caller's next call */
    return LIBSOLVER_CUDA;
}

/* kernel<<<blocks, threads, shared, stream>>> with clusters of `cluster` blocks (0: none).  The attributes are set at
 * every launch, which costs a look-up and keeps no state. */
template <typename... Parameters, typename... Arguments>
libsolver_status launch(void (*kernel)(Parameters...), int64_t blocks, int threads, int shared, int cluster, void *stream,
                        Arguments... arguments)
{
    cudaError_t error = cudaSuccess;
    if (shared > 48 * 1024) /* the limit without asking */
        error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    if (error == cudaSuccess && cluster > 8) /* the portable limit */
        error = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    if (error != cudaSuccess)
        return status_of(error);
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = (unsigned)cluster;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)blocks);
    config.blockDim = dim3((unsigned)threads);
    config.dynamicSmemBytes = (size_t)shared;
    config.stream = (cudaStream_t)stream;
    config.attrs = &attribute;
    config.numAttrs = cluster > 0 ? 1 : 0;
    return status_of(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...));
}

#endif
