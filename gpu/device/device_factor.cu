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

static libsolver_status open_staging(device_factor *f, int64_t factor_bytes, message *why)
{
    const int64_t half = staging_bytes(factor_bytes);
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
    TRY(page_locked_allocate(&f->staging, 2 * half, cudaHostAllocDefault,
                             "copying the factor to the device", why));
    f->half = half;
    return LIBSOLVER_OK;
}

/* The k-th part of the way: through this half of the staging buffer. */
static cudaError_t send_part(const device_factor *f, int64_t from, int64_t part, int k,
                             device_factor_fill *fill, void *user)
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

extern "C" libsolver_status device_factor_upload(device_factor *f, const device_factor_shape *shape,
                                                 device_factor_fill *fill, void *user, message *why)
{
    const current_device here(f->device);
    const int64_t scalars = shape->panel_scalars + (shape->cholesky ? 0 : 2 * (int64_t)shape->n),
                  bytes = scalars * type_bytes(shape->type);
    cudaError_t error = cudaSuccess;
    f->shape = *shape;
    TRY(open_staging(f, bytes, why));
    TRY(device_buffer_reserve(&f->values, bytes + 16, &f->allocations, "the factor", why));
    int k = 0; /* half of the staging buffer */
    for (int64_t from = 0; from < bytes && error == cudaSuccess; from += f->half, k ^= 1)
        error = send_part(f, from, bytes - from < f->half ? bytes - from : f->half, k, fill, user);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize((cudaStream_t)f->stream);
    return CUDA_STATUS(error, "copying the factor to the device", why);
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
