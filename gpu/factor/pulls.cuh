/* gpu/factor/pulls.cuh: block or warp scope: what a small front has from its children
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_FACTOR_PULLS_CUH
#define GPU_FACTOR_PULLS_CUH

#include "dense/cuda/device/row_product.cuh"
#include "gpu/factor/arguments.cuh"

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

/* A child's block, and behind it where its rows go, in shared memory. */
struct copied_child {
    static constexpr int TOGETHER = 32; /* children that are copied at a time, at most */
    int64_t block, position;
    int r, at; /* at: scalars before the copy */

    template <typename T> __host__ __device__ static constexpr int scalars(int r)
    {
        return r * r + (r * (int)sizeof(int32_t) + (int)sizeof(T) - 1) / (int)sizeof(T);
    }
    /* By all threads, asynchronously. */
    template <typename T, typename K>
    __device__ __forceinline__ void copy(const factor_arguments<T, K> &a, T *to) const
    {
        const T *from = a.arena + block;
        int32_t *positions = reinterpret_cast<int32_t *>(to + r * r);
        if ((int)threadIdx.x < r)
            copy_entry(positions + threadIdx.x, a.position + position + threadIdx.x, true);
#pragma unroll 2
        for (int q = threadIdx.x; q < r * r; q += CHOLESKY_THREADS)
            copy_entry(to + q, from + q, true);
    }
    /* F += it.  Each warp has every eighth column of the front, so that children need no barrier
     * between them; it adds four columns at a time. */
    template <typename T> __device__ __forceinline__ void add(const T *block, T *F, int ld) const
    {
        constexpr int WARPS = CHOLESKY_THREADS / 32, COLUMNS = 4;
        const int32_t *positions = reinterpret_cast<const int32_t *>(block + r * r);
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        for (int j0 = 0; j0 < r; j0 += 32) {
            const int own = j0 + lane < r ? positions[j0 + lane] : -1;
            unsigned columns = __ballot_sync(~0u, own >= 0 && own % WARPS == warp);
            while (columns) {
                int from[COLUMNS], to[COLUMNS];
#pragma unroll
                for (int q = 0; q < COLUMNS; q++) {
                    const int bit = __ffs((int)columns) - 1;
                    columns &= columns - 1;
                    from[q] = bit >= 0 ? j0 + bit : INT_MAX;
                    to[q] = __shfl_sync(~0u, own, bit < 0 ? 0 : bit);
                }
#pragma unroll 1
                for (int i = j0 + lane; i < r; i += 32) {
                    const int row = i < j0 + 32 ? own : positions[i];
                    T v[COLUMNS];
#pragma unroll
                    for (int q = 0; q < COLUMNS; q++)
                        if (i >= from[q])
                            v[q] = F[row + to[q] * ld] + block[i + from[q] * r];
#pragma unroll
                    for (int q = 0; q < COLUMNS; q++)
                        if (i >= from[q])
                            F[row + to[q] * ld] = v[q];
                }
            }
        }
        __syncwarp(); /* another lane may have these entries of the next child */
    }
};

/* F := entries of A and what the children have, by a block: the children's blocks are copied to
 * shared memory, as many at a time as there is room for, and added one after the other.  One that
 * has no room there is added on its way.  Begins and ends with a barrier. */
template <typename T, typename K, typename Entries>
__device__ __forceinline__ void
pull_by_block(const factor_arguments<T, K> &a, const factor_front &f, const factor_child &begin,
              T *F, int ld, copied_child *table, T *room, int scalars, Entries &&put_entries)
{
    constexpr int MOST = copied_child::TOGETHER;
    const int lane = threadIdx.x % 32;
    bool has_entries = false;
    for (int c0 = 0; c0 < f.children || !has_entries; c0 += MOST) {
        const int count = min(MOST, f.children - c0);
        if (threadIdx.x < 32) {
            factor_child mine = begin;
            if (c0 > 0)
                mine = lane < count ? a.child[f.child + c0 + lane] : factor_child{};
            if (a.word && f.outside > 0 && lane < count)
                wait_for_child(a, mine);
            int end = lane < count ? copied_child::scalars<T>(mine.r) : 0;
            const int own = end;
#pragma unroll
            for (int step = 1; step < 32; step *= 2) {
                const int before = __shfl_up_sync(~0u, end, step);
                end += lane >= step ? before : 0;
            }
            if (lane < count)
                table[lane] = {mine.block, mine.position, mine.r, end - own};
        }
        __syncthreads();
        for (int c = 0; c < count || !has_entries;) {
            const int before = c < count ? table[c].at : 0;
            int end = c;
            for (; end < count; end++) {
                const copied_child child = table[end];
                if (child.at - before + copied_child::scalars<T>(child.r) > scalars)
                    break;
                child.copy(a, room + (child.at - before));
            }
            if (!has_entries)
                put_entries();
            has_entries = true;
            copies_commit();
            copies_wait<0>();
            __syncthreads();
            for (int q = c; q < end; q++)
                table[q].add(room + (table[q].at - before), F, ld);
            if (end == c && c < count) {
                const copied_child child = table[c];
                factor_child there = {};
                there.block = child.block;
                there.position = child.position;
                there.r = child.r;
                pull_part(a, {there, 0, child.r, 0, child.r}, F, ld, 0, 0);
                end++;
            }
            __syncthreads();
            c = end;
        }
    }
}

#endif
