/* gpu/solve/strips.cuh: lane scope: strips of 16 rows of a task's tiles, as the tensor cores read
 * them
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_SOLVE_STRIPS_CUH
#define GPU_SOLVE_STRIPS_CUH

#include "gpu/solve/task.cuh"

/* Up to 16 rows of products and some of the inner products of each, as a lane reads them: entry(row
 * g + 8 half, inner product 16 block + j + 4 e) is at[half][offset e of the block] where g = lane
 * div 4 and j = lane mod 4. */
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
            at[half] =
                v.tile() + q.tile + min(g + 8 * half, rows - 1) * q.out_step + j * q.inner_step;
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

#endif
