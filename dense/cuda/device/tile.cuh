/* dense/cuda/device/tile.cuh: block scope: a 64 x 64 tile in the registers of 256 threads, loaded
 * and applied apart
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A thread holds 16 entries, in one of two maps, each the transpose of the other, with w its warp,
 * l its lane:
 *   by columns (contiguous in memory): rows l + 32 (k div 8), column 8 w + k mod 8, k = 0..15;
 *   by rows (contiguous in memory):    row 8 w + k mod 8, columns l + 32 (k div 8).
 * Both read memory coalesced and both feed 8 accumulators, which are summed over the lanes or
 * warps only when a result is wanted (tile_reduce), however many tiles were applied before.  By
 * columns a warp meets only 8 entries of x, so that reading them from shared memory costs half the
 * time of the products.  Callers load a tile before they wait for the x that it is applied to.  No
 * function here has a barrier but tile_reduce. */
#ifndef DENSE_CUDA_DEVICE_TILE_CUH
#define DENSE_CUDA_DEVICE_TILE_CUH

#include "dense/cuda/device/view.cuh"

constexpr int TILE = 64;          /* order of a tile */
constexpr int TILE_THREADS = 256; /* threads of a block that works on tiles */
constexpr int TILE_SHARE = TILE * TILE / TILE_THREADS;
constexpr int TILE_SUMS = 8;  /* accumulators of a thread */
constexpr int TILE_PARTS = 8; /* partial sums of a row after tile_reduce, one for each 8 columns */

/* The first of the 8 columns of the tile that this thread's warp holds in the map by columns. */
__device__ __forceinline__ int tile_first_column()
{
    return 8 * ((int)threadIdx.x / 32);
}

/* a := this thread's share of L(i0:i0+63, j0:j0+63), a tile below the diagonal; rows past n are
 * zero.  Two pointers walk, since an address from k costs more instructions than the products. */
template <bool BY_ROWS, typename T>
__device__ __forceinline__ void tile_load(T (&a)[TILE_SHARE], const triangle_view<T> &L, int i0,
                                          int j0)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int i = i0 + (BY_ROWS ? 8 * warp : lane), j = j0 + (BY_ROWS ? lane : 8 * warp);
    const int64_t far = BY_ROWS ? L.row : L.column;
    const T *p = L.at(i, j), *q = p + 32 * (BY_ROWS ? L.column : L.row);
    const int below = L.n - i; /* rows from i on */
#pragma unroll
    for (int k = 0; k < TILE_SHARE / 2; k++, p += far, q += far) {
        a[k] = a[k + TILE_SHARE / 2] = T{};
        if (below > (BY_ROWS ? k : 0))
            a[k] = *p;
        if (below > (BY_ROWS ? k : 32))
            a[k + TILE_SHARE / 2] = *q;
    }
}

/* Row and column of entry k of this thread's share. */
__device__ __forceinline__ int tile_row(int k, bool by_rows)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    return by_rows ? 8 * warp + k % 8 : lane + 32 * (k / 8);
}
__device__ __forceinline__ int tile_column(int k, bool by_rows)
{
    return tile_row(k, !by_rows);
}

template <typename T>
__device__ __forceinline__ void tile_copy(T (&to)[TILE_SHARE], const T (&from)[TILE_SHARE])
{
#pragma unroll
    for (int k = 0; k < TILE_SHARE; k++)
        to[k] = from[k];
}

/* sum += a x in the map by columns; x: the 8 entries for this warp's columns, in shared memory. */
template <typename T>
__device__ __forceinline__ void tile_apply_columns(T (&sum)[TILE_SUMS], const T (&a)[TILE_SHARE],
                                                   const T *x)
{
#pragma unroll
    for (int k = 0; k < TILE_SHARE; k++)
        sum[4 * (k / 8) + k % 4] = multiply_add(sum[4 * (k / 8) + k % 4], a[k], x[k % 8]);
}

/* sum += a x in the map by rows; x0, x1: the entries for columns l and l + 32. */
template <typename T>
__device__ __forceinline__ void tile_apply_rows(T (&sum)[TILE_SUMS], const T (&a)[TILE_SHARE], T x0,
                                                T x1)
{
#pragma unroll
    for (int k = 0; k < TILE_SHARE; k++)
        sum[k % TILE_SUMS] = multiply_add(sum[k % TILE_SUMS], a[k], k < 8 ? x0 : x1);
}

/* partial[p][i], p < 8: parts of row i's sum, for all 64 rows.  All threads call; one block
 * barrier, at the end. */
template <bool BY_ROWS, typename T>
__device__ __forceinline__ void tile_reduce(T (&sum)[TILE_SUMS], T (*partial)[TILE])
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if constexpr (!BY_ROWS) {
        partial[warp][lane] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
        partial[warp][lane + 32] = (sum[4] + sum[5]) + (sum[6] + sum[7]);
    } else {
        /* 8 rows x 32 lanes -> each row's sum in 4 lanes -> one: halve the rows a lane keeps at
         * each step */
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
        partial[lane % 4 + 4][row] = T{};
    }
    __syncthreads();
}

/* Row i's sum from its parts, always in the same order. */
template <typename T> __device__ __forceinline__ T tile_row_sum(const T (*partial)[TILE], int i)
{
    return ((partial[0][i] + partial[1][i]) + (partial[2][i] + partial[3][i])) +
           ((partial[4][i] + partial[5][i]) + (partial[6][i] + partial[7][i]));
}

#endif
