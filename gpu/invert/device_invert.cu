/* gpu/invert/device_invert.cu: buffers and launches of the inversion on a device
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/invert/device_invert.h"
#include "dense/cuda/device/launch.cuh"
#include "gpu/device/device.cuh"
#include "gpu/invert/small.cuh"
#include "gpu/invert/tasks.cuh"
#include <cstring>

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
    a->task = u->put(p->task, p->tasks);
    a->wait = u->put(p->wait, p->waits);
    a->column_wait = u->put(p->column_wait, p->waits > 0 ? p->n : 0);
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

template <typename T, int SHARE, bool ROOT = false, int WARPS = SMALL_WARPS>
static void launch_small(launches *l, const invert_arguments<T> &a, const small_groups &of,
                         int32_t *first)
{
    constexpr int AREAS = ROOT ? 3 : 1, TEAMS = SMALL_WARPS / WARPS; /* roots have three squares */
    const int bytes = small_shape<T, WARPS>::bytes(AREAS * of.scalars, of.columns);
    if (of.count == 0)
        return;
    l->add(invert_small_kernel<T, SHARE, ROOT, WARPS>,
           {(of.count + TEAMS - 1) / TEAMS, SMALL_THREADS, TEAMS * bytes}, a, *first, of.count,
           bytes, l->follows);
    l->follows = false; /* that one lets the next begin when it has seen what the first did */
    *first += of.count;
}

template <typename T>
static void launch_tasks(launches *l, const invert_arguments<T> &a, const invert_batch &batch,
                         int32_t number, bool is_early, int multiprocessors)
{
    const int64_t room = (int64_t)multiprocessors * product_shape<T>::BLOCKS_EACH;
    l->add(is_early ? invert_tasks_kernel<T, true> : invert_tasks_kernel<T, false>,
           {batch.count < room ? batch.count : room, STRIP_THREADS, task_shape<T>::BYTES}, a, batch,
           number, l->follows || number > 0);
    l->follows = false;
}

/* All that is zero before the tasks. */
template <typename T> static invert_words words_of(const invert_arguments<T> &a)
{
    unsigned *const first = reinterpret_cast<unsigned *>(a.gathered);
    return {first, (int32_t)(a.drawn_end - first)};
}

/* Tiles first, for chains of products are what the end waits for: small groups fill multiprocessors
 * whose blocks have no more tasks.  Where L is made meanwhile nothing waits for what comes before
 * on the stream, but for the columns that it reads. */
template <typename T>
static cudaError_t launch_all(const device_inverter *f, const invert_pattern *p,
                              const invert_arguments<T> &a)
{
    launches l = {f->stream};
    int32_t first = 0;
    int multiprocessors = 1;
    l.error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, f->device);
    l.follows = !a.word;
    const invert_words words = words_of(a);
    if (!a.word)
        l.add(invert_begin_kernel, {(words.count + 255) / 256, 256}, words.word, words.count);
    const auto add_pivots = [&](bool is_time) {
        if (is_time && !a.cholesky && p->n > 0)
            l.add(invert_pivots_kernel<T>, {(p->n + 255) / 256, 256}, a);
    };
    add_pivots(!a.word);
    for (int32_t q = 0; q < p->batches; q++)
        launch_tasks(&l, a, p->batch[q], q, p->waits > 0, multiprocessors);
    launch_small<T, 1, false, 1>(&l, a, p->of_class[0], &first);
    launch_small<T, 2>(&l, a, p->of_class[1], &first);
    launch_small<T, 4>(&l, a, p->of_class[2], &first);
    launch_small<T, SMALL_MOST_SHARE>(&l, a, p->of_class[3], &first);
    launch_small<T, SMALL_MOST_SHARE, true>(&l, a, p->small_roots, &first);
    add_pivots(a.word != nullptr);
    return l.error;
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

/* Room for a factor's inversion, and what is where; the panels and the values are not looked at. */
template <typename T>
static libsolver_status place(device_inverter *f, const device_factor *factor,
                              const invert_pattern *p, invert_arguments<T> *a, message *why)
{
    const int64_t grown = p->smalls + p->strips;
    parts all;
    const int64_t rows = (int64_t)p->strips * SQUARE,
                  tiles = all.place(p->workspace * (int64_t)sizeof(T)),
                  sums = all.place(3 * rows * (int64_t)sizeof(real_of<T>)),
                  growths = all.place(2 * grown * (int64_t)sizeof(double)),
                  gathered = all.place((int64_t)sizeof(gathered_growth)),
                  told = all.place((p->words + 2 * p->batches) * (int64_t)sizeof(unsigned));
    uploader there;
    there.base = static_cast<char *>(f->pattern.at);
    put_pattern(&there, p, a);
    TRY(device_buffer_reserve(&f->workspace, all.bytes + 256, &f->allocations,
                              "the workspace for the inverses", why));
    char *base = static_cast<char *>(f->workspace.at);
    a->panel = static_cast<const T *>(factor->values.at);
    a->d = a->panel + factor->shape.panel_scalars;
    a->e = a->d + factor->shape.n;
    a->workspace = reinterpret_cast<T *>(base + tiles);
    a->sums = reinterpret_cast<real_of<T> *>(base + sums);
    a->root_sums = a->sums + rows;
    a->turned = a->root_sums + rows;
    a->growth = reinterpret_cast<double *>(base + growths);
    a->root_growth = a->growth + grown;
    a->gathered = reinterpret_cast<gathered_growth *>(base + gathered);
    a->told = reinterpret_cast<unsigned *>(base + told);
    a->drawn = a->told + p->words;
    a->drawn_end = a->drawn + 2 * p->batches;
    a->patience = (uint64_t)PATIENCE * 1000000000;
    a->hermitian = factor->shape.hermitian;
    a->cholesky = factor->shape.cholesky;
    f->growths = grown;
    f->growth = a->growth;
    f->gathered = a->gathered;
    return LIBSOLVER_OK;
}

template <typename T>
static libsolver_status launch_inversion(device_inverter *f, const device_factor *factor,
                                         const invert_pattern *p, void *values,
                                         const unsigned *words, message *why)
{
    invert_arguments<T> a = {};
    TRY(place(f, factor, p, &a, why));
    a.values = static_cast<T *>(values);
    a.word = words;
    a.all = words ? words + p->all_word : nullptr;
    cudaError_t error = mark(f, &f->start);
    if (error == cudaSuccess)
        error = launch_all(f, p, a);
    if (error == cudaSuccess)
        error = mark(f, &f->stop);
    return LAUNCH_STATUS(error, "launching the kernels that invert groups of columns", why);
}

extern "C" libsolver_status device_inverter_words(device_inverter *f, const device_factor *factor,
                                                  const invert_pattern *pattern,
                                                  invert_words *words, message *why)
{
    const current_device here(f->device);
    return with_type(factor->shape.type, [&](auto one) {
        invert_arguments<decltype(one)> a = {};
        TRY(place(f, factor, pattern, &a, why));
        *words = words_of(a);
        return LIBSOLVER_OK;
    });
}

extern "C" libsolver_status device_inverter_launch(device_inverter *f, const device_factor *factor,
                                                   const invert_pattern *pattern, void *values,
                                                   const unsigned *words, int is_timed,
                                                   message *why)
{
    const current_device here(f->device);
    f->is_timed = is_timed;
    return with_type(factor->shape.type, [&](auto one) {
        return launch_inversion<decltype(one)>(f, factor, pattern, values, words, why);
    });
}

static double of_bits(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

extern "C" libsolver_status device_inverter_finish(const device_inverter *f, largest_growth *growth,
                                                   double *seconds, message *why)
{
    const current_device here(f->device);
    const cudaStream_t stream = (cudaStream_t)f->stream;
    gathered_growth g;
    float ms = 0;
    cudaError_t error = cudaMemcpyAsync(&g, f->gathered, sizeof g, cudaMemcpyDeviceToHost, stream);
    const cudaError_t end = cudaStreamSynchronize(stream);
    TRY(CUDA_STATUS(error != cudaSuccess ? error : end, "inverting groups of columns", why));
    if (g.gave_up)
        return FAIL(why, LIBSOLVER_CUDA, "a block of the inversion waited %d s for another",
                    PATIENCE);
    if (f->is_timed)
        error = cudaEventElapsedTime(&ms, (cudaEvent_t)f->start, (cudaEvent_t)f->stop);
    *growth = {of_bits(g.of_group), of_bits(g.of_root)};
    *seconds = 1e-3 * ms;
    return CUDA_STATUS(error, "inverting groups of columns", why);
}

extern "C" libsolver_status device_inverter_growths(const device_inverter *f, double *growth,
                                                    message *why)
{
    const current_device here(f->device);
    const cudaStream_t stream = (cudaStream_t)f->stream;
    const size_t bytes = (size_t)(2 * f->growths) * sizeof(double);
    if (bytes == 0)
        return LIBSOLVER_OK;
    const cudaError_t error =
        cudaMemcpyAsync(growth, f->growth, bytes, cudaMemcpyDeviceToHost, stream);
    const cudaError_t end = cudaStreamSynchronize(stream);
    return CUDA_STATUS(error != cudaSuccess ? error : end, "inverting groups of columns", why);
}
