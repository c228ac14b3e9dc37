/* dense/cuda/device/row_product.cuh: block scope: products A B^H of rows of matrices, 64 x 64 at a
 * time on the tensor cores, with both operands copied to shared memory two steps ahead
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * In shared memory an operand lies by columns, however it lies in memory.  256 threads. */
#ifndef DENSE_CUDA_DEVICE_ROW_PRODUCT_CUH
#define DENSE_CUDA_DEVICE_ROW_PRODUCT_CUH

#include "dense/cuda/device/invert.cuh"

constexpr int STAGE_COLUMNS = 32; /* of both operands, in shared memory at a time; three stages */
template <typename T> constexpr int STAGE_AREA = TILE_LD<T> * STAGE_COLUMNS;

/* How operands are copied.  PAIRS: sixteen bytes at a time, of eight-byte entries by columns, which
 * begin at multiples of 16 bytes, or all of them eight bytes behind.  ENTRIES: by columns, one at a
 * time.  BY_ROWS: entries of a row are neighbours in memory, one at a time. */
enum class copying { PAIRS, ENTRIES, BY_ROWS };
template <typename T> constexpr bool COPIES_PAIRS = sizeof(T) == 8;
template <typename T>
constexpr copying COPIES = COPIES_PAIRS<T> ? copying::PAIRS : copying::ENTRIES;

/* An operand of a product: rows x depth, entry (i, k) at at[i + k ld], BY_ROWS at[i ld + k].  In
 * PAIRS copies begin `shift` rows before, where there are sixteen bytes. */
template <typename T> struct row_operand {
    const T *at;
    int64_t ld;
    int rows, shift;
};

/* One entry, asynchronously; zero where it is not there.  (__pipeline_memcpy_async makes ten times
 * as many instructions of this.) */
template <typename T> __device__ __forceinline__ void copy_entry(T *to, const T *from, bool there)
{
    const unsigned shared = (unsigned)__cvta_generic_to_shared(to);
    const int bytes = there ? (int)sizeof(T) : 0;
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared), "l"(from),
                 "n"(sizeof(T)), "r"(bytes)
                 : "memory");
}
/* Sixteen bytes, of which the first `bytes` are there; zeros behind them. */
__device__ __forceinline__ void copy_pair(void *to, const void *from, int bytes)
{
    const unsigned shared = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(from),
                 "r"(bytes)
                 : "memory");
}
__device__ __forceinline__ void copies_commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int N> __device__ __forceinline__ void copies_wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

/* This thread's pair of rows of one column in COLUMNS: where it comes from and goes to, and its
 * bytes. */
template <typename T> struct pair_copy {
    static constexpr int LANES = TILE / 2, COLUMNS = TILE_THREADS / LANES;
    int column, bytes;
    const T *from;
    T *to;

    __device__ __forceinline__ pair_copy(T *stage, const row_operand<T> &o, int c)
    {
        const int row = 2 * ((int)threadIdx.x % LANES);
        column = (int)threadIdx.x / LANES;
        bytes = max(0, min(2, o.rows + o.shift - row)) * (int)sizeof(T);
        from = o.at - o.shift + (int64_t)(c + column) * o.ld + (bytes > 0 ? row : 0);
        to = stage + column * TILE_LD<T> + row;
    }
    /* The column by `next` behind this one. */
    __device__ __forceinline__ void copy(int next, const row_operand<T> &o, bool there) const
    {
        copy_pair(to + next * TILE_LD<T>, there ? from + next * o.ld : o.at - o.shift,
                  there ? bytes : 0);
    }
};

/* Of a shifted operand the row behind the first 64, by a lane for each of a warp's columns. */
template <typename T>
__device__ __forceinline__ void copy_last_row(T *stage, const row_operand<T> &o, int c, int depth)
{
    constexpr int WARPS = TILE_THREADS / 32;
    const int column = (int)threadIdx.x / 32 + WARPS * ((int)threadIdx.x % 32);
    if (column >= STAGE_COLUMNS)
        return;
    const bool there = c + column < depth && o.rows + 1 > TILE;
    const T *const begin = o.at - 1;
    copy_pair(stage + column * TILE_LD<T> + TILE,
              there ? begin + (int64_t)(c + column) * o.ld + TILE : begin,
              there ? (int)sizeof(T) : 0);
}

template <typename T>
__device__ __forceinline__ void copy_pairs(T *stage, const row_operand<T> &o, int c, int depth)
{
    const pair_copy<T> copy(stage, o, c);
    constexpr int STEP = pair_copy<T>::COLUMNS;
    if (c + STAGE_COLUMNS <= depth) {
#pragma unroll
        for (int q = 0; q < STAGE_COLUMNS; q += STEP)
            copy.copy(q, o, true);
    } else {
#pragma unroll 1
        for (int q = 0; q < STAGE_COLUMNS; q += STEP)
            copy.copy(q, o, c + copy.column + q < depth);
    }
    if (o.shift)
        copy_last_row(stage, o, c, depth);
}

/* Four columns at a time: of all rows by columns; by rows of eight rows by each warp, which are
 * whole sectors of 32 bytes in memory, and no two lanes that meet at a bank. */
template <typename T>
__device__ __forceinline__ void copy_entries(T *stage, const row_operand<T> &o, int c, int depth,
                                             bool by_rows)
{
    constexpr int STEP = TILE_THREADS / TILE;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32,
              row = by_rows ? 8 * warp + lane % 4 + 4 * (lane / 16) : (int)threadIdx.x % TILE,
              column = by_rows ? lane / 4 % 4 : (int)threadIdx.x / TILE;
    const bool has_row = row < o.rows;
    const int64_t next = by_rows ? 1 : o.ld;
    const T *from = o.at + (has_row ? row * (by_rows ? o.ld : 1) : 0) + (c + column) * next;
    T *const to = stage + row + column * TILE_LD<T>;
#pragma unroll
    for (int q = 0; q < STAGE_COLUMNS; q += STEP, from += STEP * next) {
        const bool there = has_row && c + column + q < depth;
        copy_entry(to + q * TILE_LD<T>, there ? from : o.at, there);
    }
}

/* stage := columns [c, c + STAGE_COLUMNS) of an operand, its shift first, zero past its rows and
 * depth.  A few instructions for each copy: products wait for those of a warp, not for bytes. */
template <typename T>
__device__ __forceinline__ void stage_load(T *stage, const row_operand<T> &o, int c, int depth,
                                           copying how = COPIES<T>)
{
    if constexpr (COPIES_PAIRS<T>)
        if (how == copying::PAIRS)
            return copy_pairs(stage, o, c, depth);
    copy_entries(stage, o, c, depth, how == copying::BY_ROWS);
}

/* The product of two operands' rows, A S B^H: this warp has the 16 rows from sum_row() on and 32
 * columns from sum_column() on.  same: A and B are the same rows, and only entries at or below the
 * diagonal are wanted.  Ends with a barrier, the stages are free then. */
__device__ __forceinline__ int sum_row()
{
    return 16 * ((int)threadIdx.x / 32 % 4);
}
__device__ __forceinline__ int sum_column()
{
    return 32 * ((int)threadIdx.x / 128);
}
template <typename T, typename S = no_signs>
__device__ __forceinline__ void multiply_rows(product_sum<T, 4> &sum, const row_operand<T> &a,
                                              const row_operand<T> &b, int depth, bool same,
                                              T *stages, copying how = COPIES<T>, S signs = {})
{
    constexpr int STAGE = STAGE_AREA<T>;
    const int steps = (depth + STAGE_COLUMNS - 1) / STAGE_COLUMNS;
    const int a_row = sum_row() + a.shift, b_row = sum_column() + (same ? a : b).shift;
    const bool counts =
        sum_row() < a.rows && sum_column() < b.rows && !(same && sum_row() + 15 < sum_column());
    auto load = [&](int step) {
        T *stage = stages + step % 3 * 2 * STAGE;
        if (step < steps) {
            stage_load(stage, a, step * STAGE_COLUMNS, depth, how);
            if (!same)
                stage_load(stage + STAGE, b, step * STAGE_COLUMNS, depth, how);
        }
        copies_commit();
    };
    load(0);
    load(1);
    for (int step = 0; step < steps; step++) {
        copies_wait<1>();
        __syncthreads(); /* this stage is there, and nobody reads the one before */
        load(step + 2);
        const auto own = signs.at(step * STAGE_COLUMNS);
        const T *left = stages + step % 3 * 2 * STAGE, *right = same ? left : left + STAGE;
        if (counts)
            multiply_16_turned(sum, left + a_row, TILE_LD<T>, right + b_row, TILE_LD<T>,
                               STAGE_COLUMNS, own);
    }
    copies_wait<0>();
    __syncthreads();
}

/* Calls visit(i, j, entry) for the entries of this thread's sum inside of rows x columns. */
template <typename T, typename F>
__device__ __forceinline__ void each_entry(const product_sum<T, 4> &sum, int rows, int columns,
                                           F &&visit)
{
    const int lane = threadIdx.x % 32, g = sum_row() + lane / 4, l = sum_column() + 2 * (lane % 4);
#pragma unroll
    for (int t = 0; t < 4; t++)
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const int i = g + 8 * (e / 2), j = l + 8 * t + e % 2;
            if (i < rows && j < columns)
                visit(i, j, sum.entry(t, e));
        }
}

#endif
