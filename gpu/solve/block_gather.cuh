/* gpu/solve/block_gather.cuh: block scope: warps that gather the inputs of tasks for several
 * right-hand sides
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows may be read once their flags were seen, by loads that acquire.  Four lanes take a row
 * (gpu/solve/block_rows.cuh). */
#ifndef GPU_SOLVE_BLOCK_GATHER_CUH
#define GPU_SOLVE_BLOCK_GATHER_CUH

#include "gpu/solve/block_rows.cuh"
#include "gpu/solve/gather_group.cuh"
#include "gpu/solve/flags.cuh"

/* Up to 8 real columns have warps of their own for it: 7 to 19 % less time on an H200, with one
 * group of seven, which is better than two of three.  With more columns the inputs of several tasks
 * do not fit the ring, and complex products need all registers: there the warps that solve
 * gather. */
template <typename T, int TILES>
constexpr bool GATHERS_APART = TILES == 1 && !scalar<T>::is_complex;
template <typename T, int TILES>
using block_gather_group =
    gather_group<T, GATHERS_APART<T, TILES> ? GATHER_BARRIERS : SOLVE_BARRIER,
                 GATHERS_APART<T, TILES> ? 7 : SOLVE_WARPS, 1>;

template <typename T, int TILES> struct block_gatherer : block_gather_group<T, TILES> {
    using group_of = block_gather_group<T, TILES>;
    using group_of::THREADS, group_of::number, group_of::gather_group;
    using rows = block_rows<T, TILES>;
    using real = real_of<T>;
    using pair = complex_of<real>;
    using part = lane_part<real, TILES>;
    /* Of a thread on their way together: flags, sources (apart, 6 are 3 % slower than 4). */
    static constexpr bool APART = GATHERS_APART<T, TILES>;
    static constexpr int FLAGS = APART ? 1 : 2, IN_FLIGHT = APART ? 4 : 8 / TILES;
    static constexpr int STEP = THREADS / 4; /* rows at once */

    __device__ __forceinline__ void wait_for_flags(const task_view<T> &v) const
    {
        const int sources = v.start_at ? v.start(v.inputs) : v.inputs;
#pragma unroll 1
        for (int k = number; k - (number & 31) < sources; k += FLAGS * THREADS) {
            row_flags<FLAGS> m;
#pragma unroll
            for (int u = 0; u < FLAGS; u++) {
                const int at = k + u * THREADS, code = at < sources ? v.code(at) : SOURCE_ZERO;
                m.row[u] = code >= 0 && (code & 1) == SOURCE_PACKET ? code >> 1 : -1;
            }
            wait_by_one_lane(
                *this, [&] { m.look(this->a.flag, this->epoch); }, [&] { return m.is_missing(); },
                [&] { return !m.poll(this->a.flag, this->epoch); });
        }
    }

    /* This lane's part of a source; of columns that are not there anything. */
    __device__ __forceinline__ part load_source(int code) const
    {
        part p = {};
        if (code < 0)
            return p;
        if ((code & 1) == SOURCE_PACKET) {
            const T *row = this->a.value + (int64_t)((unsigned)code >> 1) * this->a.pitch;
#pragma unroll
            for (int n = 0; n < TILES; n++)
                p.pair[n] =
                    load_pair(reinterpret_cast<const pair *>(row) + 4 * n + (threadIdx.x & 3));
            return p;
        }
        const int row = code >> 1;
        const real scale = this->a.scale[row];
        const T *b = this->a.b + row * this->a.b_row;
#pragma unroll
        for (int n = 0; n < TILES; n++)
            if constexpr (rows::PARTS == 2)
                p.pair[n] = scaled(load_b(b, n), scale);
            else
                p.pair[n] = {load_b(b, 2 * n) * scale, load_b(b, 2 * n + 1) * scale};
        return p;
    }
    /* Scalar c of a lane's part of a row of b. */
    __device__ __forceinline__ T load_b(const T *row, int c) const
    {
        return row[min(rows::column_of(c), this->a.columns - 1) * this->a.b_column];
    }
    __device__ __forceinline__ static pair load_pair(const pair *from)
    {
        pair p;
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

    /* in := sums of the sources, all of which are there: four lanes have rows row, row + STEP,
     * ... */
    __device__ __forceinline__ void gather(const task_view<T> &v, real *in) const
    {
        /* ahead: the row of the sources asked for */
        int row = number / 4, ahead = row, at = 0, end = 0;
        const auto enter = [&] {
            at = v.start_at ? v.start(min(ahead, v.inputs)) : ahead;
            end = v.start_at ? v.start(min(ahead + 1, v.inputs)) : ahead + 1;
        };
        part sum = {};
        enter();
#pragma unroll 1
        while (ahead < v.inputs) {
            part source[IN_FLIGHT];
            unsigned last = 0;
#pragma unroll
            for (int u = 0; u < IN_FLIGHT; u++) {
                source[u] = load_source(ahead < v.inputs ? v.code(at) : SOURCE_ZERO);
                if (ahead < v.inputs && ++at == end) {
                    last |= 1u << u;
                    ahead += STEP;
                    enter();
                }
            }
#pragma unroll
            for (int u = 0; u < IN_FLIGHT; u++) {
                rows::add(sum, source[u]);
                if (last >> u & 1) {
                    rows::put(in + row * rows::REALS, row, sum);
                    row += STEP;
                    sum = {};
                }
            }
        }
    }

    /* in := the task's inputs */
    __device__ __forceinline__ void run(const task_view<T> &v, T *gathered) const
    {
        wait_for_flags(v);
        this->meet(); /* all flags are seen */
        gather(v, reinterpret_cast<real *>(gathered));
    }
};

#endif
