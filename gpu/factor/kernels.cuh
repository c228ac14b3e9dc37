/* gpu/factor/kernels.cuh: grid scope: the tasks of a factorization in one launch, whose blocks draw
 * them, and in one for each level
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_FACTOR_KERNELS_CUH
#define GPU_FACTOR_KERNELS_CUH

#include "gpu/factor/small.cuh"
#include "gpu/factor/tall.cuh"

template <typename T> struct factor_shape {
    static constexpr int TINY = CHOLESKY_THREADS / 32 * small_front<T>::bytes(FACTOR_TINY_ROWS),
                         LARGEST = small_front<T>::MOST, SMALL = LARGEST > TINY ? LARGEST : TINY,
                         TILES = tile_room<T>::BYTES, ANY = SMALL > TILES ? SMALL : TILES;
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
        factorize_run<1>(a, range, {}, a.front_words + range.first,
                         shared + warp * small_front<T>::bytes(FACTOR_TINY_ROWS));
    }
}

/* A run by the block. */
template <typename T, typename K>
__device__ __forceinline__ void run_fronts_by_block(const factor_arguments<T, K> &a,
                                                    const factor_task &task, char *shared)
{
    factorize_run<8>(a, {task.i, task.j}, {task.from, task.to}, a.front_words + task.i, shared);
}

template <typename T, typename K>
__device__ __forceinline__ void run_fronts(const factor_arguments<T, K> &a, const factor_task &task,
                                           char *shared)
{
    if (task.kind == FACTOR_SMALL)
        run_fronts_by_block(a, task, shared);
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

/* The task that a block is at: number and record. */
struct drawn_task {
    int t;
    factor_task task;

    __device__ __forceinline__ static drawn_task &at()
    {
        __shared__ drawn_task drawn;
        return drawn;
    }
};

/* All threads draw the block's next task, which may be none, a.tasks or more; shared memory is free
 * then.  One thread fetches it, not the one that tells of the task before, so that both wait at the
 * same time.  is_first: of the block. */
template <typename T, typename K>
__device__ __forceinline__ int draw_task(const factor_arguments<T, K> &a, bool is_first)
{
    __shared__ int ahead;
    const bool fetches = threadIdx.x == CHOLESKY_THREADS - 32;
    const auto ticket = [&] { return (int)atomicAdd(&a.outcome->drawn, 1u); };
    drawn_task next = {};
    if (fetches) {
        next.t = a.ahead && !is_first ? ahead : ticket();
        if (next.t < a.tasks)
            next.task = a.task[next.t];
    }
    __syncthreads();
    if (fetches)
        drawn_task::at() = next;
    __syncthreads();
    if (a.ahead && fetches && next.t < a.tasks)
        ahead = ticket();
    return drawn_task::at().t;
}

/* What runs a task. */
enum task_sort { TINY_TASKS, SMALL_TASKS, TALL_TASKS, PIVOT_TASKS, TILE_TASKS };
__device__ __forceinline__ task_sort sort_of(int kind)
{
    return kind == FACTOR_TINY                                              ? TINY_TASKS
           : kind == FACTOR_SMALL                                           ? SMALL_TASKS
           : kind == FACTOR_PIVOT                                           ? PIVOT_TASKS
           : kind == FACTOR_TALL_UPDATE || kind == FACTOR_TALL_CONTRIBUTION ? TALL_TASKS
                                                                            : TILE_TASKS;
}

/* Runs the task that is drawn, t, and, if it goes on, draws the next one, and runs those of small
 * and tiny fronts that follow one another; returns what is drawn then.  EACH: as for the kernel, so
 * that each function has its registers. */
template <typename T, typename K, int EACH, task_sort SORT>
static __device__ __noinline__ int run_tasks(int t, bool goes_on)
{
    const factor_arguments<T, K> &a = block_memory<T, K>::arguments();
    char *const shared = block_memory<T, K>::rest();
    constexpr bool ARE_RUNS = SORT == TINY_TASKS || SORT == SMALL_TASKS;
    do {
        const factor_task &task = drawn_task::at().task;
        if constexpr (!ARE_RUNS)
            wait_for_tiles(a, task);
        const task_clock clock(a.trace, t);
        if constexpr (SORT == TINY_TASKS)
            run_fronts_by_warps(a, task, shared);
        else if constexpr (SORT == SMALL_TASKS)
            run_fronts_by_block(a, task, shared);
        else if constexpr (SORT == PIVOT_TASKS)
            run_pivots(a, task, shared);
        else if constexpr (SORT == TALL_TASKS) {
            run_tall(a, t, reinterpret_cast<T *>(shared));
            tell_tall(a, t);
        } else {
            if (factor_is_tall(&task)) /* which are of another sort */
                __builtin_unreachable();
            run_tile(a, task, shared);
            tell_end(a, task);
        }
        clock.stop();
        if (goes_on)
            t = draw_task(a, false);
    } while (ARE_RUNS && goes_on && t < a.tasks && sort_of(drawn_task::at().task.kind) == SORT);
    return t;
}

/* By the sort of a task.  Functions that are called by name share out registers by the compiler's
 * choice; with half of a multiprocessor's, those of small and tiny fronts and of tall tiles spill
 * what they want in every loop, or make others do so.  What is spilled lies in the second-level
 * cache, as shared memory leaves little of the first.  So these are called through pointers: each
 * has all registers, and saves what the kernel has in them once. */
template <typename T, typename K, int EACH>
__device__ __forceinline__ int run_drawn_tasks(task_sort sort, int t, bool goes_on)
{
    constexpr task_sort TALL = HAS_TALL<T> ? TALL_TASKS : SMALL_TASKS;
    if (sort == PIVOT_TASKS)
        return run_tasks<T, K, EACH, PIVOT_TASKS>(t, goes_on);
    if (sort == TILE_TASKS)
        return run_tasks<T, K, EACH, TILE_TASKS>(t, goes_on);
    if constexpr (EACH == 1)
        return sort == TINY_TASKS    ? run_tasks<T, K, EACH, TINY_TASKS>(t, goes_on)
               : sort == SMALL_TASKS ? run_tasks<T, K, EACH, SMALL_TASKS>(t, goes_on)
                                     : run_tasks<T, K, EACH, TALL>(t, goes_on);
    int (*const run[])(int, bool) = {run_tasks<T, K, EACH, TINY_TASKS>,
                                     run_tasks<T, K, EACH, SMALL_TASKS>,
                                     run_tasks<T, K, EACH, TALL>};
    return run[sort](t, goes_on);
}

/* Any number of blocks gets through, whether or not all are resident: one that waits does so for
 * tasks that were drawn before its own, by blocks that run.  EACH: blocks of a multiprocessor.  One
 * has all its registers and nobody beside it, which is best where few tasks can be done at a time;
 * two do more together. */
template <typename T, typename K, int EACH>
__global__ void __launch_bounds__(CHOLESKY_THREADS, EACH)
    factor_kernel(const __grid_constant__ factor_arguments<T, K> a)
{
    block_memory<T, K>::take(a);
    wait_for_kernel_before();
    __syncthreads();
    const factor_arguments<T, K> &there = block_memory<T, K>::arguments();
    for (int t = draw_task(there, true); t < a.tasks;)
        t = run_drawn_tasks<T, K, EACH>(sort_of(drawn_task::at().task.kind), t, true);
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

#endif
