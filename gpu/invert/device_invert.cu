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
    for (void **event : {&f->start, &f->stop}) {
        if (*event)
            cudaEventDestroy((cudaEvent_t)*event);
        *event = nullptr;
    }
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

static cudaError_t mark(const device_inverter *f, void **event)
{
    cudaError_t error = cudaSuccess;
    cudaEvent_t made = nullptr;
    if (!f->is_timed)
        return error;
    if (!*event) {
        error = cudaEventCreate(&made);
        *event = made;
    }
    return error == cudaSuccess ? cudaEventRecord((cudaEvent_t)*event, (cudaStream_t)f->stream)
                                : error;
}

template <typename T>
static libsolver_status launch_inversion(device_inverter *f, const device_factor *factor,
                                         const invert_pattern *p, void *values, message *why)
{
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
    f->growths = grown;
    f->growth = a.growth;
    cudaError_t error = mark(f, &f->start);
    if (error == cudaSuccess)
        error = launch_all(f, p, a);
    if (error == cudaSuccess)
        error = mark(f, &f->stop);
    return LAUNCH_STATUS(error, "launching the kernels that invert groups of columns", why);
}

extern "C" libsolver_status device_inverter_launch(device_inverter *f, const device_factor *factor,
                                                   const invert_pattern *pattern, void *values,
                                                   int is_timed, message *why)
{
    const current_device here(f->device);
    f->is_timed = is_timed;
    return with_type(factor->shape.type, [&](auto one) {
        return launch_inversion<decltype(one)>(f, factor, pattern, values, why);
    });
}

extern "C" libsolver_status device_inverter_finish(const device_inverter *f, double *growth,
                                                   double *seconds, message *why)
{
    const current_device here(f->device);
    const cudaStream_t stream = (cudaStream_t)f->stream;
    float ms = 0;
    cudaError_t error = cudaSuccess;
    if (f->growths > 0)
        error = cudaMemcpyAsync(growth, f->growth, (size_t)(2 * f->growths) * sizeof(double),
                                cudaMemcpyDeviceToHost, stream);
    const cudaError_t end = cudaStreamSynchronize(stream);
    TRY(CUDA_STATUS(error != cudaSuccess ? error : end, "inverting groups of columns", why));
    if (f->is_timed)
        error = cudaEventElapsedTime(&ms, (cudaEvent_t)f->start, (cudaEvent_t)f->stop);
    *seconds = 1e-3 * ms;
    return CUDA_STATUS(error, "inverting groups of columns", why);
}
