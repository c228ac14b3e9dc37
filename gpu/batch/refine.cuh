/* gpu/batch/refine.cuh: block scope: residuals, backward errors and refinement of one item
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_BATCH_REFINE_CUH
#define GPU_BATCH_REFINE_CUH

#include "gpu/batch/substitute.cuh"
#include "gpu/refine/extreme_row.cuh"

constexpr int REFINE_WARPS = 16, REFINE_THREADS = 32 * REFINE_WARPS;

template <typename T> struct batch_refine_arguments {
    batch_arguments<T> a; /* work: d */
    /* A; see full_matrix */
    const int64_t *start;
    const int32_t *column;
    const uint32_t *source;
    const T *value; /* of the lower triangle, in the order that A was analysed in */
    int64_t value_bytes;
    T *before;     /* n for each item: the x before the last step */
    int32_t steps; /* at most */
    double tolerance, least_progress, threshold;
    double *error; /* out: of each item */
};

/* Largest value of all threads, in each of them. */
__device__ __forceinline__ double block_max(double v, double *shared)
{
#pragma unroll
    for (int mask = 16; mask > 0; mask /= 2)
        v = fmax(v, __shfl_xor_sync(~0u, v, mask));
    __syncthreads(); /* shared is free */
    if (threadIdx.x % 32 == 0)
        shared[threadIdx.x / 32] = v;
    __syncthreads();
    for (int q = 0; q < REFINE_WARPS; q++)
        v = fmax(v, shared[q]);
    return v;
}

/* Residual and error of row i, whose sums have left the range. */
template <typename T>
__device__ __noinline__ row_error measure_extreme_row(const batch_refine_arguments<T> &r, int i,
                                                      const T *value, const T *b, const T *x,
                                                      double norm, T *residual)
{
    return extreme_row_error(
        r.start[i], r.start[i + 1],
        [&](int64_t e) { return conjugate_if(value[r.source[e] >> 1], r.source[e] & 1); },
        [&](int64_t e) { return x[r.column[e] * r.a.x.row]; }, b[i * r.a.b.row], norm, r.threshold,
        residual);
}

/* Backward error of x; d := S (b - A x) in the order of the factor.  A thread has a row. */
template <typename T>
__device__ __forceinline__ double measure(const batch_refine_arguments<T> &r, const T *value,
                                          const real_of<T> *scale, const T *b, const T *x, T *d,
                                          double *shared)
{
    const batch_arguments<T> &a = r.a;
    double norm = 0, omega[2] = {0, 0};
    for (int i = (int)threadIdx.x; i < a.n; i += REFINE_THREADS)
        norm = fmax(norm, modulus(x[i * a.x.row]));
    norm = block_max(norm, shared);
    for (int k = (int)threadIdx.x; k < a.n; k += REFINE_THREADS) {
        const int i = a.row_of[k];
        wide_sum<T> product;
        double bound = 0, row_sum = 0;
        for (int64_t e = r.start[i]; e < r.start[i + 1]; e++) {
            const uint32_t source = r.source[e];
            const T entry = conjugate_if(value[source >> 1], source & 1);
            bound += product.add_product(entry, x[r.column[e] * a.x.row]);
            row_sum += modulus(entry);
        }
        const T right = b[i * a.b.row];
        const wide_of<T> left = product.less_than(right);
        const double size = modulus(right);
        T residual = narrow<T>(left);
        row_error error;
        error.value = refine_row_error(modulus(left), size, bound + size, row_sum, norm,
                                       r.threshold, &error.is_small);
        if constexpr (sizeof(real_of<T>) == 8)
            if (refine_row_is_extreme(size, bound + size, row_sum, norm))
                error = measure_extreme_row(r, i, value, b, x, norm, &residual);
        omega[error.is_small] = fmax(omega[error.is_small], error.value);
        d[k] = times_real(residual, scale[i]);
    }
    const double large = block_max(omega[0], shared);
    return large + block_max(omega[1], shared);
}

/* A block for an item: its first column. */
template <typename T>
__global__ void __launch_bounds__(REFINE_THREADS, 1)
    batch_refine_kernel(const __grid_constant__ batch_refine_arguments<T> r)
{
    __shared__ T part[BATCH_PARTS][32];
    __shared__ double shared[REFINE_WARPS];
    const batch_arguments<T> &a = r.a;
    const int64_t item = a.item[blockIdx.x];
    const real_of<T> *const scale = a.scale_of(item);
    const T *const value = reinterpret_cast<const T *>(reinterpret_cast<const char *>(r.value) +
                                                       item * r.value_bytes),
                   *const b = a.b.of(item);
    T *const d = a.work + item * a.places(), *const before = r.before + item * a.n,
             *const x = a.x.of(item);
    refined_column state = {}; /* the same in all threads */
    refined_column_decide(&state, measure(r, value, scale, b, x, d, shared), 1, r.tolerance,
                          r.least_progress);
    for (int step = 0; step < r.steps && !state.done; step++) {
        solve_item<REFINE_WARPS, LOADS_AHEAD<T, 1>>(a, a.panel_of(item), d, part);
        for (int k = (int)threadIdx.x; k < a.n; k += REFINE_THREADS) {
            const int i = a.row_of[k];
            const T old = x[i * a.x.row];
            before[k] = old;
            x[i * a.x.row] = old + times_real(d[k], scale[i]);
        }
        __syncthreads();
        refined_column_decide(&state, measure(r, value, scale, b, x, d, shared), 0, r.tolerance,
                              r.least_progress);
    }
    if (state.worse)
        for (int k = (int)threadIdx.x; k < a.n; k += REFINE_THREADS)
            x[a.row_of[k] * a.x.row] = before[k];
    if (threadIdx.x == 0)
        r.error[item] = state.error;
}

#endif
