/* cli/device.c: a stream, blocks of device memory, and the device's clock
 * SPDX-License-Identifier: BSD-3-Clause */
#include "device.h"
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>

#define CALLS 20   /* between two readings of the clock */
#define REPEATS 15 /* of which the median is taken, after WARM more */
#define WARM 3

int device_use(int device)
{
    return cudaSetDevice(device) != cudaSuccess;
}

void *device_stream_create(void)
{
    cudaStream_t stream = NULL;
    return cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess ? stream : NULL;
}

void device_stream_free(void *stream)
{
    if (stream)
        cudaStreamDestroy(stream);
}

int device_array_create(const void *host, size_t bytes, void **block)
{
    *block = NULL;
    return cudaMalloc(block, bytes + 1) != cudaSuccess ||
           cudaMemcpy(*block, host, bytes, cudaMemcpyHostToDevice) != cudaSuccess;
}

int device_array_get(const void *block, size_t bytes, void *host)
{
    return cudaMemcpy(host, block, bytes, cudaMemcpyDeviceToHost) != cudaSuccess;
}

void device_array_free(void *block)
{
    cudaFree(block);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* CALLS calls, or one launch of a graph that holds them. */
static int run(cudaStream_t stream, int (*call)(void *user), void *user, cudaGraphExec_t graph)
{
    if (graph)
        return cudaGraphLaunch(graph, stream) != cudaSuccess;
    for (int k = 0; k < CALLS; k++)
        if (call(user))
            return 1;
    return 0;
}

static int median(cudaStream_t stream, int (*call)(void *user), void *user, cudaGraphExec_t graph,
                  double *seconds)
{
    cudaEvent_t start = NULL, stop = NULL;
    double sample[REPEATS];
    int failed = cudaEventCreate(&start) != cudaSuccess || cudaEventCreate(&stop) != cudaSuccess;
    for (int k = -WARM; k < REPEATS && !failed; k++) {
        float ms = 0;
        failed = cudaEventRecord(start, stream) != cudaSuccess || run(stream, call, user, graph) ||
                 cudaEventRecord(stop, stream) != cudaSuccess ||
                 cudaEventSynchronize(stop) != cudaSuccess ||
                 cudaEventElapsedTime(&ms, start, stop) != cudaSuccess;
        if (k >= 0)
            sample[k] = 1e-3 * ms / CALLS;
    }
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
    if (failed)
        return 1;
    qsort(sample, REPEATS, sizeof *sample, compare);
    *seconds = sample[REPEATS / 2];
    return 0;
}

int device_time(void *stream, int (*call)(void *user), void *user, double *seconds, double *graph)
{
    cudaGraph_t captured = NULL;
    cudaGraphExec_t ready = NULL;
    *graph = NAN;
    if (median(stream, call, user, NULL, seconds))
        return 1;
    if (cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess) {
        const int failed = run(stream, call, user, NULL);
        if (cudaStreamEndCapture(stream, &captured) == cudaSuccess && !failed &&
            cudaGraphInstantiate(&ready, captured, 0) == cudaSuccess)
            median(stream, call, user, ready, graph);
        if (ready)
            cudaGraphExecDestroy(ready);
        if (captured)
            cudaGraphDestroy(captured);
    }
    cudaGetLastError(); /* a call that cannot be captured leaves an error */
    return 0;
}

/* Far more than a second-level cache holds. */
#define COPIED ((size_t)512 << 20)

typedef struct copied {
    char *block; /* the second half := the first */
    cudaStream_t stream;
} copied;

static int copy_within(void *user)
{
    const copied *c = user;
    return cudaMemcpyAsync(c->block + COPIED, c->block, COPIED, cudaMemcpyDeviceToDevice,
                           c->stream) != cudaSuccess;
}

double device_copy_rate(void)
{
    copied c = {NULL, device_stream_create()};
    double seconds = NAN;
    void *block = NULL;
    if (c.stream && cudaMalloc(&block, 2 * COPIED) == cudaSuccess) {
        c.block = block;
        if (median(c.stream, copy_within, &c, NULL, &seconds))
            seconds = NAN;
    }
    cudaFree(block);
    device_stream_free(c.stream);
    cudaGetLastError();
    return 2 * (double)COPIED / seconds;
}
