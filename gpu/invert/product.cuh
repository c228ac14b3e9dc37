/* gpu/invert/product.cuh: block scope: sums of products of tiles, by the tensor cores' double
 * precision
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Four by two warps share an item, a tile for each.  A tile comes into shared memory as it is, by
 * one bulk copy; square_at keeps the lanes' reads apart along rows and columns, so that either
 * operand may be transposed. */
#ifndef GPU_INVERT_PRODUCT_CUH
#define GPU_INVERT_PRODUCT_CUH

#include "dense/cuda/device/cluster.cuh"
#include "dense/cuda/device/multiply.cuh"
#include "gpu/invert/tiles.cuh"

constexpr int PRODUCT_STAGES = 4; /* at most */

template <typename T> struct product_shape {
    static constexpr int PARTS = scalar<T>::is_complex ? 2 : 1;
    /* of all stages: two of the largest items, more of smaller ones */
    static constexpr int TILES = 2 * (PRODUCT_ITEM_ROWS + PRODUCT_ITEM_COLUMNS);
    static constexpr int TILE_BYTES = SQUARE_AREA * (int)sizeof(T);
    static constexpr int BARRIERS = 128;
    static constexpr int BYTES = BARRIERS + TILES * TILE_BYTES;
    /* on a multiprocessor, by memory and registers */
    static constexpr int BLOCKS_EACH = scalar<T>::is_complex ? 1 : 2;
    static_assert(PRODUCT_ITEM_ROWS * PRODUCT_ITEM_COLUMNS == STRIP_WARPS, "a tile for each warp");
};

/* The sums of a warp: entry (g + 8 v + 16 m, 8 n + 2 t + e) of its tile is [m][n][2 v + e], g =
 * lane div 4, t = lane mod 4. */
template <typename T> struct item_sum {
    double part[product_shape<T>::PARTS][2][4][4] = {};

    __device__ __forceinline__ T entry(int m, int n, int k) const
    {
        using R = real_of<T>;
        if constexpr (scalar<T>::is_complex)
            return {(R)part[0][m][n][k], (R)part[1][m][n][k]};
        else
            return (R)part[0][m][n][k];
    }
    __device__ __forceinline__ void put(int m, int n, int k, T v)
    {
        if constexpr (scalar<T>::is_complex) {
            part[0][m][n][k] = v.re;
            part[1][m][n][k] = v.im;
        } else
            part[0][m][n][k] = v;
    }
};

template <typename T>
__device__ __forceinline__ void split(T v, bool conjugate, double &re, double &im)
{
    if constexpr (scalar<T>::is_complex) {
        re = v.re;
        im = conjugate ? -v.im : v.im;
    } else {
        re = v;
        im = 0;
    }
}

/* sum += A B; TURNED: A^T B, or A^H B. */
template <bool TURNED, typename T>
__device__ __forceinline__ void multiply_squares(item_sum<T> &sum, const T *left, const T *right,
                                                 bool conjugate)
{
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, turn = 4 * (g & 3);
#pragma unroll
    for (int k = 0; k < SQUARE; k += 8) {
        double b[2][4][2];
#pragma unroll
        for (int n = 0; n < 4; n++)
#pragma unroll
            for (int h = 0; h < 2; h++)
                split(right[(8 * n + g) * SQUARE + ((k + 4 * h + t) ^ turn)], false, b[0][n][h],
                      b[1][n][h]);
#pragma unroll
        for (int m = 0; m < 2; m++) {
            double re[4], im[4];
#pragma unroll
            for (int v = 0; v < 2; v++)
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    const int row = g + 8 * v + 16 * m;
                    split(TURNED ? left[row * SQUARE + ((k + 4 * h + t) ^ turn)]
                                 : left[(k + 4 * h + t) * SQUARE + (row ^ 4 * t)],
                          conjugate, re[v + 2 * h], im[v + 2 * h]);
                }
#pragma unroll
            for (int n = 0; n < 4; n++) {
                multiply_16x8x8(sum.part[0][m][n], re, b[0][n]);
                if constexpr (scalar<T>::is_complex) {
                    const double minus[2] = {-b[1][n][0], -b[1][n][1]};
                    multiply_16x8x8(sum.part[1][m][n], re, b[1][n]);
                    multiply_16x8x8(sum.part[0][m][n], im, minus);
                    multiply_16x8x8(sum.part[1][m][n], im, b[0][n]);
                }
            }
        }
    }
}

/* The operands of an item: of the left one the tiles (row + p, c) for T, X21 and W, (c, row + p)
 * for G; of the right one (c, column + q).  Tiles that are zero are not read. */
template <typename T, int KIND_G> struct product_operands {
    using shape = product_shape<T>;
    const product_item item;
    const T *left, *right;
    int nb;

    __device__ __forceinline__ product_operands(const invert_arguments<T> &a, const tiled_group &g,
                                                const product_item &item)
        : item(item), nb(g.nb)
    {
        left = KIND_G || item.kind == PRODUCT_X ? tiles_x(a, g) : tiles_l(a, g);
        right = KIND_G                   ? (a.cholesky ? tiles_x(a, g) : tiles_t(a, g))
                : item.kind == PRODUCT_X ? tiles_t(a, g)
                                         : tiles_x(a, g);
    }
    /* M is zero above its diagonal. */
    __device__ __forceinline__ bool has_left(int p, int c) const
    {
        return p < item.rows &&
               (KIND_G ? c >= item.row + p : item.kind != PRODUCT_X || c <= item.row + p);
    }
    __device__ __forceinline__ bool has_right(int q, int c) const
    {
        return q < item.columns && (c >= item.column + q || (!KIND_G && item.kind == PRODUCT_X));
    }
    __device__ __forceinline__ const T *left_at(int p, int c) const
    {
        return left +
               (KIND_G ? tile_number(nb, c, item.row + p) : tile_number(nb, item.row + p, c)) *
                   SQUARE_AREA;
    }
    __device__ __forceinline__ const T *right_at(int q, int c) const
    {
        return right + tile_number(nb, c, item.column + q) * SQUARE_AREA;
    }
    /* One warp: the tiles of strip c on their way, one by each lane.  One after the other by a
     * thread, finding them took as long as multiplying them. */
    __device__ __forceinline__ void fetch(int c, T *stage, uint64_t *full) const
    {
        const int lane = threadIdx.x % 32, q = lane - item.rows;
        const bool is_left = lane < item.rows,
                   wanted = is_left ? has_left(lane, c) : has_right(q, c);
        const int tiles = __popc(__ballot_sync(~0u, wanted));
        if (lane == 0)
            inbox_expect(full, (unsigned)(tiles * shape::TILE_BYTES));
        __syncwarp();
        if (wanted)
            inbox_copy(stage + lane * SQUARE_AREA, is_left ? left_at(lane, c) : right_at(q, c),
                       shape::TILE_BYTES, full);
    }
};

/* What products of a block share: barriers, one for each stage, which stay from item to item, with
 * the phase of each that comes next; and the stages. */
template <typename T> struct product_room {
    uint64_t *full;
    T *stage;
    unsigned phases = 0; /* a bit for each stage */

    __device__ __forceinline__ explicit product_room(char *shared)
        : full(reinterpret_cast<uint64_t *>(shared)),
          stage(reinterpret_cast<T *>(shared + product_shape<T>::BARRIERS))
    {
    }
    /* One thread, before a barrier of the block. */
    __device__ __forceinline__ void open() const
    {
        for (int s = 0; s < PRODUCT_STAGES; s++)
            inbox_open(full + s);
    }
};

/* The sum of an item; each warp ends with its tile, and the stages are free.  The last warp
 * fetches: it has no tile where an item has few rows, which is where others wait for it. */
template <int KIND_G, typename T>
__device__ __forceinline__ void product_multiply(item_sum<T> &sum,
                                                 const product_operands<T, KIND_G> &o,
                                                 product_room<T> &room, bool conjugate)
{
    const int warp = threadIdx.x / 32, q = warp % 2, p = warp / 2, steps = o.item.to - o.item.from,
              tiles = o.item.rows + o.item.columns, room_for = product_shape<T>::TILES / tiles,
              stages = room_for < PRODUCT_STAGES ? room_for : PRODUCT_STAGES;
    const bool fetches = warp == STRIP_WARPS - 1;
    if (fetches) {
        copies_follow();
        for (int s = 0; s < stages && s < steps; s++)
            o.fetch(o.item.from + s, room.stage + s * tiles * SQUARE_AREA, room.full + s);
    }
    for (int step = 0, at = 0; step < steps; step++, at = at + 1 < stages ? at + 1 : 0) {
        const int c = o.item.from + step;
        T *here = room.stage + at * tiles * SQUARE_AREA;
        inbox_wait(room.full + at, room.phases >> at & 1);
        room.phases ^= 1u << at;
        /* of G no more than its lower triangle */
        if (o.has_left(p, c) && o.has_right(q, c) &&
            (!KIND_G || o.item.row + p >= o.item.column + q))
            multiply_squares<KIND_G>(sum, here + p * SQUARE_AREA,
                                     here + (o.item.rows + q) * SQUARE_AREA, conjugate);
        __syncthreads();
        if (fetches && step + stages < steps)
            o.fetch(c + stages, here, room.full + at);
    }
}

/* Calls visit(m, n, k, row, column) for each entry of a warp's tile, see item_sum. */
template <typename Visit> __device__ __forceinline__ void each_of_item(Visit &&visit)
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int m = 0; m < 2; m++)
#pragma unroll
        for (int n = 0; n < 4; n++)
#pragma unroll
            for (int k = 0; k < 4; k++)
                visit(m, n, k, lane / 4 + 8 * (k / 2) + 16 * m, 8 * n + 2 * (lane % 4) + k % 2);
}

/* T, X and W. */
template <typename T>
__device__ __forceinline__ void multiply_item(const invert_arguments<T> &a, int number,
                                              product_room<T> &room)
{
    const product_item item = a.item[number];
    const tiled_group g = a.tiled[item.group];
    const product_operands<T, 0> o(a, g, item);
    item_sum<T> sum;
    product_multiply(sum, o, room, false);
    const int warp = threadIdx.x / 32, q = warp % 2, p = warp / 2;
    T *to = item.kind == PRODUCT_T ? tiles_t(a, g) : tiles_x(a, g);
    const bool negative = item.kind != PRODUCT_T;
    if (q >= item.columns || p >= item.rows)
        return;
    T *tile = to + tile_number(g.nb, item.row + p, item.column + q) * SQUARE_AREA;
    each_of_item([&](int m, int n, int k, int row, int column) {
        const T v = sum.entry(m, n, k);
        tile[square_at(row, column)] = negative ? -v : v;
    });
}

/* Rows [row, row + rows) of one column of G to the values, v(q) to row + q.  Each tile that they
 * are in is looked up once: a look waits for all stores before it. */
template <typename T, typename Value>
__device__ __forceinline__ void put_root_column(const invert_arguments<T> &a, const tiled_group &g,
                                                int column, int row, int rows, Value &&v)
{
    /* block b begins at column k b div blocks */
    const int blocks = g.root_blocks, block = ((column + 1) * blocks - 1) / g.k;
    const root_tile *tile = a.root + g.root + row / g.root_rows * blocks + block;
    for (int q = 0; q < rows; tile += blocks) {
        const root_tile t = *tile;
        T *const to = a.values + t.at16 * (int64_t)(16 / sizeof(T)) +
                      (int64_t)(row - t.row) * t.ld + column - t.column;
        const int end = min(rows, t.row + g.root_rows - row);
#pragma unroll 4
        for (; q < end; q++)
            to[(int64_t)q * t.ld] = v(q);
    }
}

/* G = M^T D^-1 M of a root: tiles of its lower triangle, to both of their places; EARLY: sums
 * over the first strips alone, and to those that go on from them, by t. */
template <bool EARLY, typename T>
__device__ __forceinline__ void multiply_gram(const invert_arguments<T> &a, int number,
                                              product_room<T> &room)
{
    using shape = product_shape<T>;
    constexpr int LD = SQUARE + 1;
    static_assert(STRIP_WARPS * SQUARE * LD <= shape::TILES * SQUARE_AREA, "a tile for each warp");
    const product_item item = a.item[number];
    const tiled_group g = a.tiled[item.group];
    const product_operands<T, 1> o(a, g, item);
    item_sum<T> sum;
    const int warp = threadIdx.x / 32, p = warp / 2, q = warp % 2, lane = threadIdx.x % 32,
              i = item.row + p, j = item.column + q;
    const bool has_tile = p < item.rows && q < item.columns && i >= j;
    T *const partial = tiles_t(a, g) + (has_tile ? tile_number(g.nb, i, j) : 0) * SQUARE_AREA;
    if (EARLY && has_tile && item.from > item.row)
        each_of_item([&](int m, int n, int k, int row, int column) {
            sum.put(m, n, k, partial[square_at(row, column)]);
        });
    product_multiply(sum, o, room, a.hermitian);
    T *out = room.stage + warp * SQUARE * LD;
    if (!has_tile)
        return;
    if (EARLY && item.to < g.nb) {
        each_of_item([&](int m, int n, int k, int row, int column) {
            partial[square_at(row, column)] = sum.entry(m, n, k);
        });
        return;
    }
    const invert_strip down = a.strip[g.first_strip + i], across = a.strip[g.first_strip + j];
    each_of_item([&](int m, int n, int k, int row, int column) {
        out[row * LD + column] = sum.entry(m, n, k);
    });
    __syncwarp();
    if (lane < across.width)
        put_root_column(a, g, across.column + lane, down.column, down.width,
                        [&](int q) { return out[q * LD + lane]; });
    if (i > j && lane < down.width)
        put_root_column(a, g, down.column + lane, across.column, across.width,
                        [&](int q) { return conjugate_if(out[lane * LD + q], a.hermitian); });
}

#endif
