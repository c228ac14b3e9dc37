/* gpu/tree_solve.cuh: the kernel that runs the program of a solve
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Every block works through its own list of tasks.  One warp copies tasks to a ring of stages, as far ahead as there is
 * room, whatever the others wait for; the other warps gather the inputs of the task at hand, multiply, and publish (SOLVER).
 * What is published carries the number of the launch, so that nothing is cleared or mistaken for a value of another launch: of one right-hand side
 * each value, in letters (dense/cuda/grid.cuh) that need no fence; of several each row of values, marked behind a fence.  All sums have a
 * fixed order. */
#ifndef GPU_TREE_SOLVE_CUH
#define GPU_TREE_SOLVE_CUH

#include "gpu/block_solver.cuh"
#include "gpu/solver.cuh"

constexpr int BARRIERS_BYTES = 128;

/* Dynamic shared memory of a block. */
template <typename SOLVER> constexpr int solve_bytes(int stages)
{
    return BARRIERS_BYTES + stages * TASK_STAGE + SOLVER::BYTES;
}

template <typename SOLVER>
__global__ void __launch_bounds__(LAUNCH_THREADS, 2)
    tree_solve_kernel(const __grid_constant__ solve_arguments<typename SOLVER::scalar_type> a)
{
    extern __shared__ __align__(128) char shared[];
    char *stage = shared + BARRIERS_BYTES;
    const stage_ring ring = {reinterpret_cast<uint64_t *>(shared)};
    const task_list list = load_words(&a.head[blockIdx.x].list);
    if (threadIdx.x == 0)
        ring.open(a.stages);
    __syncthreads();
    const unsigned last = a.epoch ? a.epoch[blockIdx.x] : a.state->level_epoch;
    const unsigned epoch =
        a.epoch ? (last == 0x7fffffffu ? 1 : last + 1) : last; /* by levels: numbers with the highest bit */
    if (threadIdx.x >= SOLVE_THREADS) {
        copy_tasks(a.memory, a.head + blockIdx.x, a.copy, stage, ring, a.stages,
                   [&](const char *done) { SOLVER::task_done(a, done, epoch); });
        return;
    }
    const SOLVER me(a, stage + a.stages * TASK_STAGE, epoch, now_ns() + a.patience);
    int at = 0;
    unsigned phase = 0;
    for (int t = 0; t < list.tasks; t++) {
        task_times *times = a.times && threadIdx.x == 0 ? a.times + list.first + t : nullptr;
        if (times)
            times->come = now_ns();
        stage_ring::wait(ring.full + at, phase);
        if (times)
            times->staged = now_ns();
        me.run(task_view<typename SOLVER::scalar_type>(stage + at * TASK_STAGE), (unsigned)t, times);
        if (times)
            times->done = now_ns();
        stage_ring::give_back(at);
        if (++at == a.stages) {
            at = 0;
            phase ^= 1;
        }
    }
    if (a.in_place && a.epoch) {
        me.meet_all();
        store_published<SOLVER>(a, (int64_t)blockIdx.x * SOLVE_THREADS + threadIdx.x,
                                (int64_t)gridDim.x * SOLVE_THREADS);
    }
    if (a.epoch && threadIdx.x == 0)
        a.epoch[blockIdx.x] = epoch; /* all threads have read it: they have met since, or there was no task */
}

/* Solves by levels: their number, and x where it may take b's place. */
static __global__ void next_level_epoch(solve_state *state)
{
    state->level_epoch = (state->level_epoch + 1) | 0x80000000u;
}

template <typename SOLVER>
__global__ void store_x_kernel(const __grid_constant__ solve_arguments<typename SOLVER::scalar_type> a)
{
    store_published<SOLVER>(a, (int64_t)blockIdx.x * blockDim.x + threadIdx.x,
                            (int64_t)gridDim.x * blockDim.x);
}

#endif
