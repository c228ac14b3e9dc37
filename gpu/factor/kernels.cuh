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

/* When a block began and ended, if that is asked for.  Nothing is kept in registers between. */
struct task_clock {
    static __device__ __forceinline__ void start(uint64_t *trace, int64_t task)
    {
        if (trace && threadIdx.x == 0)
            trace[2 * task] = nanoseconds();
    }
    static __device__ __forceinline__ void stop(uint64_t *trace, int64_t task)
    {
        if (!trace)
            return;
        __syncthreads();
        if (threadIdx.x == 0)
            trace[2 * task + 1] = nanoseconds();
    }
};

/* A run of tiny fronts by each warp. */
template <typename T, typename K>
__device__ __forceinline__ void run_fronts_by_warps(const factor_arguments<T, K> &a,
                                                    const factor_task &task, char *shared)
{
    const int warp = threadIdx.x / 32;
    if (warp < task.j) {
        const factor_range range = a.range[task.i + warp];
        const int behind = range.first + range.leaves;
        char *const own = shared + warp * small_front<T>::bytes(FACTOR_TINY_ROWS);
        if (range.group >= 0)
            factorize_group_of_leaves(a, range, own);
        else
            for (int s = range.first; s < behind; s += 32)
                factorize_leaves_apart(a, s, min(s + 32, behind), own);
        factorize_run<1>(a, {behind, range.end}, {}, a.front_words + range.first, own);
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
    case FACTOR_DIVIDE:
        divide_rows(a, task, tile[0]);
        break;
    }
}

template <typename T, typename K>
__device__ __forceinline__ void run_pivots(const factor_arguments<T, K> &a, const factor_task &task,
                                           char *shared)
{
    T *const t = reinterpret_cast<T *>(shared);
    T *const tile[3] = {t, t + TILE_AREA<T>, t + 2 * TILE_AREA<T>};
    factorize_pivots(a, task, tile, reinterpret_cast<pivot_of<T, K> *>(tile[2] + TILE_AREA<T>));
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

/* The thread that draws for a block, not the one that tells of what is done, so that both wait at
 * the same time. */
__device__ __forceinline__ bool draws()
{
    return threadIdx.x == CHOLESKY_THREADS - 32;
}
template <typename T, typename K>
__device__ __forceinline__ int next_ticket(const factor_arguments<T, K> &a)
{
    return (int)atomicAdd(&a.outcome->drawn, 1u);
}
/* The task that is drawn ahead, of that thread. */
__device__ __forceinline__ int &drawn_ahead()
{
    __shared__ int ahead;
    return ahead;
}

/* All threads draw the block's next task, which may be none, a.tasks or more; shared memory is free
 * then.  is_first: of the block. */
template <typename T, typename K>
__device__ __forceinline__ int draw_task(const factor_arguments<T, K> &a, bool is_first)
{
    drawn_task next = {};
    if (draws()) {
        next.t = a.ahead && !is_first ? drawn_ahead() : next_ticket(a);
        if (next.t < a.tasks)
            next.task = a.task[next.t];
    }
    __syncthreads();
    if (draws())
        drawn_task::at() = next;
    __syncthreads();
    return drawn_task::at().t;
}

/* Draws one more task, where tasks are drawn ahead. */
template <typename T, typename K>
__device__ __forceinline__ void draw_ahead(const factor_arguments<T, K> &a)
{
    if (a.ahead && draws())
        drawn_ahead() = next_ticket(a);
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

/* Runs of small or tiny fronts: that of task t and, if the block goes on, those of the tasks of
 * that sort that it draws next; returns what is drawn then.  EACH, here and below: as for the
 * kernel, so that each function has its registers. */
template <typename T, typename K, int EACH, task_sort SORT>
static __device__ __noinline__ int run_tasks_of_runs(int t, bool goes_on)
{
    const factor_arguments<T, K> &a = block_memory<T, K>::arguments();
    char *const shared = block_memory<T, K>::rest();
    const factor_task &task = drawn_task::at().task;
    do {
        if (goes_on)
            draw_ahead(a);
        task_clock::start(a.trace, t);
        if constexpr (SORT == TINY_TASKS)
            run_fronts_by_warps(a, task, shared);
        else
            run_fronts_by_block(a, task, shared);
        task_clock::stop(a.trace, t);
        if (goes_on)
            t = draw_task(a, false);
    } while (goes_on && t < a.tasks && sort_of(task.kind) == SORT);
    return t;
}

/* Task t, on tiles. */
template <typename T, typename K, int EACH, task_sort SORT>
static __device__ __noinline__ void run_task_on_tiles(int t)
{
    const factor_arguments<T, K> &a = block_memory<T, K>::arguments();
    char *const shared = block_memory<T, K>::rest();
    const factor_task &task = drawn_task::at().task;
    wait_for_tiles(a, task);
    task_clock::start(a.trace, t);
    if constexpr (SORT == PIVOT_TASKS)
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
    task_clock::stop(a.trace, t);
}

/* Runs the task that is drawn, t, by its sort; returns what is drawn then, if the block goes on.
 * Functions that are called by name share out registers by the compiler's choice; with half of a
 * multiprocessor's, those of small and tiny fronts spill what they want in every loop, or make
 * others do so.  What is spilled lies in the second-level cache, as shared memory leaves little of
 * the first.  So these two are called through pointers: each has all registers, and saves what the
 * kernel has in them once.  The others lose by that: twenty words that the product of tall tiles
 * spills in its loop make it a quarter slower. */
template <typename T, typename K, int EACH>
__device__ __forceinline__ int run_drawn_tasks(task_sort sort, int t, bool goes_on)
{
    constexpr task_sort TALL = HAS_TALL<T> ? TALL_TASKS : TILE_TASKS;
    if constexpr (EACH == 1) {
        if (sort == TINY_TASKS)
            return run_tasks_of_runs<T, K, EACH, TINY_TASKS>(t, goes_on);
        if (sort == SMALL_TASKS)
            return run_tasks_of_runs<T, K, EACH, SMALL_TASKS>(t, goes_on);
    } else if (sort == TINY_TASKS || sort == SMALL_TASKS) {
        int (*const run[])(int, bool) = {run_tasks_of_runs<T, K, EACH, TINY_TASKS>,
                                         run_tasks_of_runs<T, K, EACH, SMALL_TASKS>};
        return run[sort](t, goes_on);
    }
    const factor_arguments<T, K> &a = block_memory<T, K>::arguments();
    if (goes_on)
        draw_ahead(a);
    if (sort == PIVOT_TASKS)
        run_task_on_tiles<T, K, EACH, PIVOT_TASKS>(t);
    else if (sort == TALL)
        run_task_on_tiles<T, K, EACH, TALL>(t);
    else
        run_task_on_tiles<T, K, EACH, TILE_TASKS>(t);
    return goes_on ? draw_task(a, false) : t;
}

/* A thread of each block, behind a barrier after its last task. */
template <typename T, typename K>
__device__ __forceinline__ void tell_of_end(const factor_arguments<T, K> &a)
{
    unsigned *const ended = a.word + a.end_word;
    __threadfence();
    if (atomicAdd(ended, 1u) + 1 < gridDim.x)
        return;
    __threadfence();
    progress_tell(ended + 1, 1);
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
    if (threadIdx.x == 0)
        tell_of_end(there);
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
    task_clock::start(a.trace, t);
    run_fronts(a, a.task[t], shared);
    task_clock::stop(a.trace, t);
}

template <typename T, typename K>
__global__ void __launch_bounds__(CHOLESKY_THREADS, 1)
    factor_pivot_kernel(const __grid_constant__ factor_arguments<T, K> a, int64_t first)
{
    extern __shared__ __align__(128) char shared[];
    const int t = a.by_level[first + blockIdx.x];
    task_clock::start(a.trace, t);
    run_pivots(a, a.task[t], shared);
    task_clock::stop(a.trace, t);
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
    task_clock::start(a.trace, t);
    if constexpr (HAS_TALL<T>)
        if (factor_is_tall(a.task + t)) {
            run_tall_of_level(a, t, shared);
            task_clock::stop(a.trace, t);
            return;
        }
    run_tile(a, a.task[t], shared);
    task_clock::stop(a.trace, t);
}

/* Of n rows, before anything is known. */
__device__ __forceinline__ gathered_outcome begun_outcome(int n)
{
    const unsigned long long infinite = (unsigned long long)__double_as_longlong(INFINITY);
    return {n, 0, n, 0, 0, infinite, 0, infinite, 0, 0};
}

#endif
