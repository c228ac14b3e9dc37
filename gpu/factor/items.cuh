/* gpu/factor/items.cuh: grid scope: one launch for the factorizations of many items of one pattern
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_FACTOR_ITEMS_CUH
#define GPU_FACTOR_ITEMS_CUH

#include "gpu/factor/equilibrate.cuh"
#include "gpu/factor/kernels.cuh"
#include "gpu/factor/quasi_definite.cuh"

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

template <typename T, typename K>
__device__ __forceinline__ void move_to_item(const factor_arguments<T, K> &first,
                                             const item_places &p, int64_t item,
                                             factor_arguments<T, K> *to)
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
    if constexpr (K::HAS_SIGNS)
        to->sum = moved(first.sum, bytes);
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

template <typename T, typename K, int EACH>
__global__ void __launch_bounds__(CHOLESKY_THREADS, EACH)
    factor_items_kernel(const __grid_constant__ factor_arguments<T, K> a,
                        const __grid_constant__ item_places p)
{
    drawn_task &drawn = drawn_task::at();
    unsigned next = 0; /* of thread 0, as `at` */
    const unsigned all = (unsigned)a.tasks * (unsigned)p.items;
    factor_arguments<T, K> *const at =
        reinterpret_cast<factor_arguments<T, K> *>(block_memory<T, K>::begin());
    block_memory<T, K>::take(a);
    if (threadIdx.x == 0)
        next = atomicAdd(p.drawn, 1u);
    for (;;) {
        __syncthreads(); /* shared memory is free */
        if (threadIdx.x == 0) {
            drawn.t = -1;
            if (next < all) {
                const int2 task = task_and_item(p, a.tasks, (int)next);
                drawn = {task.x, a.task[task.x]};
                move_to_item(a, p, task.y, at);
                next = atomicAdd(p.drawn, 1u);
            }
        }
        __syncthreads();
        const int t = drawn.t;
        if (t < 0)
            return;
        run_drawn_tasks<T, K, EACH>(sort_of(drawn.task.kind), t, false);
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

template <typename T>
__device__ __forceinline__ quasi_arguments<T> quasi_of_item(const quasi_arguments<T> &first,
                                                            const item_places &p, int64_t item)
{
    quasi_arguments<T> a = first;
    a.values = values_of_item(first.values, p, item);
    a.signs.sum = moved(first.signs.sum, item * p.workspace);
    a.panel = moved(first.panel, item * p.panel);
    return a;
}

/* Blocks that are all resident, `each` for an item at a time. */
template <typename T>
static __global__ void __launch_bounds__(EQUILIBRATION_THREADS)
    equilibrate_items_kernel(const __grid_constant__ equilibration<T> first,
                             const __grid_constant__ item_places p, int each)
{
    __shared__ row_maxima<real_of<T>> maxima;
    for (int q = (int)blockIdx.x / each; q < p.items; q += (int)gridDim.x / each) {
        const int64_t item = p.item[q], bytes = item * p.workspace;
        equilibration<T> a = first; /* row_of_entry is there once */
        a.values = values_of_item(first.values, p, item);
        a.scale = moved(first.scale, bytes);
        a.largest = moved(first.largest, bytes);
        equilibration_share<T> share(a, (int)blockIdx.x % each, each, maxima);
        share.find_places();
        share.run();
    }
}

/* `each` blocks for an item. */
template <typename T>
static __global__ void __launch_bounds__(JUDGE_THREADS)
    judge_item_pivots_kernel(const __grid_constant__ quasi_arguments<T> first,
                             const __grid_constant__ item_places p, int each)
{
    judge_pivots(quasi_of_item(first, p, p.item[blockIdx.x / each]), (int)blockIdx.x % each);
}

static __global__ void factor_begin_items_kernel(const __grid_constant__ item_places p, int n)
{
    const int q = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (q == 0)
        *p.drawn = 0;
    if (q < p.items)
        p.outcome[p.item[q]] = begun_outcome(n);
}

#endif
