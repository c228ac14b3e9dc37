/* gpu/device/device.cuh: host side: the current device, statuses with CUDA's sentences, parts of an
 * allocation and copies to them
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_DEVICE_DEVICE_CUH
#define GPU_DEVICE_DEVICE_CUH

#include "gpu/device/device_buffer.h"
#include "libsolver_types.h"
#include <cstdint>
#include <cstdio>
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

static inline libsolver_status status_with(cudaError_t error, char *sentence, int room)
{
    if (error == cudaSuccess)
        return LIBSOLVER_OK;
    cudaGetLastError(); /* leave nothing behind for the caller's next call */
    snprintf(sentence, (size_t)room, "%s", cudaGetErrorString(error));
    return error == cudaErrorMemoryAllocation ? LIBSOLVER_OUT_OF_DEVICE_MEMORY : LIBSOLVER_CUDA;
}

static inline void device_buffer_free(device_buffer *b)
{
    cudaFree(b->at);
    *b = {};
}

/* Room for so many bytes; what was there is lost where that takes an allocation, which is counted.
 */
static inline cudaError_t device_buffer_grow(device_buffer *b, int64_t bytes, int64_t *allocations)
{
    if (bytes <= b->bytes)
        return cudaSuccess;
    device_buffer_free(b);
    ++*allocations;
    const cudaError_t error = cudaMalloc(&b->at, (size_t)bytes);
    b->bytes = error == cudaSuccess ? bytes : 0;
    return error;
}

/* Parts of one allocation, one behind the other. */
struct parts {
    int64_t bytes = 0;
    int64_t place(int64_t size)
    {
        const int64_t at = bytes;
        bytes += (size + 255) / 256 * 256;
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
