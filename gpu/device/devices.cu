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

/* There is code for a device if there is some of this. */
static __global__ void nothing() {}

extern "C" libsolver_status gpu_device_check(int i, message *why)
{
    gpu_device device;
    TRY(gpu_device_describe(i, &device, why));
    TRY(gpu_device_suits(i, &device, why));
    const current_device here(i);
    cudaFuncAttributes attributes;
    const cudaError_t error = cudaFuncGetAttributes(&attributes, nothing);
    if (error != cudaErrorNoKernelImageForDevice && error != cudaErrorUnsupportedPtxVersion)
        return LAUNCH_STATUS(error, "looking for code for a device", why);
    cudaGetLastError();
    return FAIL(why, LIBSOLVER_NOT_BUILT,
                "this build has no code for device %d, %.60s, of compute capability %d.%d: see its "
                "option gpu_arch",
                i, device.name, device.compute_major, device.compute_minor);
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
