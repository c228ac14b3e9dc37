/* dense/cuda/trsv/shared.cuh: block scope: a triangle of order <= 128 in shared memory, solved
 * while it is loaded  [Hogg 2013, listings 1 and 2]
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The triangle is cut into tiles of order 32.  Warps 0..7 load them, in the order in which they are
 * wanted; behind them is a warp for each block row k, which subtracts L(k,j) x(j) as the x(j) come
 * and then substitutes with L(k,k).  Nobody waits for the whole block: a barrier for each step
 * tells that its tiles are there, another that its x is.
 *
 * The paper has one warp that substitutes and room for two diagonal tiles and one block column,
 * which are filled in turn; here a block's shared memory holds all tiles, so that none waits until
 * another has been used, and registers hold what is on its way. */
#ifndef DENSE_CUDA_TRSV_SHARED_CUH
#define DENSE_CUDA_TRSV_SHARED_CUH

#include "dense/cuda/device/barrier.cuh"
#include "dense/cuda/device/warp.cuh"

constexpr int SHARED_TILE = 32;
constexpr int SHARED_STEPS = WARP_ORDER / SHARED_TILE; /* block rows */
constexpr int SHARED_LOADERS = 256;                    /* threads that load */
constexpr int SHARED_LD = SHARED_TILE + 1;
constexpr int SHARED_SHARE = SHARED_TILE * SHARED_TILE / SHARED_LOADERS; /* entries of a tile */

template <typename T> struct shared_tiles {
    T tile[SHARED_STEPS * (SHARED_STEPS + 1) / 2][SHARED_TILE * SHARED_LD];
    T x[WARP_ORDER];

    __device__ __forceinline__ T *at(int i, int j) { return tile[i * (i + 1) / 2 + j]; }
};

/* The barriers of step k: its tiles are there; its x is. */
__device__ __forceinline__ int shared_loaded(int k)
{
    return 1 + k;
}
__device__ __forceinline__ int shared_solved(int k)
{
    return 1 + SHARED_STEPS + k;
}
/* Threads that meet there: loaders and the warps that need these tiles; all from block row k on. */
__device__ __forceinline__ int shared_loaded_by(int k, int steps)
{
    return SHARED_LOADERS + 32 * (k == 0 ? 1 : steps - k);
}
__device__ __forceinline__ int shared_solved_by(int k, int steps)
{
    return 32 * (steps - k);
}

/* call(i, j) for the tiles that step k needs: L(k:, k-1), met by x(k-1), and L(k,k). */
template <typename Call> __device__ __forceinline__ void shared_tiles_of_step(int k, Call call)
{
#pragma unroll
    for (int i = k; k > 0 && i < SHARED_STEPS; i++)
        call(i, k - 1);
    call(k, k);
}

/* The first 256 threads. */
template <typename T>
__device__ __forceinline__ void shared_load(shared_tiles<T> &s, const triangle_view<T> &L,
                                            int steps)
{
    /* steps whose tiles fit into registers together */
    constexpr int TOGETHER = sizeof(T) > 8 ? 2 : SHARED_STEPS;
    constexpr int TILES = sizeof(T) > 8 ? 5 : 10;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int di = L.transposed ? 8 : 0, dj = 8 - di; /* from entry to entry of a thread's share */
    const int i0 = L.transposed ? warp : lane, j0 = L.transposed ? lane : warp;
#pragma unroll
    for (int first = 0; first < SHARED_STEPS; first += TOGETHER) {
        T share[TILES][SHARED_SHARE];
        int t = 0;
#pragma unroll
        for (int k = first; k < first + TOGETHER; k++)
            shared_tiles_of_step(k, [&](int i, int j) {
                const int row = SHARED_TILE * i + i0, column = SHARED_TILE * j + j0;
#pragma unroll
                for (int e = 0; e < SHARED_SHARE; e++) {
                    const int r = row + e * di, c = column + e * dj;
                    share[t][e] = from_real<T>(r == c);
                    if (r < L.n && (r > c || (r == c && !L.unit)))
                        share[t][e] = *L.at(r, c);
                }
                t++;
            });
        t = 0;
#pragma unroll
        for (int k = first; k < first + TOGETHER; k++) {
            shared_tiles_of_step(k, [&](int i, int j) {
#pragma unroll
                for (int e = 0; e < SHARED_SHARE; e++)
                    if (i < steps)
                        s.at(i, j)[i0 + e * di + (j0 + e * dj) * SHARED_LD] = share[t][e];
                t++;
            });
            if (k < steps)
                barrier_arrive(shared_loaded(k), shared_loaded_by(k, steps));
        }
    }
}

/* row := row `lane` of a tile */
template <typename T>
__device__ __forceinline__ void shared_row(T (&row)[SHARED_TILE], const T *tile)
{
#pragma unroll
    for (int j = 0; j < SHARED_TILE; j++)
        row[j] = tile[threadIdx.x % 32 + j * SHARED_LD];
}

/* x(k) := inv(L(k,k)) (b(k) - L(k,0:k-1) x(0:k-1)); a warp. */
template <typename T>
__device__ __forceinline__ void shared_step(shared_tiles<T> &s, const vector_view<T> &x, int n,
                                            int k, int steps)
{
    const int lane = threadIdx.x % 32, i = SHARED_TILE * k + lane;
    T row[SHARED_TILE], y[1] = {i < n ? x.load(i) : T{}};
    for (int j = 0; j < k; j++) {
        barrier_wait(shared_loaded(j + 1), shared_loaded_by(j + 1, steps));
        shared_row(row, s.at(k, j));
        barrier_wait(shared_solved(j), shared_solved_by(j, steps));
        warp_subtract(row, s.x + SHARED_TILE * j, y);
    }
    if (k == 0)
        barrier_wait(shared_loaded(0), shared_loaded_by(0, steps));
    shared_row(row, s.at(k, k));
    warp_apply(row, y);
    s.x[i] = y[0];
    if (k + 1 < steps)
        barrier_arrive(shared_solved(k), shared_solved_by(k, steps));
    if (i < n)
        x.store(i, y[0]);
}

#endif
