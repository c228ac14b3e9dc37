/* gpu/invert/root.cuh: block scope: G of roots of up to a pair of strips, in shared
 * memory, from their tiles of L
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The root comes last, and everything waits for its G.  As tasks on tiles this would take five
 * steps, each of which waits longer for the one before than it works. */
#ifndef GPU_INVERT_ROOT_CUH
#define GPU_INVERT_ROOT_CUH

#include "gpu/invert/product.cuh"

/* Shared memory behind L and M, both of 64 padded rows. */
template <typename T> struct root_room {
    static constexpr int PARTS = STRIP_THREADS / TILE;
    real_of<T> part[PARTS][TILE];
    real_of<T> sum[TILE];
    real_of<T> apart[INVERT_ROOT_STRIPS][SQUARE + 2]; /* sums strip by strip, zeros around */
    pivot_row<T> pivot[TILE];                         /* rows of D^-1, not of Cholesky */
    double worst[TILE / 32];
};
template <typename T> constexpr int ROOT_BYTES = DIAGONAL_BYTES<T> + (int)sizeof(root_room<T>);

/* Sums over the columns of each row, entry(row, column), to room.sum.  Begins and ends with a
 * barrier. */
template <typename T, typename Entry>
__device__ __forceinline__ void sum_rows(root_room<T> &room, Entry &&entry)
{
    constexpr int PARTS = root_room<T>::PARTS;
    const int row = threadIdx.x % TILE, part = threadIdx.x / TILE;
    real_of<T> sum = 0;
    __syncthreads();
#pragma unroll 4
    for (int c = part; c < TILE; c += PARTS)
        sum += entry(row, c);
    room.part[part][row] = sum;
    __syncthreads();
    if (part == 0) {
        for (int q = 1; q < PARTS; q++)
            sum += room.part[q][row];
        room.sum[row] = sum;
    }
    __syncthreads();
}

/* The largest of room.sum. */
template <typename T> __device__ __forceinline__ double worst_row(root_room<T> &room)
{
    static_assert(TILE == 64, "two warps have the rows");
    if (threadIdx.x < TILE) {
        const double worst = worst_of_warp((double)room.sum[threadIdx.x]);
        if (threadIdx.x % 32 == 0)
            room.worst[threadIdx.x / 32] = worst;
    }
    __syncthreads();
    return worse_growth(room.worst[0], room.worst[1]);
}

/* G := M^T D^-1 M, from X = M to where M is, both of its triangles; ends with a barrier. */
template <typename T>
__device__ __forceinline__ void form_gram(const invert_arguments<T> &a, T *X,
                                          const root_room<T> &room)
{
    constexpr int LD = TILE_LD<T>, TILES = 20, WARPS = STRIP_WARPS,
                  EACH = (TILES + WARPS - 1) / WARPS; /* tiles of 16 x 8 with a lower triangle */
    product_sum<T, 1> sum[EACH];
    const auto place = [&](int q, int &row, int &column) {
        const int tile = threadIdx.x / 32 + q * WARPS;
        int r = 0;
        while ((r + 1) * (r + 2) <= tile)
            r++;
        row = 16 * r;
        column = 8 * (tile - r * (r + 1));
        return tile < TILES;
    };
#pragma unroll
    for (int q = 0; q < EACH; q++) {
        int row, column;
        if (!place(q, row, column))
            continue;
        multiply_16_of(
            sum[q], TILE - row,
            [&](int i, int k) { return conjugate_if(X[row + k + (row + i) * LD], a.hermitian); },
            [&](int k, int j) {
                const T *x = X + row + k + (column + j) * LD;
                if (a.cholesky)
                    return *x;
                const pivot_row<T> d = room.pivot[row + k];
                const T v = multiply(d.diagonal, *x);
                return d.neighbour != 0 ? multiply_add(v, d.off, x[d.neighbour]) : v;
            });
    }
    __syncthreads(); /* M has been read */
#pragma unroll
    for (int q = 0; q < EACH; q++) {
        int row, column;
        if (!place(q, row, column))
            continue;
        each_entry_of(sum[q], [&](int i, int j, T v) {
            if (row + i < column + j)
                return;
            X[row + i + (column + j) * LD] = v;
            X[column + j + (row + i) * LD] = conjugate_if(v, a.hermitian);
        });
    }
    __syncthreads();
}

/* G from shared memory to the values: half a strip's rows of a column by each thread. */
template <typename T>
__device__ __forceinline__ void put_gram(const invert_arguments<T> &a, const tiled_group &g,
                                         const int (&width)[INVERT_ROOT_STRIPS], const T *G)
{
    constexpr int HALF = SQUARE / 2;
    const int c = threadIdx.x % TILE, j = c / SQUARE, i = threadIdx.x / (2 * TILE),
              from = threadIdx.x / TILE % 2 * HALF, rows = min(HALF, width[i] - from);
    if (c % SQUARE < width[j] && rows > 0)
        put_root_column(a, g, j * width[0] + c % SQUARE, i * width[0] + from, rows, [&](int q) {
            return conjugate_if(G[c + (SQUARE * i + from + q) * TILE_LD<T>], a.hermitian);
        });
}

/* room.sum := |D| room.sum, zero in rows that are padded. */
template <typename T, typename There, typename Position>
__device__ __forceinline__ void scale_sums(const invert_arguments<T> &a, root_room<T> &room,
                                           There &&is_there, Position &&position)
{
    const int row = threadIdx.x;
    real_of<T> *const y = room.apart[row / SQUARE % INVERT_ROOT_STRIPS] + row % SQUARE;
    if (row < TILE) {
        if (row % SQUARE == 0)
            y[0] = y[SQUARE + 1] = 0;
        y[1] = is_there(row) ? room.sum[row] : 0;
    }
    __syncthreads();
    if (row < TILE)
        room.sum[row] = is_there(row) ? pivot_magnitude(a, position(row), y[0], y[1], y[2]) : 0;
}

/* G of a root whose first strip is s, which invert_is_pair_root, and how much M and G have grown.
 * Called, so that other tasks keep their registers. */
template <typename T>
static __device__ __noinline__ void invert_root(const invert_arguments<T> &a, int s, char *shared)
{
    static_assert(INVERT_ROOT_STRIPS * SQUARE == TILE, "the root is a tile of dense/");
    constexpr int LD = TILE_LD<T>;
    const tiled_group g = a.tiled[a.strip[s].group];
    const int width[INVERT_ROOT_STRIPS] = {a.strip[s].width, g.nb > 1 ? a.strip[s + 1].width : 0};
    T *const D = reinterpret_cast<T *>(shared), *const X = D + TILE_AREA<T>;
    root_room<T> &room = *reinterpret_cast<root_room<T> *>(X + TILE_AREA<T>);
    const auto is_there = [&](int q) { return q % SQUARE < width[q / SQUARE]; };
    /* of a padded row that is there */
    const auto position = [&](int q) {
        return a.column[g.column_start + q / SQUARE * width[0] + q % SQUARE];
    };
    const auto lower = [&](const T *A, int row, int c) {
        return c <= row ? modulus(A[row + c * LD]) : 0;
    };
    if (threadIdx.x < TILE && !a.cholesky)
        room.pivot[threadIdx.x] = is_there(threadIdx.x)
                                      ? inverse_pivot(a.d, a.e, a.hermitian, position(threadIdx.x))
                                      : pivot_row<T>{};
    invert_pair(a, g, s, D, X);
    sum_rows(room, [&](int row, int c) { return lower(X, row, c); });
    sum_rows(room, [&](int row, int c) { return lower(D, row, c) * room.sum[c]; });
    const double growth = worst_row(room);
    form_gram(a, X, room);
    put_gram(a, g, width, X);
    sum_rows(room, [&](int row, int c) {
        return is_there(row) && is_there(c) ? modulus(X[row + c * LD]) : 0;
    });
    sum_rows(room, [&](int row, int c) { return lower(D, c, row) * room.sum[c]; });
    scale_sums(a, room, is_there, position);
    sum_rows(room, [&](int row, int c) { return lower(D, row, c) * room.sum[c]; });
    const double root_growth = worst_row(room);
    if (threadIdx.x > 0)
        return;
    for (int q = 0; q < g.nb; q++) {
        a.growth[a.smalls + s + q] = growth;
        a.root_growth[a.smalls + s + q] = root_growth;
    }
    gather_growth(&a.gathered->of_group, growth);
    gather_growth(&a.gathered->of_root, root_growth);
}

#endif
