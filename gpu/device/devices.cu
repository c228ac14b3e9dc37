/* gpu/device/devices.cu: the CUDA devices of this machine
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/device/devices.h"
#include <cstring>
#include <cuda_runtime.h>

extern "C" libsolver_status gpu_device_count(int *count)
{
    *count = 0;
    const cudaError_t error = cudaGetDeviceCount(count);
    if (error == cudaSuccess)
        return LIBSOLVER_OK;
    cudaGetLastError(); /* leave no error behind for the caller's next call */
    *count = 0;
    return error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ? LIBSOLVER_OK
                                                                              : LIBSOLVER_CUDA;
}

extern "C" libsolver_status gpu_device_describe(int i, gpu_device *device)
{
    cudaDeviceProp properties;
    if (cudaGetDeviceProperties(&properties, i) != cudaSuccess)
        return LIBSOLVER_CUDA;
    static_assert(sizeof device->name == sizeof properties.name, "room for CUDA's device name");
    memcpy(device->name, properties.name, sizeof device->name);
    device->compute_major = properties.major;
    device->compute_minor = properties.minor;
    device->multiprocessors = properties.multiProcessorCount;
    device->bytes = (int64_t)properties.totalGlobalMem;
    return LIBSOLVER_OK;
}
