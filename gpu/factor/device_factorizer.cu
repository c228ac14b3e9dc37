/* gpu/factor/device_factorizer.cu: buffers and launches of factorizations on a device
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/factor/device_factorizer.h"
#include "base/type.h"
#include "dense/cuda/device/launch.cuh"
#include "gpu/device/device.cuh"
#include "gpu/factor/quasi_definite.cuh"
#include "gpu/factor/small.cuh"
#include "gpu/factor/tiles.cuh"
#include "gpu/factor/values.cuh"
#include <cstring>
#include <new>

static double patience_of(const factorizer_arguments *given)
{
    return given->patience > 0 ? given->patience : 60;
}

template <typename T> struct factor_shape {
    static constexpr int TINY = CHOLESKY_THREADS / 32 * small_bytes<T>(FACTOR_TINY_ROWS),
                         LARGEST = small_bytes<T>(sizeof(T) == 16 ? 80 : 112),
                         SMALL = LARGEST > TINY ? LARGEST : TINY, TILES = tile_room<T>::BYTES,
                         ANY = SMALL > TILES ? SMALL : TILES;
    static constexpr int BLOCKS_EACH = sizeof(T) == 16 ? 1 : 2; /* on a multiprocessor */
};

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

/* A run of small fronts by each warp. */
template <typename T, typename K>
__device__ __forceinline__ void run_fronts_by_warps(const factor_arguments<T, K> &a,
                                                    const factor_task &task, char *shared)
{
    const int warp = threadIdx.x / 32;
    if (warp < task.j) {
        const factor_range range = a.range[task.i + warp];
        factorize_run<1>(a, range.first, range.end, a.front_words + range.first,
                         shared + warp * small_bytes<T>(FACTOR_TINY_ROWS));
    }
}

/* A run by the block, or one by each warp. */
template <typename T, typename K>
__device__ __forceinline__ void run_fronts(const factor_arguments<T, K> &a, const factor_task &task,
                                           char *shared)
{
    if (task.kind == FACTOR_SMALL)
        factorize_run<8>(a, task.i, task.j, a.front_words + task.i, shared);
    else
        run_fronts_by_warps(a, task, shared);
}

/* Tiles but for diagonal blocks. */
template <typename T, typename K>
__device__ __forceinline__ void run_tile(const factor_arguments<T, K> &a, const factor_task &task,
                                         char *shared)
{
    T *const t = reinterpret_cast<T *>(shared);
    T *const tile[3] = {t, t + TILE_AREA<T>, t + 2 * TILE_AREA<T>};
    switch (task.kind) {
    case FACTOR_ASSEMBLE:
        assemble_tile(a, task, tile[0]);
        break;
    case FACTOR_ROWS:
        finish_rows(a, task, tile);
        break;
    case FACTOR_UPDATE:
        update_tile(a, task, tile[0]);
        break;
    case FACTOR_CONTRIBUTION:
        form_contribution(a, task, tile[0]);
        break;
    }
}

template <typename T, typename K>
__device__ __forceinline__ void run_pivots(const factor_arguments<T, K> &a, const factor_task &task,
                                           char *shared)
{
    T *const t = reinterpret_cast<T *>(shared);
    T *const tile[3] = {t, t + TILE_AREA<T>, t + 2 * TILE_AREA<T>};
    factorize_pivots(a, task, tile, reinterpret_cast<real_of<T> *>(tile[2] + TILE_AREA<T>));
}

__host__ __device__ __forceinline__ bool is_of_runs(const factor_task &task)
{
    return task.kind == FACTOR_SMALL || task.kind == FACTOR_TINY;
}

/* ---- One launch: blocks draw tasks ----------------------------------------------------------- */

/* Shared memory of a block: the arguments, then what its tasks want.  Tasks are functions that are
 * called, and find their arguments here: inlined into one loop, what the compiler would keep in
 * registers from task to task is spilled in all of them. */
template <typename T, typename K = definite> struct block_memory {
    static constexpr int ARGUMENTS = (sizeof(factor_arguments<T, K>) + 127) / 128 * 128;
    static constexpr int BYTES = ARGUMENTS + factor_shape<T>::ANY;

    static __device__ __forceinline__ char *begin()
    {
        extern __shared__ __align__(128) char shared[];
        return shared;
    }
    static __device__ __forceinline__ const factor_arguments<T, K> &arguments()
    {
        return *reinterpret_cast<const factor_arguments<T, K> *>(begin());
    }
    static __device__ __forceinline__ char *rest() { return begin() + ARGUMENTS; }
};

/* Functions of one task; EACH: as for the kernel, so that each has its registers. */
template <typename T, typename K, int EACH>
static __device__ __noinline__ void run_small_task(int t)
{
    const factor_arguments<T, K> &a = block_memory<T, K>::arguments();
    const factor_task task = a.task[t];
    const task_clock clock(a.trace, t);
    factorize_run<8>(a, task.i, task.j, a.front_words + task.i, block_memory<T, K>::rest());
    clock.stop();
}

template <typename T, typename K, int EACH> static __device__ __noinline__ void run_tiny_task(int t)
{
    const factor_arguments<T, K> &a = block_memory<T, K>::arguments();
    const factor_task task = a.task[t];
    const task_clock clock(a.trace, t);
    run_fronts_by_warps(a, task, block_memory<T, K>::rest());
    clock.stop();
}

template <typename T, typename K, int EACH>
static __device__ __noinline__ void run_pivot_task(int t)
{
    const factor_arguments<T, K> &a = block_memory<T, K>::arguments();
    const factor_task task = a.task[t];
    wait_for_tiles(a, task);
    const task_clock clock(a.trace, t);
    run_pivots(a, task, block_memory<T, K>::rest());
    clock.stop();
}

template <typename T, typename K, int EACH> static __device__ __noinline__ void run_tile_task(int t)
{
    const factor_arguments<T, K> &a = block_memory<T, K>::arguments();
    const factor_task task = a.task[t];
    wait_for_tiles(a, task);
    const task_clock clock(a.trace, t);
    run_tile(a, task, block_memory<T, K>::rest());
    tell_end(a, task);
    clock.stop();
}

/* Any number of blocks gets through, whether or not all are resident: one that waits does so for
 * tasks that were drawn before its own, by blocks that run.  EACH: blocks of a multiprocessor.  One
 * has all its registers and nobody beside it, which is best where few tasks can be done at a time;
 * two do more together. */
template <typename T, typename K, int EACH>
__global__ void __launch_bounds__(CHOLESKY_THREADS, EACH)
    factor_kernel(const __grid_constant__ factor_arguments<T, K> a)
{
    __shared__ int drawn;
    int next = 0; /* of thread 0 */
    for (int q = threadIdx.x; q < (int)(sizeof a / sizeof(int)); q += CHOLESKY_THREADS)
        reinterpret_cast<int *>(block_memory<T, K>::begin())[q] =
            reinterpret_cast<const int *>(&a)[q];
    wait_for_kernel_before();
    const auto draw = [&] { return (int)atomicAdd(&a.outcome->drawn, 1u); };
    if (a.ahead && threadIdx.x == 0)
        next = draw();
    for (;;) {
        __syncthreads(); /* shared memory is free */
        if (threadIdx.x == 0)
            drawn = a.ahead ? next : draw();
        __syncthreads();
        const int t = drawn;
        if (t >= a.tasks)
            return;
        if (a.ahead && threadIdx.x == 0)
            next = draw();
        switch (a.task[t].kind) {
        case FACTOR_TINY:
            run_tiny_task<T, K, EACH>(t);
            break;
        case FACTOR_SMALL:
            run_small_task<T, K, EACH>(t);
            break;
        case FACTOR_PIVOT:
            run_pivot_task<T, K, EACH>(t);
            break;
        default:
            run_tile_task<T, K, EACH>(t);
        }
    }
}

/* ---- One launch for many items ----------------------------------------------------------------
 */

/* Items of a launch, and bytes from the memory of one to that of the next. */
struct item_places {
    const int32_t *item;
    int items, together; /* so many are worked on at a time, their tasks in turn */
    int64_t values, panel, workspace;
    unsigned *drawn;
    gathered_outcome *outcome; /* of all items */
};

template <typename S> __device__ __forceinline__ S *moved(S *at, int64_t bytes)
{
    return reinterpret_cast<S *>(reinterpret_cast<uintptr_t>(at) + (uintptr_t)bytes);
}

template <typename T>
__device__ __forceinline__ void move_to_item(const factor_arguments<T> &first, const item_places &p,
                                             int64_t item, factor_arguments<T> *to)
{
    const int64_t bytes = item * p.workspace;
    to->value = moved(first.value, bytes);
    to->diagonal = moved(first.diagonal, bytes);
    to->arena = moved(first.arena, bytes);
    to->inverse = moved(first.inverse, bytes);
    to->grows = moved(first.grows, bytes);
    to->word = moved(first.word, bytes);
    to->outcome = p.outcome + item;
    to->panel = moved(first.panel, item * p.panel);
}

/* Tickets go through the tasks in their order, each for `together` items, then to the next items:
 * small systems fill the device together, and what a task reads of a child is still in the cache.
 */
static __device__ __forceinline__ int2 task_and_item(const item_places &p, int tasks, int number)
{
    const int group = number / (tasks * p.together), rest = number - group * tasks * p.together,
              first = group * p.together, size = min(p.together, p.items - first),
              task = rest / size;
    return {task, p.item[first + rest - task * size]};
}

template <typename T, int EACH>
__global__ void __launch_bounds__(CHOLESKY_THREADS, EACH)
    factor_items_kernel(const __grid_constant__ factor_arguments<T> a,
                        const __grid_constant__ item_places p)
{
    __shared__ int2 drawn;
    unsigned next = 0; /* of thread 0, as `at` */
    const unsigned all = (unsigned)a.tasks * (unsigned)p.items;
    factor_arguments<T> *const at =
        reinterpret_cast<factor_arguments<T> *>(block_memory<T>::begin());
    for (int q = threadIdx.x; q < (int)(sizeof a / sizeof(int)); q += CHOLESKY_THREADS)
        reinterpret_cast<int *>(at)[q] = reinterpret_cast<const int *>(&a)[q];
    if (threadIdx.x == 0)
        next = atomicAdd(p.drawn, 1u);
    for (;;) {
        __syncthreads(); /* shared memory is free */
        if (threadIdx.x == 0) {
            drawn.x = -1;
            if (next < all) {
                drawn = task_and_item(p, a.tasks, (int)next);
                move_to_item(a, p, drawn.y, at);
                next = atomicAdd(p.drawn, 1u);
            }
        }
        __syncthreads();
        const int t = drawn.x;
        if (t < 0)
            return;
        switch (a.task[t].kind) {
        case FACTOR_TINY:
            run_tiny_task<T, definite, EACH>(t);
            break;
        case FACTOR_SMALL:
            run_small_task<T, definite, EACH>(t);
            break;
        case FACTOR_PIVOT:
            run_pivot_task<T, definite, EACH>(t);
            break;
        default:
            run_tile_task<T, definite, EACH>(t);
        }
    }
}

template <typename T>
__device__ __forceinline__ value_arguments<T> values_of_item(const value_arguments<T> &first,
                                                             const item_places &p, int64_t item)
{
    const int64_t bytes = item * p.workspace;
    value_arguments<T> a = first;
    a.given = moved(first.given, item * p.values);
    a.word = moved(first.word, bytes);
    a.value = moved(first.value, bytes);
    a.diagonal = moved(first.diagonal, bytes);
    a.scale = moved(first.scale, bytes);
    a.outcome = p.outcome + item;
    return a;
}

/* Blocks (item, part): `parts` of them share an item. */
template <typename T, bool RANGE>
static __global__ void factor_item_values_kernel(const __grid_constant__ value_arguments<T> first,
                                                 const __grid_constant__ item_places p, int parts)
{
    const value_arguments<T> a = values_of_item(first, p, p.item[blockIdx.x / parts]);
    const int64_t from = (int64_t)(blockIdx.x % parts) * blockDim.x + threadIdx.x,
                  step = (int64_t)parts * blockDim.x;
    if constexpr (RANGE)
        find_range(a, from, step);
    else
        scale_values(a, from, step);
}

static __global__ void factor_begin_items_kernel(const __grid_constant__ item_places p, int n)
{
    const int q = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    const unsigned long long infinite = (unsigned long long)__double_as_longlong(INFINITY);
    if (q == 0)
        *p.drawn = 0;
    if (q < p.items)
        p.outcome[p.item[q]] = {n, 0, n, 0, 0, infinite, 0, infinite};
}

/* ---- A launch for each level ----------------------------------------------------------------- */

/* A kernel for each class of tasks, so that each has the registers that it wants: the chain of
 * diagonal blocks all of a multiprocessor's, products and small fronts half of them. */

template <typename T, typename K>
__global__ void __launch_bounds__(CHOLESKY_THREADS, factor_shape<T>::BLOCKS_EACH)
    factor_small_kernel(const __grid_constant__ factor_arguments<T, K> a, int64_t first)
{
    extern __shared__ __align__(128) char shared[];
    const int t = a.by_level[first + blockIdx.x];
    const task_clock clock(a.trace, t);
    run_fronts(a, a.task[t], shared);
    clock.stop();
}

template <typename T, typename K>
__global__ void __launch_bounds__(CHOLESKY_THREADS, 1)
    factor_pivot_kernel(const __grid_constant__ factor_arguments<T, K> a, int64_t first)
{
    extern __shared__ __align__(128) char shared[];
    const int t = a.by_level[first + blockIdx.x];
    const task_clock clock(a.trace, t);
    run_pivots(a, a.task[t], shared);
    clock.stop();
}

template <typename T, typename K>
__global__ void __launch_bounds__(CHOLESKY_THREADS, factor_shape<T>::BLOCKS_EACH)
    factor_tile_kernel(const __grid_constant__ factor_arguments<T, K> a, int64_t first)
{
    extern __shared__ __align__(128) char shared[];
    const int t = a.by_level[first + blockIdx.x];
    const task_clock clock(a.trace, t);
    run_tile(a, a.task[t], shared);
    clock.stop();
}

__global__ void factor_begin_kernel(gathered_outcome *o, int n)
{
    wait_for_kernel_before();
    const unsigned long long infinite = (unsigned long long)__double_as_longlong(INFINITY);
    *o = {n, 0, n, 0, 0, infinite, 0, infinite};
}

/* ---- Buffers --------------------------------------------------------------------------------- */

/* What a factorization with signs has beside the program: parts of panels, a bit for each row.  In
 * host memory. */
struct sign_tables {
    panel_part *part = nullptr;
    uint32_t *word = nullptr;
    int64_t parts = 0;

    static int64_t words(int32_t n) { return (int64_t)n / 32 + 4; }

    /* Calls visit(part) for each. */
    template <typename F>
    static void each_part(const factor_program *g, const factor_pattern *p, F &&visit)
    {
        for (int32_t s = 0; s < g->nodes; s++)
            for (int32_t c = 0; c < g->front[s].k; c += PART_COLUMNS)
                for (int32_t i = c; i < g->front[s].m; i += PART_ROWS)
                    visit(panel_part{p->row_start[s], s, i, c});
    }
    /* parts alone */
    sign_tables(const factor_program *g, const factor_pattern *p)
    {
        if (p->signs)
            each_part(g, p, [&](const panel_part &) { parts++; });
    }
    explicit sign_tables(int64_t parts) : parts(parts) {}
    ~sign_tables()
    {
        delete[] part;
        delete[] word;
    }
    sign_tables(const sign_tables &) = delete;
    sign_tables &operator=(const sign_tables &) = delete;
    /* false: no memory */
    bool fill(const factor_program *g, const factor_pattern *p)
    {
        part = new (std::nothrow) panel_part[(size_t)parts];
        word = new (std::nothrow) uint32_t[(size_t)words(g->n)]();
        if (!part || !word)
            return false;
        int64_t q = 0;
        each_part(g, p, [&](const panel_part &v) { part[q++] = v; });
        for (int32_t k = 0; k < g->n; k++)
            word[k / 32] |= (uint32_t)(p->signs[k] < 0) << k % 32;
        return true;
    }
};

/* What is on the device for a program: tables, then the workspace. */
template <typename T> struct factor_places {
    factor_arguments<T> tasks = {};
    value_arguments<T> values = {};
    quasi_arguments<T> quasi = {};

    /* p: arrays are NULL where nothing is copied */
    void put_tables(uploader *u, const factor_program *g, const factor_pattern &p,
                    int64_t positions, const sign_tables &signs)
    {
        tasks.front = u->put(g->front, g->nodes);
        tasks.child = u->put(g->child, g->children);
        tasks.begin = u->put(g->begin, g->begins);
        tasks.tile_end = u->put(g->tile_end, g->tiles);
        tasks.entry = u->put(g->entry, g->entries);
        tasks.range = u->put(g->range, g->ranges);
        tasks.task = u->put(g->task, g->tasks);
        tasks.by_level = u->put(g->by_level, g->tasks);
        tasks.front_words = (int)g->tiles;
        values.source = u->put(g->source, g->entries);
        values.diagonal_at = u->put(g->diagonal, g->n);
        values.row_of = u->put(p.row_of, g->n);
        tasks.position = u->put(p.position, positions);
        if (!signs.parts)
            return;
        quasi.front = tasks.front;
        quasi.index = u->put(p.index, positions);
        quasi.part = u->put(signs.part, signs.parts);
        quasi.parts = signs.parts;
        quasi.signs.sign_word = u->put(signs.word, sign_tables::words(g->n));
    }
    int64_t place_workspace(char *base, const factor_program *g, bool has_signs)
    {
        parts all;
        const auto part = [&](int64_t count, size_t size) {
            return base + all.place(count * (int64_t)size);
        };
        values.outcome = reinterpret_cast<gathered_outcome *>(part(1, sizeof(gathered_outcome)));
        values.scale = reinterpret_cast<real_of<T> *>(part(g->n, sizeof(real_of<T>)));
        values.diagonal = reinterpret_cast<real_of<T> *>(part(g->n, sizeof(real_of<T>)));
        values.value = reinterpret_cast<T *>(part(g->entries, sizeof(T)));
        tasks.arena = reinterpret_cast<T *>(part(g->arena_scalars, sizeof(T)));
        tasks.inverse = reinterpret_cast<T *>(part(g->inverses * TILE * TILE, sizeof(T)));
        tasks.grows = reinterpret_cast<int32_t *>(part(g->inverses, sizeof(int32_t)));
        values.word = reinterpret_cast<unsigned *>(part(g->words, sizeof(unsigned)));
        values.words = g->words;
        tasks.tasks = (int)g->tasks;
        tasks.ahead = g->crowd == FACTOR_DENSE;
        tasks.value = values.value;
        tasks.diagonal = values.diagonal;
        tasks.outcome = values.outcome;
        values.entries = g->entries;
        values.n = g->n;
        if (has_signs) {
            using R = real_of<T>;
            quasi.row_of_entry = reinterpret_cast<int32_t *>(part(g->entries, sizeof(int32_t)));
            quasi.scale = reinterpret_cast<R *>(part(2 * (int64_t)g->n, sizeof(R)));
            quasi.largest = reinterpret_cast<R *>(part(3 * (int64_t)g->n, sizeof(R)));
            quasi.sum = reinterpret_cast<double *>(part(g->n, sizeof(double)));
        }
        return all.bytes;
    }
};

/* Bytes of the tables and of the workspace. */
struct factor_bytes {
    int64_t tables = 0, workspace = 0;
    factor_bytes(const factor_program *g, const factor_pattern *p, libsolver_type type)
    {
        const sign_tables signs(g, p);
        with_type(type, [&](auto one) {
            factor_places<decltype(one)> there;
            uploader measured;
            there.put_tables(&measured, g, {}, p->row_start[g->nodes], signs);
            tables = measured.all.bytes + 256;
            workspace = there.place_workspace(nullptr, g, signs.parts > 0) + 256; /* a multiple of
                                                                                     256 */
            return LIBSOLVER_OK;
        });
    }
};

extern "C" int64_t device_factorizer_bytes(const factor_program *g, const factor_pattern *p,
                                           libsolver_type type)
{
    const factor_bytes bytes(g, p, type);
    return bytes.tables + bytes.workspace;
}

static void drop_graph(device_factorizer *f)
{
    if (f->graph)
        cudaGraphExecDestroy((cudaGraphExec_t)f->graph);
    f->graph = nullptr;
}

extern "C" int64_t device_factorizer_item_bytes(const factor_program *g, const factor_pattern *p,
                                                libsolver_type type)
{
    return factor_bytes(g, p, type).workspace;
}

extern "C" libsolver_status device_factorizer_load(device_factorizer *f, const factor_program *g,
                                                   const factor_pattern *p, libsolver_type type,
                                                   message *why)
{
    return device_factorizer_load_items(f, g, p, type, 1, why);
}

extern "C" libsolver_status
device_factorizer_load_items(device_factorizer *f, const factor_program *g, const factor_pattern *p,
                             libsolver_type type, int64_t count, message *why)
{
    const current_device here(f->device);
    const factor_bytes bytes(g, p, type);
    drop_graph(f);
    f->type = type;
    f->positions = p->row_start[g->nodes];
    f->item_bytes = bytes.workspace;
    sign_tables signs(g, p);
    f->parts = signs.parts;
    if (signs.parts > 0 && !signs.fill(g, p))
        return FAIL(why, LIBSOLVER_OUT_OF_MEMORY, "the signs of the factorization");
    TRY(device_buffer_reserve(&f->tables, bytes.tables, &f->allocations,
                              "the program of the factorization", why));
    TRY(device_buffer_reserve(&f->workspace, count * bytes.workspace, &f->allocations,
                              "the workspace of the factorization", why));
    uploader u;
    u.base = static_cast<char *>(f->tables.at);
    u.copies = true;
    u.stream = (cudaStream_t)f->stream;
    with_type(type, [&](auto one) {
        factor_places<decltype(one)> there;
        there.put_tables(&u, g, *p, f->positions, signs);
        there.place_workspace(static_cast<char *>(f->workspace.at), g, signs.parts > 0);
        f->scale = there.values.scale;
        f->outcome = there.values.outcome;
        return LIBSOLVER_OK;
    });
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
static factor_places<T> places_of(const device_factorizer *f, const factor_program *g,
                                  const factorizer_arguments *given)
{
    factor_places<T> there;
    uploader tables;
    tables.base = static_cast<char *>(f->tables.at);
    there.put_tables(&tables, g, {}, f->positions, sign_tables(f->parts));
    there.place_workspace(static_cast<char *>(f->workspace.at), g, f->parts > 0);
    there.values.given = static_cast<const T *>(given->values);
    there.values.is_unscaled = given->is_unscaled;
    there.tasks.panel = static_cast<T *>(given->panel);
    const double eps = sizeof(real_of<T>) == 8 ? DBL_EPSILON : (double)FLT_EPSILON;
    there.tasks.refuse = 16 * eps;
    there.tasks.doubt = given->doubt_level;
    there.tasks.word = given->by_levels ? nullptr : there.values.word;
    there.tasks.patience = (uint64_t)(1e9 * patience_of(given));
    there.tasks.trace = given->trace;
    if (f->parts > 0) { /* pivots are judged at the end; as they are made, by their signs alone */
        there.tasks.refuse = there.tasks.doubt = 0;
        there.quasi.values = there.values;
        there.quasi.panel = there.tasks.panel;
        there.quasi.pivot = there.tasks.panel + g->panel_scalars;
        there.quasi.least = 8 * eps;
        there.quasi.doubt = given->doubt_level;
    }
    return there;
}

/* Streams that are captured together, and what forks and joins them; or one that is given. */
struct branches {
    int multiprocessors = 1;
    bool are_own = true;
    bool overlaps = false; /* the kernel before on the first stream lets the next one begin
                              (wait_for_kernel_before), which waits where it needs it */
    enum { COUNT = 3 };
    cudaStream_t stream[COUNT] = {};
    cudaEvent_t event[COUNT] = {};
    cudaError_t error = cudaSuccess;

    explicit branches(cudaStream_t given) : are_own(false)
    {
        stream[0] = given;
        count_multiprocessors();
    }
    branches()
    {
        int least = 0, greatest = 0;
        count_multiprocessors();
        check(cudaDeviceGetStreamPriorityRange(&least, &greatest));
        for (int q = 0; q < COUNT; q++) {
            check(cudaStreamCreateWithPriority(stream + q, cudaStreamNonBlocking,
                                               q == 0 ? greatest : least));
            check(cudaEventCreateWithFlags(event + q, cudaEventDisableTiming));
        }
    }
    ~branches()
    {
        for (int q = 0; q < COUNT && are_own; q++) {
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
    void count_multiprocessors()
    {
        int device = 0;
        check(cudaGetDevice(&device));
        check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
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
        for (; at < end; at++) {
            const factor_task &task = g->task[g->by_level[at]];
            if (q != (task.kind == FACTOR_PIVOT ? 0 : is_of_runs(task) ? 1 : 2))
                break;
        }
        part[q].count = at - part[q].first;
    }
}

/* A kernel that waits for the one before itself, and lets the next one begin. */
template <typename... Parameters, typename... Arguments>
static void launch_overlapping(branches *b, void (*kernel)(Parameters...), launch_shape shape,
                               Arguments... arguments)
{
    shape.overlaps = b->overlaps;
    b->check(launch_kernel(kernel, shape, b->stream[0], arguments...));
    b->overlaps = true;
}

/* The classes of a level run beside each other. */
template <typename T, typename K>
static void launch_level(branches *b, const factor_program *g, const factor_arguments<T, K> &a,
                         int32_t level)
{
    void (*const kernel[3])(const factor_arguments<T, K>, int64_t) = {factor_pivot_kernel<T, K>,
                                                                      factor_small_kernel<T, K>,
                                                                      factor_tile_kernel<T, K>};
    const int shared[3] = {factor_shape<T>::TILES, factor_shape<T>::SMALL, factor_shape<T>::TILES};
    task_class part[3];
    split_level(g, level, part);
    b->overlaps = false;
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

/* As many blocks as there is room for. */
template <typename T, typename K>
static void launch_all(branches *b, const factor_program *g, const factor_arguments<T, K> &a)
{
    if (g->tasks == 0)
        return;
    constexpr int MOST = factor_shape<T>::BLOCKS_EACH, BYTES = block_memory<T, K>::BYTES;
    const int each = g->crowd == FACTOR_SPARSE ? 1 : MOST;
    const int64_t room = (int64_t)each * b->multiprocessors;
    const launch_shape shape = {g->tasks < room ? g->tasks : room, CHOLESKY_THREADS, BYTES};
    if (each == 1)
        launch_overlapping(b, factor_kernel<T, K, 1>, shape, a);
    else
        launch_overlapping(b, factor_kernel<T, K, MOST>, shape, a);
}

static launch_shape shape_of(int64_t threads_wanted)
{
    constexpr int THREADS = 256, MOST_BLOCKS = 4096;
    const int64_t blocks = (threads_wanted + THREADS - 1) / THREADS;
    return {blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS, THREADS};
}

/* The values of A to where tasks read them. */
template <typename T> static void launch_values(branches *b, const value_arguments<T> &a)
{
    const int64_t most = a.entries > a.n ? a.entries : a.n;
    const launch_shape shape = shape_of(most);
    if (most == 0)
        return;
    if (a.is_unscaled)
        launch_overlapping(b, factor_range_kernel<T>, shape, a);
    launch_overlapping(b, factor_values_kernel<T>, shape, a);
}

/* The tasks, in one launch or level by level. */
template <typename T, typename K>
static void launch_tasks(branches *b, const factor_program *g, const factor_arguments<T, K> &a,
                         bool by_levels)
{
    if (!by_levels)
        launch_all(b, g, a);
    for (int32_t q = 0; q < g->levels && by_levels; q++)
        launch_level(b, g, a, q);
}

/* With signs: scaling before the tasks, D behind them. */
template <typename T>
static void launch_quasi_definite(branches *b, const factor_program *g,
                                  const factor_places<T> &there, bool by_levels)
{
    const quasi_arguments<T> &a = there.quasi;
    const launch_shape rows = shape_of(g->n), entries = shape_of(g->entries);
    factor_arguments<T, quasi_definite> tasks;
    static_cast<common_arguments<T> &>(tasks) = there.tasks;
    static_cast<quasi_definite &>(tasks) = a.signs;
    if (a.values.is_unscaled)
        launch_overlapping(b, factor_range_kernel<T>, entries, a.values);
    launch_overlapping(b, quasi_begin_kernel<T>, rows, a);
    for (int q = 0; q <= EQUILIBRATION_SWEEPS; q++)
        launch_overlapping(b, quasi_sweep_kernel<T>, entries, a, q);
    launch_overlapping(b, quasi_values_kernel<T>, entries, a);
    launch_tasks(b, g, tasks, by_levels);
    launch_overlapping(b, quasi_panels_kernel<T>, shape_of(32 * a.parts), a);
    launch_overlapping(b, quasi_judge_kernel<T>, rows, a);
}

template <typename T>
static void launch_factorization(branches *b, const device_factorizer *f, const factor_program *g,
                                 const factorizer_arguments *given)
{
    const factor_places<T> there = places_of<T>(f, g, given);
    launch_overlapping(b, factor_begin_kernel, {1, 1}, there.values.outcome, g->n);
    if (f->parts > 0)
        return launch_quasi_definite(b, g, there, given->by_levels);
    launch_values(b, there.values);
    launch_tasks(b, g, there.tasks, given->by_levels);
}

/* Captured in streams of their own: the caller's may be one that cannot be. */
template <typename T>
static cudaError_t make_graph(device_factorizer *f, const factor_program *g,
                              const factorizer_arguments *given)
{
    branches b;
    cudaGraph_t captured = nullptr;
    cudaGraphExec_t graph = nullptr;
    if (b.error != cudaSuccess)
        return b.error;
    cudaError_t error = cudaStreamBeginCapture(b.stream[0], cudaStreamCaptureModeThreadLocal);
    if (error != cudaSuccess)
        return error;
    launch_factorization<T>(&b, f, g, given);
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

static bool same_arguments(const factorizer_arguments *a, const factorizer_arguments *b)
{
    return a->values == b->values && a->panel == b->panel && a->is_unscaled == b->is_unscaled &&
           a->by_levels == b->by_levels && a->patience == b->patience &&
           a->doubt_level == b->doubt_level && a->trace == b->trace;
}

extern "C" libsolver_status device_factorizer_launch(device_factorizer *f, const factor_program *g,
                                                     const factorizer_arguments *given,
                                                     message *why)
{
    const current_device here(f->device);
    cudaStreamCaptureStatus captures = cudaStreamCaptureStatusNone;
    cudaStreamIsCapturing((cudaStream_t)f->stream, &captures);
    if (captures == cudaStreamCaptureStatusActive && !given->by_levels)
        return with_type(f->type, [&](auto one) {
            branches b((cudaStream_t)f->stream);
            launch_factorization<decltype(one)>(&b, f, g, given);
            return LAUNCH_STATUS(b.error, "capturing the factorization", why);
        });
    if (!f->graph || !same_arguments(&f->made_for, given)) {
        drop_graph(f);
        TRY(with_type(f->type, [&](auto one) {
            return CUDA_STATUS(make_graph<decltype(one)>(f, g, given),
                               "preparing the launches of the factorization", why);
        }));
        f->made_for = *given;
    }
    return LAUNCH_STATUS(cudaGraphLaunch((cudaGraphExec_t)f->graph, (cudaStream_t)f->stream),
                         "launching the factorization", why);
}

extern "C" libsolver_status device_factorizer_timed(device_factorizer *f, const factor_program *g,
                                                    const factorizer_arguments *given,
                                                    uint64_t *times, message *why)
{
    const current_device here(f->device);
    const cudaStream_t stream = (cudaStream_t)f->stream;
    const size_t bytes = 2 * sizeof(uint64_t) * (size_t)g->tasks;
    factorizer_arguments traced = *given;
    void *on_device = nullptr;
    TRY(device_allocate(&on_device, (int64_t)bytes, "the trace", why));
    traced.trace = static_cast<uint64_t *>(on_device);
    const libsolver_status status = device_factorizer_launch(f, g, &traced, why);
    cudaError_t error = cudaSuccess;
    if (status == LIBSOLVER_OK)
        error = cudaMemcpyAsync(times, on_device, bytes, cudaMemcpyDeviceToHost, stream);
    const cudaError_t end = cudaStreamSynchronize(stream);
    drop_graph(f); /* which writes to memory that goes */
    cudaFree(on_device);
    return status != LIBSOLVER_OK
               ? status
               : LAUNCH_STATUS(error != cudaSuccess ? error : end, "the traced factorization", why);
}

static bool was_out_of_range(libsolver_type type, const gathered_outcome *o)
{
    double most, least;
    memcpy(&most, &o->most, sizeof most);
    memcpy(&least, &o->least, sizeof least);
    return type_real_bytes(type) == 4 ? is_out_of_range<float>(most, least)
                                      : is_out_of_range<double>(most, least);
}

extern "C" libsolver_status device_factorizer_finish(device_factorizer *f,
                                                     cholesky_outcome *outcome, message *why)
{
    const current_device here(f->device);
    gathered_outcome o;
    cudaError_t error =
        cudaMemcpyAsync(&o, f->outcome, sizeof o, cudaMemcpyDeviceToHost, (cudaStream_t)f->stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize((cudaStream_t)f->stream);
    TRY(LAUNCH_STATUS(error, "the factorization on the device", why));
    if (o.gave_up)
        return FAIL(why, LIBSOLVER_CUDA, "a block of the factorization waited %g s for another",
                    patience_of(&f->made_for));
    *outcome = {};
    outcome->failed = o.failed;
    outcome->nonpositive = o.nonpositive;
    outcome->uncertain = o.uncertain;
    outcome->is_equilibrated = !f->made_for.is_unscaled || was_out_of_range(f->type, &o);
    memcpy(&outcome->smallest, &o.smallest, sizeof outcome->smallest);
    return LIBSOLVER_OK;
}

/* ---- Many items ------------------------------------------------------------------------------ */

extern "C" int64_t device_factorizer_outcome_bytes(void)
{
    return (int64_t)sizeof(gathered_outcome);
}

/* Items that are worked on at a time, for each block of the device. */
constexpr int ITEMS_A_BLOCK = 4;

template <typename T>
static cudaError_t launch_items(device_factorizer *f, const factor_program *g,
                                const factorizer_arguments *given, const factorizer_items *items)
{
    constexpr int THREADS = 256, EACH = factor_shape<T>::BLOCKS_EACH,
                  BYTES = block_memory<T>::BYTES;
    const factor_places<T> there = places_of<T>(f, g, given);
    const value_arguments<T> &values = there.values;
    const int64_t tickets = g->tasks * items->items,
                  most = values.entries > values.n ? values.entries : values.n,
                  parts = most < 16 * THREADS ? 1 : (most + 16 * THREADS - 1) / (16 * THREADS);
    int multiprocessors = 1;
    cudaError_t error = cudaSuccess;
    const auto check = [&](cudaError_t e) { error = error == cudaSuccess ? e : error; };
    check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, f->device));
    const int64_t room = (int64_t)EACH * multiprocessors;
    item_places p = {};
    p.item = items->item;
    p.items = (int)items->items;
    p.together = (int)(room * ITEMS_A_BLOCK);
    p.values = items->value_bytes;
    p.panel = items->panel_bytes;
    p.workspace = f->item_bytes;
    p.outcome = static_cast<gathered_outcome *>(items->outcome);
    p.drawn = &static_cast<gathered_outcome *>(const_cast<void *>(f->outcome))->drawn;
    if (p.together > p.items)
        p.together = p.items;
    check(launch_kernel(factor_begin_items_kernel, {(p.items + THREADS - 1) / THREADS, THREADS},
                        f->stream, p, values.n));
    const launch_shape shape = {p.items * parts, THREADS};
    if (values.is_unscaled && most > 0)
        check(launch_kernel(factor_item_values_kernel<T, true>, shape, f->stream, values, p,
                            (int)parts));
    if (most > 0)
        check(launch_kernel(factor_item_values_kernel<T, false>, shape, f->stream, values, p,
                            (int)parts));
    if (tickets > 0)
        check(launch_kernel(factor_items_kernel<T, EACH>,
                            {tickets < room ? tickets : room, CHOLESKY_THREADS, BYTES}, f->stream,
                            there.tasks, p));
    return error;
}

extern "C" libsolver_status device_factorizer_launch_items(device_factorizer *f,
                                                           const factor_program *g,
                                                           const factorizer_arguments *given,
                                                           const factorizer_items *items,
                                                           message *why)
{
    const current_device here(f->device);
    f->made_for = *given;
    return with_type(f->type, [&](auto one) {
        return LAUNCH_STATUS(launch_items<decltype(one)>(f, g, given, items),
                             "launching the factorizations", why);
    });
}

extern "C" libsolver_status device_factorizer_outcome_of(const void *outcomes, int64_t item,
                                                         cholesky_outcome *outcome, message *why)
{
    const gathered_outcome &o = static_cast<const gathered_outcome *>(outcomes)[item];
    if (o.gave_up)
        return FAIL(why, LIBSOLVER_CUDA,
                    "a block of the factorization waited too long for another");
    *outcome = {};
    outcome->failed = o.failed;
    outcome->nonpositive = o.nonpositive;
    outcome->uncertain = o.uncertain;
    memcpy(&outcome->smallest, &o.smallest, sizeof outcome->smallest);
    return LIBSOLVER_OK;
}
