/* gpu/solve/block_rows.cuh: lane scope: rows of several columns, as four lanes share them
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Lane t of the four has of every tile of 8 reals numbers 2 t and 2 t + 1, two columns or one
 * complex one, as the tensor cores give them to it. */
#ifndef GPU_SOLVE_BLOCK_ROWS_CUH
#define GPU_SOLVE_BLOCK_ROWS_CUH

#include "gpu/solve/task.cuh"
#include <type_traits>

/* What one lane has of a row of TILES times 8 reals. */
template <typename R, int TILES> struct lane_part {
    complex_of<R> pair[TILES];
};

template <typename T, int TILES> struct block_rows {
    using real = real_of<T>;
    static constexpr int PARTS = scalar<T>::is_complex ? 2 : 1;
    /* PER: columns of a lane */
    static constexpr int REALS = 8 * TILES, COLUMNS = REALS / PARTS, PER = COLUMNS / 4;
    static constexpr int ROW_BYTES = REALS * (int)sizeof(real);

    /* Rows in shared memory that are read together are kept apart: tile n of row r, which begins at
     * `row`. */
    template <typename R> __device__ __forceinline__ static auto &pair_of(R *row, int r, int n)
    {
        using plain = complex_of<std::remove_const_t<R>>;
        using pair = std::conditional_t<std::is_const_v<R>, const plain, plain>;
        return reinterpret_cast<pair *>(row)[4 * (n ^ (r & (TILES - 1))) + (threadIdx.x & 3)];
    }
    template <typename R, typename P>
    __device__ __forceinline__ static void put(R *row, int r, const lane_part<P, TILES> &p)
    {
#pragma unroll
        for (int n = 0; n < TILES; n++)
            pair_of(row, r, n) = {(R)p.pair[n].re, (R)p.pair[n].im};
    }
    template <typename P, typename R>
    __device__ __forceinline__ static void add(lane_part<P, TILES> &sum,
                                               const lane_part<R, TILES> &p)
    {
#pragma unroll
        for (int n = 0; n < TILES; n++) {
            sum.pair[n].re += (P)p.pair[n].re;
            sum.pair[n].im += (P)p.pair[n].im;
        }
    }
    template <typename P, typename R>
    __device__ __forceinline__ static void add(lane_part<P, TILES> &sum, const R *row, int r)
    {
        lane_part<R, TILES> p;
#pragma unroll
        for (int n = 0; n < TILES; n++)
            p.pair[n] = pair_of(row, r, n);
        add(sum, p);
    }
    /* Column of scalar c of a lane. */
    __device__ __forceinline__ static int column_of(int c)
    {
        const int t = threadIdx.x & 3;
        return PARTS == 2 ? 4 * c + t : 8 * (c / 2) + 2 * t + c % 2;
    }
};

#endif
