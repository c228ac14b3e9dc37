/* dense/cuda/batched/lanes.cuh: block scope: X := inv(L) B for n <= 32 and many columns, one a lane
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A lane has its column in registers and meets the entries of L in shared memory, where a warp
 * reads one at a time: a step of the substitution is multiply-adds that wait for nothing, and no
 * lane needs another.  Columns pass through shared memory, since memory is contiguous along them or
 * across. */
#ifndef DENSE_CUDA_BATCHED_LANES_CUH
#define DENSE_CUDA_BATCHED_LANES_CUH

#include "dense/cuda/batched/columns.cuh"
#include "dense/cuda/batched/steps.cuh"

constexpr int LANES = 32; /* columns of a warp at a time */

/* Of a block that solves a triangle of order W.  An odd distance of columns: lanes that read a row
 * meet no bank twice. */
template <typename T, int W> struct lanes_triangle {
    static constexpr int LD = STEPS_LD<T, W>;
    alignas(16) T D[W * LD];
    T diagonal[W]; /* reciprocals, or the entries where those are not safe */
};
template <typename T, int W> struct lanes_columns {
    static constexpr int LD = W + 1;
    T x[LANES * LD];
};

/* call(place in shared memory, address, whether it is there) for what a lane moves of columns [c0,
 * c0 + 32); neighbours are neighbours in memory. */
template <int W, typename T, typename Call>
__device__ __forceinline__ void for_places(const given_columns<T> &x, int c0, int n, Call call)
{
    constexpr int LD = lanes_columns<T, W>::LD;
    const int lane = threadIdx.x % 32;
    const bool across = x.column == 1;
    const int i = across ? 0 : lane % W, c = c0 + (across ? lane : lane / W);
    const int down = across ? 1 : 0, right = across ? 0 : 32 / W; /* a step */
    const int64_t step = down * x.row + right * x.column;
    T *p = x.at(i, c);
#pragma unroll 8
    for (int k = 0; k < W; k++, p += step) {
        const int row = i + k * down, column = c + k * right;
        call(row + (column - c0) * LD, p, row < n && column < x.count);
    }
}

/* Columns of 32 lanes where a reciprocal would lose digits. */
template <typename T, int W>
__device__ __noinline__ void divide_lanes(const lanes_triangle<T, W> &s, int n, T *y)
{
    for (int j = 0; j < n; j++) {
        y[j] = divide(y[j], s.diagonal[j]);
        for (int i = j + 1; i < n; i++)
            y[i] = multiply_add(y[i], -s.D[i + j * s.LD], y[j]);
    }
}

/* y := inv(L) y for the column of this lane. */
template <typename T, int W>
__device__ __forceinline__ void substitute_lanes(const lanes_triangle<T, W> &s, int n, T *column)
{
    T y[W];
#pragma unroll
    for (int i = 0; i < W; i++)
        y[i] = column[i];
#pragma unroll
    for (int j = 0; j < W; j++) {
        if (j % STEP == 0 && j >= n)
            break;
        y[j] = multiply(y[j], s.diagonal[j]);
#pragma unroll
        for (int i = j + 1; i < W; i++)
            y[i] = multiply_add(y[i], -s.D[i + j * s.LD], y[j]);
    }
#pragma unroll
    for (int i = 0; i < W; i++)
        column[i] = y[i];
}

/* X := inv(L) B by all warps of a block, n <= W; columns: one for each warp. */
template <typename T, int W>
__device__ __forceinline__ void solve_lanes(const triangle_view<T> &L, const given_columns<T> &x,
                                            lanes_triangle<T, W> &s, lanes_columns<T, W> *columns)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    T *const to = columns[warp].x, *const own = to + lane * lanes_columns<T, W>::LD;
    const auto fetch = [&](int c0) {
        if (c0 < x.count)
            for_places<W>(x, c0, L.n, [&](int place, const T *p, bool there) {
                __pipeline_memcpy_async(to + place, p, sizeof(T), there ? 0 : sizeof(T));
            });
        __pipeline_commit();
    };
    if (warp == 0)
        diagonal_fetch<W, 32>(s.D, L, 0, lane);
    fetch(LANES * warp);
    const pivot<T> d(warp == 0 && lane < L.n && !L.unit ? *L.at(lane, lane) : from_real<T>(1));
    const bool safe = __syncthreads_and(d.safe);
    if (warp == 0 && lane < W)
        s.diagonal[lane] = safe ? d.reciprocal : d.d;
    __pipeline_wait_prior(0);
    __syncthreads();
    for (int c0 = LANES * warp; c0 < x.count; c0 += LANES * warps) {
        if (scalar<T>::is_complex && x.conjugate)
            for (int i = 0; i < L.n; i++)
                own[i] = conjugate_if(own[i], true);
        if (safe)
            substitute_lanes(s, L.n, own);
        else
            divide_lanes(s, L.n, own);
        __syncwarp();
        for_places<W>(x, c0, L.n, [&](int place, T *p, bool there) {
            if (there)
                x.store(p, 0, 0, to[place]);
        });
        __syncwarp();
        fetch(c0 + LANES * warps);
        __pipeline_wait_prior(0);
        __syncwarp();
    }
}

#endif
