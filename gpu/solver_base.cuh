/* gpu/solver_base.cuh: what a launch of the tree's solve is given, and what solvers of one and of many columns share
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_SOLVER_BASE_CUH
#define GPU_SOLVER_BASE_CUH

#include "gpu/task.cuh"

/* What all launches on one workspace share. */
struct solve_state {
    unsigned long long arrived; /* blocks that have read all of b, in launches with x in b's place */
    unsigned level_epoch;       /* number of the last solve by levels */
    unsigned failed;            /* number of the last launch that gave up waiting, 0: none */
};

template <typename T> struct solve_arguments {
    const char *memory; /* values, then descriptions */
    const list_head *head; /* one for each block */
    const task_copy *copy;
    packet *slot; /* `pitch` letters for each value that travels */
    solve_state *state;
    unsigned *epoch; /* one for each block; NULL: state->level_epoch */
    const T *b;
    T *x;
    int64_t b_row, b_column, x_row, x_column; /* steps, in scalars */
    const real_of<T> *scale;                  /* n, by rows of A */
    const int32_t *user_row;                  /* n, by positions */
    int32_t n, columns, pitch;                /* columns <= pitch, and <= COLUMNS of the solver */
    int32_t stages;                           /* of the ring */
    int32_t in_place;                         /* x is b: stored when all blocks have read b */
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
static __device__ __noinline__ bool waited_enough(solve_state *state, unsigned epoch, unsigned long long deadline)
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

    __device__ __forceinline__ packet *box(int slot, int column) const
    {
        return a.slot + ((int64_t)slot * a.pitch + column) * letter<T>::COUNT;
    }

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

    /* All lanes of a warp; those that are `whole` have in value[c] an out for column `column` + 4 c, c < live.  mate: the neighbouring out is in the
     * lane with that bit turned. */
    template <int PER>
    __device__ __forceinline__ void publish(const task_view<T> &v, const task_out &q, bool whole, int mate, int column, int live, T (&value)[PER],
                                            real_of<T> scale) const
    {
        T neighbour[PER] = {};
        if (v.flags & TASK_PAIRS)
#pragma unroll
            for (int c = 0; c < PER; c++)
                neighbour[c] = shuffle_xor(value[c], mate);
        if (!whole)
            return;
        if (q.flags & OUT_D) {
            const T *pivot = v.tile() + q.row;
#pragma unroll
            for (int c = 0; c < PER; c++) {
                value[c] = ::multiply(pivot[0], value[c]);
                if (q.flags & OUT_PAIR)
                    value[c] = multiply_add(value[c], pivot[1], neighbour[c]);
            }
        }
        if (q.dst >= 0) {
            packet *to = box(q.dst, column);
#pragma unroll
            for (int c = 0; c < PER; c++)
                if (c < live)
                    letter_send(to, 4 * c, value[c], epoch);
        }
        if (is_stored(v, q))
#pragma unroll
            for (int c = 0; c < PER; c++)
                if (c < live)
                    store(q.row, column + 4 * c, value[c], scale);
    }

    /* x from its letters, once no block needs b any more. */
    __device__ __noinline__ void store_in_place() const
    {
        solvers_sync(); /* all threads have read their part of b */
        if (threadIdx.x == 0) {
            unsigned long long before, seen;
            asm volatile("atom.add.release.gpu.global.u64 %0, [%1], 1;" : "=l"(before) : "l"(&a.state->arrived) : "memory");
            const unsigned long long all = (before / gridDim.x + 1) * gridDim.x;
            unsigned tries = 0;
            do
                asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(seen) : "l"(&a.state->arrived) : "memory");
            while (seen < all && ((++tries & 1023) != 0 || !give_up()));
        }
        solvers_sync();
        for (int64_t i = (int64_t)blockIdx.x * SOLVE_THREADS + threadIdx.x; i < a.n; i += (int64_t)gridDim.x * SOLVE_THREADS) {
            const int row = a.user_row[i];
            for (int j = 0; j < a.columns; j++) {
                const packet *from = box((int)i, j);
                letter<T> l = letter_load<T>(from, 0);
                unsigned tries = 0;
                while (!letter_is_of(l, epoch) && ((++tries & 1023) != 0 || !give_up()))
                    l = letter_load<T>(from, 0);
                store(row, j, letter_value(l), a.scale[row]);
            }
        }
    }
};

/* EACH sources of a thread on their way, letters or entries of b, for columns `column` + 4 c, c < live <= PER. */
template <typename T, int EACH, int PER = 1> struct inbound {
    int code[EACH];
    letter<T> mail[EACH][PER];
    int column, live;

    __device__ __forceinline__ bool by_mail(int u) const { return code[u] >= 0 && (code[u] & 1) == SOURCE_SLOT; }

    __device__ __forceinline__ bool is_late(int u, int c, unsigned epoch) const { return c < live && !letter_is_of(mail[u][c], epoch); }

    /* Sends for source u, whose code is there. */
    __device__ __forceinline__ void ask(const solver_base<T> &s, int u)
    {
        if (by_mail(u)) {
            const packet *from = s.box((unsigned)code[u] >> 1, column);
#pragma unroll
            for (int c = 0; c < PER; c++)
                if (c < live)
                    mail[u][c] = letter_load<T>(from, 4 * c);
        } else if (code[u] >= 0) {
            const int row = code[u] >> 1;
            const T *from = s.a.b + row * s.a.b_row + column * s.a.b_column;
            const real_of<T> scale = s.a.scale[row];
#pragma unroll
            for (int c = 0; c < PER; c++)
                if (c < live)
                    mail[u][c] = hold_b(from[4 * c * s.a.b_column], scale);
        }
    }
    __device__ __forceinline__ bool is_missing(unsigned epoch) const
    {
        bool missing = false;
#pragma unroll
        for (int u = 0; u < EACH; u++)
            if (by_mail(u))
#pragma unroll
                for (int c = 0; c < PER; c++)
                    missing = missing || is_late(u, c, epoch);
        return missing;
    }
    __device__ __forceinline__ void look_again(const solver_base<T> &s)
    {
#pragma unroll
        for (int u = 0; u < EACH; u++)
            if (by_mail(u)) {
                const packet *from = s.box((unsigned)code[u] >> 1, column);
#pragma unroll
                for (int c = 0; c < PER; c++)
                    if (is_late(u, c, s.epoch))
                        mail[u][c] = letter_load<T>(from, 4 * c);
            }
    }

    /* All lanes of a warp: until everything is there.  While a warp waits only one of its lanes looks: 256 threads of 264 blocks that all look
     * again and again take more than the second-level cache gives, and everyone's values come late. */
    __device__ __forceinline__ void wait(const solver_base<T> &s)
    {
        unsigned tries = 0;
        for (unsigned missing; (missing = __ballot_sync(~0u, is_missing(s.epoch))) != 0;) {
            if ((int)(threadIdx.x & 31) == 31 - __clz(missing))
                do
                    look_again(s);
                while (is_missing(s.epoch) && ((++tries & 1023) != 0 || !s.give_up()));
            __syncwarp();
            if (__any_sync(~0u, is_missing(s.epoch) && tries > 0 && (tries & 1023) == 0))
                break; /* gave up */
            look_again(s);
        }
    }
    __device__ __forceinline__ T value(int u, int c = 0) const
    {
        return by_mail(u) ? letter_value(mail[u][c]) : code[u] >= 0 ? held_b(mail[u][c]) : T{};
    }
};

#endif
