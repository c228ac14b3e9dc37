/* gpu/solver_base.cuh: what a launch of the tree's solve is given, and what solvers of one and of many columns share
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_SOLVER_BASE_CUH
#define GPU_SOLVER_BASE_CUH

#include "gpu/task.cuh"

/* What all launches on one workspace share. */
struct solve_state {
    unsigned long long arrived; /* blocks that have done all tasks, in launches with x in b's place */
    unsigned level_epoch;       /* number of the last solve by levels */
    unsigned failed;            /* number of the last launch that gave up waiting, 0: none */
};

template <typename T> struct solve_arguments {
    const char *memory;    /* values, then descriptions */
    const list_head *head; /* one for each block */
    const task_copy *copy;
    packet *letter; /* one right-hand side: what is published, a letter each */
    T *value;       /* several: `pitch` scalars each, and the number of the launch that wrote them */
    unsigned *mark;
    solve_state *state;
    unsigned *epoch; /* one for each block; NULL: state->level_epoch */
    const T *b;
    T *x;
    int64_t b_row, b_column, x_row, x_column; /* steps, in scalars */
    const real_of<T> *scale;                  /* n, by rows of A */
    const int32_t *user_row;                  /* n, by positions */
    int32_t n, columns, pitch;                /* columns <= pitch */
    int32_t stages;                           /* of the ring */
    int32_t in_place;                         /* x is b: stored when all blocks have done their tasks */
    unsigned long long patience;              /* ns to wait before giving up */
    task_times *times;                        /* by tasks, NULL: not traced */
};

__device__ __forceinline__ unsigned long long now_ns()
{
    unsigned long long t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}

/* Whether a launch gives up waiting; if so, all its blocks will. */
static __device__ __noinline__ bool waited_enough(solve_state *state, unsigned epoch,
                                                  unsigned long long deadline)
{
    if (*(volatile unsigned *)&state->failed == epoch)
        return true;
    if (now_ns() < deadline)
        return false;
    *(volatile unsigned *)&state->failed = epoch;
    return true;
}

template <typename T> struct solver_base {
    const solve_arguments<T> &a;
    unsigned epoch;
    unsigned long long deadline;

    __device__ __forceinline__ bool give_up() const { return waited_enough(a.state, epoch, deadline); }

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

    /* All lanes of a warp; those that are `whole` have an out in `value`, of as many columns each: value := D^-1 value where that is wanted.  mate: the
     * neighbouring out is in the lane with that bit turned. */
    template <int PER>
    __device__ __forceinline__ void apply_pivots(const task_view<T> &v, const task_out &q, bool whole,
                                                 int mate, T (&value)[PER]) const
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

    /* All blocks have come here; before that, what they published and read is done with. */
    __device__ __noinline__ void meet_all() const
    {
        solvers_sync();
        if (threadIdx.x == 0) {
            unsigned long long before, seen;
            asm volatile("atom.add.acq_rel.gpu.global.u64 %0, [%1], 1;"
                         : "=l"(before)
                         : "l"(&a.state->arrived)
                         : "memory");
            const unsigned long long all = (before / gridDim.x + 1) * gridDim.x;
            unsigned tries = 0;
            do
                asm volatile("ld.acquire.gpu.global.u64 %0, [%1];"
                             : "=l"(seen)
                             : "l"(&a.state->arrived)
                             : "memory");
            while (seen < all && ((++tries & 1023) != 0 || !give_up()));
        }
        solvers_sync();
    }
};

/* All lanes of a warp: until no lane is_missing() any more, or the launch is given up.  While a warp waits only one of its lanes looks, by still_missing():
 * 256 threads of 264 blocks that all look again and again take more than the second-level cache gives, and everyone's values come late. */
template <typename T, typename Missing, typename Poll, typename Look>
__device__ __forceinline__ void wait_by_one_lane(const solver_base<T> &s, Missing is_missing,
                                                 Poll still_missing, Look look_again)
{
    for (unsigned missing; (missing = __ballot_sync(~0u, is_missing())) != 0;) {
        bool over = false;
        if ((int)(threadIdx.x & 31) == 31 - __clz(missing))
            for (unsigned tries = 1; still_missing() && !over; tries++)
                over = (tries & 1023) == 0 && s.give_up();
        if (__any_sync(~0u, over))
            break;
        look_again();
    }
}

/* Several rows of x from what was published: thread `number` of `threads`. */
template <typename SOLVER, typename T>
__device__ __forceinline__ void store_published(const solve_arguments<T> &a, int64_t number, int64_t threads)
{
    for (int64_t i = number; i < a.n; i += threads) {
        const int row = a.user_row[i];
        const real_of<T> scale = a.scale[row];
        for (int j = 0; j < a.columns; j++)
            a.x[row * a.x_row + j * a.x_column] = scaled(SOLVER::published(a, (int)i, j), scale);
    }
}

#endif
