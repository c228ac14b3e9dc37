/* test/dense/trsv_fixture.h: triangles, right-hand sides and the plain loops that the GPU's solves
 * are compared with
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_DENSE_TRSV_FIXTURE_H
#define TEST_DENSE_TRSV_FIXTURE_H

#include "dense/cuda/device/type.cuh"
#include "dense/cuda/device/view.cuh"
#include "test/support/gpu_required.h"
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CUDA_OK(call) \
    do { \
        const cudaError_t error_ = (call); \
        if (error_ != cudaSuccess) { \
            printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_)); \
            exit(1); \
        } \
    } while (0)

/* Uniform in [-1, 1): the top bits of a linear congruential generator. */
struct random_numbers {
    uint64_t state;
    double next()
    {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        return (double)(int64_t)(state >> 11) / (double)(1ll << 52) - 1;
    }
};

template <typename T> T random_entry(random_numbers &g)
{
    using R = real_of<T>;
    if constexpr (scalar<T>::is_complex) {
        const R re = (R)g.next();
        return {re, (R)g.next()};
    } else {
        return (R)g.next();
    }
}

template <typename T> T not_a_number()
{
    using R = real_of<T>;
    if constexpr (scalar<T>::is_complex)
        return {(R)NAN, (R)NAN};
    else
        return (R)NAN;
}

/* A triangle of order n with entries of about 1/sqrt(n) and a diagonal of modulus 1 to 2, so that
 * rounding alone makes errors; what may not be read (other triangle, padding, a unit diagonal) is
 * NaN. */
template <typename T>
std::vector<T> random_triangle(triangle_case c, int64_t n, int64_t lda, uint64_t seed)
{
    std::vector<T> a((size_t)(lda * (n > 0 ? n : 1)), not_a_number<T>());
    random_numbers g = {seed};
    const real_of<T> scale = (real_of<T>)(1 / std::sqrt((double)(n + 1)));
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = c.uplo == LIBSOLVER_LOWER ? j : 0;
             i < (c.uplo == LIBSOLVER_LOWER ? n : j + 1); i++) {
            T v = multiply(random_entry<T>(g), from_real<T>(scale));
            if (i == j)
                v = from_real<T>((real_of<T>)(1.5 + 0.5 * g.next())) + v;
            if (i != j || c.diag == LIBSOLVER_NON_UNIT)
                a[(size_t)(i + j * lda)] = v;
        }
    return a;
}

/* x := inv(op(A)) x as BLAS defines it, entry by entry, in plain loops over op(A)'s rows */
template <typename T>
void plain_trsv(triangle_case c, int64_t n, const T *a, int64_t lda, T *x, int64_t incx)
{
    T *first = incx < 0 ? x - (n - 1) * incx : x;
    const bool transposed = c.trans != LIBSOLVER_NO_TRANSPOSE;
    const bool forward = (c.uplo == LIBSOLVER_LOWER) != transposed;
    const auto op = [&](int64_t i, int64_t j) {
        return transposed ? conjugate_if(a[j + i * lda], c.trans == LIBSOLVER_CONJUGATE_TRANSPOSE)
                          : a[i + j * lda];
    };
    for (int64_t step = 0; step < n; step++) {
        const int64_t i = forward ? step : n - 1 - step;
        T sum = first[i * incx];
        for (int64_t j = forward ? 0 : i + 1; j < (forward ? i : n); j++)
            sum = multiply_add(sum, -op(i, j), first[j * incx]);
        first[i * incx] = c.diag == LIBSOLVER_UNIT ? sum : divide(sum, op(i, i));
    }
}

/* max |x - y| / max |y| over the n entries; infinite when any is not a number */
template <typename T> double difference(int64_t n, const T *x, const T *y, int64_t incx)
{
    double most = 0, largest = 1e-300;
    const int64_t step = incx < 0 ? -incx : incx;
    for (int64_t i = 0; i < n; i++) {
        const double d = magnitude(x[i * step] - y[i * step]), m = magnitude(y[i * step]);
        if (!(d == d) || !(m == m))
            return INFINITY;
        most = d > most ? d : most;
        largest = m > largest ? m : largest;
    }
    return most / largest;
}

/* Plain loops and ours each err by about growth times eps; the triangles of the fixture grow
 * little. */
template <typename T> double tolerance(int64_t n)
{
    return (sizeof(real_of<T>) == 4 ? 1.2e-7 : 2.3e-16) * (40 + 4 * std::sqrt((double)n));
}

/* A device array that frees itself. */
template <typename T> struct device_array {
    T *p = nullptr;
    explicit device_array(size_t count)
    {
        CUDA_OK(cudaMalloc(&p, (count > 0 ? count : 1) * sizeof(T)));
    }
    explicit device_array(const std::vector<T> &v) : device_array(v.size()) { put(v); }
    device_array(const device_array &) = delete;
    ~device_array() { cudaFree(p); }
    void put(const std::vector<T> &v)
    {
        CUDA_OK(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    void get(std::vector<T> &v) const
    {
        CUDA_OK(cudaMemcpy(v.data(), p, v.size() * sizeof(T), cudaMemcpyDeviceToHost));
    }
};

/* What call(stream) does, captured in a graph, which is launched as often as wanted. */
struct captured_graph {
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t ready;

    template <typename Call> explicit captured_graph(Call call)
    {
        CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        call(stream);
        CUDA_OK(cudaStreamEndCapture(stream, &graph));
        CUDA_OK(cudaGraphInstantiate(&ready, graph, 0));
    }
    captured_graph(const captured_graph &) = delete;
    ~captured_graph()
    {
        cudaGraphExecDestroy(ready);
        cudaGraphDestroy(graph);
        cudaStreamDestroy(stream);
    }
    /* After what is on other streams; waits. */
    void launch() const
    {
        CUDA_OK(cudaDeviceSynchronize());
        CUDA_OK(cudaGraphLaunch(ready, stream));
        CUDA_OK(cudaStreamSynchronize(stream));
    }
};

static inline bool gpu_present()
{
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

#endif
