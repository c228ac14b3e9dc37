/* gpu/factor/tiles.cuh: block scope: the tasks on tiles of large fronts
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_FACTOR_TILES_CUH
#define GPU_FACTOR_TILES_CUH

#include "dense/cuda/device/row_tiles.cuh"
#include "gpu/factor/arguments.cuh"

/* A thread waits for the q-th of what a task on tiles reads. */
template <typename T, typename K>
__device__ __forceinline__ void wait_for_tile(const factor_arguments<T, K> &a,
                                              const factor_front &f, const factor_task &task, int q)
{
    const factor_wait w = factor_wait_of(&f, &task, q);
    if (w.word >= 0)
        wait_for_word(a, w.word, w.least);
}

/* All threads wait for what a task on tiles begins with; ends with a barrier. */
template <typename T, typename K>
__device__ __forceinline__ void wait_for_tiles(const factor_arguments<T, K> &a,
                                               const factor_task &given)
{
    const factor_task task = given;
    const factor_front f = a.front[task.front];
    if (threadIdx.x < FACTOR_EARLY)
        wait_for_tile(a, f, task, threadIdx.x);
    else if (threadIdx.x == FACTOR_EARLY && factor_waits_for_block(&f, &task))
        wait_for_word(a, a.front_words + task.front, factor_contributions(&f));
    __syncthreads();
}

/* All threads wait for all children; no barrier. */
template <typename T, typename K>
__device__ __forceinline__ void wait_for_children(const factor_arguments<T, K> &a,
                                                  const factor_front &f)
{
    for (int c = threadIdx.x; a.word && c < f.children; c += CHOLESKY_THREADS)
        wait_for_child(a, a.child[f.child + c]);
}

/* A thread, behind a barrier, tells the q-th word of what a task has done. */
template <typename T, typename K>
__device__ __forceinline__ void tell_tile(const factor_arguments<T, K> &a, const factor_front &f,
                                          const factor_task &task, int q)
{
    const factor_wait w = factor_tell_of(&f, &task, q);
    if (w.word >= 0)
        progress_tell(a.word + w.word, w.least);
}

/* What a task tells at its end, by one thread behind a barrier.  The first of two words that
 * FACTOR_ROWS may have is told before, and so are those of FACTOR_PIVOT. */
template <typename T, typename K>
__device__ __forceinline__ void tell_end(const factor_arguments<T, K> &a, const factor_task &given)
{
    const factor_task task = given;
    const factor_front f = a.front[task.front];
    __syncthreads();
    if (threadIdx.x > 0 || task.kind == FACTOR_PIVOT)
        return;
    if (task.kind == FACTOR_CONTRIBUTION || task.kind == FACTOR_DIVIDE)
        progress_count(a.word + a.front_words + task.front);
    else
        tell_tile(a, f, task, factor_tell_of(&f, &task, 1).word >= 0);
}

/* Where tile (i, j) of a front lies. */
struct tile_place {
    int row, rows, column, columns;

    __device__ __forceinline__ tile_place(const factor_front &f, int i, int j)
    {
        row = factor_block_row(&f, i);
        rows = factor_block_row(&f, i + 1) - row;
        column = factor_block_row(&f, j);
        columns = factor_block_row(&f, j + 1) - column;
    }
    __device__ __forceinline__ bool has(int i, int j) const /* at or below the front's diagonal */
    {
        return row + i >= column + j;
    }
};

/* Rows of the panel from a column on; of pivot rows, which begin at multiples of 64. */
template <typename T, typename K>
__device__ __forceinline__ row_operand<T> panel_rows(const factor_arguments<T, K> &a,
                                                     const factor_front &f, int row, int rows,
                                                     int column, bool are_pivot_rows = false)
{
    const T *at = a.panel + f.panel + row + (int64_t)column * f.ld;
    return {at, f.ld, rows,
            COPIES_PAIRS<T> && !are_pivot_rows ? (int)((uintptr_t)at / sizeof(T) % 2) : 0};
}

/* What of child number c, if there is one, goes to row blocks i and j. */
template <typename T, typename K>
__device__ __forceinline__ child_part part_for(const factor_arguments<T, K> &a,
                                               const factor_front &f, int c, int i, int j)
{
    if (c >= f.children)
        return {};
    const factor_child child = a.child[f.child + c];
    const int32_t *begin = a.begin + child.begin;
    return {child, begin[i], begin[i + 1], begin[j], begin[j + 1]};
}

/* Tile += what the children have for row blocks i and j; where the next one's part begins is looked
 * up meanwhile.  Before each child a barrier, none at the end. */
template <typename T, typename K>
__device__ __forceinline__ void pull_tile(const factor_arguments<T, K> &a, const factor_front &f,
                                          int i, int j, const tile_place &p, T *tile)
{
    child_part next = part_for(a, f, 0, i, j);
    wait_for_children(a, f);
    for (int c = 0; c < f.children; c++) {
        const child_part part = next;
        next = part_for(a, f, c + 1, i, j);
        if (c > 0 && (part.i0 == part.i1 || part.j0 == part.j1))
            continue;
        __syncthreads();
        pull_part(a, part, tile, TILE_LD<T>, p.row, p.column);
    }
}

/* Tile := entries of A and what the children have for row blocks i and j.  Ends with a barrier. */
template <typename T, typename K>
__device__ __forceinline__ void assemble(const factor_arguments<T, K> &a, const factor_front &f,
                                         int i, int j, const tile_place &p, T *tile)
{
    tile_clear(tile);
    __syncthreads();
    const int number = factor_tile_number(&f, i, j);
    const int64_t end = a.tile_end[f.tiles + number];
    for (int64_t q = factor_tile_begin(&f, a.tile_end, number) + threadIdx.x; q < end;
         q += CHOLESKY_THREADS) { /* each place has one entry */
        const factor_entry e = a.entry[q];
        tile[e.row + e.column * TILE_LD<T>] = a.value[q];
    }
    pull_tile(a, f, i, j, p, tile);
    __syncthreads();
}

template <typename T, typename K>
__device__ __forceinline__ void assemble_tile(const factor_arguments<T, K> &a,
                                              const factor_task &given, T *tile)
{
    const factor_task task = given;
    const factor_front f = a.front[task.front];
    const tile_place p(f, task.i, task.j);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    assemble(a, f, task.i, task.j, p, tile);
    T *to = a.panel + f.panel + p.row + (int64_t)p.column * f.ld;
    for (int j = warp; j < p.columns; j += CHOLESKY_THREADS / 32)
        for (int i = lane; i < p.rows; i += 32)
            if (p.has(i, j))
                to[i + (int64_t)j * f.ld] = tile[i + j * TILE_LD<T>];
}

template <typename T, typename K>
__device__ __forceinline__ void update_tile(const factor_arguments<T, K> &a,
                                            const factor_task &given, T *stages)
{
    const factor_task task = given;
    const factor_front f = a.front[task.front];
    const tile_place p(f, task.i, task.j);
    const int from = factor_block_row(&f, task.from), to = factor_block_row(&f, task.to);
    T *out = a.panel + f.panel + p.row + (int64_t)p.column * f.ld;
    /* a line for each thread: a quarter of a column of eight bytes an entry */
    const T *line = out + (int)threadIdx.x % 4 * (TILE / 4) + (int64_t)(threadIdx.x / 4) * f.ld;
    if ((int)threadIdx.x / 4 < p.columns && (int)threadIdx.x % 4 * (TILE / 4) < p.rows)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(line));
    product_sum<T, 4> sum;
    multiply_rows(sum, panel_rows(a, f, p.row, p.rows, from),
                  panel_rows(a, f, p.column, p.columns, from), to - from, task.i == task.j, stages,
                  COPIES<T>, a.signs_at(f.first + from));
    subtract_sum(out, f.ld, sum, p.rows, p.columns, task.i == task.j);
}

template <typename T, typename K>
__device__ __forceinline__ row_operand<T> inverse_of(const factor_arguments<T, K> &a,
                                                     const factor_front &f, int block)
{
    return {a.inverse + (int64_t)(f.inverse + block) * TILE * TILE, TILE, TILE, 0};
}

/* The signs of the columns of a panel. */
template <typename T, typename K>
__device__ __forceinline__ auto signs_of(const factor_arguments<T, K> &a, const factor_front &f,
                                         int panel)
{
    return a.signs_at(f.first).at(panel * TILE);
}

/* A task's part of tile (i, j) of L, in two steps without a barrier at their ends.  Tiles in shared
 * memory: [0] L(i, j-1), behind its shift, if j > 0; [1] the tile at hand. */
template <typename T, typename K> struct row_maker {
    const factor_arguments<T, K> &a;
    const factor_front &f;
    T *const (&tile)[3];
    const tile_place p;
    const int j;
    const row_operand<T> last; /* L(i, j-1) */

    __device__ __forceinline__ row_maker(const factor_arguments<T, K> &a, const factor_front &f,
                                         int i, int j, bool are_pivot_rows, T *const (&tile)[3])
        : a(a), f(f), tile(tile), p(f, i, j), j(j),
          last(panel_rows(a, f, p.row, p.rows, p.column - TILE, are_pivot_rows))
    {
    }
    __device__ __forceinline__ T *out() const
    {
        return a.panel + f.panel + p.row + (int64_t)p.column * f.ld;
    }
    /* tile[1] := it - L(i, j-1) L(j, j-1)^H, j > 0 */
    __device__ __forceinline__ void begin() const
    {
        const tile_part<T> before(out(), 1, f.ld, p.rows, p.columns);
        product_sum<T, 4> sum;
        tile_fetch(tile[0], last, TILE);
        tile_fetch(tile[1], panel_rows(a, f, p.column, p.columns, p.column - TILE, true), TILE);
        copies_commit();
        copies_wait<0>();
        __syncthreads();
        multiply_tiles(sum, tile[0] + last.shift, tile[1], signs_of(a, f, j - 1));
        __syncthreads();
        before.put_less(tile[1], sum, p.rows, p.columns, false);
    }
    /* tile[1] and the panel := tile[1] X^H, X the inverse of diagonal block j, which is brought to
     * `room`, or substitution with that block. */
    __device__ __forceinline__ void end(T *room) const
    {
        const bool substitutes = a.grows[f.inverse + j];
        T *const to = out();
        tile_fetch(room, inverse_of(a, f, j), TILE);
        copies_commit();
        copies_wait<0>();
        __syncthreads();
        if (substitutes) {
            substitute_rows(tile[1], a.panel + f.panel + (int64_t)p.column * (f.ld + 1), to, 1,
                            f.ld, p.rows, p.columns, room, signs_of(a, f, j));
            return;
        }
        product_sum<T, 4> scaled;
        multiply_by_inverse(scaled, tile[1], room, typename K::signs{});
        __syncthreads();
        multiply_put(tile[1] + sum_row() + sum_column() * TILE_LD<T>, TILE_LD<T>, scaled, false);
        each_entry(scaled, p.rows, p.columns,
                   [&](int i, int j, T v) { to[i + (int64_t)j * f.ld] = v; });
    }
};

/* Threads wait for what a task does not begin with; ends with a barrier. */
template <typename T, typename K>
__device__ __forceinline__ void wait_for_rest(const factor_arguments<T, K> &a,
                                              const factor_front &f, const factor_task &task)
{
    const int q = FACTOR_EARLY + (int)threadIdx.x / 32;
    if (a.word && threadIdx.x % 32 == 0 && q < FACTOR_WAITS)
        wait_for_tile(a, f, task, q);
    __syncthreads();
}

/* Tile (i, j) of L, and for the second row block behind the diagonal the products of panels j - 1
 * and j from its own diagonal block, which is the next but one to be factorized. */
template <typename T, typename K>
__device__ __forceinline__ void finish_rows(const factor_arguments<T, K> &a,
                                            const factor_task &given, T *const (&tile)[3])
{
    const factor_task task = given;
    const factor_front f = a.front[task.front];
    const row_maker<T, K> rows(a, f, task.i, task.j, false, tile);
    if (task.j == 0)
        assemble(a, f, task.i, 0, rows.p, tile[1]);
    else
        rows.begin();
    wait_for_rest(a, f, task);
    rows.end(tile[2]);
    if (!factor_rows_go_on(&f, task.i, task.j))
        return;
    const tile_place p(f, task.i, task.i);
    T *out = a.panel + f.panel + p.row + (int64_t)p.column * f.ld;
    __syncthreads();
    if (a.word && threadIdx.x == 0)
        tell_tile(a, f, task, 0);
    if (sum_row() + 15 < sum_column())
        return;
    product_sum<T, 4> sum;
    if (task.j > 0)
        multiply_tiles(sum, tile[0], tile[0], signs_of(a, f, task.j - 1));
    multiply_tiles(sum, tile[1], tile[1], signs_of(a, f, task.j));
    subtract_sum(out, f.ld, sum, p.rows, p.columns, true);
}

/* Diagonal block t, after row block t of panel t - 1, which nobody else does: Cholesky and inverse.
 */
template <typename T, typename K>
__device__ __forceinline__ void factorize_pivots(const factor_arguments<T, K> &a,
                                                 const factor_task &given, T *const (&tile)[3],
                                                 pivot_of<T, K> *pivot)
{
    const factor_task task = given;
    const factor_front f = a.front[task.front];
    constexpr int LD = TILE_LD<T>;
    const tile_place p(f, task.i, task.i);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, k = p.columns, t = task.i;
    T *out = a.panel + f.panel + p.row + (int64_t)p.column * f.ld;
    const bool has_pivot = (int)threadIdx.x < k;
    const real_of<T> start = has_pivot ? a.diagonal[f.first + p.column + threadIdx.x] : 0;
    T *const X = tile[0], *const D = tile[2];
    const bool has_rows = f.m > p.row + k; /* which want the inverse */
    const auto put_block = [&] {
        for (int j = warp; j < k; j += CHOLESKY_THREADS / 32)
            for (int i = j + lane; i < k; i += 32)
                out[i + (int64_t)j * f.ld] = D[i + j * LD];
    };
    if (t <= 1)
        assemble(a, f, t, 0, tile_place(f, t, 0), t == 0 ? D : tile[1]);
    if (t > 0) {
        const tile_part<T> before(out, 1, f.ld, k, k);
        const row_maker<T, K> rows(a, f, t, t - 1, true, tile);
        before.put_less(D, {}, k, k, true);
        if (t > 1)
            rows.begin();
        wait_for_rest(a, f, task);
        rows.end(X);
    }
    if (t > 0 && k == TILE)
        __syncthreads(); /* X is what the inverse before it was, zeros above its diagonal */
    else
        begin_block(D, X, k);
    if (t > 0) {
        subtract_square(D, D, tile[1], signs_of(a, f, t - 1));
        __syncthreads();
    }
    const auto meanwhile = [&](int step) {
        if (a.word && step == 0 && threadIdx.x % 32 == 0)
            tell_tile(a, f, task, 0);
        __syncwarp();
    };
    cholesky_64(D, k, X, *reinterpret_cast<cholesky_room<T> *>(tile[1]), pivot, meanwhile,
                signs_of(a, f, t).first(k));
    int grows = 0;
    if (has_rows) {
        T *inverse = a.inverse + (int64_t)(f.inverse + t) * TILE * TILE;
        grows = __syncthreads_or(look_at_inverse(
            X,
            [&](int i, int) { return magnitude(pivot_part<typename K::signs>(D[i * (LD + 1)])); },
            [&](int i, int j, T x) { inverse[i + j * TILE] = x; }));
        if (threadIdx.x == 0)
            a.grows[f.inverse + t] = grows;
    }
    if (grows) { /* others will want the block */
        put_block();
        __syncthreads();
    }
    if (a.word && threadIdx.x == 0)
        tell_tile(a, f, task, 1);
    if (!grows)
        put_block();
    if (warp < TILE / 32)
        judge_pivot<T>(has_pivot, judged(pivot[threadIdx.x]), start,
                       f.first + p.column + threadIdx.x, rule_of(a));
    __syncthreads();
    if (a.word && threadIdx.x == 0)
        tell_tile(a, f, task, 2);
}

/* What children have and all products but that of the last panel are there before it is.  A front
 * without pivots, of a Schur complement, has no panels. */
template <typename T, typename K>
__device__ __forceinline__ void form_contribution(const factor_arguments<T, K> &a,
                                                  const factor_task &given, T *stages)
{
    const factor_task task = given;
    const factor_front f = a.front[task.front];
    constexpr int LD = TILE_LD<T>;
    const tile_place p(f, task.i, task.j);
    const int r = f.m - f.k, last = f.k > 0 ? factor_block_row(&f, factor_pivot_blocks(&f) - 1) : 0;
    const bool same = task.i == task.j;
    T *const tile = stages + 2 * TILE_AREA<T>, *const right = same ? stages : stages + TILE_AREA<T>;
    product_sum<T, 4> sum;
    multiply_rows(sum, panel_rows(a, f, p.row, p.rows, 0), panel_rows(a, f, p.column, p.columns, 0),
                  last, same, stages, COPIES<T>, a.signs_at(f.first));
    tile_clear(tile);
    __syncthreads();
    pull_tile(a, f, task.i, task.j, p, tile);
    wait_for_rest(a, f, task);
    if (f.k > 0) {
        const row_operand<T> rows = panel_rows(a, f, p.row, p.rows, last),
                             columns = panel_rows(a, f, p.column, p.columns, last);
        tile_fetch(stages, rows, f.k - last);
        if (!same)
            tile_fetch(right, columns, f.k - last);
        copies_commit();
        copies_wait<0>();
        __syncthreads();
        if (!same || sum_row() + 15 >= sum_column())
            multiply_tiles(sum, stages + rows.shift, right + columns.shift,
                           a.signs_at(f.first + last).at(0));
    }
    T *out = a.arena + f.block + p.row - f.k + (int64_t)(p.column - f.k) * r;
    each_entry(sum, p.rows, p.columns, [&](int i, int j, T v) {
        if (p.has(i, j))
            out[i + (int64_t)j * r] = tile[i + j * LD] - v;
    });
}

/* L of a row block gets a unit diagonal, which is not written, and D its pivots; the sums of |L|^2
 * of its rows.  Warps have 32 columns and 32 rows at a time. */
template <typename T, typename K>
__device__ __forceinline__ void divide_rows(const factor_arguments<T, K> &a,
                                            const factor_task &given, T *shared)
{
    constexpr int AHEAD = 8, GROUPS = CHOLESKY_THREADS / 64; /* of columns */
    using P = pivot_of<T, K>;
    if constexpr (K::HAS_SIGNS) {
        const factor_task task = given;
        const factor_front f = a.front[task.front];
        const int row = factor_block_row(&f, task.i), rows = factor_block_row(&f, task.i + 1) - row,
                  columns = min(row + rows, f.k), lane = threadIdx.x % 32, warp = threadIdx.x / 32,
                  own = warp % 2 * 32 + lane, i = row + own;
        double(*const part)[64] = reinterpret_cast<double(*)[64]>(shared);
        T *const panel = a.panel + f.panel;
        double sum = 0;
        for (int first = warp / 2 * 32; first < columns; first += GROUPS * 32) {
            const int column = first + lane;
            const T diagonal = column < f.k ? panel[column * (int64_t)(f.ld + 1)] : from_real<T>(1);
            const P root = pivot_part<typename K::signs>(diagonal),
                    reciprocal = reciprocal_of(root);
            if (warp % 2 == 0 && column >= row && column < columns)
                a.put_pivot(a.panel, f.first + column, root);
#pragma unroll 1
            for (int c = 0; c < 32 && first + c < columns; c += AHEAD) {
                T *const at = panel + i + (int64_t)(first + c) * f.ld;
                T v[AHEAD];
#pragma unroll
                for (int q = 0; q < AHEAD; q++) {
                    const bool is_there = own < rows && first + c + q < min(i, f.k);
                    v[q] = is_there ? at[q * (int64_t)f.ld] : T{};
                }
#pragma unroll
                for (int q = 0; q < AHEAD; q++) {
                    const bool is_there = own < rows && first + c + q < min(i, f.k);
                    const P times = shuffle(reciprocal, c + q);
                    sum += squared_size(v[q]);
                    if (is_there)
                        at[q * (int64_t)f.ld] = times_pivot(v[q], times);
                }
            }
        }
        part[warp / 2][own] = sum;
        __syncthreads();
        if (threadIdx.x < rows) {
            double all = 0;
#pragma unroll
            for (int q = 0; q < GROUPS; q++)
                all += part[q][threadIdx.x];
            a.sum[a.slot[f.rows + row + threadIdx.x]] = all;
        }
    }
}

#endif
