/* dense/cuda/warp.cuh: warp scope: a triangle of order <= 32 in the registers of a warp
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Lane i has row i, so that a step of the substitution is a broadcast and a multiply-add. */
#ifndef DENSE_CUDA_WARP_CUH
#define DENSE_CUDA_WARP_CUH

#include "dense/cuda/invert.cuh"

constexpr int WARP_ORDER = 32;
constexpr int WARP_AREA = WARP_ORDER * (WARP_ORDER + 1); /* shared memory of trsv_warp, entries for each warp */

/* row[j] := L(lane, j), j <= lane; ones on the diagonal when unit or past n, zeros elsewhere.  area: WARP_AREA entries of
 * this warp's own, used when rows are contiguous in memory: they are read as such and turned round there. */
template <typename T>
__device__ __forceinline__ void warp_load(T (&row)[WARP_ORDER], const triangle_view<T> &L, T *area)
{
    const int lane = threadIdx.x % 32;
    if (!L.transposed) {
#pragma unroll
        for (int j = 0; j < WARP_ORDER; j++) {
            const bool stored = lane < L.n && (lane > j || (lane == j && !L.unit));
            row[j] = stored ? *L.at(lane, j) : from_real<T>(lane == j);
        }
    } else {
#pragma unroll
        for (int i = 0; i < WARP_ORDER; i++) {
            const bool stored = i < L.n && (i > lane || (i == lane && !L.unit));
            area[i + lane * (WARP_ORDER + 1)] = stored ? *L.at(i, lane) : from_real<T>(i == lane);
        }
        __syncwarp();
#pragma unroll
        for (int j = 0; j < WARP_ORDER; j++)
            row[j] = area[lane + j * (WARP_ORDER + 1)];
    }
}

/* y := inv(L) y, entry i in lane i.  All lanes call. */
template <typename T> __device__ __forceinline__ T warp_apply(const T (&row)[WARP_ORDER], int n, T y)
{
    const int lane = threadIdx.x % 32;
    T own = row[0];
#pragma unroll
    for (int j = 1; j < WARP_ORDER; j++)
        own = lane == j ? row[j] : own;
    const pivot<T> diagonal(own);
#pragma unroll
    for (int j = 0; j < WARP_ORDER; j++) {
        if (j >= n)
            break;
        const T x = shuffle(diagonal.quotient(y), j);
        y = lane == j ? x : lane > j ? multiply_add(y, -x, row[j]) : y;
    }
    return y;
}

/* x := inv(L) x, n <= 32, by one full warp. */
template <typename T>
__device__ __forceinline__ void trsv_warp(const triangle_view<T> &L, const vector_view<T> &x, T *area)
{
    const int lane = threadIdx.x % 32;
    T row[WARP_ORDER];
    const T b = lane < L.n ? x.load(lane) : T{};
    warp_load(row, L, area);
    const T solved = warp_apply(row, L.n, b);
    if (lane < L.n)
        x.store(lane, solved);
}

#endif
