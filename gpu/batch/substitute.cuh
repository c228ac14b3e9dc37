/* gpu/batch/substitute.cuh: warp or block scope: solves with the factor of one item, front by front
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     forward    x_K := L_K^-1 x_K,  x_R -= L_R x_K       children before parents
 *     backward   x_K := L_K^-H (x_K - L_R^H x_R)          parents before children
 *
 * 32 pivots at a time: their triangle by the lanes of a warp, a row or a column each, the rest by
 * all warps of the item.  L D L^T: L has a unit diagonal, and x_K is divided by D before it is
 * solved for backwards.  Where a block has an item its warps have subtrees, and what is left at the
 * top is worked on by all of them (batch_share).  Sums have fixed orders. */
#ifndef GPU_BATCH_SUBSTITUTE_CUH
#define GPU_BATCH_SUBSTITUTE_CUH

#include "gpu/batch/arguments.cuh"

/* Those who solve for one item: a warp, or all of a block. */
template <int WARPS> struct item_team {
    static constexpr int THREADS = 32 * WARPS;
    __device__ __forceinline__ static int rank() { return (int)threadIdx.x % THREADS; }
    __device__ __forceinline__ static int warp() { return WARPS == 1 ? 0 : (int)threadIdx.x / 32; }
    __device__ __forceinline__ static void sync()
    {
        if constexpr (WARPS == 1)
            __syncwarp();
        else
            __syncthreads();
    }
};

/* Where row i of a front is. */
__device__ __forceinline__ int place_of(const batch_front &f, const int32_t *row, int i)
{
    return i < f.k ? f.first + i : row[f.rows + i - f.k];
}

/* Of a triangle of `width` pivots with its first entry at `at`: x of this lane's pivot from what it
 * is to be solved for; FORWARD: L x = f, from the first on; otherwise L^H x = f, from the last on.
 * FORWARD: lanes up to `rows` have rows below it, whose v is less their products with x.  is_unit:
 * the diagonal is one, whatever stands there. */
template <bool FORWARD, typename T>
__device__ __forceinline__ T solve_triangle(const T *at, int ld, int width, int rows, bool is_unit,
                                            T v)
{
    using R = real_of<T>;
    const int lane = (int)threadIdx.x % 32;
    const R diagonal = is_unit || lane >= width ? R(1) : real_part(at[lane + (int64_t)lane * ld]),
            inverse = lane < width ? 1 / diagonal : R(0);
#pragma unroll 8
    for (int q = 0; q < width; q++) {
        const int j = FORWARD ? q : width - 1 - q;
        const bool waits = FORWARD ? lane > j && lane < rows : lane < j;
        T entry = {};
        if (waits)
            entry = FORWARD ? at[lane + (int64_t)j * ld]
                            : conjugate_if(at[j + (int64_t)lane * ld], true);
        const T mine = times_real(v, inverse), z = shuffle(mine, j);
        v = lane == j ? mine : multiply_add(v, -entry, z);
    }
    return v;
}

template <int WARPS, typename T>
__device__ __forceinline__ void forward_front(const batch_front &f, const int32_t *row,
                                              const T *panel, bool is_unit, T *x)
{
    using team = item_team<WARPS>;
    const int lane = (int)threadIdx.x % 32;
    const T *const P = panel + f.panel;
    for (int p = 0; p < f.k; p += 32) {
        const int width = min(32, f.k - p), rows = f.m - p <= 32 ? f.m - p : width;
        if (team::warp() == 0) {
            T v = {};
            if (lane < width)
                v = x[f.first + p + lane];
            v = solve_triangle<true>(P + p + (int64_t)p * f.ld, f.ld, width, rows, is_unit, v);
            if (lane < width)
                x[f.first + p + lane] = v;
            else if (lane < rows) {
                T *const to = x + place_of(f, row, p + lane);
                *to = *to + v;
            }
        }
        team::sync();
        if (p + rows == f.m)
            return; /* with the last pivots go all rows behind them */
        T z = {};
        if (lane < width)
            z = x[f.first + p + lane];
        for (int first = p + width; first < f.m; first += team::THREADS) {
            const int i = first + team::rank();
            const T *const from = P + (int64_t)p * f.ld + (i < f.m ? i : f.m - 1);
            T sum = {};
#pragma unroll 8
            for (int j = 0; j < width; j++)
                sum = multiply_add(sum, from[(int64_t)j * f.ld], shuffle(z, j));
            if (i < f.m) {
                T *const to = x + place_of(f, row, i);
                *to = *to - sum;
            }
        }
        team::sync();
    }
}

/* d: the diagonal of D, NULL: Cholesky; part: 32 scalars of shared memory for each warp */
template <int WARPS, typename T>
__device__ __forceinline__ void backward_front(const batch_front &f, const int32_t *row,
                                               const T *panel, const T *d, T *x, T (*part)[32])
{
    using team = item_team<WARPS>;
    const int lane = (int)threadIdx.x % 32, warp = team::warp();
    const T *const P = panel + f.panel;
    for (int p = (f.k - 1) / 32 * 32; p >= 0; p -= 32) {
        const int width = min(32, f.k - p);
        const T *const column = P + (int64_t)(p + min(lane, width - 1)) * f.ld;
        T sum = {};
        for (int first = p + width + 32 * warp; first < f.m; first += team::THREADS) {
            const int rows = min(32, f.m - first);
            T below = {};
            if (lane < rows)
                below = x[place_of(f, row, first + lane)];
#pragma unroll 8
            for (int i = 0; i < rows; i++)
                sum = multiply_add(sum, conjugate_if(column[first + i], true), shuffle(below, i));
        }
        if constexpr (WARPS > 1) {
            part[warp][lane] = sum;
            __syncthreads();
            sum = T{};
            for (int q = 0; q < WARPS && warp == 0; q++)
                sum = sum + part[q][lane];
        }
        if (warp == 0) {
            T v = {};
            if (lane < width) {
                v = x[f.first + p + lane];
                if (d)
                    v = times_real(v, 1 / real_part(d[f.first + p + lane]));
                v = v - sum;
            }
            v = solve_triangle<false>(P + p + (int64_t)p * f.ld, f.ld, width, width, d != nullptr,
                                      v);
            if (lane < width)
                x[f.first + p + lane] = v;
        }
        team::sync();
    }
}

/* Asks for the panel of a front, up to 4 kB of it, which is read next. */
template <typename T>
__device__ __forceinline__ void ask_for_panel(const batch_front &f, const T *panel)
{
    constexpr int LINE = 128 / sizeof(T);
    const int at = (int)threadIdx.x % 32 * LINE;
    if (at < (int64_t)f.k * f.ld)
        asm volatile("prefetch.global.L1 [%0];" ::"l"(panel + f.panel + at));
}

/* Fronts [first, end) forwards; the next one's record comes while one is worked on. */
template <int WARPS, typename T>
__device__ __forceinline__ void forward_fronts(const batch_arguments<T> &a, const int32_t *row,
                                               int first, int end, const T *panel, T *x)
{
    if (first >= end)
        return;
    batch_front next = a.front[first];
    for (int s = first; s < end; s++) {
        const batch_front f = next;
        next = a.front[min(s + 1, end - 1)];
        ask_for_panel(next, panel);
        forward_front<WARPS>(f, row, panel, a.pivots >= 0, x);
    }
}

/* The same backwards, from the last one on. */
template <int WARPS, typename T>
__device__ __forceinline__ void backward_fronts(const batch_arguments<T> &a, const int32_t *row,
                                                int first, int end, const T *panel, T *x,
                                                T (*part)[32])
{
    if (first >= end)
        return;
    const T *const d = a.pivots >= 0 ? panel + a.pivots : nullptr;
    batch_front next = a.front[end - 1];
    for (int s = end - 1; s >= first; s--) {
        const batch_front f = next;
        next = a.front[max(s - 1, first)];
        ask_for_panel(next, panel);
        backward_front<WARPS>(f, row, panel, d, x, part);
    }
}

/* x := A^-1 of it, n scalars in the order of P A P^T, of the scaled matrix, by a warp.  Begins and
 * ends with a barrier of it. */
template <typename T>
__device__ __forceinline__ void solve_by_warp(const batch_arguments<T> &a, const T *panel, T *x,
                                              T (*part)[32])
{
    __syncwarp();
    forward_fronts<1>(a, a.row, 0, a.fronts, panel, x);
    backward_fronts<1>(a, a.row, 0, a.fronts, panel, x, part);
}

/* The same by a block; x has a.places(). */
template <typename T>
__device__ __forceinline__ void solve_by_block(const batch_arguments<T> &a, const T *panel, T *x,
                                               T (*part)[32])
{
    constexpr int THREADS = 32 * BATCH_WARPS;
    const int warp = (int)threadIdx.x / 32, top = a.share.top;
    const int first = a.share.begin[warp], end = a.share.begin[warp + 1],
              top_front = a.share.begin[BATCH_WARPS];
    T *const copies = x + a.n;
    for (int t = (int)threadIdx.x; t < BATCH_WARPS * top; t += THREADS)
        copies[t] = T{};
    __syncthreads();
    forward_fronts<1>(a, a.shared, first, end, panel, x);
    __syncthreads();
    for (int t = (int)threadIdx.x; t < top; t += THREADS) {
        T *const at = x + a.top_row[t];
        T sum = *at;
#pragma unroll
        for (int w = 0; w < BATCH_WARPS; w++)
            sum = sum + copies[w * top + t];
        *at = sum;
    }
    __syncthreads();
    forward_fronts<BATCH_WARPS>(a, a.row, top_front, a.fronts, panel, x);
    backward_fronts<BATCH_WARPS>(a, a.row, top_front, a.fronts, panel, x, part);
    for (int t = (int)threadIdx.x; t < top; t += THREADS) {
        const T v = x[a.top_row[t]];
#pragma unroll
        for (int w = 0; w < BATCH_WARPS; w++)
            copies[w * top + t] = v;
    }
    __syncthreads();
    backward_fronts<1>(a, a.shared, first, end, panel, x, part);
    __syncthreads();
}

/* Items of a block, where a warp has one. */
constexpr int ITEM_WARPS = 4;
/* Blocks that are to fit on a multiprocessor, by their registers. */
constexpr int solve_blocks(int warps)
{
    return warps == 1 ? 8 : 1;
}

/* x := A^-1 b of each item.  SHARED: x is in shared memory meanwhile. */
template <typename T, int WARPS, bool SHARED>
__global__ void __launch_bounds__(32 * (WARPS == 1 ? ITEM_WARPS : WARPS), solve_blocks(WARPS))
    batch_solve_kernel(const __grid_constant__ batch_arguments<T> a)
{
    using team = item_team<WARPS>;
    extern __shared__ __align__(16) unsigned char memory[];
    __shared__ T part[WARPS][32];
    const int teams = (int)blockDim.x / team::THREADS, own = (int)threadIdx.x / team::THREADS;
    const int64_t number = (int64_t)blockIdx.x * teams + own;
    if (number >= a.items)
        return; /* a warp, or the block */
    const int64_t item = a.item[number];
    const T *const panel = a.panel_of(item);
    const real_of<T> *const scale = a.scale_of(item);
    T *const work =
        SHARED ? reinterpret_cast<T *>(memory) + (int64_t)own * a.n : a.work + item * a.places();
    for (int64_t q = 0; q < a.columns; q++) {
        const T *const b = a.b.of(item) + q * a.b.column;
        T *const x = a.x.of(item) + q * a.x.column;
        for (int k = team::rank(); k < a.n; k += team::THREADS) {
            const int i = a.row_of[k];
            work[k] = times_real(b[i * a.b.row], scale[i]);
        }
        if constexpr (WARPS == 1)
            solve_by_warp(a, panel, work, part);
        else
            solve_by_block(a, panel, work, part);
        for (int k = team::rank(); k < a.n; k += team::THREADS) {
            const int i = a.row_of[k];
            x[i * a.x.row] = times_real(work[k], scale[i]);
        }
        team::sync();
    }
}

#endif
