/* dense/cuda/tile.cuh: block scope: a 64 x 64 tile in the registers of 256 threads, loaded and applied apart
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A thread holds 16 entries, in one of two maps with w its warp, l its lane:
 *   by columns (columns contiguous in memory): row 32 (w mod 2) + l, columns 16 (w div 2) + k,        k =
 * 0..15; by rows    (rows contiguous in memory):    row 8 w + k mod 8,    column l + 32 (k div 8). Both read
 * memory coalesced and both feed 8 accumulators, which are summed over the lanes or warps only when a result
 * is wanted (tile_reduce), however many tiles were applied before.  Callers load a tile before they wait for
 * the x that it is applied to.  No function here has a barrier but tile_reduce. */
#ifndef DENSE_CUDA_TILE_CUH
#define DENSE_CUDA_TILE_CUH

#include "dense/cuda/view.cuh"

constexpr int TILE = 64;          /* order of a tile */
constexpr int TILE_THREADS = 256; /* threads of a block that works on tiles */
constexpr int TILE_SHARE = TILE * TILE / TILE_THREADS;
constexpr int TILE_SUMS = 8;  /* accumulators of a thread */
constexpr int TILE_PARTS = 4; /* partial sums of a row after tile_reduce, one for each 16 columns */

/* The first of the 16 columns of the tile that this thread's warp holds in the map by columns. */
__device__ __forceinline__ int tile_first_column()
{
    return 16 * ((int)threadIdx.x / 64);
}

/* a := this thread's share of L(i0:i0+63, j0:j0+63), a tile below the diagonal; rows past n are zero. */
template <bool BY_ROWS, typename T>
__device__ __forceinline__ void tile_load(T (&a)[TILE_SHARE], const triangle_view<T> &L, int i0, int j0)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if constexpr (!BY_ROWS) {
        const int i = i0 + (int)threadIdx.x % TILE;
        const T *p = L.at(i, j0 + tile_first_column());
#pragma unroll
        for (int k = 0; k < TILE_SHARE; k++)
            a[k] = i < L.n ? p[k * L.column] : T{};
    } else {
        const int i = i0 + 8 * warp;
        const T *p = L.at(i, j0 + lane);
#pragma unroll
        for (int k = 0; k < TILE_SHARE; k++)
            a[k] = i + k % 8 < L.n ? p[(k % 8) * L.row + (k / 8) * 32 * L.column] : T{};
    }
}

/* Row and column of entry k of this thread's share. */
__device__ __forceinline__ int tile_row(int k, bool by_rows)
{
    return by_rows ? 8 * ((int)threadIdx.x / 32) + k % 8 : (int)threadIdx.x % TILE;
}
__device__ __forceinline__ int tile_column(int k, bool by_rows)
{
    return by_rows ? (int)threadIdx.x % 32 + 32 * (k / 8) : tile_first_column() + k;
}

template <typename T>
__device__ __forceinline__ void tile_copy(T (&to)[TILE_SHARE], const T (&from)[TILE_SHARE])
{
#pragma unroll
    for (int k = 0; k < TILE_SHARE; k++)
        to[k] = from[k];
}

/* sum += a x in the map by columns; x: the 16 entries for this warp's columns, in shared memory. */
template <typename T>
__device__ __forceinline__ void tile_apply_columns(T (&sum)[TILE_SUMS], const T (&a)[TILE_SHARE], const T *x)
{
#pragma unroll
    for (int k = 0; k < TILE_SHARE; k++)
        sum[k % TILE_SUMS] = multiply_add(sum[k % TILE_SUMS], a[k], x[k]);
}

/* sum += a x in the map by rows; x0, x1: the entries for columns l and l + 32. */
template <typename T>
__device__ __forceinline__ void tile_apply_rows(T (&sum)[TILE_SUMS], const T (&a)[TILE_SHARE], T x0, T x1)
{
#pragma unroll
    for (int k = 0; k < TILE_SHARE; k++)
        sum[k % TILE_SUMS] = multiply_add(sum[k % TILE_SUMS], a[k], k < 8 ? x0 : x1);
}

/* partial[p][i], p < 4: parts of row i's sum, for all 64 rows.  All threads call; one block barrier, at the
 * end. */
template <bool BY_ROWS, typename T>
__device__ __forceinline__ void tile_reduce(T (&sum)[TILE_SUMS], T (*partial)[TILE])
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if constexpr (!BY_ROWS) {
        partial[threadIdx.x / TILE][threadIdx.x % TILE] =
            ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
    } else {
        /* 8 rows x 32 lanes -> each row's sum in 4 lanes -> one: halve the rows a lane keeps at each step */
#pragma unroll
        for (int half = 4, bit = 16; half >= 1; half /= 2, bit /= 2) {
            const bool high = lane & bit;
#pragma unroll
            for (int k = 0; k < half; k++) {
                const T keep = high ? sum[k + half] : sum[k], give = high ? sum[k] : sum[k + half];
                sum[k] = keep + shuffle_xor(give, bit);
            }
        }
        sum[0] = sum[0] + shuffle_xor(sum[0], 2);
        sum[0] = sum[0] + shuffle_xor(sum[0], 1);
        const int row = 8 * warp + lane / 4; /* lane bits 4, 3, 2 chose the row's bits 2, 1, 0 */
        partial[lane % 4][row] = lane % 4 == 0 ? sum[0] : T{};
    }
    __syncthreads();
}

/* Row i's sum from its parts, always in the same order. */
template <typename T> __device__ __forceinline__ T tile_row_sum(const T (*partial)[TILE], int i)
{
    return (partial[0][i] + partial[1][i]) + (partial[2][i] + partial[3][i]);
}

#endif
