/* gpu/invert/tasks.cuh: one launch that inverts all groups in tiles: blocks draw tasks and wait
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_INVERT_TASKS_CUH
#define GPU_INVERT_TASKS_CUH

#include "gpu/device/waits.cuh"
#include "gpu/invert/product.cuh"
#include "gpu/invert/whole.cuh"

/* Shared memory of a block: barriers, then what a task wants. */
template <typename T> struct task_shape {
    using product = product_shape<T>;
    static constexpr int DIAGONAL = product::BARRIERS + DIAGONAL_BYTES<T>;
    static constexpr int BYTES = DIAGONAL > product::BYTES ? DIAGONAL : product::BYTES;
    static_assert(WHOLE_BYTES<T> <= BYTES - product::BARRIERS, "a whole group fits");
};

template <typename T>
__device__ __forceinline__ void run_task(const invert_arguments<T> &a, const invert_task &t,
                                         product_room<T> &room)
{
    switch (t.step) {
    case INVERT_WHOLE:
        invert_whole(a, t.group, reinterpret_cast<char *>(room.stage));
        break;
    case INVERT_GATHER:
        gather(a, t.number);
        break;
    case INVERT_DIAGONAL:
        invert_diagonal(a, t.number, reinterpret_cast<char *>(room.stage));
        break;
    case INVERT_MULTIPLY:
        multiply_item(a, t.number, room);
        break;
    case INVERT_SCALE:
        scale_strip(a, t.number);
        break;
    case INVERT_FINISH:
        finish_strip(a, t.number);
        break;
    case INVERT_PACK:
        pack_parts(a, t.group, t.number);
        break;
    case INVERT_GRAM:
        multiply_gram(a, t.number, room);
        break;
    case INVERT_ROOT_SUMS:
        sum_root(a, t.number);
        break;
    case INVERT_ROOT_TRANSPOSED:
        turn_root_sums(a, t.number);
        break;
    default:
        find_growth(a, t.number, t.step == INVERT_ROOT_GROWTH);
    }
}

/* The tasks of a batch; follows: see invert_small_kernel.  Any number of blocks gets through,
 * whether or not all are resident: one that waits does so for tasks that were drawn before its own,
 * by blocks that run. */
template <typename T>
__global__ void __launch_bounds__(STRIP_THREADS, product_shape<T>::BLOCKS_EACH)
    invert_tasks_kernel(const __grid_constant__ invert_arguments<T> a, invert_batch batch,
                        int32_t number, bool follows)
{
    extern __shared__ __align__(128) char shared[];
    __shared__ int drawn;
    product_room<T> room(shared);
    if (threadIdx.x == 0)
        room.open();
    if (follows)
        wait_for_grid_before();
    let_next_grid_begin();
    for (;;) {
        __syncthreads(); /* shared memory is free */
        if (threadIdx.x == 0)
            drawn = (int)atomicAdd(a.drawn + number, 1u);
        __syncthreads();
        if (drawn >= batch.count)
            break;
        const invert_task t = a.task[batch.first + drawn];
        if (threadIdx.x == 0)
            wait_until(a.done + t.group, (unsigned)t.waits, &a.gathered->gave_up, a.patience);
        __syncthreads();
        run_task(a, t, room);
        __syncthreads();
        if (threadIdx.x == 0) {
            copies_follow();
            progress_count(a.done + t.group);
        }
    }
    if (!follows)
        wait_for_grid_before();
}

#endif
