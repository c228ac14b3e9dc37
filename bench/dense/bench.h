/* bench/dense/bench.h: what the benchmarks of dense kernels share: timing, triangles on the device,
 * cuBLAS by type
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_DENSE_BENCH_H
#define BENCH_DENSE_BENCH_H

#include "dense/cuda/device/type.cuh"
#include "dense/cuda/device/view.cuh"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(call) \
    do { \
        const int code_ = (int)(call); \
        if (code_ != 0) { \
            fprintf(stderr, "%s:%d: %s: code %d\n", __FILE__, __LINE__, #call, code_); \
            exit(1); \
        } \
    } while (0)

/* Microseconds of one call: median over `repeats` replays of a graph of `inner` calls.  Negative
 * when not captured. */
template <typename Call>
double graph_time(cudaStream_t stream, Call call, int inner = 20, int repeats = 15)
{
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < inner; i++)
        call();
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&ready, graph, 0));
    for (int i = 0; i < 3; i++)
        CHECK(cudaGraphLaunch(ready, stream));
    std::vector<double> times;
    for (int i = 0; i < repeats; i++) {
        float ms;
        CHECK(cudaEventRecord(start, stream));
        CHECK(cudaGraphLaunch(ready, stream));
        CHECK(cudaEventRecord(stop, stream));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        times.push_back(ms * 1e3 / inner);
    }
    std::sort(times.begin(), times.end());
    CHECK(cudaGraphExecDestroy(ready));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    return times[times.size() / 2];
}

/* The same from back-to-back calls on the stream. */
template <typename Call>
double stream_time(cudaStream_t stream, Call call, int inner = 20, int repeats = 9)
{
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    std::vector<double> times;
    for (int i = 0; i < repeats + 2; i++) {
        float ms;
        CHECK(cudaEventRecord(start, stream));
        for (int k = 0; k < inner; k++)
            call();
        CHECK(cudaEventRecord(stop, stream));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        if (i >= 2) /* the first two warm up */
            times.push_back(ms * 1e3 / inner);
    }
    std::sort(times.begin(), times.end());
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    return times[times.size() / 2];
}

__device__ inline double bench_random(uint64_t k)
{
    k = (k + 1) * 0x9e3779b97f4a7c15ull;
    k = (k ^ k >> 30) * 0xbf58476d1ce4e5b9ull;
    k = (k ^ k >> 27) * 0x94d049bb133111ebull;
    return (double)((k ^ k >> 31) >> 11) * 0x1p-52 - 1;
}

/* Entries of about 0.01 / sqrt(n) below a diagonal of +-1: thousands of solves in place neither
 * grow nor vanish. */
template <typename T> __global__ void fill_triangle(T *a, int64_t n, int64_t lda, int64_t count)
{
    for (int64_t e = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; e < count;
         e += (int64_t)gridDim.x * blockDim.x) {
        const int64_t i = e % lda % n, j = e / lda % n;
        const double r = bench_random((uint64_t)e);
        a[e] = from_real<T>((real_of<T>)(i == j ? (r < 0 ? -1. : 1.) : 0.01 * r / sqrt((double)n)));
        if constexpr (scalar<T>::is_complex)
            a[e].im = (real_of<T>)(i == j ? 0.
                                          : 0.01 * bench_random((uint64_t)e + 77777777) /
                                                sqrt((double)n));
    }
}
template <typename T> __global__ void fill_vector(T *x, int64_t n)
{
    for (int64_t e = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; e < n;
         e += (int64_t)gridDim.x * blockDim.x)
        x[e] = from_real<T>((real_of<T>)bench_random((uint64_t)e + 999));
}

/* Symmetric or Hermitian, definite, well conditioned. */
template <typename T> __global__ void fill_definite(T *a, int64_t n)
{
    for (int64_t e = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; e < n * n;
         e += (int64_t)gridDim.x * blockDim.x) {
        const int64_t i = e % n, j = e / n, place = max(i, j) * n + min(i, j);
        const double scale = 0.5 / sqrt((double)n), r = bench_random((uint64_t)place);
        a[e] = from_real<T>((real_of<T>)(i == j ? 2 + r : scale * r));
        if constexpr (scalar<T>::is_complex)
            if (i != j) {
                const double im = scale * bench_random((uint64_t)place + 77777777);
                a[e].im = (real_of<T>)(i > j ? im : -im);
            }
    }
}

template <typename T>
void cublas_trsv(cublasHandle_t h, triangle_case c, int64_t n, const T *a, int64_t lda, T *x)
{
    const cublasFillMode_t uplo =
        c.uplo == LIBSOLVER_LOWER ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
    const cublasOperation_t ops[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}, op = ops[c.trans];
    const cublasDiagType_t diag =
        c.diag == LIBSOLVER_UNIT ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
    if constexpr (type_of<T>::name[0] == 's')
        CHECK(cublasStrsv(h, uplo, op, diag, (int)n, a, (int)lda, x, 1));
    else if constexpr (type_of<T>::name[0] == 'd')
        CHECK(cublasDtrsv(h, uplo, op, diag, (int)n, a, (int)lda, x, 1));
    else if constexpr (type_of<T>::name[0] == 'c')
        CHECK(cublasCtrsv(h, uplo, op, diag, (int)n, (const cuComplex *)a, (int)lda, (cuComplex *)x,
                          1));
    else
        CHECK(cublasZtrsv(h, uplo, op, diag, (int)n, (const cuDoubleComplex *)a, (int)lda,
                          (cuDoubleComplex *)x, 1));
}

/* TB/s of reading a large array: the floor of bytes is taken from this, measured in the same
 * run. */
double read_bandwidth(cudaStream_t stream);

/* What every benchmark starts with. */
struct bench_device {
    bool present;
    cudaStream_t stream;
    cublasHandle_t cublas; /* on the stream, with a workspace: captured calls may not allocate */
    double bandwidth;      /* TB/s */
};

/* Says so when there is no device: the program then ends with status 77. */
static inline bench_device bench_start()
{
    bench_device d = {};
    int count = 0;
    void *workspace;
    const size_t bytes = (size_t)64 << 20;
    d.present = cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
    if (!d.present) {
        fprintf(stderr, "no CUDA device\n");
        return d;
    }
    CHECK(cudaStreamCreateWithFlags(&d.stream, cudaStreamNonBlocking));
    CHECK(cublasCreate(&d.cublas));
    CHECK(cublasSetStream(d.cublas, d.stream));
    CHECK(cudaMalloc(&workspace, bytes));
    CHECK(cublasSetWorkspace(d.cublas, workspace, bytes));
    d.bandwidth = read_bandwidth(d.stream);
    return d;
}

#endif
