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

template <typename T> struct factor_shape {
    static constexpr int SMALL = small_bytes<T>(sizeof(T) == 16 ? 80 : 112),
                         TINY = CHOLESKY_THREADS / 32 * small_bytes<T>(FACTOR_TINY_ROWS),
                         FRONTS = SMALL > TINY ? SMALL : TINY,
                         SHARED = FRONTS > tile_shape<T>::BYTES ? FRONTS : tile_shape<T>::BYTES;
    static constexpr int BLOCKS_EACH = SHARED > 113 * 1024 ? 1 : 2; /* on a multiprocessor */
};

__device__ __forceinline__ uint64_t nanoseconds()
{
    uint64_t now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
}

/* A run of tiny fronts for each warp. */
template <typename T>
__device__ __forceinline__ void factorize_ranges(const factor_arguments<T> &a,
                                                 const factor_task &task, char *shared)
{
    const int warp = threadIdx.x / 32;
    if (warp >= task.j)
        return;
    const factor_range range = a.range[task.i + warp];
    char *own = shared + warp * small_bytes<T>(FACTOR_TINY_ROWS);
    for (int s = range.first; s < range.end; s++)
        factorize_small<1>(a, a.front[s], own);
}

template <typename T>
__global__ void __launch_bounds__(CHOLESKY_THREADS, factor_shape<T>::BLOCKS_EACH)
    factor_level_kernel(factor_arguments<T> a, int64_t first)
{
    extern __shared__ __align__(128) char shared[];
    const factor_task task = a.task[first + blockIdx.x];
    if (a.trace && threadIdx.x == 0)
        a.trace[2 * (first + blockIdx.x)] = nanoseconds();
    T *const first_tile = reinterpret_cast<T *>(shared);
    T *const tile[3] = {first_tile, first_tile + TILE_AREA<T>, first_tile + 2 * TILE_AREA<T>};
    const factor_front f = a.front[task.front];
    switch (task.kind) {
    case FACTOR_TINY:
        factorize_ranges(a, task, shared);
        break;
    case FACTOR_SMALL:
        for (int s = task.i; s < task.j; s++)
            factorize_small<8>(a, a.front[s], shared);
        break;
    case FACTOR_ASSEMBLE:
        assemble_tile(a, f, task, tile[0]);
        break;
    case FACTOR_PIVOT:
        factorize_pivots(a, f, task, tile, reinterpret_cast<real_of<T> *>(tile[2] + TILE_AREA<T>));
        break;
    case FACTOR_ROWS:
        finish_rows_task(a, f, task, tile);
        break;
    case FACTOR_UPDATE:
        update_tile(a, f, task, tile[0]);
        break;
    case FACTOR_CONTRIBUTION:
        form_contribution(a, f, task, tile[0], tile[2]);
        break;
    }
    if (a.trace) {
        __syncthreads();
        if (threadIdx.x == 0)
            a.trace[2 * (first + blockIdx.x) + 1] = nanoseconds();
    }
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
    a->entry_start = u->put(g->entry_start, g->entry_lists + 1);
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
static cudaError_t launch_levels(const device_factorizer *f, const factor_program *g,
                                 const factorizer_arguments *given, void *stream)
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
    cudaError_t error = launch_kernel(factor_begin_kernel, {1, 1}, stream, a.outcome, (int)g->n);
    for (int32_t q = 0; q < g->levels && error == cudaSuccess; q++)
        error = launch_kernel(factor_level_kernel<T>,
                              {g->level_start[q + 1] - g->level_start[q], CHOLESKY_THREADS,
                               factor_shape<T>::SHARED},
                              stream, a, g->level_start[q]);
    return error;
}

/* Captured in a stream of its own: the caller's may be one that cannot be. */
template <typename T>
static cudaError_t make_graph(device_factorizer *f, const factor_program *g,
                              const factorizer_arguments *given)
{
    cudaStream_t stream = nullptr;
    cudaGraph_t captured = nullptr;
    cudaGraphExec_t graph = nullptr;
    cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (error != cudaSuccess)
        return error;
    error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    if (error == cudaSuccess) {
        const cudaError_t launched = launch_levels<T>(f, g, given, stream);
        error = cudaStreamEndCapture(stream, &captured);
        if (launched != cudaSuccess)
            error = launched;
    }
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&graph, captured, 0);
    if (captured)
        cudaGraphDestroy(captured);
    cudaStreamDestroy(stream);
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
