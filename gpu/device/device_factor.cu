/* gpu/device/device_factor.cu: the memory of a factor on a device, and its way there through
 * page-locked memory
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/device/device_factor.h"
#include "base/type.h"
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

static cudaError_t open_staging(device_factor *f, int64_t factor_bytes)
{
    const int64_t half = staging_bytes(factor_bytes);
    cudaError_t error = cudaSuccess;
    for (void *&event : f->staged)
        if (!event && error == cudaSuccess) {
            cudaEvent_t fresh;
            error = cudaEventCreateWithFlags(&fresh, cudaEventDisableTiming);
            event = error == cudaSuccess ? fresh : nullptr;
        }
    if (half <= f->half || error != cudaSuccess)
        return error;
    cudaFreeHost(f->staging);
    f->staging = nullptr;
    f->half = 0;
    error = cudaHostAlloc(&f->staging, (size_t)(2 * half), cudaHostAllocDefault);
    f->half = error == cudaSuccess ? half : 0;
    return error;
}

extern "C" libsolver_status device_factor_upload(device_factor *f, const device_factor_shape *shape,
                                                 device_factor_fill *fill, void *user,
                                                 char *sentence, int room)
{
    const current_device here(f->device);
    const cudaStream_t stream = (cudaStream_t)f->stream;
    const int64_t scalars = shape->panel_scalars + (shape->cholesky ? 0 : 2 * (int64_t)shape->n),
                  bytes = scalars * type_bytes(shape->type);
    cudaError_t error = open_staging(f, bytes);
    if (error == cudaSuccess)
        error = device_buffer_grow(&f->values, bytes + 16, &f->allocations);
    f->shape = *shape;
    for (int64_t from = 0, k = 0; from < bytes && error == cudaSuccess; from += f->half, k ^= 1) {
        const int64_t part = bytes - from < f->half ? bytes - from : f->half;
        char *half = static_cast<char *>(f->staging) + k * f->half;
        error = cudaEventSynchronize((cudaEvent_t)f->staged[k]);
        if (error != cudaSuccess)
            break;
        fill(user, from, part, half);
        error = cudaMemcpyAsync(static_cast<char *>(f->values.at) + from, half, (size_t)part,
                                cudaMemcpyHostToDevice, stream);
        if (error == cudaSuccess)
            error = cudaEventRecord((cudaEvent_t)f->staged[k], stream);
    }
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    return status_with(error, sentence, room);
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
