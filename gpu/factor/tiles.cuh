/* gpu/factor/tiles.cuh: block scope: the tasks on tiles of large fronts
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_FACTOR_TILES_CUH
#define GPU_FACTOR_TILES_CUH

#include "gpu/factor/arguments.cuh"

constexpr int STAGE_COLUMNS = 32; /* of both operands, in shared memory at a time; three stages */

template <typename T> struct tile_shape {
    static constexpr int LD = TILE_LD<T>, STAGE = LD * STAGE_COLUMNS;
    static constexpr int BYTES = 6 * STAGE * (int)sizeof(T) + TILE * (int)sizeof(T);
    static_assert(6 * STAGE >= 3 * TILE_AREA<T>, "three tiles have room where the stages were");
};

/* An operand of a product: rows x depth at `at`, by columns. */
template <typename T> struct operand {
    const T *at;
    int64_t ld;
    int rows;
};

/* One entry, asynchronously; zero where it is not there. */
template <typename T> __device__ __forceinline__ void copy_entry(T *to, const T *from, bool there)
{
    const unsigned shared = (unsigned)__cvta_generic_to_shared(to);
    const int bytes = there ? (int)sizeof(T) : 0;
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared), "l"(from),
                 "n"(sizeof(T)), "r"(bytes)
                 : "memory");
}
__device__ __forceinline__ void copies_commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int N> __device__ __forceinline__ void copies_wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

/* Whether two rows of an operand are copied at a time: columns begin at multiples of 16 bytes, or
 * all of them eight bytes behind. */
template <typename T> constexpr bool COPIES_PAIRS = sizeof(T) == 8;

/* Rows by which an operand's stages begin behind their columns' begin. */
template <typename T> __device__ __forceinline__ int stage_shift(const operand<T> &o)
{
    return COPIES_PAIRS<T> ? (int)((uintptr_t)o.at / 8 % 2) : 0;
}

/* Sixteen bytes, of which the first `bytes` are there; zeros behind them. */
__device__ __forceinline__ void copy_pair(void *to, const void *from, int bytes)
{
    const unsigned shared = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(from),
                 "r"(bytes)
                 : "memory");
}

/* Rows [-shift, 64] in pairs: 32 of each column, and the one behind them where there is a shift. */
template <typename T>
__device__ __forceinline__ void stage_load_pairs(T *stage, const operand<T> &o, int c, int depth)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, shift = stage_shift(o);
    const T *const begin = o.at - shift;
    const int left = o.rows + shift - 2 * lane, bytes = left >= 2 ? 16 : left == 1 ? 8 : 0;
    const int tail = o.rows + shift > TILE ? 8 : 0;
    constexpr int WARPS = CHOLESKY_THREADS / 32;
#pragma unroll
    for (int q = 0; q < STAGE_COLUMNS; q += WARPS) {
        const int column = warp + q;
        const bool counts = c + column < depth;
        const T *from = counts ? begin + (c + column) * o.ld : begin;
        T *to = stage + column * TILE_LD<T>;
        copy_pair(to + 2 * lane, bytes > 0 ? from + 2 * lane : begin, counts ? bytes : 0);
        if (lane == 0 && shift)
            copy_pair(to + TILE, tail ? from + TILE : begin, counts ? tail : 0);
    }
}

/* stage := columns [c, c + STAGE_COLUMNS) of an operand, its shift first, zero past its rows and
 * depth */
template <typename T>
__device__ __forceinline__ void stage_load(T *stage, const operand<T> &o, int c, int depth)
{
    if constexpr (COPIES_PAIRS<T>) {
        stage_load_pairs(stage, o, c, depth);
        return;
    }
    const int row = threadIdx.x % TILE, first = threadIdx.x / TILE;
    const bool there = row < o.rows;
    const T *from = there ? o.at + row : o.at;
#pragma unroll
    for (int q = 0; q < STAGE_COLUMNS; q += CHOLESKY_THREADS / TILE) {
        const int column = first + q;
        const bool counts = there && c + column < depth;
        copy_entry(stage + row + column * TILE_LD<T>, counts ? from + (c + column) * o.ld : o.at,
                   counts);
    }
}

/* The product of two operands' rows, A B^H: this warp has the 16 rows from sum_row() on and 32
 * columns from sum_column() on.  same: A and B are the same rows, and only entries at or below the
 * diagonal are wanted.  Ends with a barrier, the stages are free then. */
__device__ __forceinline__ int sum_row()
{
    return 16 * ((int)threadIdx.x / 32 % 4);
}
__device__ __forceinline__ int sum_column()
{
    return 32 * ((int)threadIdx.x / 128);
}
template <typename T>
__device__ __forceinline__ void multiply_rows(product_sum<T, 4> &sum, const operand<T> &a,
                                              const operand<T> &b, int depth, bool same, T *stages)
{
    constexpr int STAGE = tile_shape<T>::STAGE;
    const int steps = (depth + STAGE_COLUMNS - 1) / STAGE_COLUMNS;
    const int a_row = sum_row() + stage_shift(a), b_row = sum_column() + stage_shift(same ? a : b);
    const bool counts =
        sum_row() < a.rows && sum_column() < b.rows && !(same && sum_row() + 15 < sum_column());
    auto load = [&](int step) {
        T *stage = stages + step % 3 * 2 * STAGE;
        if (step < steps) {
            stage_load(stage, a, step * STAGE_COLUMNS, depth);
            if (!same)
                stage_load(stage + STAGE, b, step * STAGE_COLUMNS, depth);
        }
        copies_commit();
    };
    load(0);
    load(1);
    for (int step = 0; step < steps; step++) {
        copies_wait<1>();
        __syncthreads(); /* this stage is there, and nobody reads the one before */
        load(step + 2);
        const T *left = stages + step % 3 * 2 * STAGE, *right = same ? left : left + STAGE;
        if (counts)
            multiply_16_turned(sum, left + a_row, TILE_LD<T>, right + b_row, TILE_LD<T>,
                               STAGE_COLUMNS);
    }
    copies_wait<0>();
    __syncthreads();
}

/* Calls visit(i, j, entry) for the entries of this thread's sum inside of rows x columns. */
template <typename T, typename F>
__device__ __forceinline__ void each_entry(const product_sum<T, 4> &sum, int rows, int columns,
                                           F &&visit)
{
    const int lane = threadIdx.x % 32, g = sum_row() + lane / 4, l = sum_column() + 2 * (lane % 4);
#pragma unroll
    for (int t = 0; t < 4; t++)
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const int i = g + 8 * (e / 2), j = l + 8 * t + e % 2;
            if (i < rows && j < columns)
                visit(i, j, sum.entry(t, e));
        }
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

template <typename T>
__device__ __forceinline__ operand<T>
panel_rows(const factor_arguments<T> &a, const factor_front &f, int row, int rows, int column)
{
    return {a.panel + f.panel + row + (int64_t)column * f.ld, f.ld, rows};
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

/* tile := columns [0, depth) of an operand, its shift first, asynchronously, zero past its rows and
 * depth */
template <typename T>
__device__ __forceinline__ void tile_fetch(T *tile, const operand<T> &o, int depth)
{
    stage_load(tile, o, 0, depth);
    stage_load(tile + tile_shape<T>::STAGE, o, STAGE_COLUMNS, depth);
}

/* This thread's entries of a tile, where each_entry has them. */
template <typename T> struct tile_part {
    T v[4][4];

    /* lower: entries above the diagonal become zero */
    __device__ __forceinline__ tile_part(const T *at, int64_t ld, int rows, int columns, bool lower)
    {
        const int lane = threadIdx.x % 32, g = sum_row() + lane / 4,
                  l = sum_column() + 2 * (lane % 4);
#pragma unroll
        for (int t = 0; t < 4; t++)
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const int i = g + 8 * (e / 2), j = l + 8 * t + e % 2;
                v[t][e] = i < rows && j < columns && (!lower || i >= j) ? at[i + j * ld] : T{};
            }
    }
    /* tile := these minus a sum */
    __device__ __forceinline__ void put_less(T *tile, const product_sum<T, 4> &sum) const
    {
        const int lane = threadIdx.x % 32, g = sum_row() + lane / 4,
                  l = sum_column() + 2 * (lane % 4);
#pragma unroll
        for (int t = 0; t < 4; t++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                tile[g + 8 * (e / 2) + (l + 8 * t + e % 2) * TILE_LD<T>] =
                    v[t][e] - sum.entry(t, e);
    }
};

/* sum += A B^H, tiles in shared memory */
template <typename T>
__device__ __forceinline__ void multiply_tiles(product_sum<T, 4> &sum, const T *A, const T *B)
{
    multiply_16_turned(sum, A + sum_row(), TILE_LD<T>, B + sum_column(), TILE_LD<T>, TILE);
}

template <typename T>
__device__ __forceinline__ operand<T> inverse_of(const factor_arguments<T> &a,
                                                 const factor_front &f, int block)
{
    return {a.inverse + (int64_t)(f.inverse + block) * TILE * TILE, TILE, TILE};
}

/* Tile (i, j) of L in tile[1], and in the panel:  (it - L(i, j-1) L(j, j-1)^H) X_j^H, X_j the
 * inverse of diagonal block j.  tile[0] is L(i, j-1) afterwards, if there is one, behind its shift
 * (which pivot rows do not have), tile[2] free, no barrier at the end. */
template <typename T>
__device__ __forceinline__ void finish_rows(const factor_arguments<T> &a, const factor_front &f,
                                            int i, int j, T *const (&tile)[3])
{
    const tile_place p(f, i, j);
    const operand<T> own = panel_rows(a, f, p.row, p.rows, p.column);
    int shift = 0;
    if (j > 0) {
        const operand<T> last = panel_rows(a, f, p.row, p.rows, p.column - TILE);
        shift = stage_shift(last);
        tile_fetch(tile[0], last, TILE);
        tile_fetch(tile[1], panel_rows(a, f, p.column, p.columns, p.column - TILE), TILE);
    }
    tile_fetch(tile[2], inverse_of(a, f, j), TILE);
    copies_commit();
    const tile_part<T> before(own.at, own.ld, p.rows, p.columns, false);
    copies_wait<0>();
    __syncthreads();
    product_sum<T, 4> sum, scaled;
    if (j > 0) {
        multiply_tiles(sum, tile[0] + shift, tile[1]);
        __syncthreads();
    }
    before.put_less(tile[1], sum);
    __syncthreads();
    multiply_tiles(scaled, tile[1], tile[2]);
    __syncthreads();
    multiply_put(tile[1] + sum_row() + sum_column() * TILE_LD<T>, TILE_LD<T>, scaled, false);
    T *out = a.panel + f.panel + p.row + (int64_t)p.column * f.ld;
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
    finish_rows(a, f, task.i, task.j, tile);
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
    const tile_part<T> before(out, f.ld, k, k, true);
    product_sum<T, 4> sum;
    if (t > 0) {
        finish_rows(a, f, t, t - 1, tile);
        __syncthreads();
        if (sum_row() + 15 >= sum_column())
            multiply_tiles(sum, tile[1], tile[1]);
        __syncthreads();
    }
    T *D = tile[0], *X = tile[2];
    before.put_less(D, sum);
    tile_clear(X);
    __syncthreads();
    if ((int)threadIdx.x >= k && threadIdx.x < TILE)
        D[threadIdx.x * (LD + 1)] = from_real<T>(1);
    if ((int)threadIdx.x >= (k + 7) / 8 * 8 && threadIdx.x < TILE)
        X[threadIdx.x * (LD + 1)] = from_real<T>(1);
    __syncthreads();
    cholesky_columns<8>(D, LD, (k + 7) / 8 * 8, k, X, LD + 1, LD, pivot);
    for (int j = warp; j < k; j += CHOLESKY_THREADS / 32)
        for (int i = j + lane; i < k; i += 32)
            out[i + (int64_t)j * f.ld] = D[i + j * LD];
    const bool is_wanted = f.m > p.row + k; /* the inverse, by rows below */
    if (is_wanted)
        invert_64(D, X);
    T *inverse = a.inverse + (int64_t)(f.inverse + t) * TILE * TILE;
#pragma unroll
    for (int q = 0; q < TILE_SHARE && is_wanted; q++) {
        const int i = tile_row(q, false), j = tile_column(q, false);
        inverse[i + j * TILE] = X[i + j * LD];
    }
    if (warp == 0)
        judge_pivots<T>(pivot, a.diagonal + f.first + p.column, k, f.first + p.column, rule_of(a),
                        lane, 32);
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
