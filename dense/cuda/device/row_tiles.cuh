/* dense/cuda/device/row_tiles.cuh: block scope: what a blocked Cholesky factorization does with
 * tiles in shared memory
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Matrices are told by the strides of rows and columns.  256 threads, tiles of 64 x 64 with the
 * leading dimension TILE_LD. */
#ifndef DENSE_CUDA_DEVICE_ROW_TILES_CUH
#define DENSE_CUDA_DEVICE_ROW_TILES_CUH

#include "dense/cuda/device/cholesky_64.cuh"
#include "dense/cuda/device/row_product.cuh"

/* Shared memory, in entries: the stages of a product, or three tiles; then 64 pivots. */
template <typename T> struct tile_room {
    static constexpr int STAGES = 6 * STAGE_AREA<T>;
    static constexpr int BYTES = (STAGES + TILE) * (int)sizeof(T);
    static_assert(STAGES >= 3 * TILE_AREA<T>, "three tiles have room where the stages were");
    static_assert(sizeof(cholesky_room<T>) <= TILE_AREA<T> * sizeof(T), "has a tile's room");
};

/* tile := columns [0, depth) of an operand, its shift first, asynchronously, zero past its rows and
 * depth */
template <typename T>
__device__ __forceinline__ void tile_fetch(T *tile, const row_operand<T> &o, int depth,
                                           copying how = COPIES<T>)
{
    stage_load(tile, o, 0, depth, how);
    stage_load(tile + STAGE_AREA<T>, o, STAGE_COLUMNS, depth, how);
}

/* This thread's entries of a tile, where each_entry has them. */
template <typename T> struct tile_part {
    T v[4][4];

    tile_part() = default;
    /* What lies outside comes from the last row or column: loads without conditions are all on
     * their way at once. */
    __device__ __forceinline__ tile_part(const T *at, int64_t row, int64_t column, int rows,
                                         int columns)
    {
        const int lane = threadIdx.x % 32, g = sum_row() + lane / 4,
                  l = sum_column() + 2 * (lane % 4);
#pragma unroll
        for (int t = 0; t < 4; t++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                v[t][e] = at[min(g + 8 * (e / 2), rows - 1) * row +
                             min(l + 8 * t + e % 2, columns - 1) * column];
    }
    /* tile := these minus a sum, rows x columns of it, lower: at or below the diagonal, and zeros.
     */
    __device__ __forceinline__ void put_less(T *tile, const product_sum<T, 4> &sum, int rows,
                                             int columns, bool lower) const
    {
        const int lane = threadIdx.x % 32, g = sum_row() + lane / 4,
                  l = sum_column() + 2 * (lane % 4);
#pragma unroll
        for (int t = 0; t < 4; t++)
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const int i = g + 8 * (e / 2), j = l + 8 * t + e % 2;
                const bool there = i < rows && j < columns && (!lower || i >= j);
                tile[i + j * TILE_LD<T>] = there ? v[t][e] - sum.entry(t, e) : T{};
            }
    }
};

/* Matrix at `at`, rows x columns, -= a sum; lower: at or below the diagonal alone.  All entries are
 * asked for before the first is stored: the compiler may not turn that round, and one after the
 * other they would take longer than a product of depth 64. */
template <typename T>
__device__ __forceinline__ void subtract_sum(T *at, int64_t ld, const product_sum<T, 4> &sum,
                                             int rows, int columns, bool lower)
{
    const tile_part<T> before(at, 1, ld, rows, columns);
    const int lane = threadIdx.x % 32, g = sum_row() + lane / 4, l = sum_column() + 2 * (lane % 4);
#pragma unroll
    for (int t = 0; t < 4; t++)
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const int i = g + 8 * (e / 2), j = l + 8 * t + e % 2;
            if (i < rows && j < columns && (!lower || i >= j))
                at[i + (int64_t)j * ld] = before.v[t][e] - sum.entry(t, e);
        }
}

/* sum += A S B^H, tiles in shared memory */
template <typename T, typename S = no_signs>
__device__ __forceinline__ void multiply_tiles(product_sum<T, 4> &sum, const T *A, const T *B,
                                               S signs = {})
{
    multiply_16_turned(sum, A + sum_row(), TILE_LD<T>, B + sum_column(), TILE_LD<T>, TILE, signs);
}

/* sum += A X^H, X lower; of the signs only their type counts */
template <typename T, typename S = no_signs>
__device__ __forceinline__ void multiply_by_inverse(product_sum<T, 4> &sum, const T *A, const T *X,
                                                    S = {})
{
    constexpr int LD = TILE_LD<T>;
    const int lane = threadIdx.x % 32, g = lane / 4, l = lane % 4, begin = sum_column();
    const T *const a = A + sum_row() + g + (begin + l) * LD, *const x =
                                                                 X + begin + g + (begin + l) * LD;
    multiply_16_turned(sum, A + sum_row(), LD, X + begin, LD, begin, typename S::all_positive{});
#pragma unroll
    for (int k = 0; k < 4; k++) { /* eight columns of the warp's 32, which rows before them lack */
        const int at = 8 * k * LD;
        const T left[4] = {a[at], a[at + 8], a[at + 4 * LD], a[at + 4 * LD + 8]};
#pragma unroll
        for (int t = k; t < 4; t++) {
            const T right[2] = {x[at + 8 * t], x[at + 4 * LD + 8 * t]};
            multiply_entries<S::HERMITIAN>(sum, t, left, right);
        }
    }
}

/* COUNT tiles of 16 x 8 from (row, column) on: D := B - A S A^H. */
template <int COUNT, typename T, typename S>
__device__ __forceinline__ void subtract_square_at(T *D, const T *B, const T *A, int row,
                                                   int column, S signs)
{
    constexpr int LD = TILE_LD<T>;
    const int lane = threadIdx.x % 32, i = row + lane / 4, j = column + 2 * (lane % 4);
    const auto at = [&](int t, int e) { return i + 8 * (e / 2) + (j + 8 * t + e % 2) * LD; };
    product_sum<T, COUNT> sum;
    T from[COUNT][4]; /* on its way meanwhile, B may be in memory */
#pragma unroll
    for (int t = 0; t < COUNT; t++)
#pragma unroll
        for (int e = 0; e < 4; e++)
            from[t][e] = B[at(t, e)];
    multiply_16_turned(sum, A + row, LD, A + column, LD, TILE, signs);
#pragma unroll
    for (int t = 0; t < COUNT; t++)
#pragma unroll
        for (int e = 0; e < 4; e++)
            D[at(t, e)] = from[t][e] - sum.entry(t, e);
}
/* D := B - A S A^H, lower triangle and some entries above it; D may be B.  Of the twenty tiles of
 * 16 x 8 each quarter of the multiprocessor has five, in two warps; SPARES: warp 4 has none. */
template <bool SPARES = false, typename T, typename S = no_signs>
__device__ __forceinline__ void subtract_square(T *D, const T *B, const T *A, S signs = {})
{
    const int warp = threadIdx.x / 32,
              row = 16 * ((SPARES ? 0x11002233 : 0x01132233) >> 4 * warp & 15),
              column = 8 * ((SPARES ? 0x20003050 : 0x02063030) >> 4 * warp & 15);
    if (SPARES && warp == 0)
        subtract_square_at<5>(D, B, A, row, column, signs);
    else if (warp < 4)
        subtract_square_at<3>(D, B, A, row, column, signs);
    else if (!SPARES || warp > 4)
        subtract_square_at<2>(D, B, A, row, column, signs);
}

/* D of k columns, lower triangle, for cholesky_64: identity behind them; X as it wants it.  Ends
 * with a barrier. */
template <typename T> __device__ __forceinline__ void begin_block(T *D, T *X, int k)
{
    constexpr int LD = TILE_LD<T>;
    tile_clear(X);
    __syncthreads();
    if ((int)threadIdx.x >= k && threadIdx.x < TILE)
        D[threadIdx.x * (LD + 1)] = from_real<T>(1);
    if ((int)threadIdx.x >= (k + 7) / 8 * 8 && threadIdx.x < TILE)
        X[threadIdx.x * (LD + 1)] = from_real<T>(1);
    __syncthreads();
}

/* Calls visit(i, j, entry) for this thread's entries of an inverse X; whether one of them times
 * relative(i, j) is so large that rows below should not be multiplied by X (TILE_GROWTH_LIMIT). */
template <typename T, typename R, typename F>
__device__ __forceinline__ bool look_at_inverse(const T *X, R &&relative, F &&visit)
{
    unsigned largest = 0;
#pragma unroll 4
    for (int q = 0; q < TILE_SHARE; q++) {
        const int i = tile_row(q, false), j = tile_column(q, false);
        const T x = X[i + j * TILE_LD<T>];
        visit(i, j, x);
        largest = max(largest, size_bits(times_real(x, relative(i, j))));
    }
    return largest > size_bits((real_of<T>)TILE_GROWTH_LIMIT);
}

/* B := B (S inv(L))^H by substitution, and to `out`: B a tile of `rows` rows, zero behind
 * `columns`; L in memory, brought to `room`.  A warp has 16 rows, and eight columns at a time: by
 * lanes, then their product goes from the columns behind.  Four of eight warps are enough for what
 * is rare, and a call keeps its code from between what is not. */
template <typename T, typename S = no_signs>
__device__ __noinline__ void substitute_rows(T *B, const T *L, T *out, int64_t row_stride,
                                             int64_t column_stride, int rows, int columns, T *room,
                                             S signs = {})
{
    constexpr int LD = TILE_LD<T>, STEP = CHOLESKY_STEP;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, row = 16 * warp;
    for (int j = warp; j < TILE; j += CHOLESKY_THREADS / 32)
        for (int i = lane; i < TILE; i += 32)
            room[i + j * LD] = i < columns && j <= i ? L[i * row_stride + j * column_stride]
                                                     : from_real<T>(i == j);
    __syncthreads();
    for (int p = 0; p < columns && row < rows; p += STEP) {
        const auto own = signs.at(p);
        substitute_rows_8(B + p * LD, room + p * (LD + 1), LD, row, row + 16, STEP, own);
        __syncwarp();
        for (int q = p + STEP; q < columns; q += STEP)
            cholesky_subtract(B + row + q * LD, B + row + p * LD, room + q + p * LD, LD, STEP, 0,
                              own);
        __syncwarp();
    }
    __syncthreads();
    for (int j = warp; j < columns; j += CHOLESKY_THREADS / 32)
        for (int i = lane; i < rows; i += 32)
            out[i * row_stride + j * column_stride] = B[i + j * LD];
}

#endif
