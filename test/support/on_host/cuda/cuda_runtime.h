/* test/support/on_host/cuda/cuda_runtime.h: what the dense library and its tests call of CUDA, with
 * the host as the device: calls are done when they return, or when a graph that they were captured
 * in is launched
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_SUPPORT_ON_HOST_CUDA_RUNTIME_H
#define TEST_SUPPORT_ON_HOST_CUDA_RUNTIME_H

#include "test/support/on_host/fibers.h"
#include <cstdlib>

inline size_t __cvta_generic_to_shared(const void *at)
{
    return reinterpret_cast<size_t>(at);
}

typedef int cudaError_t;
typedef void *cudaStream_t;
typedef std::vector<std::function<void()>> *cudaGraph_t;
typedef cudaGraph_t cudaGraphExec_t;
enum { cudaSuccess, cudaErrorMemoryAllocation = 2 };
enum { cudaDevAttrMultiProcessorCount };
enum { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum { cudaStreamNonBlocking };
enum { cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal };
enum {
    cudaFuncAttributeMaxDynamicSharedMemorySize,
    cudaFuncAttributeNonPortableClusterSizeAllowed
};

inline cudaGraph_t &captured() /* into this graph, NULL: nothing is */
{
    static cudaGraph_t graph;
    return graph;
}
inline cudaError_t call_device(std::function<void()> work)
{
    if (captured())
        captured()->push_back(work);
    else
        work();
    return cudaSuccess;
}

template <typename T> cudaError_t cudaMalloc(T **at, size_t bytes)
{
    void *memory = aligned_alloc(256, (bytes + 511) / 256 * 256);
    memset(memory, 0xff, bytes);
    *at = static_cast<T *>(memory);
    return cudaSuccess;
}
inline cudaError_t cudaFree(void *at)
{
    free(at);
    return cudaSuccess;
}
inline cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, int)
{
    memcpy(to, from, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, int, cudaStream_t)
{
    return call_device([=] { memcpy(to, from, bytes); });
}
inline cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                                size_t width, size_t height, int)
{
    for (size_t k = 0; k < height; k++)
        memcpy(static_cast<char *>(to) + k * to_pitch,
               static_cast<const char *>(from) + k * from_pitch, width);
    return cudaSuccess;
}
inline cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    *available = *total = 0;
    return cudaSuccess;
}
inline cudaError_t cudaMemset(void *at, int value, size_t bytes)
{
    memset(at, value, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void *at, int value, size_t bytes, cudaStream_t)
{
    return call_device([=] { memset(at, value, bytes); });
}
inline cudaError_t cudaMemset2DAsync(void *at, size_t pitch, int value, size_t width, size_t height,
                                     cudaStream_t)
{
    return call_device([=] {
        for (size_t k = 0; k < height; k++)
            memset(static_cast<char *>(at) + k * pitch, value, width);
    });
}
inline cudaError_t cudaMemcpy2DAsync(void *to, size_t pitch, const void *from, size_t from_pitch,
                                     size_t width, size_t height, int, cudaStream_t)
{
    return call_device([=] {
        for (size_t k = 0; k < height; k++)
            memcpy(static_cast<char *>(to) + k * pitch,
                   static_cast<const char *>(from) + k * from_pitch, width);
    });
}
inline cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 1;
    return cudaSuccess;
}
inline cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return cudaSuccess;
}
/* So many blocks run at once, too. */
inline cudaError_t cudaDeviceGetAttribute(int *value, int, int)
{
    *value = 8;
    return cudaSuccess;
}
inline const char *cudaGetErrorString(cudaError_t)
{
    return "an error of the host";
}
inline cudaError_t cudaGetLastError()
{
    return cudaSuccess;
}
inline cudaError_t cudaDeviceSynchronize()
{
    return cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t)
{
    return cudaSuccess;
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, int)
{
    *stream = nullptr;
    return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t)
{
    return cudaSuccess;
}
inline cudaError_t cudaStreamBeginCapture(cudaStream_t, int)
{
    captured() = new std::vector<std::function<void()>>;
    return cudaSuccess;
}
inline cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *graph)
{
    *graph = captured();
    captured() = nullptr;
    return cudaSuccess;
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *ready, cudaGraph_t graph, int)
{
    *ready = graph;
    return cudaSuccess;
}
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t ready, cudaStream_t)
{
    for (const auto &work : *ready)
        work();
    return cudaSuccess;
}
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t)
{
    return cudaSuccess;
}
inline cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    delete graph;
    return cudaSuccess;
}

enum {
    cudaLaunchAttributeClusterDimension,
    cudaLaunchAttributeCooperative,
    cudaLaunchAttributeProgrammaticStreamSerialization
};
struct cudaLaunchAttribute {
    int id;
    struct {
        struct {
            unsigned x, y, z;
        } clusterDim;
        int cooperative, programmaticStreamSerializationAllowed;
    } val;
};
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned numAttrs;
};
template <typename K> cudaError_t cudaFuncSetAttribute(K, int, int)
{
    return cudaSuccess;
}
template <typename... P, typename... A>
cudaError_t launch_on_host(block_shape shape, void (*kernel)(P...), A... arguments)
{
    static uint64_t launches;
    return call_device([=] { run_blocks(shape, launches++, [=] { kernel(P(arguments)...); }); });
}
template <typename... P, typename... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *how, void (*kernel)(P...), A... arguments)
{
    block_shape shape = {how->gridDim, (int)how->blockDim.x, (int)how->dynamicSmemBytes, 1};
    for (unsigned k = 0; k < how->numAttrs; k++)
        if (how->attrs[k].id == cudaLaunchAttributeClusterDimension)
            shape.cluster = (int)how->attrs[k].val.clusterDim.x;
    return launch_on_host(shape, kernel, arguments...);
}
/* For kernel<<<...>>>(...). */
template <typename... P> struct configured_kernel {
    void (*kernel)(P...);
    block_shape shape;
    template <typename... A> void operator()(A... arguments) const
    {
        launch_on_host(shape, kernel, arguments...);
    }
};
template <typename... P>
configured_kernel<P...> configure(void (*kernel)(P...), dim3 blocks, int threads, int shared,
                                  cudaStream_t)
{
    return {kernel, {blocks, threads, shared, 1}};
}

#endif
