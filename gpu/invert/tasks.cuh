/* gpu/invert/tasks.cuh: one launch that inverts all groups in tiles: blocks draw tasks and wait
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_INVERT_TASKS_CUH
#define GPU_INVERT_TASKS_CUH

#include "gpu/device/waits.cuh"
#include "gpu/invert/product.cuh"
#include "gpu/invert/root.cuh"
#include "gpu/invert/whole.cuh"

/* Shared memory of a block: barriers, then what a task wants. */
template <typename T> struct task_shape {
    using product = product_shape<T>;
    static constexpr int DIAGONAL = product::BARRIERS + DIAGONAL_BYTES<T>;
    static constexpr int BYTES = DIAGONAL > product::BYTES ? DIAGONAL : product::BYTES;
    static_assert(WHOLE_BYTES<T> <= BYTES - product::BARRIERS, "a whole group fits");
    static_assert(ROOT_BYTES<T> <= BYTES - product::BARRIERS, "a root of a pair of strips fits");
};

template <bool EARLY, typename T>
__device__ __forceinline__ void run_task(const invert_arguments<T> &a, const invert_task &t,
                                         product_room<T> &room)
{
    switch (t.step) {
    case INVERT_WHOLE:
        invert_whole(a, t.group, reinterpret_cast<char *>(room.stage));
        break;
    case INVERT_ROOT:
        invert_root(a, t.number, reinterpret_cast<char *>(room.stage));
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
        multiply_gram<EARLY>(a, t.number, room);
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

/* One thread: whether a task has what it waits for, but that of columns of L which are made at a
 * time with others only one is looked for. */
template <typename T>
__device__ __forceinline__ bool may_begin(const invert_arguments<T> &a, const invert_task &t)
{
    const unsigned *const words = t.step == INVERT_GATHER ? a.word : a.told;
    for (int q = 0; words && q < 2; q++)
        if (t.waits[q] >= 0 && progress_seen(words + t.waits[q]) < (unsigned)t.least[q])
            return false;
    return true;
}

/* One thread: the number in the batch of the task that its block does next, batch.count: none. Late
 * tasks, which come in an order of their own and are what the end waits for, go before the others
 * where the next of them may begin.  Another block may have drawn that one meanwhile: then this one
 * waits for what the task behind it wants, which is seldom long.  Half of the blocks leave the last
 * tasks, most of which wait for one another, to the others, and multiprocessors to the next kernel.
 */
template <typename T>
__device__ __forceinline__ int draw_task(const invert_arguments<T> &a, const invert_batch &batch,
                                         unsigned *drawn)
{
    const int early = batch.count - batch.late;
    const auto draw_late = [&] { return early + min((int)atomicAdd(drawn + 1, 1u), batch.late); };
    if (early > 0 && batch.late > 0) {
        const int next = (int)*(volatile unsigned *)(drawn + 1);
        if (next < batch.late && may_begin(a, a.task[batch.first + early + next])) {
            const int t = draw_late();
            if (t < batch.count)
                return t;
        }
    }
    const int t = early > 0 ? (int)atomicAdd(drawn, 1u) : 0;
    return t < early ? t : early > 0 && blockIdx.x % 2 > 0 ? batch.count : draw_late();
}

/* The tasks of a batch; EARLY: some are late, as columns of L may be made meanwhile; follows: see
 * invert_small_kernel.  Any number of blocks gets through, whether or not all are resident: a task
 * is drawn behind those that it waits for, by blocks that run, or by the factorization's, which do
 * so too. */
template <typename T, bool EARLY>
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
        if (threadIdx.x == 0) {
            if constexpr (EARLY)
                drawn = draw_task(a, batch, a.drawn + 2 * number);
            else
                drawn = (int)atomicAdd(a.drawn + 2 * number, 1u);
        }
        __syncthreads();
        if (drawn >= batch.count)
            break;
        const invert_task t = a.task[batch.first + drawn];
        if (EARLY && t.step == INVERT_GATHER && a.word)
            wait_for_part(a, t.number);
        else if (threadIdx.x < 2 && t.step != INVERT_GATHER && t.waits[threadIdx.x] >= 0)
            wait_until(a.told + t.waits[threadIdx.x], (unsigned)t.least[threadIdx.x],
                       &a.gathered->gave_up, a.patience);
        __syncthreads();
        run_task<EARLY>(a, t, room);
        __syncthreads();
        if (threadIdx.x == 0) {
            copies_follow();
            progress_count(a.told + t.tells);
        }
    }
    stay_for_grid_before(!follows);
}

#endif
