/* gpu/factor/kernels.cuh: grid scope: the tasks of a factorization in one launch, whose blocks draw
 * them, and in one for each level
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_FACTOR_KERNELS_CUH
#define GPU_FACTOR_KERNELS_CUH

#include "gpu/factor/small.cuh"
#include "gpu/factor/tall.cuh"

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
    /* The kernel's arguments, by all threads; no barrier. */
    static __device__ __forceinline__ void take(const factor_arguments<T, K> &a)
    {
        for (int q = threadIdx.x; q < (int)(sizeof a / sizeof(int)); q += CHOLESKY_THREADS)
            reinterpret_cast<int *>(begin())[q] = reinterpret_cast<const int *>(&a)[q];
    }
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
    if (factor_is_tall(&task)) /* which have a function of their own */
        __builtin_unreachable();
    wait_for_tiles(a, task);
    const task_clock clock(a.trace, t);
    run_tile(a, task, block_memory<T, K>::rest());
    tell_end(a, task);
    clock.stop();
}

template <typename T, typename K, int EACH> static __device__ __noinline__ void run_tall_task(int t)
{
    const factor_arguments<T, K> &a = block_memory<T, K>::arguments();
    wait_for_tiles(a, a.task[t]);
    const task_clock clock(a.trace, t);
    run_tall(a, t, reinterpret_cast<T *>(block_memory<T, K>::rest()));
    tell_tall(a, t);
    clock.stop();
}

/* A drawn task, by its kind. */
template <typename T, typename K, int EACH>
static __device__ __forceinline__ void run_drawn_task(int kind, int t)
{
    switch (kind) {
    case FACTOR_TINY:
        run_tiny_task<T, K, EACH>(t);
        break;
    case FACTOR_SMALL:
        run_small_task<T, K, EACH>(t);
        break;
    case FACTOR_PIVOT:
        run_pivot_task<T, K, EACH>(t);
        break;
    case FACTOR_TALL_UPDATE:
    case FACTOR_TALL_CONTRIBUTION:
        if constexpr (HAS_TALL<T>)
            run_tall_task<T, K, EACH>(t);
        break;
    default:
        run_tile_task<T, K, EACH>(t);
    }
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
    block_memory<T, K>::take(a);
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
        run_drawn_task<T, K, EACH>(a.task[t].kind, t);
    }
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

/* A function that is called, so that other tasks keep their registers. */
template <typename T, typename K>
static __device__ __noinline__ void run_tall_of_level(const factor_arguments<T, K> &a, int t,
                                                      char *shared)
{
    run_tall(a, t, reinterpret_cast<T *>(shared));
}

template <typename T, typename K>
__global__ void __launch_bounds__(CHOLESKY_THREADS, factor_shape<T>::BLOCKS_EACH)
    factor_tile_kernel(const __grid_constant__ factor_arguments<T, K> a, int64_t first)
{
    extern __shared__ __align__(128) char shared[];
    const int t = a.by_level[first + blockIdx.x];
    const task_clock clock(a.trace, t);
    if constexpr (HAS_TALL<T>)
        if (factor_is_tall(a.task + t)) {
            run_tall_of_level(a, t, shared);
            clock.stop();
            return;
        }
    run_tile(a, a.task[t], shared);
    clock.stop();
}

/* Of n rows, before anything is known. */
__device__ __forceinline__ gathered_outcome begun_outcome(int n)
{
    const unsigned long long infinite = (unsigned long long)__double_as_longlong(INFINITY);
    return {n, 0, n, 0, 0, infinite, 0, infinite};
}

static __global__ void factor_begin_kernel(gathered_outcome *o, int n)
{
    wait_for_kernel_before();
    *o = begun_outcome(n);
}

#endif
