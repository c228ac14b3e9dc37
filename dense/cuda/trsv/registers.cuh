/* dense/cuda/trsv/registers.cuh: block scope: a triangle of order <= N <= 128 in registers
 * [Hogg 2013, listing 3 and table 1]
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Lane l of each of 8 warps has rows l + 32 p; columns are dealt to the warps.  What lies above the
 * diagonal has no register where N alone tells that it does: 40 entries of 64 at N = 128, so that
 * entries of 16 bytes fit as well. */
#ifndef DENSE_CUDA_TRSV_REGISTERS_CUH
#define DENSE_CUDA_TRSV_REGISTERS_CUH

#include "dense/cuda/device/pivot.cuh"
#include "dense/cuda/device/view.cuh"

constexpr int REGISTER_WARPS = 8;

/* L(i,j), zero above the diagonal, ones on it when unit, identity past n. */
template <typename T>
__device__ __forceinline__ T entry_or_identity(const triangle_view<T> &L, int i, int j)
{
    const bool stored = i < L.n && (i > j || (i == j && !L.unit));
    return stored ? *L.at(i, j) : from_real<T>(i == j);
}

/* For the diagonal of a lane's rows: what y is multiplied with where that is safe for all of them,
 * otherwise what it is divided by. */
template <typename T, int ROWS> struct register_pivots {
    T factor[ROWS];
    bool safe = true;

    __device__ __forceinline__ explicit register_pivots(const triangle_view<T> &L)
    {
        T d[ROWS];
#pragma unroll
        for (int p = 0; p < ROWS; p++) {
            const int i = (int)threadIdx.x % 32 + 32 * p;
            const pivot<T> own(entry_or_identity(L, i, i));
            d[p] = own.d;
            factor[p] = own.reciprocal;
            safe = safe && own.safe;
        }
        safe = __all_sync(~0u, safe);
#pragma unroll
        for (int p = 0; p < ROWS; p++)
            factor[p] = choose(safe, factor[p], d[p]);
    }
};

/* Variant A (listing 3): column j belongs to warp j mod 8; a block barrier for each column.  This
 * is for columns 32 P .. n-1.  The 8 columns of a turn of the warps share their code: an
 * instruction that nobody has met yet takes longer to fetch than to execute. */
template <int P, bool SAFE, int N, typename T, int ROWS, int COLUMNS>
__device__ __forceinline__ void registers_columns(const T (&a)[ROWS][COLUMNS],
                                                  const register_pivots<T, ROWS> &pivots, int n,
                                                  const vector_view<T> &x, T (&y)[N])
{
    constexpr int TURNS = 32 / REGISTER_WARPS;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int k = 0; k < TURNS; k++) {
        const int first = 32 * P + REGISTER_WARPS * k;
        for (int turn = 0; turn < REGISTER_WARPS && first + turn < n; turn++) {
            const int j = first + turn, own = j % 32;
            const T d = shuffle(pivots.factor[P], own);
            __syncthreads();
            if (warp != turn)
                continue;
            const T solved = SAFE ? multiply(y[j], d) : divide(y[j], d);
#pragma unroll
            for (int p = P; p < ROWS; p++)
                if (p > P || lane > own)
                    y[lane + 32 * p] = multiply_add(y[lane + 32 * p], -solved, a[p][TURNS * P + k]);
            if (lane == own)
                x.store(j, solved);
        }
    }
    if constexpr (P + 1 < ROWS)
        registers_columns<P + 1, SAFE>(a, pivots, n, x, y);
}

template <int N, typename T>
__device__ __forceinline__ void registers_a(const triangle_view<T> &L, const vector_view<T> &x,
                                            T (&y)[N])
{
    constexpr int ROWS = N / 32, COLUMNS = N / REGISTER_WARPS;
    const int i = threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const register_pivots<T, ROWS> pivots(L);
    T a[ROWS][COLUMNS];
#pragma unroll
    for (int q = 0; q < COLUMNS; q++)
#pragma unroll
        for (int p = REGISTER_WARPS * q / 32; p < ROWS; p++)
            a[p][q] = entry_or_identity(L, lane + 32 * p, warp + REGISTER_WARPS * q);
    if (i < N)
        y[i] = i < L.n ? x.load(i) : T{};
    with_pivots(pivots.safe, [&](auto safe) {
        registers_columns<0, decltype(safe)::value>(a, pivots, L.n, x, y);
    });
}

/* Variant B: slabs of 8 columns are dealt to the warps in turn, and a warp solves its slab alone; a
 * block barrier for each slab. */
constexpr int SLAB = 8;
constexpr int ROUND = SLAB * REGISTER_WARPS; /* columns */

/* Columns 64 R .. 64 R + 63; a: this warp's slab of them, rows from 64 R on. */
template <int R, bool SAFE, int N, typename T, int ROWS>
__device__ __forceinline__ void registers_round(const T (&a)[ROWS][SLAB],
                                                const register_pivots<T, ROWS> &pivots, int n,
                                                const vector_view<T> &x, T (&y)[N])
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    /* the row group of the slab's diagonal is `near` or the one behind it, `own` its first lane */
    constexpr int near = ROUND / 32 * R, far = near + 1 < ROWS ? near + 1 : near;
    const bool is_far = SLAB * warp >= 32;
    const int own = SLAB * warp % 32;
    for (int turn = 0; turn < REGISTER_WARPS && ROUND * R + SLAB * turn < n; turn++) {
        __syncthreads();
        if (warp != turn)
            continue;
        const T d = choose(is_far, pivots.factor[far], pivots.factor[near]);
        T z[ROWS], mine = {};
#pragma unroll
        for (int p = near; p < ROWS; p++)
            z[p] = y[lane + 32 * p];
#pragma unroll
        for (int c = 0; c < SLAB; c++) {
            const T left = choose(is_far, z[far], z[near]);
            const T solved = shuffle(SAFE ? multiply(left, d) : divide(left, d), own + c);
            mine = choose(lane == own + c, solved, mine);
            /* rows that are solved change too, but are not used again */
#pragma unroll
            for (int p = near; p < ROWS; p++)
                z[p] = multiply_add(z[p], -solved, a[p][c]);
        }
#pragma unroll
        for (int p = near; p < ROWS; p++)
            y[lane + 32 * p] = z[p];
        const int row = ROUND * R + SLAB * warp + lane - own;
        if (lane / SLAB == own / SLAB && row < n)
            x.store(row, mine);
    }
}

template <int N, typename T>
__device__ __forceinline__ void registers_b(const triangle_view<T> &L, const vector_view<T> &x,
                                            T (&y)[N])
{
    constexpr int ROWS = N / 32, ROUNDS = (N - 1) / ROUND + 1;
    const int i = threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const register_pivots<T, ROWS> pivots(L);
    T a[ROUNDS][ROWS][SLAB];
#pragma unroll
    for (int r = 0; r < ROUNDS; r++)
#pragma unroll
        for (int c = 0; c < SLAB; c++)
#pragma unroll
            for (int p = ROUND * r / 32; p < ROWS; p++)
                a[r][p][c] = entry_or_identity(L, lane + 32 * p, ROUND * r + SLAB * warp + c);
    if (i < N)
        y[i] = i < L.n ? x.load(i) : T{};
    with_pivots(pivots.safe, [&](auto safe) {
        constexpr bool SAFE = decltype(safe)::value;
        registers_round<0, SAFE>(a[0], pivots, L.n, x, y);
        if constexpr (ROUNDS > 1)
            registers_round<1, SAFE>(a[1], pivots, L.n, x, y);
    });
}

#endif
