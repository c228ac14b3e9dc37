/* gpu/refine/residual.cuh: kernels of a refinement: x += d with norms, residuals with backward
 * errors, the end
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Nothing is summed by atomics: rows are sums of their lanes in a fixed order, and errors are
 * maxima. */
#ifndef GPU_REFINE_RESIDUAL_CUH
#define GPU_REFINE_RESIDUAL_CUH

#include "gpu/refine/extreme_row.cuh"
#include "gpu/refine/residual.h"

constexpr int REFINE_THREADS = 256, REFINE_WARPS = REFINE_THREADS / 32;

template <typename T> struct refine_arguments {
    /* A; see full_matrix */
    const int64_t *start;
    const int32_t *column;
    const T *value;
    const double *row_sum;
    const row_segment *segment;
    int32_t segments, long_rows, log_width;
    int32_t n, columns;
    const T *b;
    T *x;
    int64_t b_row, b_column, x_row, x_column; /* steps, in scalars */
    T *residual, *before;                     /* n x columns, by columns */
    const T *correction;                      /* */
    double *norm;                             /* columns x norm_blocks: max |x| of each block */
    double *omega;   /* columns x 2 x blocks: the two maxima of the backward error */
    double *partial; /* sums of segments */
    unsigned *arrived;
    refine_state *state, *host_state; /* host_state: NULL, or a copy on the host */
    unsigned *failed;
    int32_t norm_blocks, first;
    double tolerance, least_progress, threshold;
};

__device__ __forceinline__ double warp_max(double v)
{
#pragma unroll
    for (int mask = 16; mask > 0; mask >>= 1)
        v = fmax(v, __shfl_xor_sync(~0u, v, mask));
    return v;
}

/* Whether the warp's segment is the last of a row's `count` to come here; then what the first lanes
 * have written of all of them is there. */
__device__ __forceinline__ bool ends_row(unsigned *arrived, int count)
{
    unsigned last = 0;
    if ((threadIdx.x & 31) == 0) {
        __threadfence();
        last = atomicInc(arrived, (unsigned)count - 1) ==
               (unsigned)count - 1; /* 0 again for the next launch */
    }
    last = __shfl_sync(~0u, last, 0);
    if (last)
        __threadfence();
    return last;
}

/* ---- x += d ---------------------------------------------------------------------------------- */

/* Block (p, q): some rows of column q. */
template <typename T>
__global__ void __launch_bounds__(REFINE_THREADS)
    advance_kernel(const __grid_constant__ refine_arguments<T> a)
{
    __shared__ double most[REFINE_WARPS];
    const int q = blockIdx.y;
    if (!a.first && a.state->column[q].done)
        return;
    T *x = a.x + q * a.x_column;
    const int64_t at = (int64_t)q * a.n, step = (int64_t)gridDim.x * REFINE_THREADS;
    double norm = 0;
    for (int64_t i = (int64_t)blockIdx.x * REFINE_THREADS + threadIdx.x; i < a.n; i += step) {
        T v = x[i * a.x_row];
        if (!a.first) {
            a.before[at + i] = v;
            v = v + a.correction[at + i];
            x[i * a.x_row] = v;
        }
        norm = fmax(norm, modulus(v));
    }
    norm = warp_max(norm);
    if ((threadIdx.x & 31) == 0)
        most[threadIdx.x >> 5] = norm;
    __syncthreads();
    if (threadIdx.x < 32) {
        norm = warp_max(threadIdx.x < REFINE_WARPS ? most[threadIdx.x] : 0);
        if (threadIdx.x == 0)
            a.norm[q * gridDim.x + blockIdx.x] = norm;
    }
}

/* ---- r = b - A x ----------------------------------------------------------------------------- */

/* Residual and error of a row in column q, whose sums have left the range. */
template <typename T>
__device__ __noinline__ row_error finish_extreme_row(const refine_arguments<T> &a, int64_t row,
                                                     int q, double norm)
{
    const T *x = a.x + q * a.x_column;
    return extreme_row_error(
        a.start[row], a.start[row + 1], [&](int64_t k) { return a.value[k]; },
        [&](int64_t k) { return x[a.column[k] * a.x_row]; }, a.b[row * a.b_row + q * a.b_column],
        norm, a.threshold, &a.residual[(int64_t)q * a.n + row]);
}

/* W columns from `column` on, for one warp. */
template <typename T, int W> struct residual_warp {
    static constexpr int PARTS = WIDE_PARTS<T> + 1; /* of a segment's sum */
    /* entries of a lane at once */
    static constexpr int AHEAD = (W == 1 ? 4 : 2) / (sizeof(T) > 8 ? 2 : 1);
    /* Of one row: A x and |A||x|. */
    struct row_sums {
        wide_sum<T> product[W];
        double bound[W] = {};
    };
    const refine_arguments<T> &a;
    int column;
    int64_t offset[W]; /* of columns of x; those that are not there are the last one again */
    double norm[W], large[W], small[W]; /* max |x|; maxima of this lane */

    __device__ __forceinline__ residual_warp(const refine_arguments<T> &arguments, int first)
        : a(arguments), column(first)
    {
        const int lane = threadIdx.x & 31;
#pragma unroll
        for (int w = 0; w < W; w++) {
            const int q = min(column + w, a.columns - 1);
            offset[w] = q * a.x_column;
            norm[w] = large[w] = small[w] = 0;
            for (int k = lane; k < a.norm_blocks; k += 32)
                norm[w] = fmax(norm[w], a.norm[q * a.norm_blocks + k]);
            norm[w] = warp_max(norm[w]);
        }
    }

    /* Entries from, from + step, ...: several are asked for at once, those behind the end being the
     * last one times 0. */
    __device__ __forceinline__ void add_entries(int64_t from, int64_t to, int step,
                                                row_sums &s) const
    {
        for (int64_t k = from; k < to; k += AHEAD * step) {
            T value[AHEAD], x[AHEAD][W];
#pragma unroll
            for (int u = 0; u < AHEAD; u++) {
                const int64_t at = min(k + u * step, to - 1);
                const T v = a.value[at];
                const T *row = a.x + a.column[at] * a.x_row;
                value[u] = k + u * step < to ? v : T{};
#pragma unroll
                for (int w = 0; w < W; w++)
                    x[u][w] = row[offset[w]];
            }
#pragma unroll
            for (int u = 0; u < AHEAD; u++)
#pragma unroll
                for (int w = 0; w < W; w++)
                    s.bound[w] += s.product[w].add_product(value[u], x[u][w]);
        }
    }

    /* Sums over groups of `width` lanes, in each of them. */
    __device__ __forceinline__ static void add_lanes(int width, row_sums &s)
    {
        for (int mask = width >> 1; mask > 0; mask >>= 1)
#pragma unroll
            for (int w = 0; w < W; w++) {
                wide_sum<T> other;
                double *to = reinterpret_cast<double *>(&other);
                const double *from = reinterpret_cast<const double *>(&s.product[w]);
#pragma unroll
                for (int k = 0; k < WIDE_PARTS<T>; k++)
                    to[k] = __shfl_xor_sync(~0u, from[k], mask);
                s.product[w].add(other);
                s.bound[w] += __shfl_xor_sync(~0u, s.bound[w], mask);
            }
    }

    /* What else is asked of a row, whose columns are shared by the lanes part < width of a
     * group. */
    struct row_facts {
        T b[W];
        double row_sum;
    };
    __device__ __forceinline__ bool is_mine(int w, int part, int width) const
    {
        return column + w < a.columns && part == (w & (width - 1));
    }
    __device__ __forceinline__ row_facts facts_of(int64_t row, int part, int width) const
    {
        row_facts f;
        f.row_sum = a.row_sum[row];
#pragma unroll
        for (int w = 0; w < W; w++)
            f.b[w] = is_mine(w, part, width) ? a.b[row * a.b_row + (column + w) * a.b_column] : T{};
        return f;
    }

    /* Residual and error of a row. */
    __device__ __forceinline__ void finish_row(int64_t row, int part, int width, const row_facts &f,
                                               const row_sums &s)
    {
#pragma unroll
        for (int w = 0; w < W; w++) {
            if (!is_mine(w, part, width))
                continue;
            const wide_of<T> r = s.product[w].less_than(f.b[w]);
            const double b_size = modulus(f.b[w]), bound = s.bound[w] + b_size;
            a.residual[(int64_t)(column + w) * a.n + row] = narrow<T>(r);
            row_error error;
            error.value = refine_row_error(modulus(r), b_size, bound, f.row_sum, norm[w],
                                           a.threshold, &error.is_small);
            if constexpr (sizeof(real_of<T>) == 8)
                if (refine_row_is_extreme(b_size, bound, f.row_sum, norm[w]))
                    error = finish_extreme_row(a, row, column + w, norm[w]);
            large[w] = fmax(large[w], error.is_small ? 0 : error.value);
            small[w] = fmax(small[w], error.is_small ? error.value : 0);
        }
    }

    __device__ __forceinline__ double *partial_of(int segment, int w) const
    {
        return a.partial + (((int64_t)(column / W) * a.segments + segment) * W + w) * PARTS;
    }

    /* Long rows, a segment at a time; the warp that ends the last one of a row adds them in their
     * order. */
    __device__ __forceinline__ void add_segments(int warp, int warps)
    {
        const int lane = threadIdx.x & 31;
        for (int k = warp; k < a.segments; k += warps) {
            const row_segment g = a.segment[k];
            row_sums s;
            add_entries(g.from + lane, g.to, 32, s);
            add_lanes(32, s);
            if (lane == 0) {
#pragma unroll
                for (int w = 0; w < W; w++) {
                    double *to = partial_of(k, w);
                    const double *from = reinterpret_cast<const double *>(&s.product[w]);
#pragma unroll
                    for (int p = 0; p < PARTS - 1; p++)
                        to[p] = from[p];
                    to[PARTS - 1] = s.bound[w];
                }
            }
            if (ends_row(a.arrived + 1 + (int64_t)(column / W) * a.long_rows + g.of, g.count))
                finish_long_row(g);
        }
    }
    __device__ __forceinline__ void finish_long_row(const row_segment &g)
    {
        const int lane = threadIdx.x & 31;
        row_sums s;
        for (int k = lane; k < g.count; k += 32)
#pragma unroll
            for (int w = 0; w < W; w++) {
                const double *from = partial_of(g.first + k, w);
                wide_sum<T> other;
                double *to = reinterpret_cast<double *>(&other);
#pragma unroll
                for (int p = 0; p < PARTS - 1; p++)
                    to[p] = __ldcg(from + p);
                s.product[w].add(other);
                s.bound[w] += __ldcg(from + PARTS - 1);
            }
        add_lanes(32, s);
        finish_row(g.row, lane, 32, facts_of(g.row, lane, 32), s);
    }

    /* The other rows, 2^log_width lanes each. */
    __device__ __forceinline__ void add_rows(int warp, int warps)
    {
        const int lane = threadIdx.x & 31, width = 1 << a.log_width, rows = 32 >> a.log_width,
                  part = lane & (width - 1);
        for (int64_t base = (int64_t)warp * rows; base < a.n; base += (int64_t)warps * rows) {
            const int64_t row = base + (lane >> a.log_width);
            const int64_t from = row < a.n ? a.start[row] : 0,
                          to = row < a.n ? a.start[row + 1] : 0;
            const bool mine = row < a.n && to - from <= ROW_SEGMENT;
            const row_facts f = facts_of(min(row, (int64_t)a.n - 1), part, width);
            row_sums s;
            if (mine)
                add_entries(from + part, to, width, s);
            add_lanes(width, s);
            if (mine)
                finish_row(row, part, width, f, s);
        }
    }
};

/* The last block to arrive, of all of the launch. */
__device__ __forceinline__ bool is_last_block(unsigned *arrived)
{
    __shared__ unsigned ticket;
    const unsigned end = gridDim.x * gridDim.y - 1;
    __threadfence(); /* what this thread has written comes before the ticket */
    __syncthreads();
    if (threadIdx.x == 0)
        ticket = atomicInc(arrived, end); /* 0 again for the next launch */
    __syncthreads();
    const bool last = ticket == end;
    if (last)
        __threadfence();
    return last;
}

/* Backward errors from the maxima of all blocks, a column for each warp in turn; then what the host
 * looks at. */
template <typename T> __device__ __forceinline__ void decide(const refine_arguments<T> &a)
{
    const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, blocks = gridDim.x;
    for (int q = warp; q < a.columns; q += REFINE_WARPS) {
        const double *omega = a.omega + (int64_t)q * 2 * blocks;
        double large = 0, small = 0;
        for (int k = lane; k < blocks; k += 32) {
            large = fmax(large, __ldcg(omega + k));
            small = fmax(small, __ldcg(omega + blocks + k));
        }
        large = warp_max(large);
        small = warp_max(small);
        if (lane == 0)
            refined_column_decide(&a.state->column[q], large + small, a.first, a.tolerance,
                                  a.least_progress);
    }
    __syncthreads();
    if (warp == 0) {
        const unsigned open = __ballot_sync(~0u, lane < a.columns && !a.state->column[lane].done);
        const unsigned worse = __ballot_sync(~0u, lane < a.columns && a.state->column[lane].worse);
        if (lane == 0) {
            a.state->open = __popc(open);
            a.state->worse = __popc(worse);
            a.state->failed = *a.failed;
        }
    }
    __syncthreads();
    if (a.host_state)
        for (int k = threadIdx.x; k < (int)(sizeof(refine_state) / sizeof(int32_t));
             k += REFINE_THREADS)
            reinterpret_cast<volatile int32_t *>(a.host_state)[k] =
                reinterpret_cast<int32_t *>(a.state)[k];
}

/* Block (p, c): some rows of columns W c .. W c + W - 1. */
template <typename T, int W>
__global__ void __launch_bounds__(REFINE_THREADS, W == 1 ? 4 : 2)
    residual_kernel(const __grid_constant__ refine_arguments<T> a)
{
    __shared__ double most[REFINE_WARPS][2 * W];
    if (!a.first && a.state->open == 0)
        return;
    const int column = blockIdx.y * W, warp = threadIdx.x >> 5;
    residual_warp<T, W> me(a, column);
    me.add_segments(blockIdx.x * REFINE_WARPS + warp, gridDim.x * REFINE_WARPS);
    me.add_rows(blockIdx.x * REFINE_WARPS + warp, gridDim.x * REFINE_WARPS);
#pragma unroll
    for (int w = 0; w < W; w++) {
        const double large = warp_max(me.large[w]), small = warp_max(me.small[w]);
        if ((threadIdx.x & 31) == 0) {
            most[warp][2 * w] = large;
            most[warp][2 * w + 1] = small;
        }
    }
    __syncthreads();
    const int k = threadIdx.x;
    if (k < 2 * W && column + k / 2 < a.columns) {
        double v = 0;
#pragma unroll
        for (int p = 0; p < REFINE_WARPS; p++)
            v = fmax(v, most[p][k]);
        a.omega[((int64_t)(column + k / 2) * 2 + k % 2) * gridDim.x + blockIdx.x] = v;
    }
    if (is_last_block(a.arrived))
        decide(a);
}

/* ---- The end --------------------------------------------------------------------------------- */

/* The most severe remark, or a failure, of one block of columns and those before. */
template <typename T>
__device__ __forceinline__ void report(const refine_arguments<T> &a, const refine_outcome &out)
{
    const int factor = out.factor ? *out.factor : LIBSOLVER_OK;
    double worst = 0;
    for (int q = 0; q < a.columns; q++) {
        const double error = factor < 0 ? INFINITY : a.state->column[q].error;
        worst = fmax(worst, error);
        if (out.backward_error)
            out.backward_error[q] = error;
    }
    if (!out.status)
        return;
    const int bits = out.remarks | (worst <= a.tolerance ? 0 : LIBSOLVER_INACCURATE);
    int status = bits & LIBSOLVER_SINGULAR     ? LIBSOLVER_SINGULAR
                 : bits & LIBSOLVER_INACCURATE ? LIBSOLVER_INACCURATE
                                               : bits;
    const int before = out.is_first_block ? 0 : (int)*out.status;
    status = before < 0 || before > status ? before : status;
    if (*a.failed) {
        status = LIBSOLVER_CUDA;
        *a.failed = 0;
    }
    *out.status = factor < 0 ? (libsolver_status)factor : (libsolver_status)status;
}

template <typename T>
__global__ void __launch_bounds__(REFINE_THREADS)
    finish_kernel(const __grid_constant__ refine_arguments<T> a, const refine_outcome out)
{
    const int q = blockIdx.y;
    if (blockIdx.x == 0 && q == 0 && threadIdx.x == 0)
        report(a, out);
    if (q >= a.columns || !a.state->column[q].worse)
        return;
    T *x = a.x + q * a.x_column;
    const int64_t step = (int64_t)gridDim.x * REFINE_THREADS;
    for (int64_t i = (int64_t)blockIdx.x * REFINE_THREADS + threadIdx.x; i < a.n; i += step)
        x[i * a.x_row] = a.before[(int64_t)q * a.n + i];
}

#endif
