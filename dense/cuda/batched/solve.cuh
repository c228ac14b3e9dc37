/* dense/cuda/batched/solve.cuh: block or warp scope: X := inv(L) B for up to 64 columns, L streamed
 * from memory once
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     block row r:  X(r) = inv(L(r,r)) (B(r) - sum over j < r of L(r,j) X(j))
 *
 * The tiles of L come row by row through a ring in shared memory, two on their way while one is
 * used: they depend on nothing.  Products are made on tensor cores eight columns at a time.  With
 * more than eight columns every warp has eight of its own, and needs the others for loading alone;
 * with fewer all warps have the same columns and an eighth of the depth of every tile, and each
 * substitutes for one of them. */
#ifndef DENSE_CUDA_BATCHED_SOLVE_CUH
#define DENSE_CUDA_BATCHED_SOLVE_CUH

#include "dense/cuda/batched/columns.cuh"
#include "dense/cuda/batched/steps.cuh"

constexpr int SOLVE_COLUMNS = 64; /* most columns at a time */
constexpr int RING = 3;           /* tiles in shared memory */
constexpr int STEPS = TILE / STEP;

template <typename T> struct solve_shared {
    alignas(16) T tile[RING][TILE_AREA<T>];
    steps_shared<T, TILE> steps;
    T y[STEP * TILE]; /* few columns: what is left of B(r), then X(r) */
};

/* A tile below the diagonal is kept in shared memory as it lies in memory: entry (i,j) at
 * entry[i row + j column]. */
template <typename T> struct tile_layout {
    bool reversed;
    int row, column;

    __device__ __forceinline__ tile_layout(bool transposed, bool reversed) : reversed(reversed)
    {
        const int sign = reversed ? -1 : 1;
        row = transposed ? sign * TILE_LD<T> : sign;
        column = transposed ? sign : sign * TILE_LD<T>;
    }
    __device__ __forceinline__ explicit tile_layout(const triangle_view<T> &L)
        : tile_layout(L.transposed, L.row + L.column < 0)
    {
    }
    __device__ __forceinline__ const T *entry(const T *tile, int i, int j) const
    {
        return tile + (reversed ? (TILE - 1) * (TILE_LD<T> + 1) : 0) + i * row + j * column;
    }
};

/* WIDTH neighbours at a time of a tile whose first entry in memory is at p, columns (or rows)
 * `step` apart; first, end: the rows that there are, others become zeros.  below: 1 or -1, only
 * neighbours of which one's place along memory is not before (behind) its column's (or row's)
 * number; 0: all. */
template <int WIDTH, typename T>
__device__ __forceinline__ void tile_copy_async(T *to, const T *p, int64_t step, bool by_rows,
                                                int first, int end, int below)
{
    constexpr int ACROSS = TILE / WIDTH, EVERY = TILE_THREADS / ACROSS;
    const int near = threadIdx.x % ACROSS * WIDTH, far = threadIdx.x / ACROSS;
    p += near + far * step;
    to += near + far * TILE_LD<T>;
#pragma unroll 4
    for (int k = 0; k < TILE / EVERY; k++, p += EVERY * step) {
        const int across = far + EVERY * k, row = by_rows ? across : near;
        const bool stored = WIDTH > 1
                                ? below == 0 || (below > 0 ? near + WIDTH > across : near <= across)
                                : row >= first && row < end;
        __pipeline_memcpy_async(to + EVERY * k * TILE_LD<T>, p, WIDTH * sizeof(T),
                                stored ? 0 : WIDTH * sizeof(T));
    }
}

/* Where the tile of L at i0, j0 begins in memory, and how far its columns (or rows) are apart;
 * WIDE: it is whole, and 16 bytes can be copied at a time, which takes a quarter of the time. */
template <typename T> struct tile_source {
    const T *first;
    int64_t step;
    int rows;
    bool wide;

    __device__ __forceinline__ tile_source(const triangle_view<T> &L, int i0, int j0)
    {
        const int last = L.row + L.column < 0 ? TILE - 1 : 0;
        const int64_t across = L.transposed ? L.row : L.column;
        first = L.at(i0 + last, j0 + last);
        step = across < 0 ? -across : across;
        rows = min(TILE, L.n - i0);
        wide = sizeof(T) < 16 && rows == TILE &&
               ((uintptr_t)first | (uintptr_t)(step * sizeof(T))) % 16 == 0;
    }
};

/* Whether the diagonal tile at i0 is kept as it lies in memory, too.  TURNS: whoever uses it can do
 * with every layout. */
template <bool TURNS, typename T>
__device__ __forceinline__ bool diagonal_as_it_lies(const triangle_view<T> &L, int i0)
{
    return (TURNS || L.row == 1) && tile_source<T>(L, i0, i0).wide;
}

/* Starts copying L(i0:i0+63, j0:j0+63), a tile on or below the diagonal.  Of a whole one on the
 * diagonal a few entries above it come along, and the diagonal even when unit; they are not used.
 * 256 threads; without barrier. */
template <bool TURNS, typename T>
__device__ __forceinline__ void tile_fetch(T *to, const triangle_view<T> &L, int i0, int j0)
{
    constexpr int WIDTH = 16 / sizeof(T);
    const tile_source<T> from(L, i0, j0);
    const bool reversed = L.row + L.column < 0, diagonal = i0 == j0;
    if (diagonal && !diagonal_as_it_lies<TURNS>(L, i0))
        diagonal_fetch<TILE, TILE_THREADS>(to, L, i0, (int)threadIdx.x);
    else if (from.wide)
        tile_copy_async<WIDTH>(to, from.first, from.step, L.transposed, 0, TILE,
                               !diagonal                  ? 0
                               : L.transposed == reversed ? 1
                                                          : -1);
    else
        tile_copy_async<1>(to, from.first, from.step, L.transposed, reversed ? TILE - from.rows : 0,
                           reversed ? TILE : from.rows, 0);
}

/* Tiles of L in the order in which they are used, row by row from row `row` on, downwards (way 1)
 * or upwards (-1); ones past the end are none.  Tile number t is in slot t mod RING. */
template <bool TURNS, typename T> struct tile_stream {
    const triangle_view<T> &L;
    T (*tile)[TILE_AREA<T>];
    int row, column, end; /* of the next to be fetched; rows */
    int way;
    int slot; /* of the tile in use */

    __device__ __forceinline__ tile_stream(const triangle_view<T> &L, T (*tile)[TILE_AREA<T>],
                                           int row, int end, int way = 1)
        : L(L), tile(tile), row(row), column(0), end(end), way(way), slot(1)
    {
#pragma unroll 1
        for (int t = 0; t < RING - 1; t++, turn())
            fetch();
        slot = 0;
    }
    __device__ __forceinline__ T *now() const { return tile[slot]; }
    /* of the tile before, and of the one after the next */
    __device__ __forceinline__ T *spare() const { return tile[(slot + RING - 1) % RING]; }
    __device__ __forceinline__ void turn() { slot = (slot + 1) % RING; }
    /* Waits until the tile in use has come and nobody needs the one before it. */
    __device__ __forceinline__ void await() const
    {
        __pipeline_wait_prior(RING - 2);
        __syncthreads();
    }
    __device__ __forceinline__ void fetch()
    {
        if (row >= 0 && row < end)
            tile_fetch<TURNS>(spare(), L, TILE * row, TILE * column);
        __pipeline_commit();
        if (++column > row) {
            row += way;
            column = 0;
        }
    }
    __device__ __forceinline__ void finish() const
    {
        __pipeline_wait_prior(0);
        __syncthreads();
    }
};

/* Few columns: what a thread has of B(r) beside it. */
constexpr int GATHER_SHARE = STEP * TILE / TILE_THREADS;

/* Few columns: a warp's part of L(r, 0:r-1) X, 64 x `count`, among those of all. */
template <typename T>
__device__ __forceinline__ void share_left(int count, const column_sums<T, TILE> &sum, T *parts)
{
    const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, l = threadIdx.x % 4;
    T *const own = parts + (STEP * warp + 2 * l) * TILE + g;
#pragma unroll
    for (int h = 0; h < 2; h++)
        if (2 * l + h < count)
#pragma unroll
            for (int k = 0; k < STEPS; k++)
                own[h * TILE + STEP * k] = sum[k / 2].entry(0, 2 * (k % 2) + h);
}

/* y := B(r) less the parts, 64 x `count`. */
template <typename T>
__device__ __forceinline__ void gather_left(const T (&b)[GATHER_SHARE], int count, const T *parts,
                                            T *y)
{
#pragma unroll
    for (int k = 0; k < GATHER_SHARE; k++) {
        const int e = threadIdx.x + TILE_THREADS * k;
        if (e / TILE < count) {
            T p[STEP];
#pragma unroll
            for (int w = 0; w < STEP; w++)
                p[w] = parts[STEP * TILE * w + e];
            y[e] = b[k] - (((p[0] + p[1]) + (p[2] + p[3])) + ((p[4] + p[5]) + (p[6] + p[7])));
        }
    }
}

/* Whether a column may be multiplied by 1/d before it meets y: d is far from both ends of the
 * range, so that entries neither overflow nor lose digits. */
template <typename T> __device__ __forceinline__ bool scales(T d)
{
    using R = real_of<T>;
    constexpr R most = sizeof(R) == 4 ? R(0x1p32) : R(0x1p256);
    return magnitude(d) < most && magnitude(d) > 1 / most;
}

/* Few columns: a diagonal tile on its way to what substitute_vector reads. */
template <typename T> struct diagonal_share {
    T entry[TILE_SHARE];

    /* What this thread has of the tile, below the diagonal; layout: how it lies. */
    __device__ __forceinline__ void take(const T *D, const tile_layout<T> &layout, bool transposed)
    {
#pragma unroll
        for (int k = 0; k < TILE_SHARE; k++) {
            const int near = threadIdx.x % TILE, far = threadIdx.x / TILE + 4 * k;
            const int i = transposed ? far : near, j = transposed ? near : far;
            entry[k] = i > j ? *layout.entry(D, i, j) : T{};
        }
    }
    /* D(i,j) := entry times scale[j], by columns; others have been taken by all. */
    __device__ __forceinline__ void put(T *D, const T *scale, bool transposed) const
    {
#pragma unroll
        for (int k = 0; k < TILE_SHARE; k++) {
            const int near = threadIdx.x % TILE, far = threadIdx.x / TILE + 4 * k;
            const int i = transposed ? far : near, j = transposed ? near : far;
            if (i > j)
                D[i + j * TILE_LD<T>] = multiply(entry[k], scale[j]);
        }
    }
};

/* y := inv(U) y by a warp, entry l in lane l, for a unit triangle of order 32 whose entry (i,j) is
 * at U[i ROW + j COLUMN], by blocks of eight columns, of which every lane substitutes all eight
 * rows; below: less the 32 rows below it times y. */
template <int ROW, int COLUMN, typename T, typename... Below>
__device__ __forceinline__ void substitute_half(const T *U, T &y, Below &...below)
{
    const int lane = threadIdx.x % 32, first = lane / STEP * STEP; /* of a block of rows */
#pragma unroll 1
    for (int k = 0; k < 32; k += STEP) {
        const T *const block = U + k * (ROW + COLUMN), *const rows = U + lane * ROW + k * COLUMN;
        T v[STEP], own = {}, sum[2] = {};
#pragma unroll
        for (int c = 0; c < STEP; c++)
            v[c] = shuffle(y, k + c);
#pragma unroll
        for (int c = 0; c < STEP; c++) {
#pragma unroll
            for (int i = c + 1; i < STEP; i++)
                v[i] = multiply_add(v[i], -v[c], block[i * ROW + c * COLUMN]);
            own = choose(lane % STEP == c, v[c], own);
            sum[0] = multiply_add(sum[0], rows[c * COLUMN], v[c]);
            if constexpr (sizeof...(below) > 0)
                sum[1] = multiply_add(sum[1], rows[32 * ROW + c * COLUMN], v[c]);
        }
        y = choose(first > k, y - sum[0], choose(first == k, own, y));
        ((below = below - sum[1]), ...);
    }
}

/* One column by a warp, lane l has rows l and l + 32 in y0 and y1: y := inv(L) y for L = U C, C its
 * diagonal, U unit; the reciprocals of C come last. */
template <typename T>
__device__ __forceinline__ void substitute_vector(const T *U, const T *reciprocal, T &y0, T &y1)
{
    constexpr int LD = TILE_LD<T>;
    const int lane = threadIdx.x % 32;
    substitute_half<1, LD>(U, y0, y1);
    substitute_half<1, LD>(U + 32 * (LD + 1), y1);
    y0 = multiply(y0, reciprocal[lane]);
    y1 = multiply(y1, reciprocal[lane + 32]);
}

/* The same for L = D by divisions by `diagonal`, where a reciprocal would lose digits. */
template <typename T>
__device__ __noinline__ two_entries<T> divide_vector(const T *D, const T *diagonal, T y0, T y1)
{
    const int lane = threadIdx.x % 32;
    for (int k = 0; k < TILE; k++) {
        const T x = divide(shuffle(k < 32 ? y0 : y1, k % 32), diagonal[k]);
        if (lane > k)
            y0 = multiply_add(y0, -x, D[lane + k * TILE_LD<T>]);
        if (lane + 32 > k)
            y1 = multiply_add(y1, -x, D[lane + 32 + k * TILE_LD<T>]);
    }
    return {divide(y0, diagonal[lane]), divide(y1, diagonal[lane + 32])};
}

/* X := inv(L) B for x.count <= 64 columns, FEW: 8.  256 threads; ends with a barrier. */
template <bool FEW, typename T, typename Columns>
__device__ __forceinline__ void solve_block(const triangle_view<T> &L, const Columns &x,
                                            solve_guard guard, solve_shared<T> &s)
{
    constexpr int DEPTHS = FEW ? 1 : TILE / STEP; /* of a tile for a warp */
    const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, l = threadIdx.x % 4;
    const int rows = (L.n + TILE - 1) / TILE, c0 = FEW ? 0 : STEP * warp,
              d0 = FEW ? STEP * warp : 0;
    const int t = (int)threadIdx.x - (TILE_THREADS - TILE); /* two warps invert */
    const bool has_columns = c0 < x.count;
    const tile_layout<T> layout(L);
    tile_stream<FEW, T> tiles(L, s.tile, 0, rows);
    for (int r = 0; r < rows; r++) {
        /* with many columns from -B(r) on, which is read early then; so is B(r) with few */
        column_sums<T, TILE> sum;
        T b[GATHER_SHARE] = {};
        if constexpr (FEW) {
#pragma unroll
            for (int k = 0; k < GATHER_SHARE; k++) {
                const int e = threadIdx.x + TILE_THREADS * k, i = TILE * r + e % TILE, c = e / TILE;
                if (c < x.count && i < L.n)
                    b[k] = x.given(x.at(i, c), i, c);
            }
        } else {
            const int c = c0 + 2 * l;
            const auto *p = x.at(TILE * r + g, c), *q = p + x.column;
#pragma unroll
            for (int k = 0; k < STEPS; k++, p += STEP * x.row, q += STEP * x.row) {
                const int i = TILE * r + g + STEP * k;
                if (i < L.n && c < x.count)
                    set_entry(sum[k / 2], 2 * (k % 2), -x.given(p, i, c));
                if (i < L.n && c + 1 < x.count)
                    set_entry(sum[k / 2], 2 * (k % 2) + 1, -x.given(q, i, c + 1));
            }
        }
        const T *p = x.at(d0 + l, c0 + g);
        for (int j = 0; j < r; j++, tiles.turn()) {
            T of_x[DEPTHS][2];
#pragma unroll
            for (int d = 0; d < DEPTHS; d++)
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    const int row = STEP * d + 4 * h;
                    of_x[d][h] = T{};
                    if (FEW && j == r - 1)
                        of_x[d][h] = s.y[g * TILE + d0 + row + l]; /* columns past count: any */
                    else if (c0 + g < x.count)
                        of_x[d][h] = x.solved(p + row * x.row, TILE * j + d0 + row + l, c0 + g);
                }
            p += TILE * x.row;
            tiles.await();
            tiles.fetch();
            if (has_columns) {
                const T *a = layout.entry(tiles.now(), g, d0 + l);
#pragma unroll
                for (int d = 0; d < DEPTHS; d++, a += STEP * layout.column)
#pragma unroll
                    for (int m = 0; m < TILE / 16; m++) {
                        T left[4];
                        take_16(left, a + 16 * m * layout.row, layout.row, layout.column);
                        multiply_entries<false>(sum[m], 0, left, of_x[d]);
                    }
            }
        }
        tiles.await();
        const T *const D = tiles.now();
        if constexpr (FEW) {
            const bool as_it_lies = diagonal_as_it_lies<true>(L, TILE * r);
            const tile_layout<T> own = as_it_lies ? layout : tile_layout<T>(false, false);
            const bool by_rows = as_it_lies && L.transposed;
            T *const diagonal = s.steps.X, *const scale = diagonal + TILE;
            bool safe = true;
            diagonal_share<T> tile;
            tile.take(D, own, by_rows);
            share_left(x.count, sum, tiles.spare());
            if (t >= 0) {
                const bool given = !L.unit && TILE * r + t < L.n;
                const pivot<T> d(given ? *own.entry(D, t, t) : from_real<T>(1));
                diagonal[t] = d.d;
                scale[t] = d.reciprocal;
                safe = d.safe && scales(d.d);
            }
            safe = __syncthreads_and(safe);
            if (t >= 0 && !safe)
                scale[t] = from_real<T>(1);
            if (!safe)
                __syncthreads();
            tile.put(tiles.now(), scale, by_rows);
            gather_left(b, x.count, tiles.spare(), s.y);
            __syncthreads();
            tiles.fetch();
            if (warp < x.count) {
                T *const y = s.y + warp * TILE + threadIdx.x % 32;
                two_entries<T> v = {y[0], y[32]};
                if (safe)
                    substitute_vector(D, scale, v.even, v.odd);
                else
                    v = divide_vector(D, diagonal, v.even, v.odd);
                y[0] = v.even;
                y[32] = v.odd;
                const int i = TILE * r + threadIdx.x % 32;
                T *const to = x.at(i, warp);
                if (i < L.n)
                    x.store(to, i, warp, v.even);
                if (i + 32 < L.n)
                    x.store(to + 32 * x.row, i + 32, warp, v.odd);
            }
            __syncthreads();
        } else {
            tiles.fetch();
            bool grows = false;
            if (t >= 0) {
                if (L.unit)
                    tiles.now()[t * (TILE_LD<T> + 1)] = from_real<T>(1);
                __syncwarp();
                invert_steps(D, s.steps, t);
                grows = guard_steps(D, s.steps, t, guard);
            }
            grows = __syncthreads_or(grows);
            if (has_columns) {
                column_pairs<T, TILE> y;
#pragma unroll
                for (int m = 0; m < TILE / 16; m++)
#pragma unroll
                    for (int e = 0; e < 4; e++)
                        set_entry(sum[m], e, -sum[m].entry(0, e));
                turn_columns<TILE>(y, sum);
                if (grows) {
                    column_pairs<T, TILE> slow;
#pragma unroll
                    for (int k = 0; k < STEPS; k++)
                        slow[k] = y[k];
                    substitute_grown<TILE>(D, s.steps, slow);
#pragma unroll
                    for (int k = 0; k < STEPS; k++)
                        y[k] = slow[k];
                } else {
                    substitute_columns<false, TILE>(D, s.steps, TILE, y);
                }
                for_pairs<TILE>(x, TILE * r, c0, L.n, [&](int k, int e, int i, int c, T *to) {
                    x.store(to, i, c, y[k].entry(e));
                });
            }
            __syncwarp();
        }
        tiles.turn();
    }
    tiles.finish();
}

/* Of a warp that solves a triangle of order 32. */
constexpr int SMALL = 32;
template <typename T> struct small_shared {
    alignas(16) T D[SMALL * STEPS_LD<T, SMALL>];
    steps_shared<T, SMALL> steps;
};

/* X := inv(L) B for n <= 32 by a warp, eight columns at a time. */
template <typename T, typename Columns>
__device__ __noinline__ void solve_warp(const triangle_view<T> &L, const Columns &x,
                                        small_shared<T> &s)
{
    const int lane = threadIdx.x % 32;
    column_pairs<T, SMALL> y = {}, next = {};
    const auto load = [&](int c0) {
        for_pairs<SMALL>(x, 0, c0, L.n, [&](int k, int e, int i, int c, const T *p) {
            next[k].set(e, x.given(p, i, c));
        });
    };
    __syncwarp(); /* the last item's triangle was used */
    diagonal_fetch<SMALL, 32>(s.D, L, 0, lane);
    __pipeline_commit();
    load(0);
    __pipeline_wait_prior(0);
    __syncwarp();
    invert_steps(s.D, s.steps, lane);
    guard_steps(s.D, s.steps, lane, solve_guard::SOLUTION);
    __syncwarp();
#pragma unroll 1
    for (int c0 = 0; c0 < x.count; c0 += STEP) {
#pragma unroll
        for (int k = 0; k < SMALL / STEP; k++)
            y[k] = next[k];
        load(c0 + STEP);
        substitute_columns<true, SMALL>(s.D, s.steps, L.n, y);
        for_pairs<SMALL>(x, 0, c0, L.n, [&](int k, int e, int i, int c, T *to) {
            x.store(to, i, c, y[k].entry(e));
        });
    }
}

#endif
