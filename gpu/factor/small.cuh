/* gpu/factor/small.cuh: block or warp scope: a front that fits in shared memory
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_FACTOR_SMALL_CUH
#define GPU_FACTOR_SMALL_CUH

#include "gpu/factor/arguments.cuh"

/* Bytes of shared memory for a front of m rows: the front, the inverses of two diagonal blocks,
 * pivots. */
template <typename T> __host__ __device__ constexpr int small_bytes(int m)
{
    const int columns = (m + 7) / 8 * 8;
    return (padded_rows<T>(m) * columns + 2 * CHOLESKY_STEP * CHOLESKY_STEP + columns) *
           (int)sizeof(T);
}

/* F += what the children have, whose blocks have r <= 32 rows, by one warp.  Lanes hold the
 * children and, of one child, the positions: those of the next are on their way meanwhile, and so
 * are four columns at a time. */
template <typename T>
__device__ __forceinline__ void pull_by_warp(const factor_arguments<T> &a, const factor_front &f,
                                             T *F, int ld)
{
    constexpr int AHEAD = 4;
    const int lane = threadIdx.x % 32;
    for (int c0 = 0; c0 < f.children; c0 += 32) {
        const int count = min(32, f.children - c0);
        factor_child mine = {};
        if (lane < count)
            mine = a.child[f.child + c0 + lane];
        auto position_in = [&](int c) {
            const int64_t from = __shfl_sync(~0u, mine.position, min(c, 31));
            const int r = __shfl_sync(~0u, mine.r, min(c, 31));
            return c < count && lane < r ? a.position[from + lane] : 0;
        };
        int next = position_in(0);
        for (int c = 0; c < count; c++) {
            const int own = next, r = __shfl_sync(~0u, mine.r, c);
            const T *block = a.arena + __shfl_sync(~0u, mine.block, c);
            next = position_in(c + 1);
            for (int j0 = 0; j0 < r; j0 += AHEAD) {
                T v[AHEAD];
#pragma unroll
                for (int q = 0; q < AHEAD; q++)
                    v[q] =
                        j0 + q < r && lane >= j0 + q && lane < r ? block[lane + (j0 + q) * r] : T{};
#pragma unroll
                for (int q = 0; q < AHEAD; q++) {
                    const int column = __shfl_sync(~0u, own, min(j0 + q, 31));
                    if (j0 + q < r && lane >= j0 + q && lane < r) {
                        T *to = F + own + column * ld;
                        *to = *to + v[q];
                    }
                }
            }
            __syncwarp(); /* another lane may have these entries of the next child */
        }
    }
}

/* The same by a block; a barrier before each child. */
template <typename T>
__device__ __forceinline__ void pull_by_block(const factor_arguments<T> &a, const factor_front &f,
                                              T *F, int ld)
{
    factor_child next = {};
    if (f.children > 0)
        next = a.child[f.child];
    for (int c = 0; c < f.children; c++) {
        const factor_child child = next;
        if (c + 1 < f.children)
            next = a.child[f.child + c + 1];
        __syncthreads();
        pull_part(a, {child, 0, child.r, 0, child.r}, F, ld, 0, 0);
    }
}

template <int WARPS, typename T>
__device__ __forceinline__ void factorize_small(const factor_arguments<T> &a, const factor_front &f,
                                                char *shared)
{
    using R = real_of<T>;
    using team = front_team<WARPS>;
    const int m = f.m, k = f.k, r = m - k, ld = padded_rows<T>(m), lane = threadIdx.x % 32,
              columns = (m + 7) / 8 * 8;
    T *F = reinterpret_cast<T *>(shared), *X = F + ld * columns;
    R *pivot = reinterpret_cast<R *>(X + 2 * CHOLESKY_STEP * CHOLESKY_STEP);
    for (int q = team::rank(); q < ld * columns; q += team::THREADS)
        F[q] = T{};
    team::sync();
    for (int q = team::rank(); q < f.entries; q += team::THREADS) {
        const factor_entry e = a.entry[f.entry + q];
        F[e.row + e.column * ld] = a.value[f.entry + q]; /* each place has one entry */
    }
    if constexpr (WARPS == 1) {
        __syncwarp();
        pull_by_warp(a, f, F, ld);
    } else
        pull_by_block(a, f, F, ld);
    team::sync();
    cholesky_columns<WARPS>(F, ld, m, k, X, 0, CHOLESKY_STEP, pivot);
    if (team::warp() == 0)
        judge_pivots<T>(pivot, a.diagonal + f.first, k, f.first, rule_of(a), lane, 32);
    T *panel = a.panel + f.panel, *block = a.arena + f.block;
    for (int j = team::warp(); j < m; j += WARPS) {
        const T *from = F + j * ld;
        T *to = j < k ? panel + (int64_t)j * m : block + (int64_t)(j - k) * r - k;
        for (int i = j + lane; i < m; i += 32)
            to[i] = from[i];
    }
    team::sync(); /* the next front's memory is this one's */
}

/* Fronts [first, end), one after the other; the next one's record comes while one is worked on. */
template <int WARPS, typename T>
__device__ __forceinline__ void factorize_run(const factor_arguments<T> &a, int first, int end,
                                              char *shared)
{
    factor_front next = a.front[first];
    for (int s = first; s < end; s++) {
        const factor_front f = next;
        if (s + 1 < end)
            next = a.front[s + 1];
        factorize_small<WARPS>(a, f, shared);
    }
}

#endif
