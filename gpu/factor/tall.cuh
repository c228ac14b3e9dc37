/* gpu/factor/tall.cuh: block scope: tasks on two tiles of a large front, one below the other
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_FACTOR_TALL_CUH
#define GPU_FACTOR_TALL_CUH

#include "gpu/factor/tall_product.cuh"
#include "gpu/factor/tiles.cuh"

/* Whether a program for that type has such tasks. */
template <typename T> constexpr bool HAS_TALL = COPIES_PAIRS<T> && !scalar<T>::is_complex;

/* Which entries of a child's block go to a tile: for each row and column of the tile the child's,
 * counted from the first one that goes there, or NOWHERE.  In shared memory. */
template <int ROWS> struct child_map {
    static constexpr int NOWHERE = 255;
    int64_t at; /* of the first entry in the arena */
    int32_t r;
    uint8_t row[ROWS], column[TILE];
};

/* Those of a task's children, as many as have room at a time, and what they have. */
template <typename T, typename K, int ROWS, int MOST> struct child_maps {
    static constexpr int COUNT = MOST < 4 ? MOST : 4; /* two warps for each */
    static_assert(COUNT > 0, "a child's has room");
    const factor_arguments<T, K> &a;
    const factor_front &f;
    const tile_place &p;
    const int i, rows_end, j;
    child_map<ROWS> *const map;

    __device__ __forceinline__ child_maps(const factor_arguments<T, K> &a, const factor_front &f,
                                          const tile_place &p, int i, int rows_end, int j, T *room)
        : a(a), f(f), p(p), i(i), rows_end(rows_end), j(j),
          map(reinterpret_cast<child_map<ROWS> *>(room))
    {
    }

    /* Brings those of children [first, first + COUNT), and what they have nearer; begins and ends
     * with a barrier. */
    __device__ __forceinline__ void find(int first) const
    {
        constexpr int WORDS = (ROWS + TILE) / 4;
        __syncthreads();
        for (int q = threadIdx.x; q < COUNT * WORDS; q += CHOLESKY_THREADS)
            reinterpret_cast<uint32_t *>(map[q / WORDS].row)[q % WORDS] = ~0u;
        const int q = (int)threadIdx.x / TILE, lane = (int)threadIdx.x % TILE;
        const bool is_there = q < COUNT && first + q < f.children;
        int i0 = 0, i1 = 0, j0 = 0, j1 = 0;
        factor_child c = {};
        if (is_there) {
            c = a.child[f.child + first + q];
            const int32_t *begin = a.begin + c.begin;
            i0 = begin[i];
            i1 = begin[rows_end];
            j0 = begin[j];
            j1 = begin[j + 1];
        }
        const int32_t *position = a.position + c.position;
        int row[ROWS / TILE];
#pragma unroll
        for (int h = 0; h < ROWS / TILE; h++)
            row[h] = i0 + lane + h * TILE < i1 ? position[i0 + lane + h * TILE] - p.row : -1;
        const int column = j0 + lane < j1 ? position[j0 + lane] - p.column : -1;
        __syncthreads();
#pragma unroll
        for (int h = 0; h < ROWS / TILE; h++)
            if (row[h] >= 0)
                map[q].row[row[h]] = (uint8_t)(lane + h * TILE);
        if (column >= 0) {
            map[q].column[column] = (uint8_t)lane;
            const T *from = a.arena + c.block + i0 + (int64_t)(j0 + lane) * c.r;
            for (int x = 0; x < i1 - i0; x += 128 / (int)sizeof(T))
                asm volatile("prefetch.global.L2 [%0];" ::"l"(from + x));
        }
        if (is_there && lane == 0) {
            map[q].at = c.block + i0 + (int64_t)j0 * c.r;
            map[q].r = c.r;
        }
        __syncthreads();
    }
    /* Calls take(k, v) for what each of children [first, first + COUNT), whose maps are there, has
     * for entry (at(k).x, at(k).y) of the tile, or zero, k < N: one child after the other, all of
     * its entries on their way at once. */
    template <int N, typename At, typename Take>
    __device__ __forceinline__ void visit(int first, At &&at, Take &&take) const
    {
#pragma unroll 1
        for (int q = 0; q < COUNT && first + q < f.children; q++) {
            const child_map<ROWS> &m = map[q];
            const T *const from = a.arena + m.at;
            const int r = m.r;
            T v[N];
#pragma unroll
            for (int k = 0; k < N; k++) {
                const int i = at(k).x, j = at(k).y, row = m.row[i], column = m.column[j];
                const bool is_there = row != m.NOWHERE && column != m.NOWHERE && p.has(i, j);
                v[k] = is_there ? from[row + (int64_t)column * r] : T{};
            }
#pragma unroll
            for (int k = 0; k < N; k++)
                take(k, v[k]);
        }
    }
};

/* Where the tiles of a task lie. */
__device__ __forceinline__ tile_place tall_place(const factor_front &f, const factor_task &task)
{
    tile_place p(f, task.i, task.j);
    p.rows = factor_block_row(&f, task.i + 2) - p.row;
    return p;
}

/* Tiles in memory -= a sum. */
template <typename T>
__device__ __forceinline__ void subtract_tall(T *at, int64_t ld, const tall_sum<T> &sum,
                                              const tile_place &p)
{
#pragma unroll
    for (int h = 0; h < 2; h++) {
        T v[16]; /* all of them are on their way before the first is stored */
#pragma unroll
        for (int k = 0; k < 16; k++) {
            const int2 e = sum.place(h, k);
            v[k] = at[min(e.x, p.rows - 1) + (int64_t)min(e.y, p.columns - 1) * ld];
        }
#pragma unroll
        for (int k = 0; k < 16; k++) {
            const int2 e = sum.place(h, k);
            if (e.x < p.rows && e.y < p.columns)
                at[e.x + (int64_t)e.y * ld] = v[k] - sum.half[h].entry(k / 4, k % 4);
        }
    }
}

/* The lines of tiles in memory come to the cache. */
template <typename T>
__device__ __forceinline__ void prefetch_tall(const T *at, int64_t ld, const tile_place &p)
{
    constexpr int LINE = 128 / (int)sizeof(T);
    for (int q = threadIdx.x; q < p.columns * (TALL_ROWS / LINE); q += CHOLESKY_THREADS)
        if (q % (TALL_ROWS / LINE) * LINE < p.rows)
            asm volatile("prefetch.global.L2 [%0];" ::"l"(at + q % (TALL_ROWS / LINE) * LINE +
                                                          q / (TALL_ROWS / LINE) * ld));
}

/* What the task tells at its end. */
template <typename T, typename K>
__device__ __forceinline__ void tell_tall(const factor_arguments<T, K> &a, int t)
{
    __syncthreads();
    if (threadIdx.x > 1) /* a thread for each tile */
        return;
    const factor_task task = a.task[t];
    if (task.kind == FACTOR_TALL_CONTRIBUTION)
        progress_count(a.word + a.front_words + task.front);
    else
        tell_tile(a, a.front[task.front], task, threadIdx.x);
}

/* FACTOR_TALL_UPDATE and FACTOR_TALL_CONTRIBUTION.  What is wanted behind the product is asked for
 * once more there: kept in registers it would drive what the product wants to memory. */
template <typename T, typename K>
__device__ __forceinline__ void run_tall(const factor_arguments<T, K> &a, int t, T *stages)
{
    constexpr int ROOM = (tile_room<T>::STAGES + TILE - TALL_ROOM<T>)*(int)sizeof(T);
    T *const room = stages + TALL_ROOM<T>;
    typedef child_maps<T, K, TALL_ROWS, ROOM / (int)sizeof(child_map<TALL_ROWS>)> maps;
    tall_sum<T> sum;
    {
        const factor_task task = a.task[t];
        const factor_front f = a.front[task.front];
        const tile_place p = tall_place(f, task);
        const int from = factor_block_row(&f, task.from), to = factor_block_row(&f, task.to);
        multiply_tall(sum, panel_rows(a, f, p.row, p.rows, from),
                      panel_rows(a, f, p.column, p.columns, from), to - from, task.i == task.j,
                      stages, a.signs_at(f.first + from), [&] {
                          if (task.kind == FACTOR_TALL_UPDATE)
                              prefetch_tall(a.panel + f.panel + p.row + (int64_t)p.column * f.ld,
                                            f.ld, p);
                          else
                              maps(a, f, p, task.i, task.i + 2, task.j, room).find(0);
                      });
    }
    const factor_task task = a.task[t];
    const factor_front f = a.front[task.front];
    const tile_place p = tall_place(f, task);
    if (task.kind == FACTOR_TALL_UPDATE) {
        subtract_tall(a.panel + f.panel + p.row + (int64_t)p.column * f.ld, f.ld, sum, p);
        return;
    }
    const maps children(a, f, p, task.i, task.i + 2, task.j, room);
    for (int c = 0; c < f.children; c += children.COUNT) {
        if (c > 0)
            children.find(c);
#pragma unroll
        for (int h = 0; h < 2; h++)
            children.template visit<16>(
                c, [&](int k) { return sum.place(h, k); },
                [&](int k, T v) { sum.half[h].part[0][k / 4][k % 4] -= v; });
    }
    const int r = f.m - f.k;
    T *out = a.arena + f.block + p.row - f.k + (int64_t)(p.column - f.k) * r;
#pragma unroll
    for (int h = 0; h < 2; h++)
#pragma unroll
        for (int k = 0; k < 16; k++) {
            const int2 e = sum.place(h, k);
            if (e.x < p.rows && e.y < p.columns && p.has(e.x, e.y))
                out[e.x + (int64_t)e.y * r] = -sum.half[h].entry(k / 4, k % 4);
        }
}

#endif
