/* gpu/invert/device_invert.cu: buffers and launches of the inversion on a device
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/invert/device_invert.h"
#include "dense/cuda/device/launch.cuh"
#include "gpu/device/device.cuh"
#include "gpu/invert/product.cuh"
#include "gpu/invert/small.cuh"

extern "C" void device_inverter_drop(device_inverter *f)
{
    const current_device here(f->device);
    device_buffer_free(&f->pattern);
    device_buffer_free(&f->workspace);
}

/* ---- The pattern ----------------------------------------------------------------------------- */

template <typename T>
static void put_pattern(uploader *u, const invert_pattern *p, invert_arguments<T> *a)
{
    a->piece = u->put(p->piece, p->pieces);
    a->map = u->put(p->map, p->maps);
    a->column_piece = u->put(p->column_piece, p->n);
    a->column = u->put(p->column, p->n);
    a->z_row = u->put(p->z_row, p->n);
    a->pivot_at16 = u->put(p->pivot_at16, p->n);
    a->pivot_position = u->put(p->pivot_position, p->n);
    a->small = u->put(p->small, p->smalls);
    a->tiled = u->put(p->tiled, p->tiled_groups);
    a->strip = u->put(p->strip, p->strips);
    a->root = u->put(p->root, p->root_tiles);
    a->item = u->put(p->item, p->items);
    a->part = u->put(p->part, p->parts);
    a->n = p->n;
    a->smalls = p->smalls;
}

/* The places of the arrays depend on the counts only, not on the type of the scalars. */
extern "C" libsolver_status device_inverter_load(device_inverter *f, const invert_pattern *p,
                                                 message *why)
{
    const current_device here(f->device);
    invert_arguments<double> a = {};
    uploader measured, u;
    put_pattern(&measured, p, &a);
    TRY(device_buffer_reserve(&f->pattern, measured.all.bytes + 256, &f->allocations,
                              "the tables for the inverses", why));
    u.base = static_cast<char *>(f->pattern.at);
    u.copies = true;
    u.stream = (cudaStream_t)f->stream;
    put_pattern(&u, p, &a);
    return CUDA_STATUS(u.error == cudaSuccess ? cudaStreamSynchronize(u.stream) : u.error,
                       "copying the tables for the inverses to the device", why);
}

/* ---- Launches -------------------------------------------------------------------------------- */

template <typename T>
static cudaError_t launch_small(const device_inverter *f, const invert_pattern *p,
                                const invert_arguments<T> &a)
{
    const int32_t below = p->smalls - p->small_roots;
    cudaError_t error = cudaSuccess;
    if (below > 0)
        error = launch_kernel(invert_small_kernel<T, false>,
                              {below, SMALL_THREADS,
                               small_shape<T>::bytes(p->small_scalars, p->small_columns)},
                              f->stream, a, 0);
    if (p->small_roots > 0 && error == cudaSuccess)
        error = launch_kernel(invert_small_kernel<T, true>,
                              {p->small_roots, SMALL_THREADS,
                               small_shape<T>::bytes(3 * p->small_root_scalars, p->small_columns)},
                              f->stream, a, below);
    return error;
}

template <typename T>
static cudaError_t launch_step(const device_inverter *f, const invert_launch &l,
                               const invert_arguments<T> &a)
{
    using shape = product_shape<T>;
    switch (l.step) {
    case INVERT_CLEAR:
        return cudaMemsetAsync(a.workspace, 0, (size_t)l.bytes, (cudaStream_t)f->stream);
    case INVERT_GATHER:
        return launch_kernel(invert_gather_kernel<T>,
                             {(int64_t)l.count * GATHER_BLOCKS, STRIP_THREADS}, f->stream, a,
                             l.first);
    case INVERT_DIAGONAL:
        return launch_kernel(invert_diagonal_kernel<T>, {l.count, STRIP_THREADS, DIAGONAL_BYTES<T>},
                             f->stream, a, l.first);
    case INVERT_MULTIPLY:
        return launch_kernel(invert_multiply_kernel<T>, {l.count, PRODUCT_THREADS, shape::BYTES},
                             f->stream, a, l.first);
    case INVERT_SCALE:
        return launch_kernel(invert_scale_kernel<T>, {l.count, STRIP_THREADS}, f->stream, a,
                             l.first);
    case INVERT_FINISH:
        return launch_kernel(invert_finish_kernel<T>, {l.count, STRIP_THREADS}, f->stream, a,
                             l.first);
    case INVERT_PACK:
        return launch_kernel(invert_pack_kernel<T>,
                             {(l.count + STRIP_WARPS - 1) / STRIP_WARPS, STRIP_THREADS}, f->stream,
                             a, l.first, l.count);
    case INVERT_GROWTH:
        return launch_kernel(invert_growth_kernel<T, false>, {l.count, STRIP_THREADS}, f->stream, a,
                             l.first);
    case INVERT_GRAM:
        return launch_kernel(invert_gram_kernel<T>, {l.count, PRODUCT_THREADS, shape::BYTES},
                             f->stream, a, l.first);
    case INVERT_ROOT_SUMS:
        return launch_kernel(invert_root_sums_kernel<T>, {l.count, STRIP_THREADS}, f->stream, a,
                             l.first);
    case INVERT_ROOT_TRANSPOSED:
        return launch_kernel(invert_root_transposed_kernel<T>, {l.count, STRIP_THREADS}, f->stream,
                             a, l.first);
    case INVERT_ROOT_GROWTH:
        return launch_kernel(invert_growth_kernel<T, true>, {l.count, STRIP_THREADS}, f->stream, a,
                             l.first);
    }
    return cudaErrorInvalidValue;
}

template <typename T>
static cudaError_t launch_all(const device_inverter *f, const invert_pattern *p,
                              const invert_arguments<T> &a)
{
    cudaError_t error = cudaSuccess;
    for (int32_t q = 0; q < p->launches && error == cudaSuccess; q++)
        error = launch_step(f, p->launch[q], a);
    if (error == cudaSuccess)
        error = launch_small(f, p, a);
    if (!a.cholesky && p->n > 0 && error == cudaSuccess)
        error = launch_kernel(invert_pivots_kernel<T>, {(p->n + 255) / 256, 256}, f->stream, a);
    return error;
}

/* Measures the kernels of a stream by events. */
struct stopwatch {
    cudaEvent_t start = nullptr, stop = nullptr;
    cudaStream_t stream;

    explicit stopwatch(cudaStream_t stream) : stream(stream)
    {
        if (cudaEventCreate(&start) == cudaSuccess && cudaEventCreate(&stop) == cudaSuccess)
            cudaEventRecord(start, stream);
    }
    ~stopwatch()
    {
        cudaEventDestroy(start);
        cudaEventDestroy(stop);
    }
    /* once the stream has been waited for */
    double seconds() const
    {
        float ms = 0;
        return cudaEventElapsedTime(&ms, start, stop) == cudaSuccess ? 1e-3 * ms : 0;
    }
};

template <typename T>
static libsolver_status values_of(device_inverter *f, const device_factor *factor,
                                  const invert_pattern *p, void *values, double *growth,
                                  double *seconds, message *why)
{
    const cudaStream_t stream = (cudaStream_t)f->stream;
    const int64_t grown = p->smalls + p->strips;
    parts all;
    const int64_t rows = (int64_t)p->strips * SQUARE,
                  tiles = all.place(p->workspace * (int64_t)sizeof(T)),
                  sums = all.place(2 * rows * (int64_t)sizeof(real_of<T>)),
                  growths = all.place(2 * grown * (int64_t)sizeof(double));
    invert_arguments<T> a = {};
    uploader there;
    there.base = static_cast<char *>(f->pattern.at);
    put_pattern(&there, p, &a);
    TRY(device_buffer_reserve(&f->workspace, all.bytes + 256, &f->allocations,
                              "the workspace for the inverses", why));
    char *base = static_cast<char *>(f->workspace.at);
    a.panel = static_cast<const T *>(factor->values.at);
    a.d = a.panel + factor->shape.panel_scalars;
    a.e = a.d + factor->shape.n;
    a.values = static_cast<T *>(values);
    a.workspace = reinterpret_cast<T *>(base + tiles);
    a.sums = reinterpret_cast<real_of<T> *>(base + sums);
    a.turned = a.sums + rows;
    a.growth = reinterpret_cast<double *>(base + growths);
    a.root_growth = a.growth + grown;
    a.hermitian = factor->shape.hermitian;
    a.cholesky = factor->shape.cholesky;
    const stopwatch watch(stream);
    const cudaError_t launched = launch_all(f, p, a);
    cudaError_t error = cudaEventRecord(watch.stop, stream);
    if (error == cudaSuccess && grown > 0)
        error = cudaMemcpyAsync(growth, a.growth, (size_t)(2 * grown) * sizeof(double),
                                cudaMemcpyDeviceToHost, stream);
    const cudaError_t end = cudaStreamSynchronize(stream);
    *seconds = watch.seconds();
    TRY(CUDA_STATUS(error != cudaSuccess ? error : end, "inverting groups of columns", why));
    return LAUNCH_STATUS(launched, "launching the kernels that invert groups of columns", why);
}

extern "C" libsolver_status device_inverter_run(device_inverter *f, const device_factor *factor,
                                                const invert_pattern *pattern, void *values,
                                                double *growth, double *seconds, message *why)
{
    const current_device here(f->device);
    return with_type(factor->shape.type, [&](auto one) {
        return values_of<decltype(one)>(f, factor, pattern, values, growth, seconds, why);
    });
}
