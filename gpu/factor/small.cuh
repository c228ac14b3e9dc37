/* gpu/factor/small.cuh: block or warp scope: a front that fits in shared memory
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_FACTOR_SMALL_CUH
#define GPU_FACTOR_SMALL_CUH

#include "gpu/factor/arguments.cuh"

/* Bytes of shared memory for a front of m rows: the front, the inverses of two diagonal blocks,
 * pivots, whether the inverses grow. */
template <typename T> __host__ __device__ constexpr int small_bytes(int m)
{
    const int columns = (m + 7) / 8 * 8;
    return (padded_rows<T>(m) * columns + 2 * CHOLESKY_STEP * CHOLESKY_STEP + columns + 2) *
           (int)sizeof(T);
}

/* Columns of a child's block on their way to a warp, whose lanes have the rows. */
template <typename T> struct block_columns {
    static constexpr int COUNT = sizeof(T) == 16 ? 4 : 8;
    int r, first;
    int position; /* of this lane's row in the front */
    T v[COUNT];

    __device__ __forceinline__ bool has(int column) const
    {
        const int lane = threadIdx.x % 32;
        return column <= lane && lane < r;
    }
    __device__ __forceinline__ void load(const T *block)
    {
#pragma unroll
        for (int q = 0; q < COUNT; q++)
            v[q] = has(first + q) ? block[threadIdx.x % 32 + (first + q) * r] : T{};
    }
    __device__ __forceinline__ void add(T *F, int ld) const
    {
        T *to[COUNT], sum[COUNT];
#pragma unroll
        for (int q = 0; q < COUNT; q++) {
            to[q] = F + position + __shfl_sync(~0u, position, min(first + q, 31)) * ld;
            sum[q] = has(first + q) ? *to[q] + v[q] : T{};
        }
#pragma unroll
        for (int q = 0; q < COUNT; q++)
            if (has(first + q))
                *to[q] = sum[q];
    }
};

/* Blocks of at most SMALL_ROWS rows, of several children at a time on their way to a warp, whose
 * lanes have two entries of each. */
template <typename T> struct small_blocks {
    static constexpr int SMALL_ROWS = 10, TOGETHER = 4, EACH = 2;
    T v[TOGETHER][EACH];
    int at[TOGETHER][EACH]; /* in the front; -1: none */

    /* Those of children first, first + 1, ... < count of the lanes. */
    template <typename K>
    __device__ __forceinline__ void load(const factor_arguments<T, K> &a, const factor_child &mine,
                                         int first, int count, int ld)
    {
#pragma unroll
        for (int q = 0; q < TOGETHER; q++) {
            const int c = min(first + q, count - 1), r = __shfl_sync(~0u, mine.r, c);
            const T *block = a.arena + __shfl_sync(~0u, mine.block, c);
            const int32_t *position = a.position + __shfl_sync(~0u, mine.position, c);
            const int entries = first + q < count ? r * (r + 1) / 2 : 0;
#pragma unroll
            for (int t = 0; t < EACH; t++) {
                const int e = (int)threadIdx.x % 32 + 32 * t;
                at[q][t] = -1;
                v[q][t] = T{};
                if (e < entries) {
                    int j = 0, begin = 0; /* of column j of the triangle */
                    while (begin + r - j <= e)
                        begin += r - j++;
                    const int i = j + e - begin;
                    v[q][t] = block[i + j * r];
                    at[q][t] = position[i] + position[j] * ld;
                }
            }
        }
    }
    /* F += them, child by child. */
    __device__ __forceinline__ void add(T *F) const
    {
#pragma unroll
        for (int q = 0; q < TOGETHER; q++) {
#pragma unroll
            for (int t = 0; t < EACH; t++)
                if (at[q][t] >= 0)
                    F[at[q][t]] = F[at[q][t]] + v[q][t];
            __syncwarp(); /* another lane may have these entries of the next child */
        }
    }
};

/* The same as below of children that all have such blocks, `count` of them. */
template <typename T, typename K>
__device__ __forceinline__ void pull_small_blocks(const factor_arguments<T, K> &a,
                                                  const factor_child &mine, int count, T *F, int ld)
{
    constexpr int TOGETHER = small_blocks<T>::TOGETHER;
    small_blocks<T> next;
    next.load(a, mine, 0, count, ld);
    for (int c = 0; c < count; c += TOGETHER) {
        const small_blocks<T> now = next;
        if (c + TOGETHER < count)
            next.load(a, mine, c + TOGETHER, count, ld);
        now.add(F);
    }
}

/* F += what the children have, whose blocks have r <= 32 rows, by one warp.  Lanes hold the
 * children, the first 32 of them `begin`.  Some columns are on their way while those before them
 * are added, the next child's too. */
template <typename T, typename K>
__device__ __forceinline__ void pull_by_warp(const factor_arguments<T, K> &a, const factor_front &f,
                                             const factor_child &begin, T *F, int ld)
{
    const int lane = threadIdx.x % 32;
    for (int c0 = 0; c0 < f.children; c0 += 32) {
        const int count = min(32, f.children - c0);
        factor_child mine = begin;
        if (c0 > 0)
            mine = lane < count ? a.child[f.child + c0 + lane] : factor_child{};
        if (count > 1 && __all_sync(~0u, lane >= count || mine.r <= small_blocks<T>::SMALL_ROWS)) {
            pull_small_blocks(a, mine, count, F, ld);
            continue;
        }
        block_columns<T> next = {};
        auto load = [&](int c) {
            const int64_t from = __shfl_sync(~0u, mine.position, c);
            const T *block = a.arena + __shfl_sync(~0u, mine.block, c);
            next.r = __shfl_sync(~0u, mine.r, c);
            if (next.first == 0)
                next.position = lane < next.r ? a.position[from + lane] : 0;
            next.load(block);
        };
        load(0);
        for (int c = 0; c < count;) {
            const block_columns<T> now = next;
            next.first += block_columns<T>::COUNT;
            if (next.first >= now.r) {
                next.first = 0;
                c++;
            }
            if (c < count)
                load(c);
            now.add(F, ld);
            if (next.first == 0)
                __syncwarp(); /* another lane may have these entries of the next child */
        }
    }
}

/* The same by a block; a barrier before each child. */
template <typename T, typename K>
__device__ __forceinline__ void pull_by_block(const factor_arguments<T, K> &a,
                                              const factor_front &f, T *F, int ld)
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

/* What a thread needs first of a front, asked for as the front before is stored. */
template <int WARPS, typename T> struct front_begin {
    factor_entry entry;
    T value;
    factor_child child; /* by a warp: of each lane */

    template <typename K>
    __device__ __forceinline__ void load(const factor_arguments<T, K> &a, const factor_front &f)
    {
        const int rank = front_team<WARPS>::rank();
        if (rank < f.entries) {
            entry = a.entry[f.entry + rank];
            value = a.value[f.entry + rank];
        }
        if (WARPS == 1)
            child = rank < f.children ? a.child[f.child + rank] : factor_child{};
    }
};

/* F := entries of A and what the children have; begins and ends with a barrier of the team. */
template <int WARPS, typename T, typename K>
__device__ __forceinline__ void
assemble_small(const factor_arguments<T, K> &a, const factor_front &f,
               const front_begin<WARPS, T> &begin, T *F, int ld, int columns)
{
    using team = front_team<WARPS>;
    const int rank = team::rank();
    if (a.word && f.outside > 0) {
        if (WARPS == 1 && rank < f.children)
            wait_for_child(a, begin.child);
        for (int c = WARPS == 1 ? rank + 32 : rank; c < f.children; c += team::THREADS)
            wait_for_child(a, a.child[f.child + c]);
    }
    team::sync();
    for (int q = rank; q < ld * columns; q += team::THREADS)
        F[q] = T{};
    team::sync();
    for (int q = rank; q < f.entries; q += team::THREADS) { /* each place has one entry */
        const factor_entry e = q == rank ? begin.entry : a.entry[f.entry + q];
        F[e.row + e.column * ld] = q == rank ? begin.value : a.value[f.entry + q];
    }
    if constexpr (WARPS == 1) {
        __syncwarp();
        pull_by_warp(a, f, begin.child, F, ld);
    } else
        pull_by_block(a, f, F, ld);
    team::sync();
}

/* The front whose begin is there; when F is done with but for stores, `then` is called. */
template <int WARPS, typename T, typename K, typename Then>
__device__ __forceinline__ void
factorize_small(const factor_arguments<T, K> &a, const factor_front &f,
                const front_begin<WARPS, T> &begin, char *shared, Then &&then)
{
    using R = real_of<T>;
    using team = front_team<WARPS>;
    const int m = f.m, k = f.k, r = m - k, ld = padded_rows<T>(m), lane = threadIdx.x % 32,
              columns = (m + 7) / 8 * 8, rank = team::rank();
    T *F = reinterpret_cast<T *>(shared), *X = F + ld * columns;
    R *pivot = reinterpret_cast<R *>(X + 2 * CHOLESKY_STEP * CHOLESKY_STEP);
    assemble_small(a, f, begin, F, ld, columns);
    cholesky_columns<WARPS, false>(F, ld, m, k, X, 0, CHOLESKY_STEP, pivot,
                                   reinterpret_cast<int *>(pivot + columns), 0,
                                   a.signs_at(f.first));
    const R start = rank < k ? a.diagonal[f.first + rank] : 0;
    then();
    T *panel = a.panel + f.panel, *block = a.arena + f.block;
    for (int j = team::warp(); j < m; j += WARPS) {
        const T *from = F + j * ld;
        T *to = j < k ? panel + (int64_t)j * m : block + (int64_t)(j - k) * r - k;
        for (int i = j + lane; i < m; i += 32)
            to[i] = from[i];
    }
    if (32 * team::warp() < k)
        judge_pivot<T>(rank < k, rank < k ? pivot[rank] : 0, start, f.first + rank, rule_of(a));
}

/* Fronts [first, end), a run, one after the other; the next one's record comes while one is worked
 * on, its begin while it is stored.  word: to be told at the end. */
template <int WARPS, typename T, typename K>
__device__ __forceinline__ void factorize_run(const factor_arguments<T, K> &a, int first, int end,
                                              int word, char *shared)
{
    factor_front next = a.front[first];
    front_begin<WARPS, T> begin;
    begin.load(a, next);
    for (int s = first; s < end; s++) {
        const factor_front f = next;
        const bool goes_on = s + 1 < end;
        if (goes_on)
            next = a.front[s + 1];
        const front_begin<WARPS, T> now = begin;
        factorize_small<WARPS>(a, f, now, shared, [&] {
            if (goes_on)
                begin.load(a, next);
        });
    }
    if (a.word == nullptr)
        return;
    front_team<WARPS>::sync();
    if (front_team<WARPS>::rank() == 0)
        progress_tell(a.word + word, 1);
}

#endif
