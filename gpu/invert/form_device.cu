/* gpu/invert/form_device.cu: buffers and launches by which a device forms the values of a program
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/invert/form_device.h"
#include "base/type.h"
#include "dense/cuda/device/launch.cuh"
#include "gpu/device/device.cuh"
#include "gpu/invert/form_product.cuh"
#include "gpu/invert/form_small.cuh"

extern "C" {
#include "base/message.h"
}

/* Each half of the page-locked buffer through which panels go, for so many bytes: opening it takes
 * 0.4 ms a MB, the way through it 0.04, but a third more through halves of 2 MB than of 8. */
static int64_t staging_bytes(int64_t bytes)
{
    const int64_t least = 2 << 20, most = 8 << 20,
                  half = bytes / 32 < least  ? least
                         : bytes / 32 > most ? most
                                             : bytes / 32;
    return ((bytes < half ? bytes : half) + 65535) / 65536 * 65536;
}

static cudaError_t grow(device_form *f, form_buffer *b, int64_t bytes)
{
    if (bytes <= b->bytes)
        return cudaSuccess;
    cudaFree(b->at);
    b->at = nullptr;
    b->bytes = 0;
    f->allocations++;
    const cudaError_t error = cudaMalloc(&b->at, (size_t)bytes);
    b->bytes = error == cudaSuccess ? bytes : 0;
    return error;
}

/* ---- The factor ------------------------------------------------------------------------------ */

/* For so many bytes in all. */
static cudaError_t open_staging(device_form *f, int64_t bytes)
{
    const int64_t half = staging_bytes(bytes);
    cudaError_t error = cudaSuccess;
    for (void *&event : f->staged)
        if (!event && error == cudaSuccess) {
            cudaEvent_t fresh;
            error = cudaEventCreateWithFlags(&fresh, cudaEventDisableTiming);
            event = error == cudaSuccess ? fresh : nullptr;
        }
    if (half <= f->half || error != cudaSuccess)
        return error;
    cudaFreeHost(f->staging);
    f->staging = nullptr;
    f->half = 0;
    error = cudaHostAlloc(&f->staging, (size_t)(2 * half), cudaHostAllocDefault);
    f->half = error == cudaSuccess ? half : 0;
    return error;
}

extern "C" libsolver_status device_form_load(device_form *f, const form_factor *factor,
                                             form_fill *fill, void *user, char *sentence, int room)
{
    const current_device here(f->device);
    const cudaStream_t stream = (cudaStream_t)f->stream;
    const int64_t scalars = factor->panel_scalars + (factor->cholesky ? 0 : 2 * (int64_t)factor->n),
                  bytes = scalars * type_bytes(factor->type);
    cudaError_t error = open_staging(f, bytes);
    if (error == cudaSuccess)
        error = grow(f, &f->factor, bytes + 16);
    f->is = *factor;
    for (int64_t from = 0, k = 0; from < bytes && error == cudaSuccess; from += f->half, k ^= 1) {
        const int64_t part = bytes - from < f->half ? bytes - from : f->half;
        char *half = static_cast<char *>(f->staging) + k * f->half;
        error = cudaEventSynchronize((cudaEvent_t)f->staged[k]);
        if (error != cudaSuccess)
            break;
        fill(user, from, part, half);
        error = cudaMemcpyAsync(static_cast<char *>(f->factor.at) + from, half, (size_t)part,
                                cudaMemcpyHostToDevice, stream);
        if (error == cudaSuccess)
            error = cudaEventRecord((cudaEvent_t)f->staged[k], stream);
    }
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    return status_with(error, sentence, room);
}

extern "C" void device_form_drop(device_form *f)
{
    const current_device here(f->device);
    for (form_buffer *b : {&f->factor, &f->pattern, &f->workspace}) {
        cudaFree(b->at);
        *b = {};
    }
}

extern "C" void device_form_close(device_form *f)
{
    const current_device here(f->device);
    device_form_drop(f);
    cudaFreeHost(f->staging);
    for (void *event : f->staged)
        if (event)
            cudaEventDestroy((cudaEvent_t)event);
    *f = {};
}

/* ---- The pattern ----------------------------------------------------------------------------- */

template <typename T>
static void put_pattern(uploader *u, const form_pattern *p, form_arguments<T> *a)
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
    a->top = u->put(p->top, p->top_tiles);
    a->item = u->put(p->item, p->items);
    a->part = u->put(p->part, p->parts);
    a->n = p->n;
    a->smalls = p->smalls;
}

/* The places depend on counts alone, not on the type. */
extern "C" libsolver_status device_form_pattern(device_form *f, const form_pattern *p,
                                                char *sentence, int room)
{
    const current_device here(f->device);
    form_arguments<double> a = {};
    uploader measured, u;
    put_pattern(&measured, p, &a);
    cudaError_t error = grow(f, &f->pattern, measured.all.bytes + 256);
    if (error == cudaSuccess) {
        u.base = static_cast<char *>(f->pattern.at);
        u.copies = true;
        u.stream = (cudaStream_t)f->stream;
        put_pattern(&u, p, &a);
        error = u.error == cudaSuccess ? cudaStreamSynchronize(u.stream) : u.error;
    }
    return status_with(error, sentence, room);
}

/* ---- Launches -------------------------------------------------------------------------------- */

template <typename T>
static libsolver_status launch_small(const device_form *f, const form_pattern *p,
                                     const form_arguments<T> &a)
{
    const int32_t below = p->smalls - p->small_tops;
    if (below > 0)
        TRY(launch(form_small_kernel<T, false>,
                   {below, SMALL_THREADS,
                    small_shape<T>::bytes(p->small_scalars, p->small_columns)},
                   f->stream, a, 0));
    if (p->small_tops > 0)
        TRY(launch(form_small_kernel<T, true>,
                   {p->small_tops, SMALL_THREADS,
                    small_shape<T>::bytes(3 * p->small_top_scalars, p->small_columns)},
                   f->stream, a, below));
    return LIBSOLVER_OK;
}

template <typename T>
static libsolver_status launch_step(const device_form *f, const form_launch &l,
                                    const form_arguments<T> &a)
{
    using shape = form_shape<T>;
    switch (l.step) {
    case FORM_CLEAR:
        return status_of(cudaMemsetAsync(a.workspace, 0, (size_t)l.bytes, (cudaStream_t)f->stream));
    case FORM_GATHER:
        return launch(form_gather_kernel<T>, {(int64_t)l.count * GATHER_BLOCKS, STRIP_THREADS},
                      f->stream, a, l.first);
    case FORM_INVERT:
        return launch(form_invert_kernel<T>, {l.count, STRIP_THREADS, INVERT_BYTES<T>}, f->stream,
                      a, l.first);
    case FORM_MULTIPLY:
        return launch(form_multiply_kernel<T>, {l.count, PRODUCT_THREADS, shape::BYTES}, f->stream,
                      a, l.first);
    case FORM_SCALE:
        return launch(form_scale_kernel<T>, {l.count, STRIP_THREADS}, f->stream, a, l.first);
    case FORM_FINISH:
        return launch(form_finish_kernel<T>, {l.count, STRIP_THREADS}, f->stream, a, l.first);
    case FORM_PACK:
        return launch(form_pack_kernel<T>,
                      {(l.count + STRIP_WARPS - 1) / STRIP_WARPS, STRIP_THREADS}, f->stream, a,
                      l.first, l.count);
    case FORM_GROWTH:
        return launch(form_growth_kernel<T, false>, {l.count, STRIP_THREADS}, f->stream, a,
                      l.first);
    case FORM_GRAM:
        return launch(form_gram_kernel<T>, {l.count, PRODUCT_THREADS, shape::BYTES}, f->stream, a,
                      l.first);
    case FORM_SQUARE_SUMS:
        return launch(form_square_sums_kernel<T>, {l.count, STRIP_THREADS}, f->stream, a, l.first);
    case FORM_SQUARE_TURNED:
        return launch(form_square_turned_kernel<T>, {l.count, STRIP_THREADS}, f->stream, a,
                      l.first);
    case FORM_SQUARE_GROWTH:
        return launch(form_growth_kernel<T, true>, {l.count, STRIP_THREADS}, f->stream, a, l.first);
    }
    return LIBSOLVER_INTERNAL;
}

template <typename T>
static libsolver_status launch_all(const device_form *f, const form_pattern *p,
                                   const form_arguments<T> &a)
{
    for (int32_t q = 0; q < p->launches; q++)
        TRY(launch_step(f, p->launch[q], a));
    TRY(launch_small(f, p, a));
    if (!f->is.cholesky && p->n > 0)
        TRY(launch(form_pivots_kernel<T>, {(p->n + 255) / 256, 256}, f->stream, a));
    return LIBSOLVER_OK;
}

/* Events around the kernels. */
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
    /* after the stream was waited for */
    double seconds() const
    {
        float ms = 0;
        return cudaEventElapsedTime(&ms, start, stop) == cudaSuccess ? 1e-3 * ms : 0;
    }
};

template <typename T>
static libsolver_status values_of(device_form *f, const form_pattern *p, void *values,
                                  double *growth, double *seconds, char *sentence, int room)
{
    const cudaStream_t stream = (cudaStream_t)f->stream;
    const int64_t grown = p->smalls + p->strips;
    parts all;
    const int64_t rows = (int64_t)p->strips * SQUARE,
                  tiles = all.place(p->workspace * (int64_t)sizeof(T)),
                  sums = all.place(2 * rows * (int64_t)sizeof(real_of<T>)),
                  growths = all.place(2 * grown * (int64_t)sizeof(double));
    form_arguments<T> a = {};
    uploader there;
    there.base = static_cast<char *>(f->pattern.at);
    put_pattern(&there, p, &a);
    cudaError_t error = grow(f, &f->workspace, all.bytes + 256);
    if (error != cudaSuccess)
        return status_with(error, sentence, room);
    char *base = static_cast<char *>(f->workspace.at);
    a.panel = static_cast<const T *>(f->factor.at);
    a.d = a.panel + f->is.panel_scalars;
    a.e = a.d + f->is.n;
    a.values = static_cast<T *>(values);
    a.workspace = reinterpret_cast<T *>(base + tiles);
    a.sums = reinterpret_cast<real_of<T> *>(base + sums);
    a.turned = a.sums + rows;
    a.growth = reinterpret_cast<double *>(base + growths);
    a.square_growth = a.growth + grown;
    a.hermitian = f->is.hermitian;
    a.cholesky = f->is.cholesky;
    const stopwatch watch(stream);
    const libsolver_status status = launch_all(f, p, a);
    error = cudaEventRecord(watch.stop, stream);
    if (error == cudaSuccess && grown > 0)
        error = cudaMemcpyAsync(growth, a.growth, (size_t)(2 * grown) * sizeof(double),
                                cudaMemcpyDeviceToHost, stream);
    const cudaError_t end = cudaStreamSynchronize(stream);
    *seconds = watch.seconds();
    if (error == cudaSuccess && end == cudaSuccess && status != LIBSOLVER_OK)
        snprintf(sentence, (size_t)room, "a kernel could not be launched");
    return error != cudaSuccess || end != cudaSuccess
               ? status_with(error != cudaSuccess ? error : end, sentence, room)
               : status;
}

extern "C" libsolver_status device_form_values(device_form *f, const form_pattern *pattern,
                                               void *values, double *growth, double *seconds,
                                               char *sentence, int room)
{
    const current_device here(f->device);
    return with_type(f->is.type, [&](auto one) {
        return values_of<decltype(one)>(f, pattern, values, growth, seconds, sentence, room);
    });
}
