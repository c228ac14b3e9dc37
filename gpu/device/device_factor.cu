/* gpu/device/device_factor.cu: the memory of a factor on a device, and its way there through
 * page-locked memory
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/device/device_factor.h"
#include "gpu/device/device.cuh"

/* Bytes of each half of the page-locked buffer for a factor of so many bytes: opening it takes
 * 0.4 ms a MB, a copy through it 0.04, but a third more through halves of 2 MB than of 8. */
static int64_t staging_bytes(int64_t bytes)
{
    const int64_t least = 2 << 20, most = 8 << 20,
                  half = bytes / 32 < least  ? least
                         : bytes / 32 > most ? most
                                             : bytes / 32;
    return ((bytes < half ? bytes : half) + 65535) / 65536 * 65536;
}

static libsolver_status open_staging(device_factor *f, message *why)
{
    const int64_t half = staging_bytes(device_factor_bytes(&f->shape));
    for (void *&event : f->staged)
        if (!event) {
            cudaEvent_t fresh;
            TRY(CUDA_STATUS(cudaEventCreateWithFlags(&fresh, cudaEventDisableTiming),
                            "creating an event", why));
            event = fresh;
        }
    if (half <= f->half)
        return LIBSOLVER_OK;
    cudaFreeHost(f->staging);
    f->staging = nullptr;
    f->half = 0;
    TRY(page_locked_allocate(&f->staging, 2 * half, cudaHostAllocDefault, "copying the factor",
                             why));
    f->half = half;
    return LIBSOLVER_OK;
}

/* One part of the way to the device: through this half of the staging buffer. */
static cudaError_t send_part(const device_factor *f, int64_t from, int64_t part, int k,
                             device_factor_copy *fill, void *user)
{
    const cudaStream_t stream = (cudaStream_t)f->stream;
    char *half = static_cast<char *>(f->staging) + k * f->half;
    cudaError_t error = cudaEventSynchronize((cudaEvent_t)f->staged[k]);
    if (error != cudaSuccess)
        return error;
    fill(user, from, part, half);
    error = cudaMemcpyAsync(static_cast<char *>(f->values.at) + from, half, (size_t)part,
                            cudaMemcpyHostToDevice, stream);
    return error == cudaSuccess ? cudaEventRecord((cudaEvent_t)f->staged[k], stream) : error;
}

extern "C" libsolver_status device_factor_take(device_factor *f, const device_factor_shape *shape,
                                               message *why)
{
    const current_device here(f->device);
    f->shape = *shape;
    return device_buffer_reserve(&f->values, device_factor_bytes(shape) + 16, &f->allocations,
                                 "the factor", why);
}

extern "C" libsolver_status device_factor_upload(device_factor *f, device_factor_copy *fill,
                                                 void *user, message *why)
{
    const current_device here(f->device);
    const int64_t bytes = device_factor_bytes(&f->shape);
    cudaError_t error = cudaSuccess;
    TRY(open_staging(f, why));
    int k = 0; /* half of the staging buffer */
    for (int64_t from = 0; from < bytes && error == cudaSuccess; from += f->half, k ^= 1)
        error = send_part(f, from, bytes - from < f->half ? bytes - from : f->half, k, fill, user);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize((cudaStream_t)f->stream);
    return CUDA_STATUS(error, "copying the factor to the device", why);
}

/* One half is on its way while the other is drained. */
extern "C" libsolver_status device_factor_download(device_factor *f, device_factor_copy *drain,
                                                   void *user, message *why)
{
    const current_device here(f->device);
    const cudaStream_t stream = (cudaStream_t)f->stream;
    const int64_t bytes = device_factor_bytes(&f->shape);
    cudaError_t error = cudaSuccess;
    TRY(open_staging(f, why));
    const auto part = [&](int64_t from) { return bytes - from < f->half ? bytes - from : f->half; };
    int k = 0;
    for (int64_t from = 0; from < bytes + f->half && error == cudaSuccess;
         from += f->half, k ^= 1) {
        char *half = static_cast<char *>(f->staging) + k * f->half;
        if (from < bytes) {
            error = cudaMemcpyAsync(half, static_cast<char *>(f->values.at) + from,
                                    (size_t)part(from), cudaMemcpyDeviceToHost, stream);
            if (error == cudaSuccess)
                error = cudaEventRecord((cudaEvent_t)f->staged[k], stream);
        }
        const int64_t before = from - f->half;
        if (before < 0 || before >= bytes || error != cudaSuccess)
            continue;
        error = cudaEventSynchronize((cudaEvent_t)f->staged[k ^ 1]);
        if (error == cudaSuccess)
            drain(user, before, part(before), static_cast<char *>(f->staging) + (k ^ 1) * f->half);
    }
    return CUDA_STATUS(error, "copying the factor from the device", why);
}

extern "C" void device_factor_drop(device_factor *f)
{
    const current_device here(f->device);
    device_buffer_free(&f->values);
}

extern "C" void device_factor_release(device_factor *f)
{
    const current_device here(f->device);
    device_buffer_free(&f->values);
    cudaFreeHost(f->staging);
    f->staging = nullptr;
    f->half = 0;
    for (void *&event : f->staged) {
        if (event)
            cudaEventDestroy((cudaEvent_t)event);
        event = nullptr;
    }
}
