/* gpu/device/device_values.cu: the values of A in a device's memory, and sums of those that are
 * given there
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/device/device_values.h"
#include "base/type.h"
#include "dense/cuda/device/launch.cuh"
#include "gpu/device/value_sums.cuh"
#include "gpu/device/waits.cuh"

constexpr int THREADS = 256;

static launch_shape shape_for(int64_t count)
{
    const int64_t blocks = (count + THREADS - 1) / THREADS;
    launch_shape shape = {blocks < 1 ? 1 : blocks < 4096 ? blocks : 4096, THREADS};
    shape.overlaps = true;
    return shape;
}

extern "C" libsolver_status device_values_open(device_values *v, environment *env, void *stream,
                                               int64_t entries, libsolver_type type, message *why)
{
    const current_device here(v->device);
    int64_t allocations = 0;
    v->env = env;
    v->stream = stream;
    v->type = type;
    v->entries = entries;
    return device_buffer_reserve(&v->value, entries * type_bytes(type) + 16, &allocations,
                                 "the values of the matrix", why);
}

extern "C" void device_values_close(device_values *v)
{
    const current_device here(v->device);
    device_buffer_free(&v->value);
    device_buffer_free(&v->summed);
    cudaFreeHost(v->flaws);
    v->flaws = nullptr;
}

extern "C" int64_t device_values_bytes(const device_values *v)
{
    return v->value.bytes + v->summed.bytes;
}

/* ---- To and from the host -------------------------------------------------------------------- */

static libsolver_status copy(const device_values *v, void *to, const void *from, const char *step,
                             message *why)
{
    const current_device here(v->device);
    const cudaStream_t stream = (cudaStream_t)v->stream;
    cudaError_t error = cudaSuccess;
    if (v->entries > 0)
        error = cudaMemcpyAsync(to, from, (size_t)(v->entries * type_bytes(v->type)),
                                cudaMemcpyDefault, stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    return CUDA_STATUS(error, step, why);
}

extern "C" libsolver_status device_values_put(const device_values *v, const void *values,
                                              message *why)
{
    return copy(v, v->value.at, values, "copying the values of the matrix to the device", why);
}

extern "C" libsolver_status device_values_get(const device_values *v, void *values, message *why)
{
    return copy(v, values, v->value.at, "copying the values of the matrix from the device", why);
}

extern "C" libsolver_status device_values_get_sums(const device_values *v, void *values,
                                                   message *why)
{
    return copy(v, values, v->sum, "copying the values of the matrix from the device", why);
}

/* ---- Sums ------------------------------------------------------------------------------------ */

/* sum := the values given of each entry, one after the other; value := sum, if that is not NULL. */
template <typename T>
static __global__ void sum_kernel(value_sums s, const T *given, T *sum, T *value,
                                  value_flaws *flaws)
{
    const int64_t first = (int64_t)blockIdx.x * blockDim.x + threadIdx.x,
                  step = (int64_t)gridDim.x * blockDim.x;
    bool finite = true, symmetric = true;
    wait_for_kernel_before();
    for (int64_t p = first; p < s.entries; p += step) {
        const T v = sum_of_entry(s, given, p, &finite, &symmetric);
        sum[p] = v;
        if (value)
            value[p] = v;
    }
    if (!finite)
        flaws->nonfinite = 1;
    if (!symmetric)
        flaws->asymmetric = 1;
}

/* The diagonal of the sums, with a shift that is not NULL; value NULL: it is only looked at. */
template <typename T>
static __global__ void diagonal_kernel(value_sums s, const T *sum, const T *shift, T *value,
                                       value_flaws *flaws)
{
    wait_for_kernel_before();
    for (int j = (int)(blockIdx.x * blockDim.x + threadIdx.x); j < s.n;
         j += (int)(gridDim.x * blockDim.x)) {
        const int32_t p = s.diagonal[j];
        const T entry = shift ? sum[p] + shift[j] : sum[p];
        if (value)
            value[p] = entry;
        else if (!is_finite(entry))
            flaws->nonfinite = 1;
        else if (s.is_hermitian && !(is_real(sum[p]) && is_real(entry)))
            flaws->asymmetric = 1;
    }
}

/* Tables, sums and shift. */
template <typename T>
static int64_t place_sums(device_values *v, uploader *u, const value_sums *s, int64_t given)
{
    v->sums = put_value_sums(u, s, given);
    v->sum = const_cast<T *>(u->put((const T *)nullptr, s->entries));
    v->shift = const_cast<T *>(u->put((const T *)nullptr, s->n));
    return u->all.bytes;
}

extern "C" libsolver_status device_values_prepare(device_values *v, const value_sums *s,
                                                  int64_t given, message *why)
{
    const current_device here(v->device);
    int64_t allocations = 0;
    void *flaws = v->flaws;
    if (!flaws)
        TRY(page_locked_allocate(&flaws, sizeof(value_flaws),
                                 cudaHostAllocMapped | cudaHostAllocPortable, "the sums of values",
                                 why));
    v->flaws = static_cast<value_flaws *>(flaws);
    return with_type(v->type, [&](auto one) {
        using T = decltype(one);
        uploader measured, u;
        TRY(device_buffer_reserve(&v->summed, place_sums<T>(v, &measured, s, given) + 256,
                                  &allocations, "the sums of values", why));
        u.base = static_cast<char *>(v->summed.at);
        u.copies = true;
        u.stream = (cudaStream_t)v->stream;
        place_sums<T>(v, &u, s, given);
        const libsolver_status status =
            CUDA_STATUS(u.error == cudaSuccess ? cudaStreamSynchronize(u.stream) : u.error,
                        "copying the tables for sums of values to the device", why);
        if (status != LIBSOLVER_OK)
            device_buffer_free(&v->summed);
        return status;
    });
}

static bool has_flaws(const device_values *v)
{
    return v->flaws->nonfinite || v->flaws->asymmetric;
}

/* Sums and their check; then, if nothing is wrong, the values. */
template <typename T>
static cudaError_t sum(const device_values *v, const void *given, const void *shift)
{
    const cudaStream_t stream = (cudaStream_t)v->stream;
    const value_sums &s = v->sums;
    const size_t bytes = (size_t)v->entries * sizeof(T);
    T *const sums = static_cast<T *>(v->sum), *const on_device = static_cast<T *>(v->shift),
             *const value = static_cast<T *>(v->value.at), *const none = nullptr;
    const T *const shifts = shift ? on_device : none;
    cudaError_t error = cudaSuccess;
    const auto check = [&](cudaError_t e) { error = error == cudaSuccess ? e : error; };
    *v->flaws = {};
    if (given)
        check(launch_kernel(sum_kernel<T>, shape_for(v->entries), stream, s,
                            static_cast<const T *>(given), sums, none, v->flaws));
    if (shift && s.n > 0)
        check(
            cudaMemcpyAsync(on_device, shift, (size_t)s.n * sizeof(T), cudaMemcpyDefault, stream));
    if (shift || s.is_hermitian)
        check(launch_kernel(diagonal_kernel<T>, shape_for(s.n), stream, s, (const T *)sums, shifts,
                            none, v->flaws));
    check(cudaStreamSynchronize(stream));
    if (error != cudaSuccess || has_flaws(v))
        return error;
    if (bytes > 0)
        check(cudaMemcpyAsync(value, sums, bytes, cudaMemcpyDeviceToDevice, stream));
    if (shift)
        check(launch_kernel(diagonal_kernel<T>, shape_for(s.n), stream, s, (const T *)sums, shifts,
                            value, v->flaws));
    return error;
}

extern "C" libsolver_status device_values_sum(const device_values *v, const void *given,
                                              const void *shift, int *is_sound, message *why)
{
    const current_device here(v->device);
    return with_type(v->type, [&](auto one) {
        const cudaError_t error = sum<decltype(one)>(v, given, shift);
        *is_sound = error == cudaSuccess && !has_flaws(v);
        return LAUNCH_STATUS(error, "summing the values of the matrix on the device", why);
    });
}

/* Sums and their check. */
template <typename T>
static cudaError_t check(const device_values *v, const void *given, bool keeps, value_flaws *flaws)
{
    const value_sums &s = v->sums;
    T *const sums = static_cast<T *>(v->sum), *const none = nullptr,
             *const value = keeps ? none : static_cast<T *>(v->value.at);
    const cudaError_t error = launch_kernel(sum_kernel<T>, shape_for(v->entries), v->stream, s,
                                            static_cast<const T *>(given), sums, value, flaws);
    return error == cudaSuccess && s.is_hermitian
               ? launch_kernel(diagonal_kernel<T>, shape_for(s.n), v->stream, s, (const T *)sums,
                               (const T *)none, none, flaws)
               : error;
}

extern "C" libsolver_status device_values_check(const device_values *v, const void *given,
                                                int keeps, value_flaws *flaws, message *why)
{
    const current_device here(v->device);
    return with_type(v->type, [&](auto one) {
        return LAUNCH_STATUS(check<decltype(one)>(v, given, keeps != 0, flaws),
                             "launching the sums of values on the device", why);
    });
}
