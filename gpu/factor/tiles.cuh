/* gpu/factor/tiles.cuh: block scope: the tasks on tiles of large fronts
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_FACTOR_TILES_CUH
#define GPU_FACTOR_TILES_CUH

#include "dense/cuda/device/row_tiles.cuh"
#include "gpu/factor/arguments.cuh"

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
template <typename T>
__device__ __forceinline__ row_operand<T> panel_rows(const factor_arguments<T> &a,
                                                     const factor_front &f, int row, int rows,
                                                     int column, bool are_pivot_rows = false)
{
    const T *at = a.panel + f.panel + row + (int64_t)column * f.ld;
    return {at, f.ld, rows,
            COPIES_PAIRS<T> && !are_pivot_rows ? (int)((uintptr_t)at / sizeof(T) % 2) : 0};
}

/* What of child number c, if there is one, goes to row blocks i and j. */
template <typename T>
__device__ __forceinline__ child_part part_for(const factor_arguments<T> &a, const factor_front &f,
                                               int c, int i, int j)
{
    if (c >= f.children)
        return {};
    const factor_child child = a.child[f.child + c];
    const int32_t *begin = a.begin + child.begin;
    return {child, begin[i], begin[i + 1], begin[j], begin[j + 1]};
}

/* Tile += what the children have for row blocks i and j; where the next one's part begins is looked
 * up meanwhile.  Between children a barrier, none at the end. */
template <typename T>
__device__ __forceinline__ void pull_tile(const factor_arguments<T> &a, const factor_front &f,
                                          int i, int j, const tile_place &p, T *tile)
{
    child_part next = part_for(a, f, 0, i, j);
    for (int c = 0; c < f.children; c++) {
        const child_part part = next;
        next = part_for(a, f, c + 1, i, j);
        if (part.i0 == part.i1 || part.j0 == part.j1)
            continue;
        __syncthreads();
        pull_part(a, part, tile, TILE_LD<T>, p.row, p.column);
    }
}

template <typename T>
__device__ __forceinline__ void assemble_tile(const factor_arguments<T> &a,
                                              const factor_task &given, T *tile)
{
    const factor_task task = given;
    const factor_front f = a.front[task.front];
    const tile_place p(f, task.i, task.j);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    tile_clear(tile);
    __syncthreads();
    const int number = factor_tile_number(&f, task.i, task.j);
    const int64_t end = a.tile_end[f.tiles + number];
    for (int64_t q = factor_tile_begin(&f, a.tile_end, number) + threadIdx.x; q < end;
         q += CHOLESKY_THREADS) { /* each place has one entry */
        const factor_entry e = a.entry[q];
        tile[e.row + e.column * TILE_LD<T>] = a.value[q];
    }
    pull_tile(a, f, task.i, task.j, p, tile);
    __syncthreads();
    T *to = a.panel + f.panel + p.row + (int64_t)p.column * f.ld;
    for (int j = warp; j < p.columns; j += CHOLESKY_THREADS / 32)
        for (int i = lane; i < p.rows; i += 32)
            if (p.has(i, j))
                to[i + (int64_t)j * f.ld] = tile[i + j * TILE_LD<T>];
}

template <typename T>
__device__ __forceinline__ void update_tile(const factor_arguments<T> &a, const factor_task &given,
                                            T *stages)
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
                  panel_rows(a, f, p.column, p.columns, from), to - from, task.i == task.j, stages);
    each_entry(sum, p.rows, p.columns, [&](int i, int j, T v) {
        if (p.has(i, j)) {
            T *at = out + i + (int64_t)j * f.ld;
            *at = *at - v;
        }
    });
}

template <typename T>
__device__ __forceinline__ row_operand<T> inverse_of(const factor_arguments<T> &a,
                                                     const factor_front &f, int block)
{
    return {a.inverse + (int64_t)(f.inverse + block) * TILE * TILE, TILE, TILE, 0};
}

/* Tile (i, j) of L in tile[1], and in the panel:  (it - L(i, j-1) L(j, j-1)^H) X_j^H, X_j the
 * inverse of diagonal block j, or substitution with that block.  tile[0] is L(i, j-1) afterwards,
 * if there is one, behind its shift (which pivot rows do not have), tile[2] free, no barrier at the
 * end. */
template <typename T>
__device__ __forceinline__ void finish_rows(const factor_arguments<T> &a, const factor_front &f,
                                            int i, int j, bool are_pivot_rows, T *const (&tile)[3])
{
    const tile_place p(f, i, j);
    const bool substitutes = a.grows[f.inverse + j];
    const row_operand<T> own = panel_rows(a, f, p.row, p.rows, p.column),
                         last = panel_rows(a, f, p.row, p.rows, p.column - TILE, are_pivot_rows);
    const tile_part<T> before(own.at, 1, own.ld, p.rows, p.columns);
    if (j > 0) {
        tile_fetch(tile[0], last, TILE);
        tile_fetch(tile[1], panel_rows(a, f, p.column, p.columns, p.column - TILE, true), TILE);
    }
    tile_fetch(tile[2], inverse_of(a, f, j), TILE);
    copies_commit();
    copies_wait<0>();
    __syncthreads();
    product_sum<T, 4> sum;
    if (j > 0) {
        multiply_tiles(sum, tile[0] + last.shift, tile[1]);
        __syncthreads();
    }
    before.put_less(tile[1], sum, p.rows, p.columns, false);
    __syncthreads();
    T *out = a.panel + f.panel + p.row + (int64_t)p.column * f.ld;
    if (substitutes) {
        substitute_rows(tile[1], a.panel + f.panel + (int64_t)p.column * (f.ld + 1), out, 1, f.ld,
                        p.rows, p.columns, tile[2]);
        return;
    }
    product_sum<T, 4> scaled;
    multiply_by_inverse(scaled, tile[1], tile[2]);
    __syncthreads();
    multiply_put(tile[1] + sum_row() + sum_column() * TILE_LD<T>, TILE_LD<T>, scaled, false);
    each_entry(scaled, p.rows, p.columns,
               [&](int i, int j, T v) { out[i + (int64_t)j * f.ld] = v; });
}

/* The same, and for the second row block behind the diagonal the products of panels j - 1 and j
 * from its own diagonal block, which is the next but one to be factorized. */
template <typename T>
__device__ __forceinline__ void finish_rows_task(const factor_arguments<T> &a,
                                                 const factor_task &given, T *const (&tile)[3])
{
    const factor_task task = given;
    const factor_front f = a.front[task.front];
    finish_rows(a, f, task.i, task.j, false, tile);
    if (task.i != task.j + 2 || task.i >= factor_pivot_blocks(&f))
        return;
    const tile_place p(f, task.i, task.i);
    T *out = a.panel + f.panel + p.row + (int64_t)p.column * f.ld;
    __syncthreads();
    if (sum_row() + 15 < sum_column())
        return;
    product_sum<T, 4> sum;
    if (task.j > 0)
        multiply_tiles(sum, tile[0], tile[0]);
    multiply_tiles(sum, tile[1], tile[1]);
    each_entry(sum, p.rows, p.columns, [&](int i, int j, T v) {
        T *at = out + i + (int64_t)j * f.ld;
        if (i >= j)
            *at = *at - v;
    });
}

/* Diagonal block t, after row block t of panel t - 1, which nobody else does: Cholesky and inverse.
 */
template <typename T>
__device__ __forceinline__ void factorize_pivots(const factor_arguments<T> &a,
                                                 const factor_task &given, T *const (&tile)[3],
                                                 real_of<T> *pivot)
{
    const factor_task task = given;
    const factor_front f = a.front[task.front];
    constexpr int LD = TILE_LD<T>;
    const tile_place p(f, task.i, task.i);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, k = p.columns, t = task.i;
    T *out = a.panel + f.panel + p.row + (int64_t)p.column * f.ld;
    const bool has_pivot = (int)threadIdx.x < k;
    const real_of<T> start = has_pivot ? a.diagonal[f.first + p.column + threadIdx.x] : 0;
    const tile_part<T> before(out, 1, f.ld, k, k);
    T *D = tile[0], *X = tile[2];
    if (t > 0) {
        finish_rows(a, f, t, t - 1, true, tile);
        __syncthreads();
    }
    before.put_less(D, {}, k, k, true);
    if (t > 0) {
        __syncthreads();
        subtract_square(D, D, tile[1]);
    }
    begin_block(D, X, k);
    cholesky_64(D, k, X, *reinterpret_cast<cholesky_room<T> *>(tile[1]), pivot);
    for (int j = warp; j < k; j += CHOLESKY_THREADS / 32)
        for (int i = j + lane; i < k; i += 32)
            out[i + (int64_t)j * f.ld] = D[i + j * LD];
    if (warp < TILE / 32)
        judge_pivot<T>(has_pivot, pivot[threadIdx.x], start, f.first + p.column + threadIdx.x,
                       rule_of(a));
    if (f.m == p.row + k) /* no rows below want the inverse */
        return;
    T *inverse = a.inverse + (int64_t)(f.inverse + t) * TILE * TILE;
    const int grows = __syncthreads_or(look_at_inverse(
        X, [&](int i, int) { return real_part(D[i * (LD + 1)]); },
        [&](int i, int j, T x) { inverse[i + j * TILE] = x; }));
    if (threadIdx.x == 0)
        a.grows[f.inverse + t] = grows;
}

template <typename T>
__device__ __forceinline__ void form_contribution(const factor_arguments<T> &a,
                                                  const factor_task &given, T *tile)
{
    const factor_task task = given;
    const factor_front f = a.front[task.front];
    constexpr int LD = TILE_LD<T>;
    const tile_place p(f, task.i, task.j);
    const int r = f.m - f.k;
    product_sum<T, 4> sum;
    multiply_rows(sum, panel_rows(a, f, p.row, p.rows, 0), panel_rows(a, f, p.column, p.columns, 0),
                  f.k, task.i == task.j, tile);
    tile_clear(tile);
    __syncthreads();
    pull_tile(a, f, task.i, task.j, p, tile);
    __syncthreads();
    T *out = a.arena + f.block + p.row - f.k + (int64_t)(p.column - f.k) * r;
    each_entry(sum, p.rows, p.columns, [&](int i, int j, T v) {
        if (p.has(i, j))
            out[i + (int64_t)j * r] = tile[i + j * LD] - v;
    });
}

#endif
