/* gpu/device/device.cuh: host side: the current device, statuses with CUDA's sentences, parts of an
 * allocation and copies to them
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_DEVICE_DEVICE_CUH
#define GPU_DEVICE_DEVICE_CUH

#include "gpu/device/device_buffer.h"
#include "gpu/device/device_failure.h"
#include <cstdint>
#include <cuda_runtime.h>

/* Makes a device current until it goes. */
struct current_device {
    int before = -1;
    explicit current_device(int device)
    {
        cudaGetDevice(&before);
        if (before != device)
            cudaSetDevice(device);
    }
    ~current_device()
    {
        int now = -1;
        if (cudaGetDevice(&now) == cudaSuccess && now != before && before >= 0)
            cudaSetDevice(before);
    }
};

/* The status of a CUDA call; if it failed, the message names the step and ends with CUDA's
 * sentence. CUDA_STATUS: of calls that may need memory, OUT_OF_DEVICE_MEMORY where they get none.
 * LAUNCH_STATUS: of launches, and of what is put on a stream with them, always CUDA. */
#define CUDA_STATUS(error, step, why) \
    cuda_status(error, LIBSOLVER_OUT_OF_DEVICE_MEMORY, step, why, __FILE__, __LINE__)
#define LAUNCH_STATUS(error, step, why) \
    cuda_status(error, LIBSOLVER_CUDA, step, why, __FILE__, __LINE__)

static inline libsolver_status cuda_status(cudaError_t error, libsolver_status without_memory,
                                           const char *step, message *why, const char *file,
                                           int line)
{
    if (error == cudaSuccess)
        return LIBSOLVER_OK;
    cudaGetLastError(); /* leave nothing behind for the caller's next call */
    return message_set(why, error == cudaErrorMemoryAllocation ? without_memory : LIBSOLVER_CUDA,
                       file, line, "%s failed: %s", step, cudaGetErrorString(error));
}

/* Memory of the current device for this object; *at is NULL if that fails. */
static inline libsolver_status device_allocate(void **at, int64_t bytes, const char *object,
                                               message *why)
{
    const cudaError_t error = cudaMalloc(at, (size_t)bytes);
    size_t free_bytes = 0, all = 0;
    if (error == cudaSuccess)
        return LIBSOLVER_OK;
    *at = nullptr;
    cudaGetLastError();
    if (error == cudaErrorMemoryAllocation && cudaMemGetInfo(&free_bytes, &all) == cudaSuccess)
        return NO_DEVICE_MEMORY(why, object, bytes, free_bytes);
    cudaGetLastError();
    return FAIL(why,
                error == cudaErrorMemoryAllocation ? LIBSOLVER_OUT_OF_DEVICE_MEMORY
                                                   : LIBSOLVER_CUDA,
                "%s wanted %lld bytes of device memory: %s", object, (long long)bytes,
                cudaGetErrorString(error));
}

/* Page-locked memory of the host, likewise; flags: of cudaHostAlloc. */
static inline libsolver_status page_locked_allocate(void **at, int64_t bytes, unsigned flags,
                                                    const char *object, message *why)
{
    const cudaError_t error = cudaHostAlloc(at, (size_t)bytes, flags);
    if (error == cudaSuccess)
        return LIBSOLVER_OK;
    *at = nullptr;
    cudaGetLastError();
    return NO_PAGE_LOCKED_MEMORY(why,
                                 error == cudaErrorMemoryAllocation ? LIBSOLVER_OUT_OF_DEVICE_MEMORY
                                                                    : LIBSOLVER_CUDA,
                                 object, bytes, cudaGetErrorString(error));
}

static inline void device_buffer_free(device_buffer *b)
{
    cudaFree(b->at);
    *b = {};
}

/* Room for so many bytes of this object; what was there is lost where that takes an allocation,
 * which is counted. */
static inline libsolver_status device_buffer_reserve(device_buffer *b, int64_t bytes,
                                                     int64_t *allocations, const char *object,
                                                     message *why)
{
    if (bytes <= b->bytes)
        return LIBSOLVER_OK;
    device_buffer_free(b);
    ++*allocations;
    TRY(device_allocate(&b->at, bytes, object, why));
    b->bytes = bytes;
    return LIBSOLVER_OK;
}

/* What a part of an allocation takes, so that the next one begins where any type may. */
static inline int64_t part_bytes(int64_t size)
{
    return (size + 255) / 256 * 256;
}

/* Parts of one allocation, one behind the other. */
struct parts {
    int64_t bytes = 0;
    int64_t place(int64_t size)
    {
        const int64_t at = bytes;
        bytes += part_bytes(size);
        return at;
    }
};

/* Copies of arrays behind each other in a buffer that is large enough; one that is NULL only gets
 * its place. */
struct uploader {
    char *base = nullptr;
    bool copies = false; /* otherwise they are only given their places */
    cudaStream_t stream = nullptr;
    parts all;
    cudaError_t error = cudaSuccess;

    template <typename S> const S *put(const S *from, int64_t count)
    {
        const int64_t at = all.place(count * (int64_t)sizeof(S));
        if (count > 0 && from && copies && error == cudaSuccess)
            error = cudaMemcpyAsync(base + at, from, (size_t)count * sizeof(S),
                                    cudaMemcpyHostToDevice, stream);
        return reinterpret_cast<const S *>(base + at);
    }
};

#endif
