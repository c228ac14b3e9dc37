/* gpu/solve/tree_solve.cuh: the kernel that runs the program of a solve
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Every block works through its own list of tasks.  One warp copies tasks to a ring in shared
 * memory, as far ahead as there is room, whatever the others wait for; some warps gather the inputs
 * of the tasks that have come, others multiply, and publish (SOLVER).  What is published carries
 * the number of the launch, so that nothing is cleared or mistaken for a value of another launch:
 * of one right-hand side each value, in packets (dense/cuda/device/grid.cuh) that need no fence; of
 * several each row of values, by a flag that is set behind a fence.  All sums have a fixed order.
 */
#ifndef GPU_SOLVE_TREE_SOLVE_CUH
#define GPU_SOLVE_TREE_SOLVE_CUH

#include "gpu/solve/block_solver.cuh"
#include "gpu/solve/solver.cuh"

/* Threads of a block: those that solve, those that gather, in the last warp those that copy.  Where
 * there are more than that, they fill up groups of 128, which can have numbers of registers of
 * their own. */
template <typename SOLVER> constexpr int launch_threads()
{
    const int needed = SOLVE_THREADS + SOLVER::GATHER_THREADS + 32;
    return SOLVER::GATHER_THREADS > 0 ? (needed + 127) / 128 * 128 : needed;
}
/* Dynamic shared memory of a block. */
constexpr int RING_STATE_BYTES = (sizeof(ring_state) + 127) / 128 * 128;
template <typename SOLVER> constexpr int solve_bytes(int ring_bytes)
{
    return RING_STATE_BYTES + ring_bytes + SOLVER::BYTES;
}

/* All warps of a group of 128 threads give registers up, or take what others gave, where the device
 * can; code must not come together again behind it. */
template <int REGISTERS> __device__ __forceinline__ void give_registers()
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS));
#endif
}
template <int REGISTERS> __device__ __forceinline__ void take_registers()
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS));
#endif
}

/* The warps that solve: all tasks.  TRACED: a.times is written.  A template parameter, because
 * testing for it took a tenth of a small task's instructions. */
template <bool TRACED, typename SOLVER, typename T>
__device__ __forceinline__ void solve_tasks(const solve_arguments<T> &a, const SOLVER &me,
                                            const task_ring &ring, const task_list &list)
{
    const auto note = [&](int t, uint64_t task_times::*when) {
        if (TRACED && threadIdx.x == 0)
            a.times[list.first + t].*when = now_ns();
    };
    for (int t = 0; t < list.tasks; t++) {
        note(t, &task_times::come);
        ring.wait_described(t);
        ring.wait_full(t);
        note(t, &task_times::staged);
        me.run(task_view<T>(ring.task(t)), reinterpret_cast<const T *>(ring.gathered(t)), [&] {
            if constexpr (SOLVER::GATHER_THREADS > 0)
                ring.wait_ready(t);
            note(t, &task_times::gathered);
        });
        note(t, &task_times::done);
        ring.give_back(t);
    }
}

/* A group of warps that gather: the inputs of its tasks. */
template <typename GATHERER>
__device__ __forceinline__ void gather_tasks(const GATHERER &me, const task_ring &ring, int tasks)
{
    using T = typename GATHERER::scalar_type;
    for (int t = me.group; t < tasks; t += GATHERER::GROUPS) {
        ring.wait_described(t);
        me.run(task_view<T>(ring.task(t)), reinterpret_cast<T *>(ring.gathered(t)));
        ring.publish_ready(t);
    }
}

template <typename SOLVER, bool TRACED>
__global__ void __launch_bounds__(launch_threads<SOLVER>(), 2)
    tree_solve_kernel(const __grid_constant__ solve_arguments<typename SOLVER::scalar_type> a)
{
    extern __shared__ __align__(128) char shared[];
    const task_ring ring = {reinterpret_cast<ring_state *>(shared), shared + RING_STATE_BYTES,
                            a.ring_bytes};
    const task_list list = load_words(&a.head[blockIdx.x].list);
    const unsigned last = a.epoch ? a.epoch[blockIdx.x] : a.state->level_epoch;
    /* by levels: numbers with the highest bit */
    const unsigned epoch = a.epoch ? (last == 0x7fffffffu ? 1 : last + 1) : last;
    if (threadIdx.x == 0)
        ring.open(SOLVER::READY_THREADS);
    __syncthreads();
    if (threadIdx.x >= SOLVE_THREADS) {
        if constexpr (SOLVER::GATHER_THREADS > 0)
            give_registers<SOLVER::GATHER_REGISTERS>();
        if (threadIdx.x >= launch_threads<SOLVER>() - 32) {
            task_copier<SOLVER::INPUT_BYTES, SOLVER::SOURCE_BYTES> copier(ring);
            copier.copy_all(a.memory, copy_list(a.head + blockIdx.x, a.copy), a.past_cache,
                            [&](const char *done) { SOLVER::task_done(a, done, epoch); });
        } else if constexpr (SOLVER::GATHER_THREADS > 0)
            if (threadIdx.x < SOLVE_THREADS + SOLVER::GATHER_THREADS)
                gather_tasks(typename SOLVER::gatherer(a, epoch, threadIdx.x - SOLVE_THREADS), ring,
                             list.tasks);
        return;
    }
    if constexpr (SOLVER::GATHER_THREADS > 0)
        take_registers<SOLVER::SOLVE_REGISTERS>();
    solve_tasks<TRACED>(a, SOLVER(a, ring.base + ring.bytes, epoch), ring, list);
    if (a.in_place && a.epoch) {
        meet_all(a.state, epoch, a.patience);
        store_published<SOLVER>(a, (int64_t)blockIdx.x * SOLVE_THREADS + threadIdx.x,
                                (int64_t)gridDim.x * SOLVE_THREADS);
    }
    if (a.epoch && threadIdx.x == 0)
        a.epoch[blockIdx.x] = epoch; /* all threads have read it before they met */
}

/* Solves by levels: their number, and x where it may take b's place. */
static __global__ void next_level_epoch(solve_state *state)
{
    state->level_epoch = (state->level_epoch + 1) | 0x80000000u;
}

template <typename SOLVER>
__global__ void
store_x_kernel(const __grid_constant__ solve_arguments<typename SOLVER::scalar_type> a)
{
    store_published<SOLVER>(a, (int64_t)blockIdx.x * blockDim.x + threadIdx.x,
                            (int64_t)gridDim.x * blockDim.x);
}

#endif
