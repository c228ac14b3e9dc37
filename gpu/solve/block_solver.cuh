/* gpu/solve/block_solver.cuh: block scope: one task for several right-hand sides at once, by the
 * tensor cores' double precision
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A warp multiplies strips of 16 rows of a tile by all columns of the inputs; where a task has few
 * strips, several warps share the inner products of each.  In everything else four lanes share a
 * row (gpu/solve/block_rows.cuh).
 *
 * Of a row that is published first the values are written, then, when all of its task are and
 * behind a fence, its flag: the number of the launch. */
#ifndef GPU_SOLVE_BLOCK_SOLVER_CUH
#define GPU_SOLVE_BLOCK_SOLVER_CUH

#include "dense/cuda/device/multiply.cuh"
#include "gpu/solve/block_gather.cuh"
#include "gpu/solve/strips.cuh"

template <typename T, int TILES> struct block_solver : solver_base<T>, block_rows<T, TILES> {
    using scalar_type = T;
    using gatherer = block_gatherer<T, TILES>;
    using rows = block_rows<T, TILES>;
    using rows::PARTS, rows::REALS, rows::PER, rows::put, rows::add, rows::column_of;
    using real = real_of<T>;
    using sums = lane_part<double, TILES>;
    static constexpr int ROWS_AT_ONCE = SOLVE_THREADS / 4;
    static constexpr int SHARE = SLOT_ROWS * REALS; /* of a warp in the sums of a strip */
    static constexpr bool APART = gatherer::APART;
    static constexpr int GATHER_THREADS = APART ? gatherer::THREADS : 0,
                         READY_THREADS = gatherer::THREADS;
    /* 64 on average, as for one right-hand side */
    static constexpr int SOLVE_REGISTERS = 72, GATHER_REGISTERS = 56;
    /* Inputs lie in the ring where they are gathered ahead, otherwise with sums that are carried
     * and shares beside it. */
    static constexpr int INPUT_BYTES = APART ? rows::ROW_BYTES : 0, SOURCE_BYTES = 0;
    static constexpr int VALUES = ((APART ? 0 : TASK_INPUTS) + SQUARE) * rows::ROW_BYTES;
    static constexpr int BYTES = VALUES + SOLVE_WARPS * SHARE * (int)sizeof(double);
    real *carried, *own_inputs;
    double *shares;

    __device__ __forceinline__ block_solver(const solve_arguments<T> &a, char *shared,
                                            unsigned epoch)
        : solver_base<T>{a, epoch}, carried(reinterpret_cast<real *>(shared)),
          own_inputs(carried + SQUARE * REALS), shares(reinterpret_cast<double *>(shared + VALUES))
    {
    }

    /* Entry i of what was published, for column j. */
    __device__ __forceinline__ static T published(const solve_arguments<T> &a, int i, int j)
    {
        return a.value[(int64_t)i * a.pitch + j];
    }

    /* The warp that copies: this task is done; sets the flags of its rows. */
    __device__ __forceinline__ static void task_done(const solve_arguments<T> &a, const char *task,
                                                     unsigned epoch)
    {
        const task_view<T> v(task);
        if (v.flags & TASK_CARRY_OUT)
            return;
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
        for (int o = threadIdx.x & 31; o < v.outs; o += 32) {
            const int to = v.out(o).dst;
            if (to >= 0)
                asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(a.flag + to), "r"(epoch)
                             : "memory");
        }
    }

    /* ---- Products ---- */

    /* Slots that lead, of the first 64, as bits. */
    __device__ __forceinline__ static unsigned long long leaders(const task_view<T> &v)
    {
        const int lane = threadIdx.x & 31;
        const task_slot *slot = reinterpret_cast<const task_slot *>(v.base + v.slot_at);
        const unsigned low = __ballot_sync(~0u, lane < v.slots && slot[lane].mode & SLOT_LEADS);
        const unsigned high =
            __ballot_sync(~0u, lane + 32 < v.slots && slot[lane + 32].mode & SLOT_LEADS);
        return (unsigned long long)high << 32 | low;
    }
    __device__ __forceinline__ static int nth(unsigned long long bits, int n)
    {
        for (; n > 0; n--)
            bits &= bits - 1;
        return __ffsll((long long)bits) - 1;
    }

    /* c += blocks [from, to) of the strip's inner products times the inputs.  What a lane has of c:
     * rows g and g + 8, reals 2 j and 2 j + 1 of each tile. */
    struct products {
        double part[PARTS][TILES][4] = {};
        __device__ __forceinline__ sums row(int half) const
        {
            sums s;
#pragma unroll
            for (int n = 0; n < TILES; n++)
                if constexpr (PARTS == 1)
                    s.pair[n] = {part[0][n][2 * half], part[0][n][2 * half + 1]};
                else
                    s.pair[n] = {part[0][n][2 * half] - part[1][n][2 * half + 1],
                                 part[0][n][2 * half + 1] + part[1][n][2 * half]};
            return s;
        }
    };

    __device__ __forceinline__ static void multiply(products &c, const T (&x)[4], const real *y,
                                                    const bool (&there)[2], int turn)
    {
        double re[4], im[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            if constexpr (PARTS == 2) {
                re[k] = x[k].re;
                im[k] = x[k].im;
            } else
                re[k] = x[k];
#pragma unroll
        for (int n = 0; n < TILES; n++) {
            const real *from = y + 8 * (n ^ turn);
            const double b[2] = {there[0] ? (double)from[0] : 0,
                                 there[1] ? (double)from[4 * REALS] : 0};
            multiply_16x8x8(c.part[0][n], re, b);
            if constexpr (PARTS == 2)
                multiply_16x8x8(c.part[1][n], im, b);
        }
    }
    __device__ __forceinline__ static void multiply(const strip_reader<T> &s, const real *in,
                                                    int from, int to, products &c)
    {
        const int lane = threadIdx.x & 31, g = lane >> 2, j = lane & 3,
                  turn = (s.in + j) & (TILES - 1);
        const real *y = in + (s.in + 16 * from + j) * REALS + g;
        const T *low = s.at[0] + (from >> 1) * (s.even + s.odd) + (from & 1) * s.even;
        const int other = (int)(s.at[1] - s.at[0]);
#pragma unroll 1
        for (int block = from; block < to; block++) {
            const int left = s.inner - 16 * block - j;
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const bool there[2] = {left > 8 * half, left > 8 * half + 4};
                T x[4] = {};
#pragma unroll
                for (int k = 0; k < 2; k++)
                    if (there[k]) {
                        x[2 * k] = conjugate_if(low[s.offset[2 * half + k]], s.conjugate);
                        x[2 * k + 1] =
                            conjugate_if(low[other + s.offset[2 * half + k]], s.conjugate);
                    }
                multiply(c, x, y + 8 * half * REALS, there, turn);
            }
            low += block & 1 ? s.odd : s.even;
            y += 16 * REALS;
        }
    }

    /* ---- Outs ---- */

    /* One of the outs, as the four lanes of a row know it before its value is there. */
    struct target {
        int o;
        bool whole; /* there is one */
        task_out record;
        real scale;
    };
    __device__ __forceinline__ target target_at(const task_view<T> &v, int o, bool whole) const
    {
        target to = {o, whole, {-1, -1, -1, 0, 0}, 0};
        if (whole) {
            to.record = v.out(o);
            to.scale = this->scale_of(v, to.record);
        }
        return to;
    }
    /* All lanes of a warp: `sum` has the product of the out. */
    __device__ __forceinline__ void publish(const task_view<T> &v, const real *in, const target &to,
                                            sums sum) const
    {
        const task_out &q = to.record;
        if (to.whole && q.add >= 0)
            add(sum, in + q.add * REALS, q.add);
        if (to.whole && v.flags & TASK_CARRY_IN)
            add(sum, carried + to.o * REALS, to.o);
        if (v.flags & TASK_CARRY_OUT) {
            if (to.whole)
                put(carried + to.o * REALS, to.o, sum);
            return;
        }
        T value[PER];
#pragma unroll
        for (int n = 0; n < TILES; n++)
            if constexpr (PARTS == 2)
                value[n] = {(real)sum.pair[n].re, (real)sum.pair[n].im};
            else {
                value[2 * n] = (real)sum.pair[n].re;
                value[2 * n + 1] = (real)sum.pair[n].im;
            }
        this->apply_pivots(v, q, to.whole, 4, value);
        if (to.whole && q.dst >= 0) {
            complex_of<real> *row = reinterpret_cast<complex_of<real> *>(
                                        this->a.value + (int64_t)q.dst * this->a.pitch) +
                                    (threadIdx.x & 3);
#pragma unroll
            for (int n = 0; n < TILES; n++)
                if constexpr (PARTS == 2)
                    row[4 * n] = value[n];
                else
                    row[4 * n] = {value[2 * n], value[2 * n + 1]};
        }
        if (to.whole && this->is_stored(v, q))
#pragma unroll
            for (int c = 0; c < PER; c++)
                if (column_of(c) < this->a.columns)
                    this->store(q.row, column_of(c), value[c], to.scale);
    }

    /* ---- A task ---- */

    __device__ __forceinline__ void only_sums(const task_view<T> &v, const real *in) const
    {
        for (int first = 0; first < v.outs; first += ROWS_AT_ONCE) {
            const int o = first + (threadIdx.x >> 2);
            publish(v, in, target_at(v, o, o < v.outs), sums{});
        }
    }

    __device__ __forceinline__ strip_reader<T> strip(const task_view<T> &v, unsigned long long lead,
                                                     int number) const
    {
        const int lane = threadIdx.x & 31;
        strip_reader<T> s;
        if (v.flags & TASK_TILES)
            s.squares(v, number, lane >> 2, lane & 3);
        else
            s.general(v, v.slot(nth(lead, number)), lane >> 2, lane & 3);
        return s;
    }

    /* A strip for each warp, and then the next. */
    __device__ __forceinline__ void many_strips(const task_view<T> &v, const real *in,
                                                unsigned long long lead, int strips) const
    {
        const int g = threadIdx.x >> 2 & 7;
#pragma unroll 1
        for (int number = threadIdx.x >> 5; number < strips; number += SOLVE_WARPS) {
            const strip_reader<T> s = strip(v, lead, number);
            const target low = target_at(v, s.out + g, g < s.rows),
                         high = target_at(v, s.out + g + 8, g + 8 < s.rows);
            products c;
            multiply(s, in, 0, (s.inner + 15) / 16, c);
            publish(v, in, low, c.row(0));
            publish(v, in, high, c.row(1));
        }
    }

    /* Up to four strips, which 1 << log_shares warps share each and put their sums together in the
     * end: what a thread can find of its part before the inputs are there. */
    struct shared_strips {
        strip_reader<T> strip;
        bool shares;              /* this warp does, */
        int from, to, log_shares; /* in these blocks of inner products */
        target end;               /* the out that is this lane's in the end */
    };
    __device__ __forceinline__ shared_strips share_strips(const task_view<T> &v,
                                                          unsigned long long lead, int strips) const
    {
        shared_strips s;
        s.log_shares = strips > 2 ? 1 : strips > 1 ? 2 : 3;
        const int warp = threadIdx.x >> 5, mine = min(warp >> s.log_shares, strips - 1),
                  share = warp & ((1 << s.log_shares) - 1);
        s.strip = strip(v, lead, mine);
        const int blocks = (s.strip.inner + 15) / 16;
        s.shares = (warp >> s.log_shares) < strips;
        s.from = share * blocks >> s.log_shares;
        s.to = (share + 1) * blocks >> s.log_shares;
        const int number = threadIdx.x / (4 * SLOT_ROWS), row = threadIdx.x / 4 % SLOT_ROWS;
        int o = SLOT_ROWS * number + row;
        bool whole = number < strips && o < v.outs;
        if (!(v.flags & TASK_TILES) && number < strips) {
            const task_slot q = v.slot(nth(lead, number));
            o = q.out + row;
            whole = row <= q.mode >> SLOT_ROWS_SHIFT;
        }
        s.end = target_at(v, o, whole);
        return s;
    }
    __device__ __forceinline__ void few_strips(const task_view<T> &v, const real *in,
                                               const shared_strips &s) const
    {
        const int warp = threadIdx.x >> 5, g = threadIdx.x >> 2 & 7,
                  row = threadIdx.x / 4 % SLOT_ROWS;
        if (s.shares) {
            products c;
            multiply(s.strip, in, s.from, s.to, c);
            put(shares + warp * SHARE + g * REALS, g, c.row(0));
            put(shares + warp * SHARE + (g + 8) * REALS, g, c.row(1));
        }
        solvers_sync();
        sums sum = {};
        if (s.end.whole) {
            double *share =
                shares + (threadIdx.x / (4 * SLOT_ROWS) << s.log_shares) * SHARE + row * REALS;
            for (int k = 0; k < 1 << s.log_shares; k++)
                add(sum, share + k * SHARE, row);
        }
        publish(v, in, s.end, sum);
    }

    /* ready(): the inputs are there */
    template <typename Ready>
    __device__ __forceinline__ void run(const task_view<T> &v, const T *gathered, Ready ready) const
    {
        const real *in = APART ? reinterpret_cast<const real *>(gathered) : own_inputs;
        if constexpr (!APART)
            gatherer(this->a, this->epoch, threadIdx.x).run(v, reinterpret_cast<T *>(own_inputs));
        const unsigned long long lead = v.flags & TASK_TILES ? 0 : leaders(v);
        const int strips =
            v.flags & TASK_TILES ? (v.outs + SLOT_ROWS - 1) / SLOT_ROWS : __popcll(lead);
        solvers_sync(); /* all have done with the shares and with what was carried, or also gathered
                         */
        if (v.slots == 0) {
            ready();
            only_sums(v, in);
        } else if (strips > 4) {
            ready();
            many_strips(v, in, lead, strips);
        } else {
            const shared_strips s = share_strips(v, lead, strips);
            ready();
            few_strips(v, in, s);
        }
    }
};

#endif
