/* dense/cuda/device/launch.cuh: host side: choosing the instance for a type, shared memory,
 * clusters, statuses
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DENSE_CUDA_DEVICE_LAUNCH_CUH
#define DENSE_CUDA_DEVICE_LAUNCH_CUH

#include "dense/cuda/device/scalar.cuh"
#include "libsolver_types.h"
#include <cuda_runtime.h>

/* call(T{}) for the type; INVALID for another. */
template <typename Call> libsolver_status with_type(libsolver_type type, Call call)
{
    switch (type) {
    case LIBSOLVER_D:
        return call(double{});
    case LIBSOLVER_S:
        return call(float{});
    case LIBSOLVER_Z:
        return call(complex_d{});
    case LIBSOLVER_C:
        return call(complex_s{});
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

/* together: all blocks are resident at once or the launch fails, so that any may wait for any */
struct launch_shape {
    int64_t blocks;
    int threads, shared = 0;
    int cluster = 0; /* blocks of a cluster, 0: none */
    bool together = false;
    bool overlaps = false; /* it may begin before the kernel before it on the stream has ended, and
                              waits where it needs that (griddepcontrol) */
};

/* kernel<<<...>>>.  The attributes are set at every launch, which costs a look-up and keeps no
 * state. */
template <typename... Parameters, typename... Arguments>
cudaError_t launch_kernel(void (*kernel)(Parameters...), launch_shape shape, void *stream,
                          Arguments... arguments)
{
    cudaError_t error = cudaSuccess;
    if (shape.shared > 48 * 1024) /* the limit without asking */
        error =
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shape.shared);
    if (error == cudaSuccess && shape.cluster > 8) /* the portable limit */
        error = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    if (error != cudaSuccess)
        return error;
    cudaLaunchAttribute attribute[3] = {};
    unsigned count = 0;
    if (shape.cluster > 0) {
        attribute[count].id = cudaLaunchAttributeClusterDimension;
        attribute[count].val.clusterDim.x = (unsigned)shape.cluster;
        attribute[count].val.clusterDim.y = attribute[count].val.clusterDim.z = 1;
        count++;
    }
    if (shape.together) {
        attribute[count].id = cudaLaunchAttributeCooperative;
        attribute[count].val.cooperative = 1;
        count++;
    }
    if (shape.overlaps) {
        attribute[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attribute[count].val.programmaticStreamSerializationAllowed = 1;
        count++;
    }
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)shape.blocks);
    config.blockDim = dim3((unsigned)shape.threads);
    config.dynamicSmemBytes = (size_t)shape.shared;
    config.stream = (cudaStream_t)stream;
    config.attrs = attribute;
    config.numAttrs = count;
    return cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...);
}

/* The same, without CUDA's reason. */
template <typename... Parameters, typename... Arguments>
libsolver_status launch(void (*kernel)(Parameters...), launch_shape shape, void *stream,
                        Arguments... arguments)
{
    return status_of(launch_kernel(kernel, shape, stream, arguments...));
}

#endif
