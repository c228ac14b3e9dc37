/* gpu/factor/by_rows.cuh: block or warp scope: Cholesky of the first columns of a front in shared
 * memory, a thread for each row
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Right-looking in steps of eight columns.  Every thread has the 8 x 8 block on the diagonal in
 * registers and factorizes it, and its own row of the eight columns beside it, by the same
 * operations: the rows below come with the pivots, by substitution, with no inverse and no
 * exchange. What several warps do alike costs nothing, as they would wait: a front has rows for at
 * most four.
 *
 * signs: see signs.cuh; a pivot is then that of the column times its sign, and reciprocals of roots
 * of pivots are kept. */
#ifndef GPU_FACTOR_BY_ROWS_CUH
#define GPU_FACTOR_BY_ROWS_CUH

#include "dense/cuda/device/cholesky.cuh"

template <typename P> struct column_pivot {
    P pivot, reciprocal_root;
};

/* Column j of the block and of a thread's own row x, from D and own: the products of the columns
 * before it are taken from it, then it is divided by the root of its pivot, which is returned.
 * Column by column from the left, so that few of them are in registers at a time. */
template <typename T, typename S>
__device__ __forceinline__ column_pivot<pivot_type<T, S>>
eliminate_column(T (&a)[CHOLESKY_STEP][CHOLESKY_STEP], T (&x)[CHOLESKY_STEP], const T *D,
                 const T *own, int ld, int width, int j, S signs)
{
    constexpr int N = CHOLESKY_STEP;
    using P = pivot_type<T, S>;
    x[j] = j < width ? own[j * ld] : T{};
#pragma unroll
    for (int i = j; i < N; i++)
        a[i][j] = i < width ? D[i + j * ld] : from_real<T>(i == j);
#pragma unroll
    for (int d = 0; d < j; d++) {
        const T turned = mirrored<S>(a[j][d]);
#pragma unroll
        for (int i = j; i < N; i++)
            a[i][j] = multiply_add(a[i][j], -signs.flip(a[i][d], d), turned);
        x[j] = multiply_add(x[j], -signs.flip(x[d], d), turned);
    }
    const P pivot = signs.flip(pivot_part<S>(a[j][j]), j);
    const P reciprocal = reciprocal_root(pivot);
    const T r = from_pivot<T>(signs.flip(reciprocal, j));
#pragma unroll
    for (int i = j + 1; i < N; i++)
        a[i][j] = multiply(a[i][j], r);
    x[j] = multiply(x[j], r);
    return {pivot, reciprocal};
}

/* Columns [p, p + width) of the front, width <= 8, from row p on.  pivot(j): what column p + j was
 * divided by the root of; reciprocal(j): that of this root, with signs.  One barrier, none at the
 * end. */
template <int WARPS, typename T, typename S>
__device__ __forceinline__ void cholesky_panel(T *F, int ld, int m, int p, int width,
                                               pivot_type<T, S> *pivot,
                                               pivot_type<T, S> *reciprocal, S signs)
{
    using team = front_team<WARPS>;
    using P = pivot_type<T, S>;
    constexpr int N = CHOLESKY_STEP;
    const int rank = team::rank(), row = p + rank;
    const bool works = p + rank / 32 * 32 < m; /* the warp does */
    T *const D = F + p * (ld + 1), *const own = F + min(row, m - 1) + p * ld;
    T x[N];
    if (works) {
        T a[N][N];
        column_pivot<P> mine = {};
        const auto eliminate = [&](int j) {
            const column_pivot<P> own_j = eliminate_column(a, x, D, own, ld, width, j, signs);
            mine = rank == j ? own_j : mine;
        };
#pragma unroll
        for (int j = 0; j < N / 2; j++)
            eliminate(j);
        if (width > N / 2)
#pragma unroll
            for (int j = N / 2; j < N; j++)
                eliminate(j);
        if (rank < width) {
            pivot[rank] = mine.pivot;
            if (S::ANY)
                reciprocal[rank] = mine.reciprocal_root;
        }
    }
    team::sync(); /* the block is overwritten, row by row */
    if (works)
#pragma unroll
        for (int j = 0; j < N; j++)
            if (j < width && j <= rank && row < m)
                own[j * ld] = rank == j ? from_pivot<T>(pivot_part<S>(x[j])) : x[j];
}

/* A tile of 16 rows and 8 columns less the product of a step, to be loaded before and put after. */
template <typename T> struct tile_behind {
    T before[4];
    product_sum<T, 1> product;

    template <typename S>
    __device__ __forceinline__ void load(const T *F, int ld, int i, int j, int p, int width,
                                         S signs)
    {
        const int lane = threadIdx.x % 32, g = lane / 4, l = 2 * (lane % 4);
        product = product_sum<T, 1>();
#pragma unroll
        for (int e = 0; e < 4; e++)
            before[e] = F[i + g + 8 * (e / 2) + (j + l + e % 2) * ld];
        multiply_8_turned(product, F + i + p * ld, ld, F + j + p * ld, ld, width, signs);
    }
    /* But for columns before `from`. */
    __device__ __forceinline__ void put(T *F, int ld, int i, int j, int from) const
    {
        const int lane = threadIdx.x % 32, g = lane / 4, l = 2 * (lane % 4);
#pragma unroll
        for (int e = 0; e < 4; e++)
            if (j + l + e % 2 >= from)
                F[i + g + 8 * (e / 2) + (j + l + e % 2) * ld] = before[e] - product.entry(0, e);
    }
};

/* The product of columns [p, p + width) from all tiles behind them, each warp every WARPS-th, two
 * at a time. */
template <int WARPS, typename T, typename S>
__device__ __forceinline__ void subtract_panel(T *F, int ld, int m, int p, int width, S signs)
{
    int mine = front_team<WARPS>::warp(), number = 0; /* of the first tile of a column */
    int i = -1, j = 0;                                /* a tile that waits for another */
#pragma unroll 1
    for (int column = width == CHOLESKY_STEP ? p + width : p; column < m; column += 8) {
        const int first = column / 16, tiles = (m + 15) / 16 - first;
#pragma unroll 1
        for (; mine < number + tiles; mine += WARPS) {
            const int row = 16 * (first + mine - number);
            if (i < 0) {
                i = row;
                j = column;
                continue;
            }
            tile_behind<T> one, other;
            one.load(F, ld, i, j, p, width, signs);
            other.load(F, ld, row, column, p, width, signs);
            one.put(F, ld, i, j, p + width);
            other.put(F, ld, row, column, p + width);
            i = -1;
        }
        number += tiles;
    }
    if (i >= 0) {
        tile_behind<T> one;
        one.load(F, ld, i, j, p, width, signs);
        one.put(F, ld, i, j, p + width);
    }
}

/* Cholesky of the first k columns of the m x m front at F, lower triangle; the rest becomes what is
 * left of it.  m <= 112, by a warp 32.  F has room for m rounded up to 16 rows and to 8 columns,
 * all of which hold numbers; its upper triangle is overwritten.  pivot, reciprocal: k rounded up to
 * 8, see cholesky_panel.  All in shared memory.  All threads of the team call; F is visible to
 * them; ends with a barrier of the team. */
template <int WARPS, typename T, typename S>
__device__ __forceinline__ void cholesky_by_rows(T *F, int ld, int m, int k,
                                                 pivot_type<T, S> *pivot,
                                                 pivot_type<T, S> *reciprocal, S signs)
{
    using team = front_team<WARPS>;
#pragma unroll 1
    for (int p = 0; p < k; p += CHOLESKY_STEP) {
        const int width = min(CHOLESKY_STEP, k - p);
        const auto own = signs.at(p).first(width);
        cholesky_panel<WARPS>(F, ld, m, p, width, pivot + p, reciprocal + p, own);
        team::sync();
        subtract_panel<WARPS>(F, ld, m, p, width, own);
        team::sync();
    }
}

#endif
