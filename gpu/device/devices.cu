/* gpu/device/devices.cu: the CUDA devices of this machine
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/device/devices.h"
#include "gpu/device/device.cuh"
#include <cstring>

extern "C" libsolver_status gpu_device_count(int *count, message *why)
{
    *count = 0;
    const cudaError_t error = cudaGetDeviceCount(count);
    if (error == cudaSuccess)
        return LIBSOLVER_OK;
    *count = 0;
    if (error != cudaErrorNoDevice && error != cudaErrorInsufficientDriver)
        return LAUNCH_STATUS(error, "counting the devices", why);
    cudaGetLastError(); /* leave no error behind for the caller's next call */
    return LIBSOLVER_OK;
}

extern "C" libsolver_status gpu_device_describe(int i, gpu_device *device, message *why)
{
    cudaDeviceProp properties;
    TRY(LAUNCH_STATUS(cudaGetDeviceProperties(&properties, i), "asking for a device's properties",
                      why));
    static_assert(sizeof device->name == sizeof properties.name, "room for CUDA's device name");
    memcpy(device->name, properties.name, sizeof device->name);
    device->compute_major = properties.major;
    device->compute_minor = properties.minor;
    device->multiprocessors = properties.multiProcessorCount;
    device->bytes = (int64_t)properties.totalGlobalMem;
    return LIBSOLVER_OK;
}

extern "C" libsolver_status gpu_device_read(int device, void *stream, const void *from,
                                            int64_t bytes, void *to, message *why)
{
    const current_device here(device);
    cudaError_t error = cudaSuccess;
    if (bytes > 0)
        error =
            cudaMemcpyAsync(to, from, (size_t)bytes, cudaMemcpyDeviceToHost, (cudaStream_t)stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize((cudaStream_t)stream);
    return LAUNCH_STATUS(error, "copying a matrix from the device", why);
}
