/* gpu/factor/device_factorizer.cu: buffers and launches of factorizations on a device, a launch for
 * each level
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/factor/device_factorizer.h"
#include "base/type.h"
#include "dense/cuda/device/launch.cuh"
#include "gpu/device/device.cuh"
#include "gpu/factor/small.cuh"
#include "gpu/factor/tiles.cuh"
#include <cstring>

/* A kernel for each class of tasks, so that each has the registers that it wants: the chain of
 * diagonal blocks all of a multiprocessor's, products and small fronts half of them. */
template <typename T> struct factor_shape {
    static constexpr int TINY = CHOLESKY_THREADS / 32 * small_bytes<T>(FACTOR_TINY_ROWS),
                         LARGEST = small_bytes<T>(sizeof(T) == 16 ? 80 : 112),
                         SMALL = LARGEST > TINY ? LARGEST : TINY, TILES = tile_shape<T>::BYTES;
    static constexpr int BLOCKS_EACH = sizeof(T) == 16 ? 1 : 2; /* on a multiprocessor */
};

__device__ __forceinline__ uint64_t nanoseconds()
{
    uint64_t now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
}

/* When a block began and ended, if that is asked for. */
struct task_clock {
    uint64_t *at;

    __device__ __forceinline__ task_clock(uint64_t *trace, int64_t task)
        : at(trace ? trace + 2 * task : nullptr)
    {
        if (at && threadIdx.x == 0)
            at[0] = nanoseconds();
    }
    __device__ __forceinline__ void stop() const
    {
        if (!at)
            return;
        __syncthreads();
        if (threadIdx.x == 0)
            at[1] = nanoseconds();
    }
};

template <typename T>
__global__ void __launch_bounds__(CHOLESKY_THREADS, factor_shape<T>::BLOCKS_EACH)
    factor_small_kernel(const __grid_constant__ factor_arguments<T> a, int64_t first)
{
    extern __shared__ __align__(128) char shared[];
    const task_clock clock(a.trace, first + blockIdx.x);
    const factor_task task = a.task[first + blockIdx.x];
    const int warp = threadIdx.x / 32;
    if (task.kind == FACTOR_SMALL)
        factorize_run<8>(a, task.i, task.j, shared);
    else if (warp < task.j) {
        const factor_range range = a.range[task.i + warp];
        factorize_run<1>(a, range.first, range.end,
                         shared + warp * small_bytes<T>(FACTOR_TINY_ROWS));
    }
    clock.stop();
}

template <typename T>
__global__ void __launch_bounds__(CHOLESKY_THREADS, 1)
    factor_pivot_kernel(const __grid_constant__ factor_arguments<T> a, int64_t first)
{
    extern __shared__ __align__(128) char shared[];
    const task_clock clock(a.trace, first + blockIdx.x);
    T *const t = reinterpret_cast<T *>(shared);
    T *const tile[3] = {t, t + TILE_AREA<T>, t + 2 * TILE_AREA<T>};
    factorize_pivots(a, a.task[first + blockIdx.x], tile,
                     reinterpret_cast<real_of<T> *>(tile[2] + TILE_AREA<T>));
    clock.stop();
}

template <typename T>
__global__ void __launch_bounds__(CHOLESKY_THREADS, factor_shape<T>::BLOCKS_EACH)
    factor_tile_kernel(const __grid_constant__ factor_arguments<T> a, int64_t first)
{
    extern __shared__ __align__(128) char shared[];
    const task_clock clock(a.trace, first + blockIdx.x);
    const factor_task task = a.task[first + blockIdx.x];
    T *const t = reinterpret_cast<T *>(shared);
    T *const tile[3] = {t, t + TILE_AREA<T>, t + 2 * TILE_AREA<T>};
    switch (task.kind) {
    case FACTOR_ASSEMBLE:
        assemble_tile(a, task, tile[0]);
        break;
    case FACTOR_ROWS:
        finish_rows_task(a, task, tile);
        break;
    case FACTOR_UPDATE:
        update_tile(a, task, tile[0]);
        break;
    case FACTOR_CONTRIBUTION:
        form_contribution(a, task, tile[0], tile[2]);
        break;
    }
    clock.stop();
}

__global__ void factor_begin_kernel(gathered_outcome *o, int n)
{
    *o = {n, 0, (unsigned long long)__double_as_longlong(INFINITY)};
}

/* ---- Buffers --------------------------------------------------------------------------------- */

template <typename T>
static void put_tables(uploader *u, const factor_program *g, const int32_t *position,
                       int64_t positions, factor_arguments<T> *a)
{
    a->front = u->put(g->front, g->nodes);
    a->child = u->put(g->child, g->children);
    a->begin = u->put(g->begin, g->begins);
    a->position = u->put(position, positions);
    a->tile_end = u->put(g->tile_end, g->tiles);
    a->entry = u->put(g->entry, g->entries);
    a->range = u->put(g->range, g->ranges);
    a->task = u->put(g->task, g->tasks);
}

struct workspace_parts {
    parts all;
    int64_t arena, inverse, outcome;
    workspace_parts(const factor_program *g, libsolver_type type)
    {
        arena = all.place(g->arena_scalars * type_bytes(type));
        inverse = all.place(g->inverses * TILE * TILE * type_bytes(type));
        outcome = all.place(sizeof(gathered_outcome));
    }
};

extern "C" int64_t device_factorizer_bytes(const factor_program *g, int64_t positions,
                                           libsolver_type type)
{
    factor_arguments<double> a = {};
    uploader measured;
    put_tables(&measured, g, nullptr, positions, &a);
    return measured.all.bytes + workspace_parts(g, type).all.bytes + 512;
}

static void drop_graph(device_factorizer *f)
{
    if (f->graph)
        cudaGraphExecDestroy((cudaGraphExec_t)f->graph);
    f->graph = nullptr;
}

extern "C" libsolver_status device_factorizer_load(device_factorizer *f, const factor_program *g,
                                                   const int32_t *position, int64_t positions,
                                                   libsolver_type type, message *why)
{
    const current_device here(f->device);
    factor_arguments<double> a = {};
    uploader measured, u;
    drop_graph(f);
    f->type = type;
    f->positions = positions;
    f->outcome_at = workspace_parts(g, type).outcome;
    put_tables(&measured, g, position, positions, &a);
    TRY(device_buffer_reserve(&f->tables, measured.all.bytes + 256, &f->allocations,
                              "the program of the factorization", why));
    TRY(device_buffer_reserve(&f->workspace, workspace_parts(g, type).all.bytes + 256,
                              &f->allocations, "the workspace of the factorization", why));
    u.base = static_cast<char *>(f->tables.at);
    u.copies = true;
    u.stream = (cudaStream_t)f->stream;
    put_tables(&u, g, position, positions, &a);
    return CUDA_STATUS(u.error == cudaSuccess ? cudaStreamSynchronize(u.stream) : u.error,
                       "copying the program of the factorization to the device", why);
}

extern "C" void device_factorizer_drop(device_factorizer *f)
{
    const current_device here(f->device);
    drop_graph(f);
    device_buffer_free(&f->tables);
    device_buffer_free(&f->workspace);
}

/* ---- Launches -------------------------------------------------------------------------------- */

template <typename T>
static factor_arguments<T> arguments_of(const device_factorizer *f, const factor_program *g,
                                        const factorizer_arguments *given)
{
    factor_arguments<T> a = {};
    uploader there;
    const workspace_parts w(g, f->type);
    char *base = static_cast<char *>(f->workspace.at);
    there.base = static_cast<char *>(f->tables.at);
    put_tables(&there, g, nullptr, f->positions, &a);
    a.value = static_cast<const T *>(given->values);
    a.diagonal = static_cast<const real_of<T> *>(given->diagonal);
    a.panel = static_cast<T *>(given->panel);
    a.arena = reinterpret_cast<T *>(base + w.arena);
    a.inverse = reinterpret_cast<T *>(base + w.inverse);
    a.outcome = reinterpret_cast<gathered_outcome *>(base + w.outcome);
    a.refuse = sizeof(real_of<T>) == 8 ? 16 * DBL_EPSILON : 16 * (double)FLT_EPSILON;
    a.doubt = given->doubt_level;
    a.trace = given->trace;
    return a;
}

/* Streams that are captured together, and what forks and joins them. */
struct branches {
    enum { COUNT = 3 };
    cudaStream_t stream[COUNT] = {};
    cudaEvent_t event[COUNT] = {};
    cudaError_t error = cudaSuccess;

    branches()
    {
        int least = 0, greatest = 0;
        check(cudaDeviceGetStreamPriorityRange(&least, &greatest));
        for (int q = 0; q < COUNT; q++) {
            check(cudaStreamCreateWithPriority(stream + q, cudaStreamNonBlocking,
                                               q == 0 ? greatest : least));
            check(cudaEventCreateWithFlags(event + q, cudaEventDisableTiming));
        }
    }
    ~branches()
    {
        for (int q = 0; q < COUNT; q++) {
            if (event[q])
                cudaEventDestroy(event[q]);
            if (stream[q])
                cudaStreamDestroy(stream[q]);
        }
    }
    void check(cudaError_t e)
    {
        if (error == cudaSuccess)
            error = e;
    }
    /* What is put on `to` from now on waits for what is on `from`. */
    void wait(int to, int from)
    {
        check(cudaEventRecord(event[from], stream[from]));
        check(cudaStreamWaitEvent(stream[to], event[from], 0));
    }
};

/* A class of tasks of a level, which are next to each other in it. */
struct task_class {
    int64_t first, count;
};

/* Diagonal blocks; small fronts; other tiles. */
static void split_level(const factor_program *g, int32_t level, task_class (&part)[3])
{
    int64_t at = g->level_start[level];
    const int64_t end = g->level_start[level + 1];
    for (int q = 0; q < 3; q++) {
        part[q].first = at;
        while (at < end && (q == 2 || (q == 0) == (g->task[at].kind == FACTOR_PIVOT)) &&
               (q != 1 || g->task[at].kind == FACTOR_SMALL || g->task[at].kind == FACTOR_TINY))
            at++;
        part[q].count = at - part[q].first;
    }
}

/* The classes of a level run beside each other. */
template <typename T>
static void launch_level(branches *b, const factor_program *g, const factor_arguments<T> &a,
                         int32_t level)
{
    void (*const kernel[3])(const factor_arguments<T>, int64_t) = {factor_pivot_kernel<T>,
                                                                   factor_small_kernel<T>,
                                                                   factor_tile_kernel<T>};
    const int shared[3] = {factor_shape<T>::TILES, factor_shape<T>::SMALL, factor_shape<T>::TILES};
    task_class part[3];
    split_level(g, level, part);
    for (int q = 1; q < 3; q++)
        if (part[q].count > 0)
            b->wait(q, 0);
    for (int q = 0; q < 3; q++)
        if (part[q].count > 0)
            b->check(launch_kernel(kernel[q], {part[q].count, CHOLESKY_THREADS, shared[q]},
                                   b->stream[q], a, part[q].first));
    for (int q = 1; q < 3; q++)
        if (part[q].count > 0)
            b->wait(0, q);
}

/* Captured in streams of their own: the caller's may be one that cannot be. */
template <typename T>
static cudaError_t make_graph(device_factorizer *f, const factor_program *g,
                              const factorizer_arguments *given)
{
    branches b;
    cudaGraph_t captured = nullptr;
    cudaGraphExec_t graph = nullptr;
    const factor_arguments<T> a = arguments_of<T>(f, g, given);
    if (b.error != cudaSuccess)
        return b.error;
    cudaError_t error = cudaStreamBeginCapture(b.stream[0], cudaStreamCaptureModeThreadLocal);
    if (error != cudaSuccess)
        return error;
    b.check(launch_kernel(factor_begin_kernel, {1, 1}, b.stream[0], a.outcome, (int)g->n));
    for (int32_t q = 0; q < g->levels; q++)
        launch_level(&b, g, a, q);
    error = cudaStreamEndCapture(b.stream[0], &captured);
    if (b.error != cudaSuccess)
        error = b.error;
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&graph, captured, cudaGraphInstantiateFlagUseNodePriority);
    if (captured)
        cudaGraphDestroy(captured);
    f->graph = graph;
    return error;
}

extern "C" libsolver_status device_factorizer_launch(device_factorizer *f, const factor_program *g,
                                                     const factorizer_arguments *given,
                                                     message *why)
{
    const current_device here(f->device);
    if (!f->graph || f->values != given->values || f->diagonal != given->diagonal ||
        f->panel != given->panel || f->trace != given->trace ||
        f->doubt_level != given->doubt_level) {
        drop_graph(f);
        TRY(with_type(f->type, [&](auto one) {
            return CUDA_STATUS(make_graph<decltype(one)>(f, g, given),
                               "preparing the launches of the factorization", why);
        }));
        f->values = given->values;
        f->diagonal = given->diagonal;
        f->panel = given->panel;
        f->doubt_level = given->doubt_level;
        f->trace = given->trace;
    }
    return LAUNCH_STATUS(cudaGraphLaunch((cudaGraphExec_t)f->graph, (cudaStream_t)f->stream),
                         "launching the factorization", why);
}

extern "C" libsolver_status device_factorizer_finish(device_factorizer *f,
                                                     cholesky_outcome *outcome, message *why)
{
    const current_device here(f->device);
    gathered_outcome o;
    cudaError_t error = cudaMemcpyAsync(&o, static_cast<char *>(f->workspace.at) + f->outcome_at,
                                        sizeof o, cudaMemcpyDeviceToHost, (cudaStream_t)f->stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize((cudaStream_t)f->stream);
    TRY(LAUNCH_STATUS(error, "the factorization on the device", why));
    outcome->failed = o.failed;
    outcome->uncertain = o.uncertain;
    memcpy(&outcome->smallest, &o.smallest, sizeof outcome->smallest);
    return LIBSOLVER_OK;
}
