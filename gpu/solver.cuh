/* gpu/solver.cuh: block scope: one task for one right-hand side: gather its inputs, multiply, publish
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_SOLVER_CUH
#define GPU_SOLVER_CUH

#include "gpu/solver_base.cuh"

template <typename T> struct column_solver : solver_base<T> {
    using scalar_type = T;
    static constexpr int EACH = TASK_SOURCES / SOLVE_THREADS; /* sources of a thread */
    static constexpr int AHEAD =
        4 * TASK_SQUARES; /* entries of tiles that a thread holds before its inputs are there */
    /* Shared memory: inputs, two of them, sources before they are added, sums that are carried. */
    static constexpr int BYTES = (2 * TASK_INPUTS + TASK_SOURCES + SQUARE) * (int)sizeof(T);
    T *inputs, *staged, *carried;

    __device__ __forceinline__ column_solver(const solve_arguments<T> &a, char *shared, unsigned epoch,
                                             unsigned long long deadline)
        : solver_base<T>{a, epoch, deadline}, inputs(reinterpret_cast<T *>(shared)),
          staged(inputs + 2 * TASK_INPUTS), carried(staged + TASK_SOURCES)
    {
    }

    /* Entry i of what was published, for column j, which is 0. */
    __device__ __forceinline__ static T published(const solve_arguments<T> &a, int i, int)
    {
        return letter_value(letter_load<T>(a.letter, i));
    }
    /* The warp that copies: the task in this stage is done. */
    __device__ __forceinline__ static void task_done(const solve_arguments<T> &, const char *, unsigned) {}

    /* ---- Inputs ---- */

    /* Sources of this thread on their way: letters, or entries of b. */
    struct inbound {
        int code[EACH];
        letter<T> mail[EACH];
        __device__ __forceinline__ bool by_mail(int u) const
        {
            return code[u] >= 0 && (code[u] & 1) == SOURCE_SLOT;
        }
        __device__ __forceinline__ T value(int u) const
        {
            return by_mail(u) ? letter_value(mail[u]) : code[u] >= 0 ? held_b(mail[u]) : T{};
        }
    };

    __device__ __forceinline__ void ask(const task_view<T> &v, int sources, inbound &q) const
    {
#pragma unroll
        for (int u = 0; u < EACH; u++) {
            const int k = threadIdx.x + u * SOLVE_THREADS;
            q.code[u] = k < sources ? v.code(k) : SOURCE_ZERO;
            if (q.by_mail(u))
                q.mail[u] = letter_load<T>(this->a.letter, (unsigned)q.code[u] >> 1);
            else if (q.code[u] >= 0) {
                const int row = q.code[u] >> 1;
                q.mail[u] = hold_b(this->a.b[row * this->a.b_row], this->a.scale[row]);
            }
        }
    }
    __device__ __forceinline__ bool is_missing(const inbound &q) const
    {
        bool missing = false;
#pragma unroll
        for (int u = 0; u < EACH; u++)
            missing = missing || (q.by_mail(u) && !letter_is_of(q.mail[u], this->epoch));
        return missing;
    }
    __device__ __forceinline__ void look_again(inbound &q) const
    {
#pragma unroll
        for (int u = 0; u < EACH; u++)
            if (q.by_mail(u) && !letter_is_of(q.mail[u], this->epoch))
                q.mail[u] = letter_load<T>(this->a.letter, (unsigned)q.code[u] >> 1);
    }

    /* to[k] := source k */
    __device__ __forceinline__ void receive(int sources, inbound &q, T *to) const
    {
        const auto missing = [&] { return is_missing(q); };
        const auto look = [&] { look_again(q); };
        wait_by_one_lane(
            *this, missing, [&] { return look(), missing(); }, look);
#pragma unroll
        for (int u = 0; u < EACH; u++)
            if (threadIdx.x + u * SOLVE_THREADS < sources)
                to[threadIdx.x + u * SOLVE_THREADS] = q.value(u);
    }

    /* What a thread knows of its first products before its inputs are there. */
    struct ahead {
        const T *t;                         /* of what follows the entries held */
        int in, out, count, t_step, y_step; /* first input, number of the out, products, steps between them */
        int log_parts;
        bool whole; /* this lane ends up with the sum of its out */
        T entry[AHEAD];
        task_out record;
        real_of<T> scale; /* of row record.row, if that is stored */
    };

    /* in := sums of the staged sources */
    __device__ __forceinline__ void add_staged(const task_view<T> &v, T *in) const
    {
        for (int k = threadIdx.x; k < v.inputs; k += SOLVE_THREADS) {
            const int end = v.start(k + 1);
            T sum = {};
#pragma unroll 4
            for (int q = v.start(k); q < end; q++)
                sum = sum + staged[q];
            in[k] = sum;
        }
    }

    /* ---- Products ---- */

    /* The record of this lane's out, for a lane that ends up with its sum. */
    __device__ __forceinline__ void look_at_out(const task_view<T> &v, ahead &h) const
    {
        h.record.row = -1;
        h.record.flags = 0;
        if (h.whole)
            h.record = v.out(h.out);
        h.scale = h.whole ? this->scale_of(v, h.record) : real_of<T>(0);
    }

    /* Products with square tiles: warp w has outs 4 w .. 4 w + 3, a lane every eighth product of one of them.  See square_at. */
    __device__ __forceinline__ void look_at_squares(const task_view<T> &v, ahead &h) const
    {
        const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, o = lane & 3, s = lane >> 2;
        const bool back = v.flags & TASK_BACKWARD;
        const int out = 4 * warp + o, turn = 8 * (o >> 1);
        const T *t = v.tile();
        const T *even =
            t + (back ? out * SQUARE + (s ^ 4 * (o & 1)) + turn : s * SQUARE + (out ^ 4 * (s & 3)));
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
                h.entry[4 * q + i] =
                    q < v.slots ? conjugate_if((i & 1 ? odd : even)[q * SQUARE * SQUARE + (i >> 1) * half],
                                               v.flags & TASK_CONJUGATE)
                                : T{};
    }
    __device__ __forceinline__ T multiply_squares(const task_view<T> &v, const ahead &h, const T *in) const
    {
        T sum = {}, other = {};
        const T *y = in + h.in;
#pragma unroll
        for (int q = 0; q < TASK_SQUARES; q++)
            if (q < v.slots) {
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    T &to = i & 1 ? other : sum;
                    to = multiply_add(to, h.entry[4 * q + i], y[SQUARE * q + 8 * i]);
                }
            }
        return sum + other;
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
        h.y_step = 1 << mine.log_parts;
        h.count = max(0, (q.inner - mine.part + (1 << mine.log_parts) - 1) >> mine.log_parts);
        h.t = v.tile() + q.tile + min(mine.o, q.outs - 1) * q.out_step + mine.part * q.inner_step;
        if (scalar<T>::is_complex && (q.mode & SLOT_CONJUGATE))
            h.t_step = -h.t_step; /* a mark: conjugated */
    }
    /* Four products from y on, of which `count` are there. */
    __device__ __forceinline__ static T multiply_four(const T *t, int t_step, const T *y, int y_step,
                                                      int count, bool conjugate, T sum)
    {
        T entry[4], x[4];
#pragma unroll
        for (int u = 0; u < 4; u++) {
            entry[u] = u < count ? conjugate_if(t[u * t_step], conjugate) : T{};
            x[u] = u < count ? y[u * y_step] : T{};
        }
        T other = multiply_add(T{}, entry[1], x[1]);
        sum = multiply_add(sum, entry[0], x[0]);
        other = multiply_add(other, entry[3], x[3]);
        return multiply_add(sum, entry[2], x[2]) + other;
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
    __device__ __forceinline__ T multiply_slot(const ahead &h, bool held, const T *in) const
    {
        const bool conjugate = scalar<T>::is_complex && h.t_step < 0;
        const int t_step = scalar<T>::is_complex ? abs(h.t_step) : h.t_step;
        const T *t = h.t, *y = in + h.in;
        int count = h.count;
        T sum = {};
        if (held) {
            T other = {};
#pragma unroll
            for (int u = 0; u < AHEAD; u++)
                if (u < count) {
                    T &to = u & 1 ? other : sum;
                    to = multiply_add(to, h.entry[u], y[u * h.y_step]);
                }
            sum = sum + other;
            count -= AHEAD;
            t += AHEAD * t_step;
            y += AHEAD * h.y_step;
        }
#pragma unroll 1
        for (; count >= 4; count -= 4, t += 4 * t_step, y += 4 * h.y_step)
            sum = multiply_four(t, t_step, y, h.y_step, 4, conjugate, sum);
        return count > 0 ? multiply_four(t, t_step, y, h.y_step, count, conjugate, sum) : sum;
    }

    /* The sum over the lanes of each out. */
    __device__ __forceinline__ static T add_lanes(int log_parts, T sum)
    {
        __syncwarp();
        if (log_parts == 5) {
            sum = sum + shuffle_xor(sum, 1);
            sum = sum + shuffle_xor(sum, 2);
        }
        sum = sum + shuffle_xor(sum, 4);
        sum = sum + shuffle_xor(sum, 8);
        return log_parts > 2 ? sum + shuffle_xor(sum, 16) : sum;
    }

    /* All lanes of a warp; those that are `whole` have the product of their out in sum. */
    __device__ __forceinline__ void publish(const task_view<T> &v, const ahead &h, const T *in, T sum) const
    {
        T value[1] = {sum};
        const task_out &q = h.record;
        if (h.whole && q.add >= 0)
            value[0] = value[0] + in[q.add];
        if (h.whole && v.flags & TASK_CARRY_IN)
            value[0] = value[0] + carried[h.out];
        if (v.flags & TASK_CARRY_OUT) {
            if (h.whole)
                carried[h.out] = value[0];
            return;
        }
        this->apply_pivots(v, q, h.whole, 1, value);
        if (h.whole && q.dst >= 0)
            letter_send(this->a.letter, q.dst, value[0], this->epoch);
        if (h.whole && this->is_stored(v, q))
            this->store(q.row, 0, value[0], h.scale);
    }

    /* ---- A task ---- */

    /* turn: differs from that of the task before */
    __device__ __forceinline__ void run(const task_view<T> &v, unsigned turn, task_times *times) const
    {
        const int sources = v.start_at ? v.start(v.inputs) : v.inputs, warp = threadIdx.x >> 5;
        const bool squares = v.flags & TASK_TILES;
        T *in = inputs + (turn & 1) * TASK_INPUTS;
        inbound q;
        ahead h;
        ask(v, sources, q);
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
        receive(sources, q, v.start_at ? staged : in);
        solvers_sync();
        if (v.start_at) {
            add_staged(v, in);
            solvers_sync();
        }
        if (times)
            times->gathered = now_ns();
        if (squares) {
            const T sum = add_lanes(3, multiply_squares(v, h, in));
            if (4 * warp < v.outs)
                publish(v, h, in, sum);
        } else if (v.slots == 0) {
            if (32 * warp < v.outs)
                publish(v, h, in, T{});
        } else
#pragma unroll 1
            for (int s = warp; s < v.slots; s += SOLVE_WARPS) {
                if (s != warp) {
                    look_at_slot(v, s, h);
                    look_at_out(v, h);
                }
                publish(v, h, in, add_lanes(h.log_parts, multiply_slot(h, s == warp, in)));
            }
    }
};

#endif
