/* gpu/solve/device_solver.cu: programs of solves in a device's memory, and their launches
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/solve/device_solver.h"
#include "base/type.h"
#include "dense/cuda/device/launch.cuh"
#include "gpu/device/device.cuh"
#include "gpu/solve/solve_arguments.cuh"
#include "gpu/solve/tree_solve.cuh"

/* Shared memory that one of two blocks on a multiprocessor can have, less what the system takes. */
constexpr int BLOCKS_EACH = 2;
constexpr int BLOCK_SHARED = 227 * 1024 / BLOCKS_EACH - 1024;

template <typename SOLVER> constexpr int ring_bytes()
{
    return (BLOCK_SHARED - solve_bytes<SOLVER>(0)) / 128 * 128;
}

#define LAUNCHING "launching the solve"

/* ---- Instances of the kernel, by type and columns -------------------------------------------- */

/* Columns of the solver for so many at a time. */
template <typename T> static int32_t block_columns(int64_t columns)
{
    return columns <= block_solver<T, 1>::COLUMNS ? block_solver<T, 1>::COLUMNS
                                                  : block_solver<T, 2>::COLUMNS;
}

template <typename SOLVER, typename T>
static libsolver_status run(const device_solver *s, solve_arguments<T> a, const device_workspace *w,
                            cudaStream_t stream, message *why)
{
    constexpr int most =
        TASK_BYTES + TASK_INPUTS * SOLVER::INPUT_BYTES + TASK_SOURCES * SOLVER::SOURCE_BYTES;
    static_assert(ring_bytes<SOLVER>() >= most, "a task fits");
    a.ring_bytes = ring_bytes<SOLVER>();
    launch_shape how = {s->blocks, launch_threads<SOLVER>(), solve_bytes<SOLVER>(a.ring_bytes)};
    how.together = !s->by_levels;
    const auto kernel =
        a.times ? tree_solve_kernel<SOLVER, true> : tree_solve_kernel<SOLVER, false>;
    if (!s->by_levels)
        return LAUNCH_STATUS(launch_kernel(kernel, how, stream, a), LAUNCHING, why);
    a.epoch = nullptr;
    TRY(LAUNCH_STATUS(launch_kernel(next_level_epoch, launch_shape{1, 1}, stream,
                                    static_cast<solve_state *>(w->state)),
                      LAUNCHING, why));
    for (int32_t level = 0; level < s->levels; level++) {
        how.blocks = s->level_blocks[level];
        TRY(LAUNCH_STATUS(launch_kernel(kernel, how, stream, a), LAUNCHING, why));
        a.head += how.blocks;
    }
    if (a.in_place)
        TRY(LAUNCH_STATUS(launch_kernel(store_x_kernel<SOLVER>,
                                        launch_shape{(a.n + 255) / 256, 256}, stream, a),
                          LAUNCHING, why));
    return LIBSOLVER_OK;
}

template <typename T>
static libsolver_status run_columns(const device_solver *s, const solve_arguments<T> &a,
                                    const device_workspace *w, cudaStream_t stream, message *why)
{
    if (a.columns == 1)
        return run<column_solver<T>>(s, a, w, stream, why);
    return a.columns <= block_solver<T, 1>::COLUMNS ? run<block_solver<T, 1>>(s, a, w, stream, why)
                                                    : run<block_solver<T, 2>>(s, a, w, stream, why);
}

extern "C" libsolver_status device_solve(const device_solver *s, const device_workspace *w,
                                         void *stream, const libsolver_vectors *b,
                                         const libsolver_vectors *x, task_times *times,
                                         message *why)
{
    TRY(device_solve_fits(s, b, x, why));
    const current_device here(s->device);
    return with_type(s->type, [&](auto one) {
        using T = decltype(one);
        solve_arguments<T> a = solve_arguments_of<T>(s, w, b, x);
        a.times = times;
        a.pitch = block_columns<T>(w->columns);
        return by_panels(a, s, w, b, x, [&] {
            return run_columns(s, a, w, stream ? (cudaStream_t)stream : (cudaStream_t)s->stream,
                               why);
        });
    });
}

/* ---- Opening and uploading ------------------------------------------------------------------- */

/* How many blocks of the narrowest instance are resident together; no other needs more of a
 * multiprocessor. */
static cudaError_t count_blocks(int multiprocessors, int32_t *blocks)
{
    using kernel_solver = column_solver<double>;
    int each = 0;
    const int shared = solve_bytes<kernel_solver>(ring_bytes<kernel_solver>());
    cudaError_t error = cudaFuncSetAttribute(tree_solve_kernel<kernel_solver, false>,
                                             cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &each, tree_solve_kernel<kernel_solver, false>, launch_threads<kernel_solver>(),
            (size_t)shared);
    *blocks = multiprocessors * (each < BLOCKS_EACH ? each : BLOCKS_EACH);
    return error;
}

extern "C" libsolver_status device_solver_open(device_solver *s, message *why)
{
    const current_device here(s->device);
    int multiprocessors = 0, cooperative = 0, cache_bytes = 0;
    cudaError_t error =
        cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, s->device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&cache_bytes, cudaDevAttrL2CacheSize, s->device);
    s->cache_bytes = cache_bytes;
    s->multiprocessors = multiprocessors;
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, s->device);
    if (error == cudaSuccess)
        error = count_blocks(multiprocessors, &s->blocks);
    if (error == cudaSuccess && !s->stream) {
        cudaStream_t own;
        error = cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
        s->own_stream = error == cudaSuccess;
        s->stream = s->own_stream ? own : nullptr;
    }
    if (!cooperative || s->blocks < multiprocessors)
        s->by_levels = 1;
    if (s->blocks < 1)
        s->blocks = 1;
    if (error == cudaSuccess)
        return LIBSOLVER_OK;
    cudaGetLastError();
    return FAIL(why,
                error == cudaErrorMemoryAllocation ? LIBSOLVER_OUT_OF_DEVICE_MEMORY
                                                   : LIBSOLVER_CUDA,
                "device %d cannot be used: %s", s->device, cudaGetErrorString(error));
}

extern "C" void device_solver_drop(device_solver *s)
{
    const current_device here(s->device);
    if (s->memory)
        cudaFree(s->memory);
    s->memory = nullptr;
    s->bytes = 0;
}

extern "C" void device_solver_close(device_solver *s)
{
    const current_device here(s->device);
    device_solver_drop(s);
    if (s->own_stream)
        cudaStreamDestroy((cudaStream_t)s->stream);
}

/* Where the parts of a program lie: values and description, heads, copies, scale, user_row. */
struct program_layout {
    int64_t at[5];
    parts all;

    explicit program_layout(const device_upload &p)
    {
        const int64_t size[] = {p.value_bytes + p.description_bytes,
                                p.heads * (int64_t)sizeof(list_head),
                                p.copies * (int64_t)sizeof(task_copy),
                                p.n * type_real_bytes(p.type), p.n * (int64_t)sizeof(int32_t)};
        for (int k = 0; k < 5; k++)
            at[k] = all.place(size[k]);
    }
};

extern "C" libsolver_status device_solver_reserve(device_solver *s, const device_upload *p,
                                                  message *why)
{
    const current_device here(s->device);
    const program_layout to(*p);
    TRY(solver_memory(s, to.all.bytes > 0 ? to.all.bytes : 256, "the program of the solve", why));
    char *base = static_cast<char *>(s->memory);
    s->head = reinterpret_cast<list_head *>(base + to.at[1]);
    s->copy = reinterpret_cast<task_copy *>(base + to.at[2]);
    s->scale = base + to.at[3];
    s->user_row = reinterpret_cast<int32_t *>(base + to.at[4]);
    s->type = p->type;
    s->n = p->n;
    s->packets = p->packets;
    s->levels = p->levels;
    s->packet_columns = 0;
    return LIBSOLVER_OK;
}

extern "C" libsolver_status device_solver_upload(device_solver *s, const device_upload *p,
                                                 message *why)
{
    const current_device here(s->device);
    const program_layout to(*p);
    const cudaStream_t stream = (cudaStream_t)s->stream;
    cudaError_t error = cudaSuccess;
    const auto upload = [&](int64_t at, const void *from, int64_t bytes) {
        if (error == cudaSuccess && bytes > 0 && from)
            error = cudaMemcpyAsync(static_cast<char *>(s->memory) + at, from, (size_t)bytes,
                                    cudaMemcpyDefault, stream);
    };
    upload(to.at[0], p->values, p->value_bytes);
    upload(to.at[0] + p->value_bytes, p->description, p->description_bytes);
    upload(to.at[1], p->head, p->heads * (int64_t)sizeof(list_head));
    upload(to.at[2], p->copy, p->copies * (int64_t)sizeof(task_copy));
    upload(to.at[3], p->scale, p->n * type_real_bytes(p->type));
    upload(to.at[4], p->user_row, p->n * (int64_t)sizeof(int32_t));
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    if (p->level_blocks)
        s->level_blocks = p->level_blocks;
    return CUDA_STATUS(error, "copying the program of the solve to the device", why);
}

/* ---- Workspaces ------------------------------------------------------------------------------ */

/* Right-hand sides that there are packets for. */
static int64_t columns_with_packets(const device_solver *s, int32_t columns)
{
    const int64_t group = s->packet_columns;
    return columns > 1 && group > 0 ? (columns + group - 1) / group * group : 1;
}

/* What is in a workspace, for the most columns at a time. */
struct workspace_layout {
    int32_t columns;
    parts all;
    int64_t state, epoch, packets, value, flag;

    workspace_layout(const device_solver *s, int64_t wanted)
    {
        with_type(s->type, [&](auto one) {
            using T = decltype(one);
            columns = (int32_t)(wanted < 1                          ? 1
                                : wanted < block_columns<T>(wanted) ? wanted
                                                                    : block_columns<T>(wanted));
            const int64_t several = columns > 1 && s->packet_columns == 0 ? s->packets : 0;
            state = all.place(sizeof(solve_state));
            epoch = all.place(s->packet_columns > 0 ? (int64_t)sizeof(workspace_head)
                                                    : s->blocks * (int64_t)sizeof(unsigned));
            packets = all.place(columns_with_packets(s, columns) * s->packets *
                                (int64_t)sizeof(::packet<T>));
            value = all.place(several * block_columns<T>(columns) * (int64_t)sizeof(T));
            flag = all.place(several * (int64_t)sizeof(unsigned));
            return LIBSOLVER_OK;
        });
    }
};

extern "C" int64_t device_workspace_bytes(const device_solver *s, int64_t columns)
{
    return workspace_layout(s, columns).all.bytes;
}

extern "C" libsolver_status device_workspace_open(const device_solver *s, int64_t columns,
                                                  device_workspace *w, message *why)
{
    const current_device here(s->device);
    const workspace_layout layout(s, columns);
    *w = {};
    w->device = s->device;
    w->columns = layout.columns;
    TRY(device_allocate(&w->memory, layout.all.bytes, "the workspace of the solve", why));
    /* epoch 0 is never used, so that zeroed packets are invalid */
    cudaError_t error =
        cudaMemsetAsync(w->memory, 0, (size_t)layout.all.bytes, (cudaStream_t)s->stream);
    if (error == cudaSuccess) /* solves may come on other streams */
        error = cudaStreamSynchronize((cudaStream_t)s->stream);
    char *base = static_cast<char *>(w->memory);
    w->state = base + layout.state;
    w->epoch = base + layout.epoch;
    w->packets = base + layout.packets;
    w->value = base + layout.value;
    w->flag = base + layout.flag;
    if (error != cudaSuccess)
        device_workspace_close(w);
    return CUDA_STATUS(error, "clearing the workspace of the solve", why);
}

extern "C" void device_workspace_close(device_workspace *w)
{
    const current_device here(w->device);
    if (w->memory)
        cudaFree(w->memory);
    w->memory = nullptr;
}

extern "C" libsolver_status device_solve_timed(const device_solver *s, const device_workspace *w,
                                               const libsolver_vectors *b,
                                               const libsolver_vectors *x, int64_t tasks,
                                               task_times *times, message *why)
{
    const current_device here(s->device);
    const size_t bytes = (size_t)(tasks + 1) * sizeof(task_times);
    void *on_device = nullptr;
    const cudaStream_t stream = (cudaStream_t)s->stream;
    TRY(device_allocate(&on_device, (int64_t)bytes, "the trace", why));
    cudaError_t error = cudaMemsetAsync(on_device, 0, bytes, stream);
    libsolver_status status = LIBSOLVER_OK;
    if (error == cudaSuccess)
        status = device_solve(s, w, stream, b, x, static_cast<task_times *>(on_device), why);
    if (error == cudaSuccess && status == LIBSOLVER_OK)
        error = cudaMemcpyAsync(times, on_device, (size_t)tasks * sizeof(task_times),
                                cudaMemcpyDeviceToHost, stream);
    const cudaError_t end = cudaStreamSynchronize(stream);
    cudaFree(on_device);
    return status != LIBSOLVER_OK
               ? status
               : CUDA_STATUS(error != cudaSuccess ? error : end, "the traced solve", why);
}

extern "C" libsolver_status device_solve_check(const device_solver *s, const device_workspace *w,
                                               void *stream, int *gave_up, message *why)
{
    const current_device here(s->device);
    const cudaStream_t on = (cudaStream_t)(stream ? stream : s->stream);
    unsigned failed = 0, *word = device_solve_failed(w);
    cudaError_t error = cudaMemcpyAsync(&failed, word, sizeof failed, cudaMemcpyDeviceToHost, on);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(on);
    if (error == cudaSuccess && failed)
        error = cudaMemsetAsync(word, 0, sizeof failed, on);
    *gave_up = failed != 0;
    return CUDA_STATUS(error, "the solve on the device", why);
}

extern "C" unsigned *device_solve_failed(const device_workspace *w)
{
    return &static_cast<solve_state *>(w->state)->failed;
}

/* ---- Between host and device ----------------------------------------------------------------- */

extern "C" libsolver_status device_staging_open(const device_solver *s, int64_t bytes,
                                                device_staging *g, message *why)
{
    const current_device here(s->device);
    *g = {};
    g->device = s->device;
    g->bytes = bytes > 0 ? bytes : 16;
    TRY(device_allocate(&g->on_device, g->bytes, "the buffer for vectors of the host", why));
    const libsolver_status status = page_locked_allocate(&g->host, g->bytes, cudaHostAllocDefault,
                                                         "copying vectors to the device", why);
    if (status != LIBSOLVER_OK)
        device_staging_close(g);
    return status;
}

extern "C" void device_staging_close(device_staging *g)
{
    const current_device here(g->device);
    if (g->on_device)
        cudaFree(g->on_device);
    if (g->host)
        cudaFreeHost(g->host);
    *g = {};
}

extern "C" libsolver_status device_staging_in(const device_solver *s, const device_staging *g,
                                              int64_t bytes, message *why)
{
    const current_device here(s->device);
    return CUDA_STATUS(cudaMemcpyAsync(g->on_device, g->host, (size_t)bytes, cudaMemcpyHostToDevice,
                                       (cudaStream_t)s->stream),
                       "copying vectors to the device", why);
}

extern "C" libsolver_status device_staging_out(const device_solver *s, const device_staging *g,
                                               int64_t bytes, message *why)
{
    const current_device here(s->device);
    cudaError_t error = cudaMemcpyAsync(g->host, g->on_device, (size_t)bytes,
                                        cudaMemcpyDeviceToHost, (cudaStream_t)s->stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize((cudaStream_t)s->stream);
    return CUDA_STATUS(error, "copying vectors from the device", why);
}

/* One call copies a block of either layout, whose other side has no padding and the same layout. */
static cudaError_t copy_block(const device_solver *s, const libsolver_vectors *v, void *packed,
                              bool to_host)
{
    const size_t scalar = (size_t)type_bytes(v->type);
    const bool by_rows = v->layout == LIBSOLVER_ROW_MAJOR;
    const size_t line = scalar * (size_t)(by_rows ? v->columns : v->rows),
                 lines = (size_t)(by_rows ? v->rows : v->columns);
    const size_t pitch = scalar * (size_t)v->ld;
    const cudaStream_t stream = (cudaStream_t)s->stream;
    if (line == 0 || lines == 0)
        return cudaSuccess;
    const cudaError_t error = to_host ? cudaMemcpy2DAsync(packed, line, v->values, pitch, line,
                                                          lines, cudaMemcpyDeviceToHost, stream)
                                      : cudaMemcpy2DAsync(v->values, pitch, packed, line, line,
                                                          lines, cudaMemcpyHostToDevice, stream);
    return error == cudaSuccess ? cudaStreamSynchronize(stream) : error;
}

extern "C" libsolver_status device_block_get(const device_solver *s, const libsolver_vectors *from,
                                             void *to, message *why)
{
    const current_device here(s->device);
    return CUDA_STATUS(copy_block(s, from, to, true), "copying vectors from the device", why);
}

extern "C" libsolver_status device_block_put(const device_solver *s, const void *from,
                                             const libsolver_vectors *to, message *why)
{
    const current_device here(s->device);
    return CUDA_STATUS(copy_block(s, to, const_cast<void *>(from), false),
                       "copying vectors to the device", why);
}
