/* gpu/factor/quasi_definite.cuh: device scope: what a factorization A = L S L^H with signs S that
 * are given has before its tasks and behind them
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Before: the scaling of the CPU's L D L^T, which makes the largest entry of each row about one;
 * its sweeps are launches of one kernel [Ruiz 2001].  Behind: L gets a unit diagonal, D its pivots,
 * and pivots are compared with what was assembled into their rows. */
#ifndef GPU_FACTOR_QUASI_DEFINITE_CUH
#define GPU_FACTOR_QUASI_DEFINITE_CUH

#include "gpu/factor/values.cuh"

/* Rows [row, row + PART_ROWS) of the columns [column, column + 32) of a panel, a warp's. */
struct panel_part {
    int64_t rows; /* of its front, in `index` */
    int32_t front, row, column;
};
enum { PART_ROWS = 64, PART_COLUMNS = 32, EQUILIBRATION_SWEEPS = 8 };

template <typename T> struct quasi_arguments {
    value_arguments<T> values;   /* diagonal: largest entries of the rows of the scaled matrix */
    int32_t *row_of_entry;       /* of the number of a diagonal entry, its row of P A P^T */
    real_of<T> *scale, *largest; /* n of two and of three sweeps in turn */
    double *sum;                 /* n: of |L|^2 by rows, without the diagonal */
    const factor_front *front;
    const panel_part *part;
    int64_t parts;
    const int32_t *index; /* rows of all fronts */
    quasi_definite signs;
    T *panel, *pivot;    /* pivot: n of the diagonal of D, n of what is beside it */
    double least, doubt; /* pivots at most so many times what came into their rows are refused, are
                            in doubt */
};

/* An integer for the maximum of numbers that are not negative. */
__device__ __forceinline__ void raise_to(double *largest, double v)
{
    if (v > *largest)
        atomicMax(reinterpret_cast<unsigned long long *>(largest),
                  (unsigned long long)__double_as_longlong(v));
}
__device__ __forceinline__ void raise_to(float *largest, float v)
{
    if (v > *largest)
        atomicMax(reinterpret_cast<unsigned *>(largest), __float_as_uint(v));
}

template <typename T>
static __global__ void quasi_begin_kernel(const __grid_constant__ quasi_arguments<T> a)
{
    const int first = (int)(blockIdx.x * blockDim.x + threadIdx.x),
              step = (int)(gridDim.x * blockDim.x), n = a.values.n;
    wait_for_kernel_before();
    for (int k = first; k < n; k += step) {
        a.row_of_entry[a.values.diagonal_at[k]] = k;
        a.largest[k] = 0;
        a.sum[k] = 0;
    }
}

/* Sweep number q: scale factors of the sweep before and its largest entries give the next ones, and
 * these largest entries again. */
template <typename T>
static __global__ void quasi_sweep_kernel(const __grid_constant__ quasi_arguments<T> a, int q)
{
    using R = real_of<T>;
    const value_arguments<T> &v = a.values;
    const int64_t first = (int64_t)blockIdx.x * blockDim.x + threadIdx.x,
                  step = (int64_t)gridDim.x * blockDim.x;
    wait_for_kernel_before();
    const bool equilibrates = scaling_of(v).equilibrates;
    const R *const before = a.scale + (q + 1) % 2 * (int64_t)v.n, *const seen =
                                                                      a.largest +
                                                                      (q + 2) % 3 * (int64_t)v.n;
    R *const largest = a.largest + q % 3 * (int64_t)v.n;
    const auto scale_of = [&](int k) -> R {
        if (q == 0)
            return 1;
        const R most = seen[k];
        return equilibrates && most > 0 ? (R)scale_over_root(before[k], most, sizeof(R) == 4)
                                        : before[k];
    };
    for (int64_t e = first; e < v.entries; e += step) {
        const factor_source from = v.source[e];
        const int i = a.row_of_entry[from.row], j = a.row_of_entry[from.column];
        const R size = scale_of(i) * scale_of(j) * (R)size_of(v.given[from.value >> 1]);
        raise_to(largest + i, size);
        raise_to(largest + j, size);
    }
    for (int64_t k = first; k < v.n; k += step) {
        a.scale[q % 2 * (int64_t)v.n + k] = scale_of((int)k);
        a.largest[(q + 1) % 3 * (int64_t)v.n + k] = 0;
    }
}

/* Values, scaled by what the last sweep has left. */
template <typename T>
static __global__ void quasi_values_kernel(const __grid_constant__ quasi_arguments<T> a)
{
    constexpr int LAST = EQUILIBRATION_SWEEPS;
    const value_arguments<T> &v = a.values;
    const int64_t first = (int64_t)blockIdx.x * blockDim.x + threadIdx.x,
                  step = (int64_t)gridDim.x * blockDim.x;
    const real_of<T> *const scale = a.scale + LAST % 2 * (int64_t)v.n;
    wait_for_kernel_before();
    for (int64_t e = first; e < v.entries; e += step) {
        const factor_source from = v.source[e];
        v.value[e] =
            times_real(conjugate_if(v.given[from.value >> 1], from.value & 1),
                       scale[a.row_of_entry[from.column]] * scale[a.row_of_entry[from.row]]);
    }
    for (int64_t w = first; w < v.words; w += step)
        v.word[w] = 0;
    for (int64_t k = first; k < v.n; k += step) {
        v.scale[v.row_of[k]] = scale[k];
        v.diagonal[k] = a.largest[LAST % 3 * (int64_t)v.n + k];
    }
}

/* Panels: L with a unit diagonal, which is not written, and D; sums of |L|^2. */
template <typename T>
static __global__ void quasi_panels_kernel(const __grid_constant__ quasi_arguments<T> a)
{
    using R = real_of<T>;
    const int lane = threadIdx.x % 32;
    const int64_t first = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32,
                  step = (int64_t)gridDim.x * blockDim.x / 32;
    wait_for_kernel_before();
    for (int64_t q = first; q < a.parts; q += step) {
        const panel_part part = a.part[q];
        const factor_front f = a.front[part.front];
        const int columns = min((int)PART_COLUMNS, f.k - part.column);
        T *const panel = a.panel + f.panel + (int64_t)part.column * f.ld;
        const bool has_pivot = lane < columns;
        const R root =
            has_pivot ? real_part(panel[part.column + lane * (int64_t)(f.ld + 1)]) : R(1);
        const R reciprocal = 1 / root;
        if (part.row == part.column && has_pivot) {
            const int at = f.first + part.column + lane;
            a.pivot[at] = from_real<T>(a.signs.signs_at(at).at(0).flip(root * root, 0));
            a.pivot[a.values.n + at] = T{};
        }
#pragma unroll
        for (int half = 0; half < PART_ROWS; half += 32) {
            const int i = part.row + half + lane;
            double sum = 0;
#pragma unroll 8
            for (int c = 0; c < columns; c++) {
                const R r = __shfl_sync(~0u, reciprocal, c);
                T *const at = panel + i + c * (int64_t)f.ld;
                if (i < f.m && i > part.column + c) {
                    const T v = *at;
                    sum += (double)real_part(v) * (double)real_part(v);
                    if constexpr (scalar<T>::is_complex)
                        sum += (double)v.im * (double)v.im;
                    *at = times_real(v, r);
                }
            }
            if (i < f.m)
                atomicAdd(a.sum + a.index[part.rows + i], sum);
        }
    }
}

/* Pivots beside the magnitudes of their rows, as dense/cpu/ldlt.h has them. */
template <typename T>
static __global__ void quasi_judge_kernel(const __grid_constant__ quasi_arguments<T> a)
{
    const int first = (int)(blockIdx.x * blockDim.x + threadIdx.x),
              step = (int)(gridDim.x * blockDim.x);
    wait_for_kernel_before();
    for (int k = first; k < a.values.n; k += step) {
        const double size = fabs((double)real_part(a.pivot[k])),
                     magnitude = (double)a.values.diagonal[k] + a.sum[k];
        if (!(size > a.least * magnitude && magnitude < INFINITY))
            atomicMin(&a.values.outcome->failed, k);
        else if (size <= a.doubt * magnitude)
            atomicAdd(&a.values.outcome->uncertain, 1);
    }
}

#endif
