/* gpu/solver.cuh: block scope: one task: gather its inputs, multiply, publish
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_SOLVER_CUH
#define GPU_SOLVER_CUH

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
    packet *slot;
    solve_state *state;
    unsigned *epoch; /* one for each block; NULL: state->level_epoch */
    const T *b;
    T *x;
    int64_t b_row, b_column, x_row, x_column; /* steps, in scalars */
    const real_of<T> *scale;                  /* n, by rows of A */
    const int32_t *user_row;                  /* n, by positions */
    int32_t n, columns;                       /* columns <= COLUMNS of the instance */
    int32_t stages;                           /* of the ring */
    int32_t in_place;                         /* x is b: stored when all blocks have read b */
    unsigned long long patience;              /* ns to wait before giving up */
    task_times *times;                        /* by tasks, NULL: not traced */
};

/* How an instance's shared memory is laid out.  PASSES times WIDTH columns are solved at a time; a pass reads the
 * tiles in shared memory once. */
template <typename T, int WIDTH, int PASSES> struct solve_shape {
    static constexpr int COLUMNS = WIDTH * PASSES;
    static constexpr int BARRIERS = 128; /* bytes */
    static constexpr int IN = TASK_SOURCES * WIDTH; /* scalars: inputs, two of them, and sources before they are added */
    static constexpr int CARRY = SQUARE * COLUMNS;
    static constexpr int bytes(int stages) { return BARRIERS + stages * TASK_STAGE + (3 * IN + CARRY) * (int)sizeof(T); }
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

template <typename T, int WIDTH, int PASSES> struct solver {
    using shape = solve_shape<T, WIDTH, PASSES>;
    static constexpr int COLUMNS = shape::COLUMNS;
    static constexpr int EACH = TASK_SOURCES / SOLVE_THREADS; /* sources of a thread */
    static constexpr int AHEAD = 4 * TASK_SQUARES;            /* entries of tiles that a thread holds before its inputs are there */
    const solve_arguments<T> &a;
    T *staged, *carried;
    unsigned epoch;
    unsigned long long deadline;

    /* Sources of this thread on their way: letters, or entries of b. */
    struct asked {
        int code[EACH];
        letter<T> mail[EACH][WIDTH];
        __device__ __forceinline__ bool by_mail(int u) const { return code[u] >= 0 && (code[u] & 1) == SOURCE_SLOT; }
    };
    /* What a thread knows of its first products before its inputs are there. */
    struct ahead {
        const T *t; /* of what follows the entries held */
        int in, out, count, t_step, y_step; /* first input, number of the out, products, steps between them */
        int log_parts;
        bool whole; /* this lane ends up with the sum of its out */
        T entry[AHEAD];
        task_out record;
        real_of<T> scale; /* of row record.row, if that is stored */
    };

    __device__ __forceinline__ bool give_up() const { return waited_enough(a.state, epoch, deadline); }

    /* ---- Inputs ---- */

    __device__ __forceinline__ const packet *box(int code, int column) const
    {
        return a.slot + ((int64_t)((unsigned)code >> 1) * COLUMNS + column) * letter<T>::COUNT;
    }

    __device__ __forceinline__ void ask(const task_view<T> &v, int sources, int column, asked &q) const
    {
#pragma unroll
        for (int u = 0; u < EACH; u++) {
            const int k = threadIdx.x + u * SOLVE_THREADS;
            q.code[u] = k < sources ? v.code(k) : SOURCE_ZERO;
            if (q.by_mail(u)) {
#pragma unroll
                for (int w = 0; w < WIDTH; w++)
                    q.mail[u][w] = letter_load<T>(box(q.code[u], column), w);
            } else if (q.code[u] >= 0) {
                const int row = q.code[u] >> 1;
                const real_of<T> scale = a.scale[row];
#pragma unroll
                for (int w = 0; w < WIDTH; w++)
                    q.mail[u][w] = hold_b(column + w < a.columns ? a.b[row * a.b_row + (column + w) * a.b_column] : T{}, scale);
            }
        }
    }

    __device__ __forceinline__ bool is_missing(const asked &q) const
    {
        bool missing = false;
#pragma unroll
        for (int u = 0; u < EACH; u++)
#pragma unroll
            for (int w = 0; w < WIDTH; w++)
                missing = missing || (q.by_mail(u) && !letter_is_of(q.mail[u][w], epoch));
        return missing;
    }
    __device__ __forceinline__ void look_again(asked &q, int column) const
    {
#pragma unroll
        for (int u = 0; u < EACH; u++)
#pragma unroll
            for (int w = 0; w < WIDTH; w++)
                if (q.by_mail(u) && !letter_is_of(q.mail[u][w], epoch))
                    q.mail[u][w] = letter_load<T>(box(q.code[u], column), w);
    }

    /* to[k WIDTH + w] := source k, column + w.  While a warp waits only one of its lanes looks: 256 threads of 264 blocks that all look
     * again and again take more than the second-level cache gives, and everyone's values come late. */
    __device__ __forceinline__ void receive(int sources, int column, asked &q, T *to) const
    {
        unsigned tries = 0;
        for (unsigned missing; (missing = __ballot_sync(~0u, is_missing(q))) != 0;) {
            if ((int)(threadIdx.x & 31) == 31 - __clz(missing))
                do
                    look_again(q, column);
                while (is_missing(q) && ((++tries & 1023) != 0 || !give_up()));
            __syncwarp();
            if (__any_sync(~0u, is_missing(q) && tries > 0 && (tries & 1023) == 0))
                break; /* gave up */
            look_again(q, column);
        }
#pragma unroll
        for (int u = 0; u < EACH; u++) {
            const int k = threadIdx.x + u * SOLVE_THREADS;
            if (k < sources)
#pragma unroll
                for (int w = 0; w < WIDTH; w++)
                    to[k * WIDTH + w] = q.by_mail(u)     ? letter_value(q.mail[u][w])
                                        : q.code[u] >= 0 ? held_b(q.mail[u][w])
                                                         : T{};
        }
    }

    /* in := sums of the staged sources */
    __device__ __forceinline__ void add_staged(const task_view<T> &v, T *in) const
    {
        for (int k = threadIdx.x; k < v.inputs; k += SOLVE_THREADS) {
            const int end = v.start(k + 1);
            T sum[WIDTH] = {};
#pragma unroll 4
            for (int q = v.start(k); q < end; q++)
#pragma unroll
                for (int w = 0; w < WIDTH; w++)
                    sum[w] = sum[w] + staged[q * WIDTH + w];
#pragma unroll
            for (int w = 0; w < WIDTH; w++)
                in[k * WIDTH + w] = sum[w];
        }
    }

    /* ---- Products ---- */

    __device__ __forceinline__ bool is_stored(const task_view<T> &v, const task_out &q) const
    {
        return q.row >= 0 && !(q.flags & OUT_D) && !a.in_place && !(v.flags & TASK_CARRY_OUT);
    }

    /* The record of this lane's out, for a lane that ends up with its sum. */
    __device__ __forceinline__ void look_at_out(const task_view<T> &v, ahead &h) const
    {
        h.record.row = -1;
        h.record.flags = 0;
        if (h.whole)
            h.record = v.out(h.out);
        h.scale = h.whole && is_stored(v, h.record) ? a.scale[h.record.row] : real_of<T>(0);
    }

    /* Products with square tiles: warp w has outs 4 w .. 4 w + 3, a lane every eighth product of one of them.  See square_at. */
    __device__ __forceinline__ void look_at_squares(const task_view<T> &v, ahead &h) const
    {
        const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, o = lane & 3, s = lane >> 2;
        const bool back = v.flags & TASK_BACKWARD;
        const int out = 4 * warp + o, turn = 8 * (o >> 1);
        const T *t = v.tile();
        const T *even = t + (back ? out * SQUARE + (s ^ 4 * (o & 1)) + turn : s * SQUARE + (out ^ 4 * (s & 3)));
        const T *odd = back ? even + 8 - 2 * turn : even + 8 * SQUARE;
        const int half = back ? 16 : 16 * SQUARE;
        h.in = s;
        h.out = out;
        h.whole = s == 0 && out < v.outs;
        h.log_parts = 3;
#pragma unroll
        for (int q = 0; q < TASK_SQUARES; q++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                h.entry[4 * q + i] = q < v.slots ? conjugate_if((i & 1 ? odd : even)[q * SQUARE * SQUARE + (i >> 1) * half],
                                                                v.flags & TASK_CONJUGATE)
                                                 : T{};
    }
    __device__ __forceinline__ void multiply_squares(const task_view<T> &v, const ahead &h, const T *in, T (&sum)[WIDTH]) const
    {
        T other[WIDTH] = {};
        const T *y = in + h.in * WIDTH;
#pragma unroll
        for (int q = 0; q < TASK_SQUARES; q++)
            if (q < v.slots) {
#pragma unroll
                for (int i = 0; i < 4; i++)
#pragma unroll
                    for (int w = 0; w < WIDTH; w++) {
                        T &to = i & 1 ? other[w] : sum[w];
                        to = multiply_add(to, h.entry[4 * q + i], y[(SQUARE * q + 8 * i) * WIDTH + w]);
                    }
            }
#pragma unroll
        for (int w = 0; w < WIDTH; w++)
            sum[w] = sum[w] + other[w];
    }

    /* Products of a slot. */
    __device__ __forceinline__ void look_at_slot(const task_view<T> &v, int s, ahead &h) const
    {
        const task_slot q = v.slot(s);
        const lane_share mine(q.mode & 3);
        h.in = q.in + mine.part;
        h.out = q.out + mine.o;
        h.whole = mine.part == 0 && mine.o < q.outs;
        h.log_parts = mine.log_parts;
        h.t_step = q.inner_step << mine.log_parts;
        h.y_step = WIDTH << mine.log_parts;
        h.count = max(0, (q.inner - mine.part + (1 << mine.log_parts) - 1) >> mine.log_parts);
        h.t = v.tile() + q.tile + min(mine.o, q.outs - 1) * q.out_step + mine.part * q.inner_step;
        if (scalar<T>::is_complex && (q.mode & 4))
            h.t_step = -h.t_step; /* a mark: conjugated */
    }
    /* Four products from y on, of which `count` are there. */
    __device__ __forceinline__ static void multiply_four(const T *t, int t_step, const T *y, int y_step, int count, bool conjugate, T (&sum)[WIDTH])
    {
        T entry[4], x[4][WIDTH];
#pragma unroll
        for (int u = 0; u < 4; u++) {
            entry[u] = u < count ? conjugate_if(t[u * t_step], conjugate) : T{};
#pragma unroll
            for (int w = 0; w < WIDTH; w++)
                x[u][w] = u < count ? y[u * y_step + w] : T{};
        }
#pragma unroll
        for (int w = 0; w < WIDTH; w++) {
            T other = multiply_add(T{}, entry[1], x[1][w]);
            sum[w] = multiply_add(sum[w], entry[0], x[0][w]);
            other = multiply_add(other, entry[3], x[3][w]);
            sum[w] = multiply_add(sum[w], entry[2], x[2][w]) + other;
        }
    }
    /* The first entries of a slot, before its inputs are there. */
    __device__ __forceinline__ void hold_entries(ahead &h) const
    {
        const bool conjugate = scalar<T>::is_complex && h.t_step < 0;
        const int t_step = scalar<T>::is_complex ? abs(h.t_step) : h.t_step;
#pragma unroll
        for (int u = 0; u < AHEAD; u++)
            h.entry[u] = u < h.count ? conjugate_if(h.t[u * t_step], conjugate) : T{};
    }
    /* held: the entries that hold_entries has loaded are used */
    __device__ __forceinline__ void multiply_slot(const ahead &h, bool held, const T *in, T (&sum)[WIDTH]) const
    {
        const bool conjugate = scalar<T>::is_complex && h.t_step < 0;
        const int t_step = scalar<T>::is_complex ? abs(h.t_step) : h.t_step;
        const T *t = h.t, *y = in + h.in * WIDTH;
        int count = h.count;
        if (held) {
            T other[WIDTH] = {};
#pragma unroll
            for (int u = 0; u < AHEAD; u++)
                if (u < count) {
#pragma unroll
                    for (int w = 0; w < WIDTH; w++) {
                        T &to = u & 1 ? other[w] : sum[w];
                        to = multiply_add(to, h.entry[u], y[u * h.y_step + w]);
                    }
                }
#pragma unroll
            for (int w = 0; w < WIDTH; w++)
                sum[w] = sum[w] + other[w];
            count -= AHEAD;
            t += AHEAD * t_step;
            y += AHEAD * h.y_step;
        }
#pragma unroll 1
        for (; count >= 4; count -= 4, t += 4 * t_step, y += 4 * h.y_step)
            multiply_four(t, t_step, y, h.y_step, 4, conjugate, sum);
        if (count > 0)
            multiply_four(t, t_step, y, h.y_step, count, conjugate, sum);
    }

    /* Sums over the lanes of each out. */
    __device__ __forceinline__ static void add_lanes(int log_parts, T (&sum)[WIDTH])
    {
        __syncwarp();
#pragma unroll
        for (int w = 0; w < WIDTH; w++) {
            if (log_parts == 5) {
                sum[w] = sum[w] + shuffle_xor(sum[w], 1);
                sum[w] = sum[w] + shuffle_xor(sum[w], 2);
            }
            sum[w] = sum[w] + shuffle_xor(sum[w], 4);
            sum[w] = sum[w] + shuffle_xor(sum[w], 8);
            if (log_parts > 2)
                sum[w] = sum[w] + shuffle_xor(sum[w], 16);
        }
    }

    /* ---- Outs ---- */

    /* All lanes of a warp; those that are `whole` have the product of their out in sum. */
    __device__ __forceinline__ void publish(const task_view<T> &v, const ahead &h, const T *in, int column, T (&sum)[WIDTH]) const
    {
        const task_out &q = h.record;
#pragma unroll
        for (int w = 0; w < WIDTH; w++) {
            T value = sum[w], *carry = carried + (column + w) * SQUARE + h.out;
            if (h.whole) {
                if (q.add >= 0)
                    value = value + in[q.add * WIDTH + w];
                if (v.flags & TASK_CARRY_IN)
                    value = value + *carry;
            }
            const T neighbour = v.flags & TASK_PAIRS ? shuffle_xor(value, 1) : T{};
            if (!h.whole)
                continue;
            if (v.flags & TASK_CARRY_OUT) {
                *carry = value;
                continue;
            }
            if (q.flags & OUT_D) {
                const T *pivot = v.tile() + q.row;
                value = ::multiply(pivot[0], value);
                if (q.flags & OUT_PAIR)
                    value = multiply_add(value, pivot[1], neighbour);
            }
            if (q.dst >= 0)
                letter_send(a.slot + (int64_t)q.dst * COLUMNS * letter<T>::COUNT, column + w, value, epoch);
            if (is_stored(v, q) && column + w < a.columns)
                store(q.row, column + w, value, h.scale);
        }
    }

    __device__ __forceinline__ void store(int row, int column, T v, real_of<T> s) const
    {
        a.x[row * a.x_row + column * a.x_column] = scaled(v, s);
    }

    /* ---- A task ---- */

    __device__ __forceinline__ void run(const task_view<T> &v, T *in, int column, task_times *times) const
    {
        const int sources = v.start_at ? v.start(v.inputs) : v.inputs, warp = threadIdx.x >> 5;
        const bool squares = v.flags & TASK_TILES;
        asked q;
        ahead h;
        ask(v, sources, column, q);
        if (squares)
            look_at_squares(v, h);
        else if (warp < v.slots) {
            look_at_slot(v, warp, h);
            hold_entries(h);
        } else { /* sums: an out for each thread */
            h.out = threadIdx.x;
            h.whole = v.slots == 0 && h.out < v.outs;
        }
        look_at_out(v, h);
        receive(sources, column, q, v.start_at ? staged : in);
        solvers_sync();
        if (v.start_at) {
            add_staged(v, in);
            solvers_sync();
        }
        if (times)
            times->gathered = now_ns();
        T sum[WIDTH] = {};
        if (squares) {
            multiply_squares(v, h, in, sum);
            add_lanes(3, sum);
            if (4 * warp < v.outs)
                publish(v, h, in, column, sum);
        } else if (v.slots == 0) {
            if (32 * warp < v.outs)
                publish(v, h, in, column, sum);
        } else
#pragma unroll 1
            for (int s = warp; s < v.slots; s += SOLVE_WARPS) {
                if (s != warp) {
                    look_at_slot(v, s, h);
                    look_at_out(v, h);
#pragma unroll
                    for (int w = 0; w < WIDTH; w++)
                        sum[w] = T{};
                }
                multiply_slot(h, s == warp, in, sum);
                add_lanes(h.log_parts, sum);
                publish(v, h, in, column, sum);
            }
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
                const packet *from = a.slot + i * COLUMNS * letter<T>::COUNT;
                letter<T> l = letter_load<T>(from, j);
                unsigned tries = 0;
                while (!letter_is_of(l, epoch) && ((++tries & 1023) != 0 || !give_up()))
                    l = letter_load<T>(from, j);
                store(row, j, letter_value(l), a.scale[row]);
            }
        }
    }
};

#endif
