/* gpu/solve/narrowing.cu: the kernels that round right-hand sides to single precision and widen
 * solutions, and their memory
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/solve/narrowing.h"
#include "dense/cuda/device/launch.cuh"
#include "dense/cuda/device/scalar.cuh"
#include "gpu/device/device.cuh"
#include <cfloat>

/* Blocks of a column, and rows that are worth another. */
constexpr int THREADS = 256, MOST_PARTS = 64, PART_ROWS = 4 * THREADS;

/* Of 1: entries below it are left out. */
constexpr double LEAST = 0x1p-90;

/* V: double precision, T: single. */
template <typename T, typename V> struct narrow_arguments {
    const V *b;
    V *x;
    int64_t row, column; /* steps of b or x, in scalars */
    const double *scale;
    T *value; /* n for each column */
    double *size, *power;
    int n, parts;

    __device__ __forceinline__ int first_row() const
    {
        return (int)(blockIdx.x % parts) * THREADS + (int)threadIdx.x;
    }
    __device__ __forceinline__ int column_at_hand() const { return (int)(blockIdx.x / parts); }
};

/* max(|Re a|, |Im a|), infinite for a NaN too */
template <typename V> static __device__ __forceinline__ double size_of(V a)
{
    double size = fabs(real_part(a));
    bool is_number = size == size;
    if constexpr (scalar<V>::is_complex) {
        is_number = is_number && a.im == a.im;
        size = fmax(size, fabs(a.im));
    }
    return is_number ? size : INFINITY;
}

static __device__ __forceinline__ double largest_of_warp(double size)
{
#pragma unroll
    for (int mask = 16; mask > 0; mask /= 2)
        size = fmax(size, __shfl_xor_sync(~0u, size, mask));
    return size;
}

/* The power of two that brings x near 1; 1 if x is not finite, 0 of 0. */
static __device__ __forceinline__ double power_near_one(double x)
{
    if (!(x > 0))
        return 0;
    return x <= DBL_MAX ? ldexp(1.0, max(-1000, min(1000, -1 - ilogb(x)))) : 1;
}

/* size := the largest entry of S b in each part of each column. */
template <typename T, typename V>
static __global__ void __launch_bounds__(THREADS)
    size_kernel(const __grid_constant__ narrow_arguments<T, V> a)
{
    __shared__ double most[THREADS / 32];
    const V *b = a.b + a.column_at_hand() * a.column;
    double size = 0;
    for (int i = a.first_row(); i < a.n; i += a.parts * THREADS)
        size = fmax(size, size_of(times_real(b[i * a.row], a.scale[i])));
    size = largest_of_warp(size);
    if (threadIdx.x % 32 == 0)
        most[threadIdx.x / 32] = size;
    __syncthreads();
    if (threadIdx.x < 32) {
        size = largest_of_warp(threadIdx.x < THREADS / 32 ? most[threadIdx.x] : 0);
        if (threadIdx.x == 0)
            a.size[blockIdx.x] = size;
    }
}

template <typename T, typename V>
static __global__ void __launch_bounds__(THREADS)
    narrow_kernel(const __grid_constant__ narrow_arguments<T, V> a)
{
    using R = real_of<T>;
    const int lane = threadIdx.x % 32, q = a.column_at_hand();
    const V *b = a.b + q * a.column;
    T *value = a.value + q * (int64_t)a.n;
    double size = 0;
    for (int part = lane; part < a.parts; part += 32)
        size = fmax(size, a.size[q * a.parts + part]);
    const double power = power_near_one(largest_of_warp(size));
    if (blockIdx.x % a.parts == 0 && threadIdx.x == 0)
        a.power[q] = power;
    for (int i = a.first_row(); i < a.n; i += a.parts * THREADS) {
        const V v = times_real(times_real(b[i * a.row], a.scale[i]), power);
        const bool counts = size_of(v) >= LEAST;
        if constexpr (scalar<T>::is_complex)
            value[i] = counts ? T{(R)v.re, (R)v.im} : T{};
        else
            value[i] = counts ? (R)v : T{};
    }
}

template <typename T, typename V>
static __global__ void __launch_bounds__(THREADS)
    widen_kernel(const __grid_constant__ narrow_arguments<T, V> a)
{
    const int q = a.column_at_hand();
    V *x = a.x + q * a.column;
    const T *value = a.value + q * (int64_t)a.n;
    const double power = a.power[q], back = power > 0 ? 1 / power : 1;
    for (int i = a.first_row(); i < a.n; i += a.parts * THREADS) {
        const T v = value[i];
        V wide;
        if constexpr (scalar<T>::is_complex)
            wide = {(double)v.re, (double)v.im};
        else
            wide = (double)v;
        x[i * a.row] = times_real(times_real(wide, back), a.scale[i]);
    }
}

static __global__ void ones_kernel(float *ones, int n)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        ones[i] = 1;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

extern "C" libsolver_status device_narrowing_open(device_narrowing *v, libsolver_type type,
                                                  int32_t n, message *why)
{
    if (v->memory && v->type == type && v->n == n)
        return LIBSOLVER_OK;
    const current_device here(v->device);
    parts all;
    const int64_t scale = all.place(n * (int64_t)sizeof(double)),
                  ones = all.place(n * (int64_t)sizeof(float));
    if (all.bytes > v->bytes) {
        device_narrowing_drop(v);
        v->allocations++;
        TRY(device_allocate(&v->memory, all.bytes, "the scaling of vectors", why));
        v->bytes = all.bytes;
    }
    v->type = type;
    v->n = n;
    v->scale = reinterpret_cast<double *>(static_cast<char *>(v->memory) + scale);
    v->ones = reinterpret_cast<float *>(static_cast<char *>(v->memory) + ones);
    if (n == 0)
        return LIBSOLVER_OK;
    return LAUNCH_STATUS(launch_kernel(ones_kernel, {(n + (int64_t)THREADS - 1) / THREADS, THREADS},
                                       v->stream, v->ones, (int)n),
                         "preparing the scaling of vectors", why);
}

extern "C" libsolver_status device_narrowing_scale(const device_narrowing *v, const double *scale,
                                                   message *why)
{
    const current_device here(v->device);
    cudaError_t error = cudaSuccess;
    if (v->n > 0)
        error = cudaMemcpyAsync(v->scale, scale, (size_t)v->n * sizeof(double), cudaMemcpyDefault,
                                (cudaStream_t)v->stream);
    return CUDA_STATUS(error, "copying the scaling of vectors", why);
}

extern "C" void device_narrowing_drop(device_narrowing *v)
{
    const current_device here(v->device);
    if (v->memory)
        cudaFree(v->memory);
    v->memory = nullptr;
    v->bytes = 0;
}

/* Parts of a column. */
static int parts_of(const device_narrowing *v)
{
    const int wanted = (v->n + PART_ROWS - 1) / PART_ROWS;
    return wanted < 1 ? 1 : wanted < MOST_PARTS ? wanted : MOST_PARTS;
}

struct block_layout {
    parts all;
    int64_t b, x, size, power;

    block_layout(const device_narrowing *v, int32_t columns)
    {
        const int64_t bytes = columns * (int64_t)v->n * (v->type == LIBSOLVER_D ? 4 : 8);
        b = all.place(bytes);
        x = all.place(bytes);
        size = all.place(columns * (int64_t)parts_of(v) * (int64_t)sizeof(double));
        power = all.place(columns * (int64_t)sizeof(double));
    }
};

extern "C" int64_t narrow_block_bytes(const device_narrowing *v, int32_t columns)
{
    return block_layout(v, columns).all.bytes;
}

extern "C" libsolver_status narrow_block_open(const device_narrowing *v, int32_t columns,
                                              narrow_block *w, message *why)
{
    const current_device here(v->device);
    const block_layout layout(v, columns);
    *w = {};
    w->device = v->device;
    TRY(device_allocate(&w->memory, layout.all.bytes, "vectors in single precision", why));
    char *base = static_cast<char *>(w->memory);
    w->b = {};
    w->b.values = base + layout.b;
    w->b.rows = w->b.ld = v->n;
    w->b.columns = columns;
    w->b.type = v->type == LIBSOLVER_D ? LIBSOLVER_S : LIBSOLVER_C;
    w->b.place = LIBSOLVER_DEVICE;
    w->x = w->b;
    w->x.values = base + layout.x;
    w->size = reinterpret_cast<double *>(base + layout.size);
    w->power = reinterpret_cast<double *>(base + layout.power);
    return LIBSOLVER_OK;
}

extern "C" void narrow_block_close(narrow_block *w)
{
    const current_device here(w->device);
    if (w->memory)
        cudaFree(w->memory);
    w->memory = nullptr;
}

/* ---- Launches -------------------------------------------------------------------------------- */

/* run(arguments, shape) for the columns of a block in double precision. */
template <typename Run>
static libsolver_status with_arguments(const device_narrowing *v, const narrow_block *w,
                                       const libsolver_vectors *wide, void *narrow, Run run)
{
    const int parts = parts_of(v);
    const bool by_rows = wide->layout == LIBSOLVER_ROW_MAJOR;
    const launch_shape shape = {parts * wide->columns, THREADS};
    const auto with = [&](auto t, auto u) {
        using T = decltype(t);
        using V = decltype(u);
        narrow_arguments<T, V> a = {};
        a.b = a.x = static_cast<V *>(wide->values);
        a.row = by_rows ? wide->ld : 1;
        a.column = by_rows ? 1 : wide->ld;
        a.scale = v->scale;
        a.value = static_cast<T *>(narrow);
        a.size = w->size;
        a.power = w->power;
        a.n = v->n;
        a.parts = parts;
        return run(a, shape);
    };
    if (v->n == 0 || wide->columns == 0)
        return LIBSOLVER_OK;
    return v->type == LIBSOLVER_D ? with(float{}, double{}) : with(complex_s{}, complex_d{});
}

template <typename T, typename V>
static cudaError_t launch_narrow(const narrow_arguments<T, V> &a, const launch_shape &shape,
                                 void *stream)
{
    const cudaError_t error = launch_kernel(size_kernel<T, V>, shape, stream, a);
    return error == cudaSuccess ? launch_kernel(narrow_kernel<T, V>, shape, stream, a) : error;
}

template <typename T, typename V>
static cudaError_t launch_widen(const narrow_arguments<T, V> &a, const launch_shape &shape,
                                void *stream)
{
    return launch_kernel(widen_kernel<T, V>, shape, stream, a);
}

extern "C" libsolver_status device_narrow(const device_narrowing *v, const narrow_block *w,
                                          void *stream, const libsolver_vectors *b, message *why)
{
    const current_device here(v->device);
    void *const on = stream ? stream : v->stream;
    return with_arguments(v, w, b, w->b.values, [&](const auto &a, const launch_shape &shape) {
        return LAUNCH_STATUS(launch_narrow(a, shape, on), "rounding right-hand sides", why);
    });
}

extern "C" libsolver_status device_widen(const device_narrowing *v, const narrow_block *w,
                                         void *stream, const libsolver_vectors *x, message *why)
{
    const current_device here(v->device);
    return with_arguments(v, w, x, w->x.values, [&](const auto &a, const launch_shape &shape) {
        return LAUNCH_STATUS(launch_widen(a, shape, stream ? stream : v->stream),
                             "widening solutions", why);
    });
}
