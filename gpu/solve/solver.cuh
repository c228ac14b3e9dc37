/* gpu/solve/solver.cuh: block scope: one task for one right-hand side: gather its inputs, multiply,
 * publish
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Some warps gather the inputs of the next task while those that solve multiply with the inputs of
 * the one before. */
#ifndef GPU_SOLVE_SOLVER_CUH
#define GPU_SOLVE_SOLVER_CUH

#include "gpu/solve/gather.cuh"

template <typename T> struct column_solver : solver_base<T> {
    using scalar_type = T;
    using gatherer = column_gatherer<T>;
    static constexpr int GATHER_THREADS = gatherer::GROUPS * gatherer::THREADS,
                         READY_THREADS = gatherer::THREADS;
    /* Of a thread that solves and of all others: two blocks of 16 warps have 64 on average.  What
     * spills goes to the second-level cache, as shared memory takes nearly all of the first, and a
     * spill among the products costs half of a solve's speed. */
    static constexpr int SOLVE_REGISTERS = 80, GATHER_REGISTERS = 48;
    /* in the ring, of what is gathered */
    static constexpr int INPUT_BYTES = (int)sizeof(T), SOURCE_BYTES = INPUT_BYTES;
    /* Square tiles of a task; entries of tiles that a thread holds before its inputs are there. */
    static constexpr int FIT = TASK_BYTES / (SQUARE * SQUARE * (int)sizeof(T)),
                         SQUARES = FIT < TASK_SQUARES ? FIT : TASK_SQUARES;
    static constexpr int AHEAD = 4 * SQUARES;
    /* Shared memory beside the ring: sums that are carried, 4 of each warp, as warps do not wait
     * for each other. */
    static constexpr int BYTES = SQUARE * (int)sizeof(T);
    T *carried;

    __device__ __forceinline__ column_solver(const solve_arguments<T> &a, char *shared,
                                             unsigned epoch)
        : solver_base<T>{a, epoch}, carried(reinterpret_cast<T *>(shared))
    {
    }

    /* Entry i of what was published, for column j, which is 0. */
    __device__ __forceinline__ static T published(const solve_arguments<T> &a, int i, int)
    {
        return packet_value(packet_load<T>(a.packets, i));
    }
    /* The warp that copies: this task is done. */
    __device__ __forceinline__ static void task_done(const solve_arguments<T> &, const char *,
                                                     unsigned)
    {
    }

    /* What a thread loads for its first products before its inputs are there. */
    struct ahead {
        const T *t;                         /* of what follows the entries held */
        int in, out, count, t_step, y_step; /* first input, number of the out, products, steps
                                               between them */
        int log_parts, carry, mate; /* lanes of an out; place of the sum if it is carried; the out o
                                       ^ 1 is in the lane with that bit turned */
        bool whole;                 /* this lane ends up with the sum of its out */
        T entry[AHEAD];
        task_out record;
        real_of<T> scale; /* of row record.row, if that is stored */
    };

    /* ---- Products ---- */

    /* The record of this lane's out, if the lane ends up with its sum. */
    __device__ __forceinline__ void look_at_out(const task_view<T> &v, ahead &h) const
    {
        h.record = h.whole ? v.out(h.out) : task_out{-1, -1, -1, 0, 0};
        h.scale = this->scale_of(v, h.record);
    }

    __device__ __forceinline__ void look_at_sum(const task_view<T> &v, int o, ahead &h) const
    {
        h.out = o;
        h.mate = 1;
        h.whole = o < v.outs;
        look_at_out(v, h);
    }

    /* Products with square tiles: warp w has outs 4 w .. 4 w + 3, a lane every eighth product of
     * one of them.  See square_at. */
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
        h.out = h.carry = out;
        h.mate = 1;
        h.whole = s == 0 && out < v.outs;
#pragma unroll
        for (int q = 0; q < SQUARES; q++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                h.entry[4 * q + i] =
                    q < v.slots
                        ? conjugate_if((i & 1 ? odd : even)[q * SQUARE * SQUARE + (i >> 1) * half],
                                       v.flags & TASK_CONJUGATE)
                        : T{};
    }
    __device__ __forceinline__ T multiply_squares(const task_view<T> &v, const ahead &h,
                                                  const T *in) const
    {
        T sum = {}, other = {};
        const T *y = in + h.in;
#pragma unroll
        for (int q = 0; q < SQUARES; q++)
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
        const bool wide = v.flags & TASK_WIDE, there = s < v.slots;
        const task_slot q = v.slot(min(s, v.slots - 1));
        const int lane = threadIdx.x & (wide ? 31 : SLOT_WIDTH - 1),
                  log_parts = (q.mode & SLOT_LANES) + (wide ? 2 : 0);
        const int o = lane >> log_parts, part = lane & ((1 << log_parts) - 1);
        h.in = q.in + part;
        h.out = q.out + o;
        h.carry = 4 * (int)(threadIdx.x >> 5) + o;
        h.mate = 1 << log_parts;
        h.whole = there && part == 0 && o < q.outs;
        h.log_parts = log_parts;
        h.t_step = q.inner_step << log_parts;
        h.y_step = 1 << log_parts;
        h.count = there ? max(0, (q.inner - part + (1 << log_parts) - 1) >> log_parts) : 0;
        h.t = v.tile() + q.tile + min(o, q.outs - 1) * q.out_step + part * q.inner_step;
        if (scalar<T>::is_complex && (q.mode & SLOT_CONJUGATE))
            h.t_step = -h.t_step; /* a flag: conjugated */
    }
    /* Four products from y on, of which `count` are there. */
    __device__ __forceinline__ static T multiply_four(const T *t, int t_step, const T *y,
                                                      int y_step, int count, bool conjugate, T sum)
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

    /* All lanes of a warp: the sum over the lanes of each out, in all of them. */
    __device__ __forceinline__ static T add_lanes(int log_parts, T sum)
    {
        const int most = __reduce_max_sync(~0u, log_parts);
#pragma unroll 1
        for (int k = 0; k < most; k++) {
            const T other = shuffle_xor(sum, 1 << k);
            if (log_parts > k)
                sum = sum + other;
        }
        return sum;
    }
    /* The same of squares. */
    __device__ __forceinline__ static T add_square_lanes(T sum)
    {
        __syncwarp();
#pragma unroll
        for (int k = 4; k < 32; k *= 2)
            sum = sum + shuffle_xor(sum, k);
        return sum;
    }

    /* All lanes of a warp; those that are `whole` have the product of their out in sum. */
    __device__ __forceinline__ void publish(const task_view<T> &v, const ahead &h, const T *in,
                                            T sum) const
    {
        T value[1] = {sum};
        const task_out &q = h.record;
        if (h.whole && q.add >= 0)
            value[0] = value[0] + in[q.add];
        if (h.whole && v.flags & TASK_CARRY_IN)
            value[0] = value[0] + carried[h.carry];
        if (v.flags & TASK_CARRY_OUT) {
            if (h.whole)
                carried[h.carry] = value[0];
            return;
        }
        this->apply_pivots(v, q, h.whole, h.mate, value);
        if (h.whole && q.dst >= 0)
            packet_send(this->a.packets, q.dst, value[0], this->epoch);
        if (h.whole && this->is_stored(v, q))
            this->store(q.row, 0, value[0], h.scale);
    }

    /* ---- A task ---- */

    /* wait(): until the inputs are there */
    template <typename Wait>
    __device__ __forceinline__ void run(const task_view<T> &v, const T *in, Wait wait) const
    {
        const int warp = threadIdx.x >> 5;
        ahead h;
        if (v.flags & TASK_TILES) {
            look_at_squares(v, h);
            look_at_out(v, h);
            wait();
            const T sum = add_square_lanes(multiply_squares(v, h, in));
            if (4 * warp < v.outs)
                publish(v, h, in, sum);
            return;
        }
        if (v.slots == 0) { /* sums: an out for each thread */
            look_at_sum(v, threadIdx.x, h);
            wait();
#pragma unroll 1
            for (int o = threadIdx.x; o - (int)(threadIdx.x & 31) < v.outs; o += SOLVE_THREADS) {
                if (o != (int)threadIdx.x)
                    look_at_sum(v, o, h);
                publish(v, h, in, T{});
            }
            return;
        }
        const bool wide = v.flags & TASK_WIDE;
        const int first = wide ? warp : 4 * warp, step = wide ? SOLVE_WARPS : 4 * SOLVE_WARPS,
                  mine = wide ? 0 : threadIdx.x / SLOT_WIDTH % 4;
        if (first < v.slots) {
            look_at_slot(v, first + mine, h);
            hold_entries(h);
            look_at_out(v, h);
        }
        wait();
#pragma unroll 1
        for (int s = first; s < v.slots; s += step) {
            if (s != first) {
                look_at_slot(v, s + mine, h);
                look_at_out(v, h);
            }
            publish(v, h, in, add_lanes(h.log_parts, multiply_slot(h, s == first, in)));
        }
    }
};

#endif
