/* test/support/fake/cuda_runtime_api.h: the calls of CUDA that tests make, for the device on the
 * host
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * It takes the place of CUDA's header where a test of the device is compiled for the fake one. */
#ifndef TEST_SUPPORT_FAKE_CUDA_RUNTIME_API_H
#define TEST_SUPPORT_FAKE_CUDA_RUNTIME_API_H

#include "fake.h"
#include <string.h>

typedef enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidDevice = 101
} cudaError_t;
typedef enum cudaMemcpyKind {
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice
} cudaMemcpyKind;
typedef void *cudaStream_t, *cudaGraph_t, *cudaGraphExec_t, *cudaEvent_t;
enum { cudaStreamNonBlocking = 1, cudaStreamCaptureModeThreadLocal = 1 };

static inline cudaError_t cudaGetDeviceCount(int *count)
{
    *count = fake.devices;
    return cudaSuccess;
}
static inline cudaError_t cudaSetDevice(int device)
{
    if (device >= fake.devices)
        return cudaErrorInvalidDevice;
    fake.current = device;
    return cudaSuccess;
}
static inline cudaError_t cudaGetLastError(void)
{
    return cudaSuccess;
}
static inline cudaError_t cudaMalloc(void **got, size_t bytes)
{
    *got = fake_allocate((int64_t)bytes, 1);
    return *got ? cudaSuccess : cudaErrorMemoryAllocation;
}
static inline cudaError_t cudaFree(void *at)
{
    fake_free(at);
    return cudaSuccess;
}
static inline cudaError_t cudaDeviceSynchronize(void)
{
    fake_wait(NULL);
    return cudaSuccess;
}
static inline cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    (void)kind;
    if (bytes > 0)
        memcpy(to, from, bytes);
    return cudaSuccess;
}
static inline cudaError_t cudaMemset(void *to, int byte, size_t bytes)
{
    memset(to, byte, bytes);
    return cudaSuccess;
}
static inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                                          cudaMemcpyKind kind, cudaStream_t stream)
{
    fake_wait(stream);
    return cudaMemcpy(to, from, bytes, kind);
}
static inline cudaError_t cudaMemsetAsync(void *to, int byte, size_t bytes, cudaStream_t stream)
{
    fake_wait(stream);
    return cudaMemset(to, byte, bytes);
}
static inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, int flags)
{
    (void)flags;
    *stream = fake_stream_open();
    return cudaSuccess;
}
static inline cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    fake_stream_close(stream);
    return cudaSuccess;
}
static inline cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    fake_wait(stream);
    return cudaSuccess;
}
/* An event waits for its stream when it is recorded, and a millisecond passes to the next one. */
static inline cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    *event = NULL;
    return cudaSuccess;
}
static inline cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    (void)event;
    return cudaSuccess;
}
static inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    (void)event;
    fake_wait(stream);
    return cudaSuccess;
}
static inline cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    (void)event;
    return cudaSuccess;
}
static inline cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
    (void)from, (void)to;
    *ms = 1;
    return cudaSuccess;
}
static inline cudaError_t cudaStreamBeginCapture(cudaStream_t stream, int mode)
{
    (void)mode;
    fake_capture_begin(stream);
    return cudaSuccess;
}
static inline cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *captured)
{
    *captured = fake_capture_end(stream);
    return cudaSuccess;
}
static inline cudaError_t cudaGraphGetNodes(cudaGraph_t captured, void *nodes, size_t *count)
{
    (void)nodes;
    *count = fake_capture_length(captured);
    return cudaSuccess;
}
static inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *ready, cudaGraph_t captured,
                                               unsigned long long flags)
{
    (void)flags;
    *ready = captured;
    return cudaSuccess;
}
static inline cudaError_t cudaGraphLaunch(cudaGraphExec_t ready, cudaStream_t stream)
{
    fake_capture_launch(ready, stream);
    return cudaSuccess;
}
static inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t ready)
{
    (void)ready; /* the graph's own */
    return cudaSuccess;
}
static inline cudaError_t cudaGraphDestroy(cudaGraph_t captured)
{
    fake_capture_free(captured);
    return cudaSuccess;
}

#endif
