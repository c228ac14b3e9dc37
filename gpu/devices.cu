/* gpu/devices.cu: the CUDA devices of this machine
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/devices.h"
#include <cstdio>
#include <cuda_runtime.h>

extern "C" libsolver_status gpu_devices(int capacity, gpu_device *devices, int *count)
{
    *count = 0;
    const cudaError_t error = cudaGetDeviceCount(count);
    if (error != cudaSuccess) {
        cudaGetLastError(); /* leave no error behind for the caller's next call */
        *count = 0;
        const bool none = error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver;
        return none ? LIBSOLVER_OK : LIBSOLVER_CUDA;
    }
    for (int i = 0; i < *count && i < capacity; i++) {
        cudaDeviceProp properties;
        if (cudaGetDeviceProperties(&properties, i) != cudaSuccess)
            return LIBSOLVER_CUDA;
        snprintf(devices[i].name, sizeof devices[i].name, "%s", properties.name);
        devices[i].compute_major = properties.major;
        devices[i].compute_minor = properties.minor;
        devices[i].multiprocessors = properties.multiProcessorCount;
        devices[i].bytes = (int64_t)properties.totalGlobalMem;
    }
    return LIBSOLVER_OK;
}
