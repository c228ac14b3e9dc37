/* gpu/invert/device_invert.cu: buffers and launches of the inversion on a device
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/invert/device_invert.h"
#include "dense/cuda/device/launch.cuh"
#include "gpu/device/device.cuh"
#include "gpu/invert/small.cuh"
#include "gpu/invert/tasks.cuh"

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
    a->task = u->put(p->task, p->tasks);
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

/* Seconds that a block waits for another before the inversion is given up. */
constexpr int PATIENCE = 60;

/* Launches on a stream, up to the first that fails; each may begin while the one before it ends. */
struct launches {
    void *stream;
    cudaError_t error = cudaSuccess;
    bool follows = true; /* the next kernel wants what the one before did */

    template <typename... Parameters, typename... Arguments>
    void add(void (*kernel)(Parameters...), launch_shape shape, Arguments... arguments)
    {
        shape.overlaps = true;
        if (error == cudaSuccess)
            error = launch_kernel(kernel, shape, stream, arguments...);
    }
};

__global__ void __launch_bounds__(256) invert_begin_kernel(unsigned *word, int32_t words)
{
    wait_for_kernel_before();
    const int32_t q = (int32_t)(blockIdx.x * 256 + threadIdx.x);
    if (q < words)
        word[q] = 0;
}

template <typename T, int SHARE, bool ROOT>
static void launch_small(launches *l, const invert_arguments<T> &a, const small_groups &of,
                         int32_t *first)
{
    const int areas = ROOT ? 3 : 1; /* roots have three squares */
    if (of.count == 0)
        return;
    l->add(invert_small_kernel<T, SHARE, ROOT>,
           {of.count, SMALL_THREADS, small_shape<T>::bytes(areas * of.scalars, of.columns)}, a,
           *first, l->follows);
    l->follows = false; /* that one lets the next begin when it has seen what the first did */
    *first += of.count;
}

template <typename T>
static void launch_tasks(launches *l, const invert_arguments<T> &a, const invert_batch &batch,
                         int32_t number, int multiprocessors)
{
    const int64_t room = (int64_t)multiprocessors * product_shape<T>::BLOCKS_EACH;
    l->add(invert_tasks_kernel<T>,
           {batch.count < room ? batch.count : room, STRIP_THREADS, task_shape<T>::BYTES}, a, batch,
           number, l->follows || number > 0);
}

template <typename T>
static cudaError_t launch_all(const device_inverter *f, const invert_pattern *p,
                              const invert_arguments<T> &a, int32_t words)
{
    launches l = {f->stream};
    int32_t first = 0;
    int multiprocessors = 1;
    l.error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, f->device);
    l.add(invert_begin_kernel, {(words + 255) / 256, 256}, a.done, words);
    if (!a.cholesky && p->n > 0)
        l.add(invert_pivots_kernel<T>, {(p->n + 255) / 256, 256}, a);
    launch_small<T, 2, false>(&l, a, p->of_class[0], &first);
    launch_small<T, 4, false>(&l, a, p->of_class[1], &first);
    launch_small<T, SMALL_MOST_SHARE, false>(&l, a, p->of_class[2], &first);
    launch_small<T, SMALL_MOST_SHARE, true>(&l, a, p->small_roots, &first);
    for (int32_t q = 0; q < p->batches; q++)
        launch_tasks(&l, a, p->batch[q], q, multiprocessors);
    return l.error;
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
                  sums = all.place(3 * rows * (int64_t)sizeof(real_of<T>)),
                  growths = all.place(2 * grown * (int64_t)sizeof(double)),
                  words = all.place((p->tiled_groups + p->batches + 1) * (int64_t)sizeof(unsigned));
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
    a.root_sums = a.sums + rows;
    a.turned = a.root_sums + rows;
    a.growth = reinterpret_cast<double *>(base + growths);
    a.root_growth = a.growth + grown;
    a.done = reinterpret_cast<unsigned *>(base + words);
    a.drawn = a.done + p->tiled_groups;
    a.gave_up = reinterpret_cast<int *>(a.drawn + p->batches);
    a.patience = (uint64_t)PATIENCE * 1000000000;
    a.hermitian = factor->shape.hermitian;
    a.cholesky = factor->shape.cholesky;
    const stopwatch watch(stream);
    const cudaError_t launched = launch_all(f, p, a, p->tiled_groups + p->batches + 1);
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
