/* dense/cuda/device/warp.cuh: warp scope: triangles of order <= 128 by one warp, or several of
 * order <= 8 or 16 at once
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Lane i of a group of W lanes has row i of a diagonal block, so that a step of the substitution is
 * a broadcast and a multiply-add; below it, blocks of 32 columns are applied with x broadcast from
 * shared memory. */
#ifndef DENSE_CUDA_DEVICE_WARP_CUH
#define DENSE_CUDA_DEVICE_WARP_CUH

#include "dense/cuda/device/pivot.cuh"
#include "dense/cuda/device/view.cuh"

constexpr int WARP_ORDER = 128; /* largest order */

/* What a warp of trsv_warp needs of shared memory; W: 8, 16 or 32; C: columns.  TURNS: rows may be
 * contiguous. */
template <typename T, int W, bool TURNS = true, int C = 1> struct warp_shared {
    /* a block on its way from rows to columns */
    T turned[TURNS ? 32 / W : 1][TURNS ? W * (W + 1) : 1];
    T y[C][W == 32 ? WARP_ORDER : 1];
};

/* The first `count` of a few right-hand sides, one `column` behind the other. */
template <typename T> struct vector_group {
    vector_view<T> first;
    int64_t column;
    int count;

    __device__ __forceinline__ vector_view<T> at(int c) const
    {
        return {first.entry + c * column, first.step, first.conjugate};
    }
};

/* row[j] := L(i0 + lane, j0 + j), with the lane counted in its group of W; zeros past n; of a
 * diagonal block the lower triangle, ones on its diagonal when unit or past n.  turned: W (W + 1)
 * entries, used when rows are contiguous in memory: they are read as such and turned round
 * there. */
template <typename T, int W>
__device__ __forceinline__ void warp_load(T (&row)[W], const triangle_view<T> &L, int i0, int j0,
                                          T *turned)
{
    const int lane = threadIdx.x % W;
    const int limit = L.n, diagonal = L.unit ? 0 : 1;
    if (!L.transposed) {
        /* the first `stored` of the row */
        const int i = i0 + lane, stored = i < limit ? min(W, i - j0 + diagonal) : 0;
        const T *p = L.at(i, j0);
#pragma unroll
        for (int j = 0; j < W; j++) {
            row[j] = from_real<T>(i == j0 + j);
            if (j < stored)
                row[j] = *p;
            p += L.column;
        }
    } else {
        __syncwarp(); /* the last block has been read */
        const int j = j0 + lane, from = j - i0 + 1 - diagonal, to = limit - i0; /* of the column */
        const T *p = L.at(i0, j);
#pragma unroll
        for (int i = 0; i < W; i++) {
            row[i] = from_real<T>(i0 + i == j);
            if (i >= from && i < to)
                row[i] = *p;
            p += L.row;
        }
#pragma unroll
        for (int i = 0; i < W; i++)
            turned[i + lane * (W + 1)] = row[i];
        __syncwarp();
#pragma unroll
        for (int j = 0; j < W; j++)
            row[j] = turned[lane + j * (W + 1)];
    }
}

/* Out of line: what is rare should not take the registers of what is not. */
template <typename T> __device__ __noinline__ T quotient_apart(const pivot<T> diagonal, T y)
{
    return diagonal.template quotient<false>(y);
}

/* y := inv(L) y for a block that warp_load brought, entry i of each of C vectors in lane i of each
 * group.  All lanes call. */
template <typename T, int W, int C>
__device__ __forceinline__ void warp_apply(const T (&row)[W], T (&y)[C])
{
    const int lane = threadIdx.x % W;
    T own = row[0];
#pragma unroll
    for (int j = 1; j < W; j++)
        own = choose(lane == j, row[j], own);
    const pivot<T> diagonal(own);
    with_pivots(diagonal.safe, [&](auto safe) {
        const auto quotient = [&](T v) {
            if constexpr (C == 1 || decltype(safe)::value)
                return diagonal.template quotient<decltype(safe)::value>(v);
            else
                return quotient_apart(diagonal, v);
        };
#pragma unroll
        for (int j = 0; j < W; j++)
#pragma unroll
            for (int c = 0; c < C; c++) {
                const T x = shuffle(quotient(y[c]), j, W);
                y[c] = choose(lane > j, multiply_add(y[c], -x, row[j]), y[c]);
            }
#pragma unroll
        for (int c = 0; c < C; c++)
            y[c] = quotient(y[c]);
    });
}

/* A triangle of order <= 32 by a warp, a few columns at a time: what a lane holds of it while it
 * waits for a right-hand side. */
template <typename T> struct warp_columns {
    static constexpr int EACH = 8;
    T row[EACH]; /* of the columns at hand, below the diagonal */
    T own;       /* on the diagonal */

    __device__ __forceinline__ void load(const triangle_view<T> &L, int first)
    {
        const int lane = threadIdx.x % 32;
#pragma unroll
        for (int j = 0; j < EACH; j++)
            row[j] = lane < L.n && lane > first + j ? *L.at(lane, first + j) : T{};
    }
    /* The first columns. */
    __device__ __forceinline__ explicit warp_columns(const triangle_view<T> &L)
    {
        const int lane = threadIdx.x % 32;
        own = lane < L.n && !L.unit ? *L.at(lane, lane) : from_real<T>(1);
        load(L, 0);
    }
    /* y := inv(L) y, entry i of each of C vectors in lane i.  All lanes call, once. */
    template <int C> __device__ __forceinline__ void apply(const triangle_view<T> &L, T (&y)[C])
    {
        const int lane = threadIdx.x % 32;
        const pivot<T> diagonal(own);
#pragma unroll 1
        for (int first = 0; first < L.n; first += EACH) {
            T now[EACH];
#pragma unroll
            for (int j = 0; j < EACH; j++)
                now[j] = row[j];
            load(L, first + EACH);
            with_pivots(diagonal.safe, [&](auto safe) {
#pragma unroll
                for (int j = 0; j < EACH; j++)
#pragma unroll
                    for (int c = 0; c < C; c++) {
                        const T x = shuffle(diagonal.template quotient<decltype(safe)::value>(y[c]),
                                            first + j);
                        y[c] = choose(lane > first + j, multiply_add(y[c], -x, now[j]), y[c]);
                    }
            });
        }
#pragma unroll
        for (int c = 0; c < C; c++)
            y[c] = diagonal.template quotient<false>(y[c]);
    }
};

/* y -= A x for C vectors, entry i of y in lane i; x: in shared memory, WARP_ORDER apart.  One
 * vector alone has four sums, since a chain of 32 would be waited for. */
template <typename T, int C>
__device__ __forceinline__ void warp_subtract(const T (&row)[32], const T *x, T (&y)[C])
{
    constexpr int SUMS = C >= 4 ? 1 : 4 / C;
    T sum[C][SUMS] = {};
#pragma unroll
    for (int c = 0; c < C; c++)
        sum[c][0] = y[c];
#pragma unroll
    for (int j = 0; j < 32; j++)
#pragma unroll
        for (int c = 0; c < C; c++)
            sum[c][j % SUMS] = multiply_add(sum[c][j % SUMS], -row[j], x[j + c * WARP_ORDER]);
#pragma unroll
    for (int c = 0; c < C; c++) {
#pragma unroll
        for (int step = 1; step < SUMS; step *= 2)
#pragma unroll
            for (int k = 0; k + step < SUMS; k += 2 * step)
                sum[c][k] = sum[c][k] + sum[c][k + step];
        y[c] = sum[c][0];
    }
}

/* X := inv(L) X for up to C columns by each group of W lanes, n <= W; n <= 128 when W = 32.  All
 * lanes call, those without a problem with n = 0.  Columns are chains of their own, so that C cost
 * hardly more than one.  T: registers for W entries. */
template <int C, typename T, int W, bool TURNS>
__device__ __forceinline__ void trsv_warp(const triangle_view<T> &L, const vector_group<T> &x,
                                          warp_shared<T, W, TURNS, C> &s)
{
    const int lane = threadIdx.x % W;
    T *turned = s.turned[TURNS ? threadIdx.x % 32 / W : 0];
    T row[W], y[C];
    if constexpr (W < 32) {
#pragma unroll
        for (int c = 0; c < C; c++)
            y[c] = lane < L.n && c < x.count ? x.at(c).load(lane) : T{};
        warp_load(row, L, 0, 0, turned);
        warp_apply(row, y);
#pragma unroll
        for (int c = 0; c < C; c++)
            if (lane < L.n && c < x.count)
                x.at(c).store(lane, y[c]);
    } else {
#pragma unroll
        for (int c = 0; c < C; c++)
#pragma unroll
            for (int i = lane; i < WARP_ORDER; i += 32)
                s.y[c][i] = i < L.n && c < x.count ? x.at(c).load(i) : T{};
        for (int k = 0; k < L.n; k += 32) {
            /* s.y = [x(0:k-1); what is left of b(k:n-1)], each lane writes its own rows */
            warp_load(row, L, k, k, turned);
#pragma unroll
            for (int c = 0; c < C; c++)
                y[c] = s.y[c][k + lane];
            warp_apply(row, y);
#pragma unroll
            for (int c = 0; c < C; c++) {
                s.y[c][k + lane] = y[c];
                if (k + lane < L.n && c < x.count)
                    x.at(c).store(k + lane, y[c]);
            }
            __syncwarp();
            for (int i = k + 32; i < L.n; i += 32) {
                warp_load(row, L, i, k, turned);
#pragma unroll
                for (int c = 0; c < C; c++)
                    y[c] = s.y[c][i + lane];
                warp_subtract(row, s.y[0] + k, y);
#pragma unroll
                for (int c = 0; c < C; c++)
                    s.y[c][i + lane] = y[c];
            }
        }
    }
}
/* The same for one vector. */
template <typename T, int W, bool TURNS>
__device__ __forceinline__ void trsv_warp(const triangle_view<T> &L, const vector_view<T> &x,
                                          warp_shared<T, W, TURNS> &s)
{
    trsv_warp<1>(L, vector_group<T>{x, 0, 1}, s);
}

#endif
