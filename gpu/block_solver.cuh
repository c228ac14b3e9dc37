/* gpu/block_solver.cuh: block scope: one task for several right-hand sides at once, by the tensor cores' double precision
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A warp multiplies strips of 16 rows of a tile by all columns of the inputs; where a task has few strips, several warps share the inner products of each.
 * In everything else four lanes share a row, as the tensor cores give it to them: lane t of them has of every tile of 8 reals numbers 2 t and 2 t + 1,
 * two columns or one complex one.
 *
 * Of a row that is published first the values are written, then, when all of its task are and behind a fence, its mark: the number of the launch. */
#ifndef GPU_BLOCK_SOLVER_CUH
#define GPU_BLOCK_SOLVER_CUH

#include "dense/cuda/multiply.cuh"
#include "gpu/marks.cuh"
#include "gpu/solver_base.cuh"
#include "gpu/strips.cuh"

template <typename T, int TILES> struct block_solver : solver_base<T> {
    using scalar_type = T;
    using real = real_of<T>;
    using sums = lane_part<double, TILES>;
    static constexpr int PARTS = scalar<T>::is_complex ? 2 : 1;
    static constexpr int REALS = 8 * TILES, COLUMNS = REALS / PARTS,
                         PER = COLUMNS / 4;                   /* PER: columns of a lane */
    static constexpr int EACH = TASK_SOURCES / SOLVE_THREADS; /* marks that a thread waits for */
    static constexpr int IN_FLIGHT = 8 / TILES;               /* sources of a lane on their way together */
    static constexpr int ROWS_AT_ONCE = SOLVE_THREADS / 4;
    static constexpr int SHARE = SLOT_ROWS * REALS; /* of a warp in the sums of a strip */
    static constexpr int GATHER_THREADS = 0, READY_THREADS = 1, GATHERED_BYTES = 0; /* the warps that solve gather, and not in the ring */
    /* Shared memory beside the ring: inputs, sums that are carried, shares. */
    static constexpr int VALUES = (TASK_INPUTS + SQUARE) * REALS * (int)sizeof(real);
    static constexpr int BYTES = VALUES + SOLVE_WARPS * SHARE * (int)sizeof(double);
    real *in, *carried;
    double *shares;

    __device__ __forceinline__ block_solver(const solve_arguments<T> &a, char *shared, unsigned epoch)
        : solver_base<T>{a, epoch}, in(reinterpret_cast<real *>(shared)),
          carried(in + TASK_INPUTS * REALS), shares(reinterpret_cast<double *>(shared + VALUES))
    {
    }

    /* Entry i of what was published, for column j. */
    __device__ __forceinline__ static T published(const solve_arguments<T> &a, int i, int j)
    {
        return a.value[(int64_t)i * a.pitch + j];
    }

    /* The warp that copies: this task is done; its rows are marked. */
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
                asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(a.mark + to), "r"(epoch) : "memory");
        }
    }

    /* ---- A lane's part of a row ---- */

    /* Rows in shared memory that are read together are kept apart: tile n of row r. */
    template <typename R> __device__ __forceinline__ static complex_of<R> &pair_of(R *row, int r, int n)
    {
        return reinterpret_cast<complex_of<R> *>(row)[4 * (n ^ (r & (TILES - 1))) + (threadIdx.x & 3)];
    }
    template <typename R, typename P>
    __device__ __forceinline__ static void put(R *row, int r, const lane_part<P, TILES> &p)
    {
#pragma unroll
        for (int n = 0; n < TILES; n++)
            pair_of(row, r, n) = {(R)p.pair[n].re, (R)p.pair[n].im};
    }
    template <typename P, typename R>
    __device__ __forceinline__ static void add(lane_part<P, TILES> &sum, const complex_of<R> &v, int n)
    {
        sum.pair[n].re += (P)v.re;
        sum.pair[n].im += (P)v.im;
    }
    template <typename P, typename R>
    __device__ __forceinline__ static void add(lane_part<P, TILES> &sum, R *row, int r)
    {
#pragma unroll
        for (int n = 0; n < TILES; n++)
            add(sum, pair_of(row, r, n), n);
    }
    /* Column of scalar c of a lane. */
    __device__ __forceinline__ static int column_of(int c)
    {
        const int t = threadIdx.x & 3;
        return PARTS == 2 ? 4 * c + t : 8 * (c / 2) + 2 * t + c % 2;
    }

    /* ---- Inputs ---- */

    __device__ __forceinline__ void wait_for_marks(const task_view<T> &v) const
    {
        const int sources = v.start_at ? v.start(v.inputs) : v.inputs;
        row_marks<EACH> m;
#pragma unroll
        for (int u = 0; u < EACH; u++) {
            const int k = threadIdx.x + u * SOLVE_THREADS, code = k < sources ? v.code(k) : SOURCE_ZERO;
            m.row[u] = code >= 0 && (code & 1) == SOURCE_SLOT ? code >> 1 : -1;
        }
        wait_by_one_lane(
            *this, [&] { m.look(this->a.mark, this->epoch); }, [&] { return m.is_missing(); },
            [&] { return !m.poll(this->a.mark, this->epoch); });
    }

    /* This lane's part of a source; of columns that are not there anything. */
    __device__ __forceinline__ lane_part<real, TILES> load_source(int code) const
    {
        lane_part<real, TILES> p = {};
        if (code < 0)
            return p;
        if ((code & 1) == SOURCE_SLOT) {
            const T *row = this->a.value + (int64_t)((unsigned)code >> 1) * this->a.pitch;
#pragma unroll
            for (int n = 0; n < TILES; n++)
                p.pair[n] =
                    load_pair(reinterpret_cast<const complex_of<real> *>(row) + 4 * n + (threadIdx.x & 3));
            return p;
        }
        const int row = code >> 1;
        const real scale = this->a.scale[row];
        const T *b = this->a.b + row * this->a.b_row;
#pragma unroll
        for (int n = 0; n < TILES; n++)
            if constexpr (PARTS == 2)
                p.pair[n] = scaled(load_b(b, n), scale);
            else
                p.pair[n] = {load_b(b, 2 * n) * scale, load_b(b, 2 * n + 1) * scale};
        return p;
    }
    /* Scalar c of a lane's part of a row of b. */
    __device__ __forceinline__ T load_b(const T *row, int c) const
    {
        return row[min(column_of(c), this->a.columns - 1) * this->a.b_column];
    }
    __device__ __forceinline__ static complex_of<real> load_pair(const complex_of<real> *from)
    {
        complex_of<real> p;
        if constexpr (sizeof(real) == 8)
            asm volatile("ld.relaxed.gpu.global.v2.f64 {%0, %1}, [%2];"
                         : "=d"(p.re), "=d"(p.im)
                         : "l"(from)
                         : "memory");
        else
            asm volatile("ld.relaxed.gpu.global.v2.f32 {%0, %1}, [%2];"
                         : "=f"(p.re), "=f"(p.im)
                         : "l"(from)
                         : "memory");
        return p;
    }

    /* in := sums of the sources, all of which are there: four lanes have rows row, row + ROWS_AT_ONCE, ... */
    __device__ __forceinline__ void gather(const task_view<T> &v) const
    {
        int row = threadIdx.x >> 2, ahead = row, at = 0,
            end = 0; /* ahead: the row of the sources asked for */
        const auto enter = [&] {
            at = v.start_at ? v.start(min(ahead, v.inputs)) : ahead;
            end = v.start_at ? v.start(min(ahead + 1, v.inputs)) : ahead + 1;
        };
        lane_part<real, TILES> sum = {};
        enter();
#pragma unroll 1
        while (ahead < v.inputs) {
            lane_part<real, TILES> source[IN_FLIGHT];
            unsigned last = 0;
#pragma unroll
            for (int u = 0; u < IN_FLIGHT; u++) {
                source[u] = load_source(ahead < v.inputs ? v.code(at) : SOURCE_ZERO);
                if (ahead < v.inputs && ++at == end) {
                    last |= 1u << u;
                    ahead += ROWS_AT_ONCE;
                    enter();
                }
            }
#pragma unroll
            for (int u = 0; u < IN_FLIGHT; u++) {
#pragma unroll
                for (int n = 0; n < TILES; n++)
                    add(sum, source[u].pair[n], n);
                if (last >> u & 1) {
                    put(in + row * REALS, row, sum);
                    row += ROWS_AT_ONCE;
                    sum = {};
                }
            }
        }
    }

    /* ---- Products ---- */

    /* Slots that lead, of the first 64, as bits. */
    __device__ __forceinline__ static unsigned long long leaders(const task_view<T> &v)
    {
        const int lane = threadIdx.x & 31;
        const task_slot *slot = reinterpret_cast<const task_slot *>(v.base + v.slot_at);
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
    __device__ __forceinline__ void publish(const task_view<T> &v, const target &to, sums sum) const
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
            complex_of<real> *row =
                reinterpret_cast<complex_of<real> *>(this->a.value + (int64_t)q.dst * this->a.pitch) +
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

    __device__ __forceinline__ void only_sums(const task_view<T> &v) const
    {
        for (int first = 0; first < v.outs; first += ROWS_AT_ONCE) {
            const int o = first + (threadIdx.x >> 2);
            publish(v, target_at(v, o, o < v.outs), sums{});
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
    __device__ __forceinline__ void many_strips(const task_view<T> &v, unsigned long long lead,
                                                int strips) const
    {
        const int g = threadIdx.x >> 2 & 7;
#pragma unroll 1
        for (int number = threadIdx.x >> 5; number < strips; number += SOLVE_WARPS) {
            const strip_reader<T> s = strip(v, lead, number);
            const target low = target_at(v, s.out + g, g < s.rows),
                         high = target_at(v, s.out + g + 8, g + 8 < s.rows);
            products c;
            multiply(s, 0, (s.inner + 15) / 16, c);
            publish(v, low, c.row(0));
            publish(v, high, c.row(1));
        }
    }

    /* Up to four strips, which 1 << log_shares warps share each and put their sums together in the end: what a thread knows of its part before the inputs
     * are there. */
    struct shared_strips {
        strip_reader<T> strip;
        bool shares;              /* this warp does, */
        int from, to, log_shares; /* in these blocks of inner products */
        target end;               /* the out that is this lane's in the end */
    };
    __device__ __forceinline__ shared_strips share_strips(const task_view<T> &v, unsigned long long lead,
                                                          int strips) const
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
    __device__ __forceinline__ void few_strips(const task_view<T> &v, const shared_strips &s) const
    {
        const int warp = threadIdx.x >> 5, g = threadIdx.x >> 2 & 7, row = threadIdx.x / 4 % SLOT_ROWS;
        if (s.shares) {
            products c;
            multiply(s.strip, s.from, s.to, c);
            put(shares + warp * SHARE + g * REALS, g, c.row(0));
            put(shares + warp * SHARE + (g + 8) * REALS, g, c.row(1));
        }
        solvers_sync();
        sums sum = {};
        if (s.end.whole) {
            double *share = shares + (threadIdx.x / (4 * SLOT_ROWS) << s.log_shares) * SHARE + row * REALS;
            for (int k = 0; k < 1 << s.log_shares; k++)
                add(sum, share + k * SHARE, row);
        }
        publish(v, s.end, sum);
    }

    /* ready(): the inputs are there */
    template <typename Ready>
    __device__ __forceinline__ void run(const task_view<T> &v, const T *, Ready ready) const
    {
        wait_for_marks(v);
        solvers_sync(); /* all marks are seen, and all have done with the inputs of the task before */
        gather(v);
        solvers_sync();
        ready();
        if (v.slots == 0)
            return only_sums(v);
        const unsigned long long lead = v.flags & TASK_TILES ? 0 : leaders(v);
        const int strips = v.flags & TASK_TILES ? (v.outs + SLOT_ROWS - 1) / SLOT_ROWS : __popcll(lead);
        if (strips > 4)
            many_strips(v, lead, strips);
        else
            few_strips(v, share_strips(v, lead, strips));
    }
};

#endif
