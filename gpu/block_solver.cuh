/* gpu/block_solver.cuh: block scope: one task for several right-hand sides at once, by the tensor cores' double precision
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A warp multiplies strips of 16 rows of a tile by all columns of the inputs; where a task has few strips, several warps share the inner products of each.
 * In everything else, four lanes share a row: lane t of them has its columns t, t + 4, ..., so that their letters are read and written side by side.
 * A row of inputs is kept in the order in which the tensor cores give results to lanes: two of a lane's columns (or the parts of a complex one)
 * side by side in a tile of 8 reals. */
#ifndef GPU_BLOCK_SOLVER_CUH
#define GPU_BLOCK_SOLVER_CUH

#include "dense/cuda/multiply.cuh"
#include "gpu/solver_base.cuh"

/* What one lane has of a row. */
template <typename T, int TILES> struct lane_columns {
    static constexpr int PARTS = scalar<T>::is_complex ? 2 : 1, REALS = 8 * TILES, PER = 2 * TILES / PARTS;

    /* Tile n of row r: rows that are read together are kept apart. */
    __device__ __forceinline__ static int tile_of(int r, int n) { return n ^ (r & (TILES - 1)); }

    template <typename R> __device__ __forceinline__ static void put(R *row, int r, int t, const T (&v)[PER])
    {
#pragma unroll
        for (int n = 0; n < TILES; n++) {
            R *to = row + 8 * tile_of(r, n) + 2 * t;
            if constexpr (PARTS == 2)
                *reinterpret_cast<complex_of<R> *>(to) = {(R)v[n].re, (R)v[n].im};
            else
                *reinterpret_cast<complex_of<R> *>(to) = {(R)v[2 * n], (R)v[2 * n + 1]};
        }
    }
    template <typename R> __device__ __forceinline__ static void add(const R *row, int r, int t, double (&sum)[2 * TILES])
    {
#pragma unroll
        for (int n = 0; n < TILES; n++) {
            const complex_of<R> two = *reinterpret_cast<const complex_of<R> *>(row + 8 * tile_of(r, n) + 2 * t);
            sum[2 * n] += two.re;
            sum[2 * n + 1] += two.im;
        }
    }
    __device__ __forceinline__ static void get(const double (&real)[2 * TILES], T (&v)[PER])
    {
        using R = real_of<T>;
#pragma unroll
        for (int c = 0; c < PER; c++)
            if constexpr (PARTS == 2)
                v[c] = {(R)real[2 * c], (R)real[2 * c + 1]};
            else
                v[c] = (R)real[c];
    }
};

/* Up to 16 rows of products and some of the inner products of each, as a lane reads them: entry(row g + 8 half, inner product
 * 16 block + j + 4 e) is at[half][offset e of the block] where g = lane div 4 and j = lane mod 4. */
template <typename T> struct strip_reader {
    const T *at[2];
    int offset[4];
    int rows, out, in, inner, even, odd; /* even, odd: from such a block to the next */
    bool conjugate;

    __device__ __forceinline__ void general(const task_view<T> &v, const task_slot &q, int g, int j)
    {
        rows = (q.mode >> SLOT_ROWS_SHIFT) + 1;
        out = q.out;
        in = q.in;
        inner = q.inner;
        conjugate = q.mode & SLOT_CONJUGATE;
#pragma unroll
        for (int half = 0; half < 2; half++)
            at[half] = v.tile() + q.tile + min(g + 8 * half, rows - 1) * q.out_step + j * q.inner_step;
#pragma unroll
        for (int e = 0; e < 4; e++)
            offset[e] = 4 * e * q.inner_step;
        even = odd = 16 * q.inner_step;
    }
    __device__ __forceinline__ void squares(const task_view<T> &v, int number, int g, int j)
    {
        const bool back = v.flags & TASK_BACKWARD;
        out = SLOT_ROWS * number;
        rows = min(SLOT_ROWS, v.outs - out);
        in = 0;
        inner = SQUARE * v.slots;
        conjugate = v.flags & TASK_CONJUGATE;
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int row = out + g + 8 * half;
            at[half] = v.tile() + (back ? row * SQUARE : square_at(row, j));
        }
#pragma unroll
        for (int e = 0; e < 4; e++)
            offset[e] = back ? square_at(j + 4 * e, g) - g * SQUARE : 4 * e * SQUARE;
        even = back ? 16 : 16 * SQUARE;
        odd = back ? SQUARE * SQUARE - 16 : 16 * SQUARE;
    }
};

template <typename T, int TILES> struct block_solver : solver_base<T> {
    using scalar_type = T;
    using real = real_of<T>;
    using lanes = lane_columns<T, TILES>;
    static constexpr int PARTS = lanes::PARTS, REALS = lanes::REALS, PER = lanes::PER, COLUMNS = 4 * PER;
    static constexpr int IN_FLIGHT = 8 / (PER * letter<T>::COUNT); /* sources of a lane that it waits for together */
    static constexpr int ROWS_AT_ONCE = SOLVE_THREADS / 4;
    static constexpr int SHARE = SLOT_ROWS * REALS; /* of a warp in the sums of a strip */
    /* Shared memory: inputs, sums that are carried, shares. */
    static constexpr int VALUES = (TASK_INPUTS + SQUARE) * REALS * (int)sizeof(real);
    static constexpr int BYTES = VALUES + SOLVE_WARPS * SHARE * (int)sizeof(double);
    real *in, *carried;
    double *shares;
    int live; /* this lane's columns */

    __device__ __forceinline__ block_solver(const solve_arguments<T> &a, char *shared, unsigned epoch, unsigned long long deadline)
        : solver_base<T>{a, epoch, deadline}, in(reinterpret_cast<real *>(shared)), carried(in + TASK_INPUTS * REALS),
          shares(reinterpret_cast<double *>(shared + VALUES)), live((a.columns - (int)(threadIdx.x & 3) + 3) >> 2)
    {
    }

    /* ---- Inputs ---- */

    /* The sources of some rows of inputs, one after the other: those of rows row, row + ROWS_AT_ONCE, ... */
    struct source_walk {
        int row, at, end;

        __device__ __forceinline__ void enter(const task_view<T> &v)
        {
            at = v.start_at ? v.start(min(row, v.inputs)) : row;
            end = v.start_at ? v.start(min(row + 1, v.inputs)) : row + 1;
        }
    };

    __device__ __forceinline__ void gather(const task_view<T> &v) const
    {
        const int t = threadIdx.x & 3;
        source_walk walk = {(int)threadIdx.x >> 2, 0, 0};
        int row = walk.row;
        T sum[PER] = {};
        if (live <= 0)
            walk.row = row = v.inputs;
        walk.enter(v);
#pragma unroll 1
        while (__any_sync(~0u, walk.row < v.inputs)) {
            inbound<T, IN_FLIGHT, PER> q;
            unsigned there = 0, last = 0;
            q.column = t;
            q.live = live;
#pragma unroll
            for (int u = 0; u < IN_FLIGHT; u++) {
                q.code[u] = SOURCE_ZERO;
                if (walk.row < v.inputs) {
                    q.code[u] = v.code(walk.at++);
                    there |= 1u << u;
                    if (walk.at == walk.end) {
                        last |= 1u << u;
                        walk.row += ROWS_AT_ONCE;
                        walk.enter(v);
                    }
                }
                q.ask(*this, u);
            }
            q.wait(*this);
#pragma unroll
            for (int u = 0; u < IN_FLIGHT; u++) {
                if (there >> u & 1)
#pragma unroll
                    for (int c = 0; c < PER; c++)
                        sum[c] = sum[c] + (c < live ? q.value(u, c) : T{});
                if (last >> u & 1) {
                    lanes::put(in + row * REALS, row, t, sum);
                    row += ROWS_AT_ONCE;
#pragma unroll
                    for (int c = 0; c < PER; c++)
                        sum[c] = T{};
                }
            }
        }
    }

    /* ---- Products ---- */

    /* Slots that lead, of the first 64, as bits. */
    __device__ __forceinline__ static unsigned long long leaders(const task_view<T> &v)
    {
        const int lane = threadIdx.x & 31;
        const task_slot *slot = reinterpret_cast<const task_slot *>(v.stage + v.slot_at);
        const unsigned low = __ballot_sync(~0u, lane < v.slots && slot[lane].mode & SLOT_LEADS);
        const unsigned high = __ballot_sync(~0u, lane + 32 < v.slots && slot[lane + 32].mode & SLOT_LEADS);
        return (unsigned long long)high << 32 | low;
    }
    __device__ __forceinline__ static int nth(unsigned long long bits, int n)
    {
        for (; n > 0; n--)
            bits &= bits - 1;
        return __ffsll((long long)bits) - 1;
    }

    /* c += blocks [from, to) of the strip's inner products times the inputs.  What a lane has of c: rows g and g + 8, reals 2 j and 2 j + 1 of each tile. */
    struct products {
        double part[PARTS][TILES][4] = {};
        __device__ __forceinline__ void row(int half, double (&real)[2 * TILES]) const
        {
#pragma unroll
            for (int n = 0; n < TILES; n++)
                if constexpr (PARTS == 1) {
                    real[2 * n] = part[0][n][2 * half];
                    real[2 * n + 1] = part[0][n][2 * half + 1];
                } else {
                    real[2 * n] = part[0][n][2 * half] - part[1][n][2 * half + 1];
                    real[2 * n + 1] = part[0][n][2 * half + 1] + part[1][n][2 * half];
                }
        }
    };

    __device__ __forceinline__ static void multiply(products &c, const T (&x)[4], const real *y, const bool (&there)[2], int turn)
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
            const double b[2] = {there[0] ? (double)from[0] : 0, there[1] ? (double)from[4 * REALS] : 0};
            multiply_16x8x8(c.part[0][n], re, b);
            if constexpr (PARTS == 2)
                multiply_16x8x8(c.part[1][n], im, b);
        }
    }
    __device__ __forceinline__ void multiply(const strip_reader<T> &s, int from, int to, products &c) const
    {
        const int lane = threadIdx.x & 31, g = lane >> 2, j = lane & 3, turn = (s.in + j) & (TILES - 1);
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
                        x[2 * k + 1] = conjugate_if(low[other + s.offset[2 * half + k]], s.conjugate);
                    }
                multiply(c, x, y + 8 * half * REALS, there, turn);
            }
            low += block & 1 ? s.odd : s.even;
            y += 16 * REALS;
        }
    }

    /* ---- Outs ---- */

    /* All lanes of a warp, four for each out: out o, if `whole`, has the product `sum`. */
    __device__ __forceinline__ void publish_row(const task_view<T> &v, int o, bool whole, double (&sum)[2 * TILES], const task_out &q, real scale) const
    {
        const int t = threadIdx.x & 3;
        if (whole && q.add >= 0)
            lanes::add(in + q.add * REALS, q.add, t, sum);
        if (whole && v.flags & TASK_CARRY_IN)
            lanes::add(carried + o * REALS, o, t, sum);
        T value[PER];
        lanes::get(sum, value);
        if (!(v.flags & TASK_CARRY_OUT))
            this->publish(v, q, whole, 4, t, live, value, scale);
        else if (whole)
            lanes::put(carried + o * REALS, o, t, value);
    }
    __device__ __forceinline__ task_out record_of(const task_view<T> &v, int o, bool whole) const
    {
        return whole ? v.out(o) : task_out{-1, -1, -1, 0, 0};
    }

    /* ---- A task ---- */

    __device__ __forceinline__ void sums(const task_view<T> &v) const
    {
        for (int first = 0; first < v.outs; first += ROWS_AT_ONCE) {
            const int o = first + (threadIdx.x >> 2);
            const task_out q = record_of(v, o, o < v.outs);
            double sum[2 * TILES] = {};
            publish_row(v, o, o < v.outs, sum, q, this->scale_of(v, q));
        }
    }

    __device__ __forceinline__ strip_reader<T> strip(const task_view<T> &v, unsigned long long lead, int number) const
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
    __device__ __forceinline__ void many_strips(const task_view<T> &v, unsigned long long lead, int strips) const
    {
        const int g = threadIdx.x >> 2 & 7;
#pragma unroll 1
        for (int number = threadIdx.x >> 5; number < strips; number += SOLVE_WARPS) {
            const strip_reader<T> s = strip(v, lead, number);
            products c;
            multiply(s, 0, (s.inner + 15) / 16, c);
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const int row = g + 8 * half;
                const task_out q = record_of(v, s.out + row, row < s.rows);
                double sum[2 * TILES];
                c.row(half, sum);
                publish_row(v, s.out + row, row < s.rows, sum, q, this->scale_of(v, q));
            }
        }
    }

    /* `count` warps for each strip: four lanes publish a row. */
    __device__ __forceinline__ void few_strips(const task_view<T> &v, unsigned long long lead, int strips, int count) const
    {
        const int warp = threadIdx.x >> 5, g = threadIdx.x >> 2 & 7, t = threadIdx.x & 3;
        if (warp < strips * count) {
            const strip_reader<T> s = strip(v, lead, warp / count);
            const int blocks = (s.inner + 15) / 16;
            products c;
            multiply(s, warp % count * blocks / count, (warp % count + 1) * blocks / count, c);
#pragma unroll
            for (int half = 0; half < 2; half++) {
                double sum[2 * TILES];
                c.row(half, sum);
                lane_columns<complex_d, TILES>::put(shares + warp * SHARE + (g + 8 * half) * REALS, g, t, reinterpret_cast<const complex_d(&)[TILES]>(sum));
            }
        }
        solvers_sync();
        const int number = threadIdx.x / (4 * SLOT_ROWS), row = threadIdx.x / 4 % SLOT_ROWS;
        int o = 0;
        bool whole = number < strips;
        if (whole) {
            const task_slot q = v.flags & TASK_TILES ? task_slot{} : v.slot(nth(lead, number));
            o = v.flags & TASK_TILES ? SLOT_ROWS * number + row : q.out + row;
            whole = v.flags & TASK_TILES ? o < v.outs : row <= q.mode >> SLOT_ROWS_SHIFT;
        }
        const task_out q = record_of(v, o, whole);
        const real scale = this->scale_of(v, q);
        double sum[2 * TILES] = {};
        if (whole)
            for (int k = 0; k < count; k++)
                lane_columns<complex_d, TILES>::add(shares + (number * count + k) * SHARE + row * REALS, row, t, sum);
        publish_row(v, o, whole, sum, q, scale);
    }

    __device__ __forceinline__ void run(const task_view<T> &v, unsigned, task_times *times) const
    {
        solvers_sync(); /* all have done with the inputs of the task before */
        gather(v);
        solvers_sync();
        if (times)
            times->gathered = now_ns();
        if (v.slots == 0)
            return sums(v);
        const unsigned long long lead = v.flags & TASK_TILES ? 0 : leaders(v);
        const int strips = v.flags & TASK_TILES ? (v.outs + SLOT_ROWS - 1) / SLOT_ROWS : __popcll(lead);
        if (strips > 4)
            many_strips(v, lead, strips);
        else
            few_strips(v, lead, strips, strips > 2 ? 2 : strips > 1 ? 4 : 8);
    }
};

#endif
