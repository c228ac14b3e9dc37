/* gpu/factor/small.cuh: block or warp scope: a front that fits in shared memory
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_FACTOR_SMALL_CUH
#define GPU_FACTOR_SMALL_CUH

#include "gpu/factor/arguments.cuh"

/* Bytes of shared memory for a front of m rows: the front, the inverse of the diagonal block at
 * hand, what pivots start from. */
template <typename T> __host__ __device__ constexpr int small_bytes(int m)
{
    const int columns = (m + 7) / 8 * 8;
    return (padded_rows<T>(m) * columns + CHOLESKY_STEP * CHOLESKY_STEP + columns) * (int)sizeof(T);
}

/* F += a child's block, r <= 32, by one warp: lanes hold the positions, and four columns are on
 * their way at a time. */
template <typename T>
__device__ __forceinline__ void pull_by_warp(const factor_arguments<T> &a, const factor_child &c,
                                             T *F, int ld)
{
    constexpr int AHEAD = 4;
    const int lane = threadIdx.x % 32, r = c.r, own = lane < r ? a.position[c.position + lane] : 0;
    const T *block = a.arena + c.block;
    for (int j0 = 0; j0 < r; j0 += AHEAD) {
        T v[AHEAD];
#pragma unroll
        for (int q = 0; q < AHEAD; q++)
            v[q] = j0 + q < r && lane >= j0 + q && lane < r ? block[lane + (j0 + q) * r] : T{};
#pragma unroll
        for (int q = 0; q < AHEAD; q++) {
            const int column = __shfl_sync(~0u, own, min(j0 + q, 31));
            if (j0 + q < r && lane >= j0 + q && lane < r) {
                T *to = F + own + column * ld;
                *to = *to + v[q];
            }
        }
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
    R *start = reinterpret_cast<R *>(X + CHOLESKY_STEP * CHOLESKY_STEP);
    const int64_t list = a.entry_start[f.entries], list_end = a.entry_start[f.entries + 1];
    for (int q = team::rank(); q < ld * columns; q += team::THREADS)
        F[q] = T{};
    for (int q = team::rank(); q < k; q += team::THREADS)
        start[q] = a.diagonal[f.first + q];
    team::sync();
    for (int64_t q = list + team::rank(); q < list_end; q += team::THREADS) {
        const factor_entry e = a.entry[q];
        F[e.row + e.column * ld] = a.value[e.value]; /* each place has one entry */
    }
    for (int c = 0; c < f.children; c++) {
        const factor_child child = a.child[f.child + c];
        team::sync();
        if constexpr (WARPS == 1)
            pull_by_warp(a, child, F, ld);
        else
            pull_part(a, child, F, ld, 0, 0, 0, child.r, 0, child.r);
    }
    team::sync();
    cholesky_columns<WARPS>(F, ld, m, k, X, 0, CHOLESKY_STEP, pivots_of(a, f.first, start));
    T *panel = a.panel + f.panel, *block = a.arena + f.block;
    for (int j = team::warp(); j < m; j += WARPS) {
        const T *from = F + j * ld;
        T *to = j < k ? panel + (int64_t)j * m : block + (int64_t)(j - k) * r - k;
        for (int i = j + lane; i < m; i += 32)
            to[i] = from[i];
    }
    team::sync(); /* the next front's memory is this one's */
}

#endif
