/* gpu/solve/solver_base.cuh: what a launch of the tree's solve is given, and what solvers of one
 * and of many columns share
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_SOLVE_SOLVER_BASE_CUH
#define GPU_SOLVE_SOLVER_BASE_CUH

#include "gpu/solve/task.cuh"

/* What all launches on one workspace share. */
struct solve_state {
    unsigned long long arrived; /* blocks that have done all tasks, in launches with x in b's place
                                 */
    unsigned level_epoch;       /* number of the last solve by levels */
    unsigned failed;            /* number of the last launch that gave up waiting, 0: none */
};

template <typename T> struct solve_arguments {
    const char *memory;    /* values, then descriptions */
    const list_head *head; /* one for each block */
    const task_copy *copy;
    packet_word *packets; /* one right-hand side: what is published, a packet each */
    T *value; /* several: `pitch` scalars each, and the number of the launch that wrote them */
    unsigned *flag;
    solve_state *state;
    unsigned *epoch; /* one for each block; NULL: state->level_epoch */
    const T *b;
    T *x;
    int64_t b_row, b_column, x_row, x_column; /* steps, in scalars */
    const real_of<T> *scale;                  /* n, by rows of A */
    const int32_t *user_row;                  /* n, by positions */
    int32_t n, columns, pitch;                /* columns <= pitch */
    int32_t ring_bytes;
    int32_t past_cache; /* the program does not fit the second-level cache: its tiles are loaded so
                           that they do not drive out what tasks publish there */
    int32_t in_place;   /* x is b: stored when all blocks have done their tasks */
    unsigned long long patience; /* ns to wait before giving up */
    task_times *times;           /* by tasks, NULL: not traced */
};

__device__ __forceinline__ unsigned long long now_ns()
{
    unsigned long long t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}

/* Returns the start of the wait, or 0 after the timeout: the launch has failed then, and all its
 * blocks stop waiting.  since: 0 at first, then what was returned. */
static __device__ __forceinline__ unsigned long long waiting_since(solve_state *state,
                                                                   unsigned epoch,
                                                                   unsigned long long patience,
                                                                   unsigned long long since)
{
    const unsigned long long now = now_ns();
    since = since ? since : now;
    if (*(volatile unsigned *)&state->failed == epoch)
        return 0;
    if (now - since < patience)
        return since;
    *(volatile unsigned *)&state->failed = epoch;
    return 0;
}

/* Until there() or the launch is given up, which it returns. */
template <typename There>
__device__ __forceinline__ bool wait_in_vain(solve_state *state, unsigned epoch,
                                             unsigned long long patience, There there)
{
    unsigned long long since = 0;
    for (unsigned tries = 1; !there(); tries++)
        if ((tries & 1023) == 0 && (since = waiting_since(state, epoch, patience, since)) == 0)
            return true;
    return false;
}

/* All blocks have come here; before that, what they published and read is done with. */
static __device__ __forceinline__ void meet_all(solve_state *state, unsigned epoch,
                                                unsigned long long patience)
{
    solvers_sync();
    if (threadIdx.x == 0) {
        unsigned long long before;
        asm volatile("atom.add.acq_rel.gpu.global.u64 %0, [%1], 1;"
                     : "=l"(before)
                     : "l"(&state->arrived)
                     : "memory");
        const unsigned long long all = (before / gridDim.x + 1) * gridDim.x;
        wait_in_vain(state, epoch, patience, [&] {
            unsigned long long seen;
            asm volatile("ld.acquire.gpu.global.u64 %0, [%1];"
                         : "=l"(seen)
                         : "l"(&state->arrived)
                         : "memory");
            return seen >= all;
        });
    }
    solvers_sync();
}

template <typename T> struct solver_base {
    const solve_arguments<T> &a;
    unsigned epoch;

    __device__ __forceinline__ void store(int row, int column, T v, real_of<T> s) const
    {
        a.x[row * a.x_row + column * a.x_column] = scaled(v, s);
    }

    __device__ __forceinline__ bool is_stored(const task_view<T> &v, const task_out &q) const
    {
        return q.row >= 0 && !(q.flags & OUT_D) && !a.in_place && !(v.flags & TASK_CARRY_OUT);
    }
    /* The scaling of the out's x, on its way before it is needed. */
    __device__ __forceinline__ real_of<T> scale_of(const task_view<T> &v, const task_out &q) const
    {
        return is_stored(v, q) ? a.scale[q.row] : real_of<T>(0);
    }

    /* All lanes of a warp; those that are `whole` have an out in `value`, of as many columns each:
     * value := D^-1 value where that is wanted.  mate: the neighbouring out is in the lane with
     * that bit turned. */
    template <int PER>
    __device__ __forceinline__ void apply_pivots(const task_view<T> &v, const task_out &q,
                                                 bool whole, int mate, T (&value)[PER]) const
    {
        T neighbour[PER] = {};
        if (v.flags & TASK_PAIRS)
#pragma unroll
            for (int c = 0; c < PER; c++)
                neighbour[c] = shuffle_xor(value[c], mate);
        if (!whole || !(q.flags & OUT_D))
            return;
        const T *pivot = v.tile() + q.row;
#pragma unroll
        for (int c = 0; c < PER; c++) {
            value[c] = ::multiply(pivot[0], value[c]);
            if (q.flags & OUT_PAIR)
                value[c] = multiply_add(value[c], pivot[1], neighbour[c]);
        }
    }
};

/* All lanes of a warp: look() until no lane is_missing() any more, or the launch is given
 * up.  Between looks only one of the lanes waits, until has_come(): 256 threads of 264 blocks that
 * all look again and again take more than the second-level cache gives, and everyone's values come
 * late. */
template <typename T, typename Look, typename Missing, typename Come>
__device__ __forceinline__ void wait_by_one_lane(const solver_base<T> &s, Look look,
                                                 Missing is_missing, Come has_come)
{
    for (;;) {
        look();
        const unsigned missing = __ballot_sync(~0u, is_missing());
        bool over = false;
        if (missing == 0)
            return;
        if ((int)(threadIdx.x & 31) == 31 - __clz(missing))
            over = wait_in_vain(s.a.state, s.epoch, s.a.patience, has_come);
        if (__any_sync(~0u, over))
            return;
    }
}

/* Several rows of x from what was published: thread `number` of `threads`. */
template <typename SOLVER, typename T>
__device__ __forceinline__ void store_published(const solve_arguments<T> &a, int64_t number,
                                                int64_t threads)
{
    for (int64_t i = number; i < a.n; i += threads) {
        const int row = a.user_row[i];
        const real_of<T> scale = a.scale[row];
        for (int j = 0; j < a.columns; j++)
            a.x[row * a.x_row + j * a.x_column] = scaled(SOLVER::published(a, (int)i, j), scale);
    }
}

#endif
