/* gpu/factor/quasi_definite.cuh: device scope: what a factorization A = L S L^H with signs S that
 * are given has before its tasks and behind them, as steps of one system
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
    int64_t place; /* of its first row, in `slot` */
    int32_t front, row, column;
};
enum {
    PART_ROWS = 64,
    PART_COLUMNS = 32,
    EQUILIBRATION_SWEEPS = 8,
    ROW_LANES = 4,  /* which sum what the parts of a row have */
    LONG_ROW = 128, /* parts; a row that has more is a block's */
    JUDGE_THREADS = 256
};

/* Sums |L|^2 of a row of P A P^T, without the diagonal, are formed in a fixed order, so that what
 * comes of a pivot in doubt is the same on every run: each part of a panel leaves its sums of rows
 * in places of their own, those of one row next to each other. */
template <typename T> struct quasi_arguments {
    value_arguments<T> values;   /* diagonal: largest entries of the rows of the scaled matrix */
    int32_t *row_of_entry;       /* of the number of a diagonal entry, its row of P A P^T */
    real_of<T> *scale, *largest; /* n of two and of three sweeps in turn */
    double *sum;                 /* of each row of each part, ... */
    const uint32_t *slot;        /* ... where; */
    const int64_t *row_sums;     /* n + 1: where those of each row of P A P^T begin */
    const int32_t *long_row;     /* long_rows, ascending, -1 behind the last */
    int long_rows;
    const factor_front *front;
    const panel_part *part;
    int64_t parts;
    quasi_definite signs;
    T *panel, *pivot;    /* pivot: n of the diagonal of D, n of what is beside it */
    double least, doubt; /* pivots at most so many times what came into their rows are refused, are
                            in doubt */
};

/* An integer for the maximum of numbers that are not negative, in global or in shared memory. */
__device__ __forceinline__ void raise_to(double *largest, double v)
{
    atomicMax(reinterpret_cast<unsigned long long *>(largest),
              (unsigned long long)__double_as_longlong(v));
}
__device__ __forceinline__ void raise_to(float *largest, float v)
{
    atomicMax(reinterpret_cast<unsigned *>(largest), __float_as_uint(v));
}

/* Largest entries of rows on their way from a block to global memory, in shared memory.  There are
 * rows that nearly all entries have, and what asks for one address of global memory, atomics or
 * not, comes one after the other: what a block has for such a row becomes one.  Rows that find
 * their place taken go to global memory themselves. */
template <typename R> struct row_maxima {
    static constexpr int PLACES = 512;
    int row[PLACES]; /* -1: nobody's */
    R largest[PLACES];

    /* By all threads; no barrier. */
    __device__ __forceinline__ void begin()
    {
        for (int q = (int)threadIdx.x; q < PLACES; q += (int)blockDim.x) {
            row[q] = -1;
            largest[q] = 0;
        }
    }
    __device__ __forceinline__ void raise(R *all, int i, R v)
    {
        const int at = i % PLACES, owner = atomicCAS(row + at, -1, i);
        if (owner == -1 || owner == i)
            raise_to(largest + at, v);
        else
            raise_to(all + i, v);
    }
    /* Behind a barrier. */
    __device__ __forceinline__ void end(R *all) const
    {
        for (int q = (int)threadIdx.x; q < PLACES; q += (int)blockDim.x)
            if (row[q] >= 0)
                raise_to(all + row[q], largest[q]);
    }
};

/* Threads have the rows or entries from `first` on in steps, as below. */
template <typename T>
__device__ __forceinline__ void quasi_begin(const quasi_arguments<T> &a, int64_t first,
                                            int64_t step)
{
    for (int64_t k = first; k < a.values.n; k += step)
        a.largest[k] = 0;
}

/* Of the pattern alone. */
template <typename T>
__device__ __forceinline__ void quasi_name_rows(const quasi_arguments<T> &a, int64_t first,
                                                int64_t step)
{
    for (int64_t k = first; k < a.values.n; k += step)
        a.row_of_entry[a.values.diagonal_at[k]] = (int32_t)k;
}

/* Where an entry is in P A P^T, and its size; -1: there is none. */
template <typename T> struct sized_entry {
    int row, column;
    real_of<T> size;
};
template <typename T>
__device__ __forceinline__ sized_entry<T> quasi_entry(const quasi_arguments<T> &a, int64_t e)
{
    if (e >= a.values.entries)
        return {-1, -1, 0};
    const factor_source from = a.values.source[e];
    return {a.row_of_entry[from.row], a.row_of_entry[from.column],
            (real_of<T>)size_of(a.values.given[from.value >> 1])};
}

/* Sweep number q: scale factors of the sweep before and its largest entries give the next ones, and
 * these largest entries again.  own: the entry `first`; maxima: begun, in shared memory. */
template <typename T>
__device__ __forceinline__ void
quasi_sweep(const quasi_arguments<T> &a, int q, const sized_entry<T> &own,
            row_maxima<real_of<T>> *maxima, int64_t first, int64_t step)
{
    using R = real_of<T>;
    const int64_t n = a.values.n;
    const bool equilibrates = scaling_of(a.values).equilibrates;
    const R *const before = a.scale + (q + 1) % 2 * n, *const seen = a.largest + (q + 2) % 3 * n;
    R *const largest = a.largest + q % 3 * n;
    const auto scale_of = [&](int64_t k) -> R {
        if (q == 0)
            return 1;
        const R most = seen[k];
        return equilibrates && most > 0 ? (R)scale_over_root(before[k], most, sizeof(R) == 4)
                                        : before[k];
    };
    __syncthreads();
    for (int64_t e = first; e < a.values.entries; e += step) {
        const sized_entry<T> v = e == first ? own : quasi_entry(a, e);
        const R size = scale_of(v.row) * scale_of(v.column) * v.size;
        maxima->raise(largest, v.row, size);
        maxima->raise(largest, v.column, size);
    }
    __syncthreads();
    maxima->end(largest);
    for (int64_t k = first; k < n; k += step) {
        a.scale[q % 2 * n + k] = scale_of(k);
        a.largest[(q + 1) % 3 * n + k] = 0;
    }
}

/* Values, scaled by what the last sweep has left. */
template <typename T>
__device__ __forceinline__ void quasi_values(const quasi_arguments<T> &a, int64_t first,
                                             int64_t step)
{
    constexpr int LAST = EQUILIBRATION_SWEEPS;
    const value_arguments<T> &v = a.values;
    const int64_t n = v.n;
    const real_of<T> *const scale = a.scale + LAST % 2 * n;
    for (int64_t e = first; e < v.entries; e += step) {
        const factor_source from = v.source[e];
        v.value[e] =
            times_real(conjugate_if(v.given[from.value >> 1], from.value & 1),
                       scale[a.row_of_entry[from.column]] * scale[a.row_of_entry[from.row]]);
    }
    for (int64_t w = first; w < v.words; w += step)
        v.word[w] = 0;
    for (int64_t k = first; k < n; k += step) {
        v.scale[v.row_of[k]] = scale[k];
        v.diagonal[k] = a.largest[LAST % 3 * n + k];
    }
}

/* Panels: L with a unit diagonal, which is not written, and D; sums of |L|^2 by rows of parts.
 * Warps have the parts from `first` on in steps. */
template <typename T>
__device__ __forceinline__ void quasi_panels(const quasi_arguments<T> &a, int64_t first,
                                             int64_t step)
{
    using R = real_of<T>;
    const int lane = threadIdx.x % 32;
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
                a.sum[a.slot[part.place + half + lane]] = sum;
        }
    }
}

/* A pivot beside the magnitude of its row, as dense/cpu/ldlt.h has them. */
template <typename T>
__device__ __forceinline__ void judge_row(const quasi_arguments<T> &a, int k, double sum)
{
    const double size = fabs((double)real_part(a.pivot[k])),
                 magnitude = (double)a.values.diagonal[k] + sum;
    if (!(size > a.least * magnitude && magnitude < INFINITY))
        atomicMin(&a.values.outcome->failed, k);
    else if (size <= a.doubt * magnitude)
        atomicAdd(&a.values.outcome->uncertain, 1);
}

/* The sum of every `step`-th place from `first` on up to `end`. */
static __device__ __forceinline__ double sum_of_places(const double *sum, int64_t first,
                                                       int64_t end, int step)
{
    double all = 0;
#pragma unroll 8
    for (int64_t q = first; q < end; q += step)
        all += sum[q];
    return all;
}

/* Sum over `lanes` neighbouring lanes, a power of two, in the same order for each of them. */
static __device__ __forceinline__ double sum_of_lanes(double v, int lanes)
{
    for (int mask = 1; mask < lanes; mask *= 2)
        v += __shfl_xor_sync(~0u, v, mask);
    return v;
}

/* Blocks of JUDGE_THREADS: the first ones have a long row each, the others so many short ones as
 * they have groups of lanes. */
template <typename T>
__device__ __forceinline__ void quasi_judge(const quasi_arguments<T> &a, int64_t number)
{
    __shared__ double of_warp[JUDGE_THREADS / 32];
    const int thread = (int)threadIdx.x;
    if (number < a.long_rows) {
        const int k = a.long_row[number];
        if (k < 0)
            return;
        const double own = sum_of_lanes(
            sum_of_places(a.sum, a.row_sums[k] + thread, a.row_sums[k + 1], JUDGE_THREADS), 32);
        if (thread % 32 == 0)
            of_warp[thread / 32] = own;
        __syncthreads();
        if (thread < 32) {
            const double sum = sum_of_lanes(thread < JUDGE_THREADS / 32 ? of_warp[thread] : 0, 32);
            if (thread == 0)
                judge_row(a, k, sum);
        }
        return;
    }
    const int64_t k = ((number - a.long_rows) * JUDGE_THREADS + thread) / ROW_LANES;
    int64_t first = 0, end = 0;
    if (k < a.values.n) {
        first = a.row_sums[k];
        end = a.row_sums[k + 1];
    }
    const bool is_own = k < a.values.n && end - first <= LONG_ROW;
    const double sum =
        sum_of_lanes(is_own ? sum_of_places(a.sum, first + thread % ROW_LANES, end, ROW_LANES) : 0,
                     ROW_LANES);
    if (is_own && thread % ROW_LANES == 0)
        judge_row(a, (int)k, sum);
}

/* ---- Kernels for one system ------------------------------------------------------------------ */

/* The steps, in their order; the sweeps, each of which is a launch, come before QUASI_VALUES, the
 * tasks before QUASI_PANELS. */
enum quasi_step { QUASI_BEGIN, QUASI_VALUES, QUASI_PANELS, QUASI_JUDGE };

/* One step of one system but a sweep, by block `number` of `blocks`. */
template <int STEP, typename T>
__device__ __forceinline__ void quasi_step_of(const quasi_arguments<T> &a, int64_t number,
                                              int64_t blocks)
{
    const int64_t first = number * blockDim.x + threadIdx.x, step = blocks * blockDim.x;
    if constexpr (STEP == QUASI_BEGIN)
        quasi_begin(a, first, step);
    else if constexpr (STEP == QUASI_VALUES)
        quasi_values(a, first, step);
    else if constexpr (STEP == QUASI_PANELS)
        quasi_panels(a, first / 32, step / 32);
    else
        quasi_judge(a, number);
}

template <int STEP, typename T>
static __global__ void __launch_bounds__(JUDGE_THREADS)
    quasi_kernel(const __grid_constant__ quasi_arguments<T> a)
{
    wait_for_kernel_before();
    if constexpr (STEP == QUASI_BEGIN)
        quasi_name_rows(a, (int64_t)blockIdx.x * blockDim.x + threadIdx.x,
                        (int64_t)gridDim.x * blockDim.x);
    quasi_step_of<STEP>(a, blockIdx.x, gridDim.x);
}

/* All sweeps but the first ask for an entry while the one before goes on: what comes before that
 * one has ended. */
template <typename T>
static __global__ void __launch_bounds__(JUDGE_THREADS)
    quasi_sweep_kernel(const __grid_constant__ quasi_arguments<T> a, int sweep)
{
    __shared__ row_maxima<real_of<T>> maxima;
    const int64_t first = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    sized_entry<T> own = {-1, -1, 0};
    maxima.begin();
    if (sweep > 0)
        own = quasi_entry(a, first);
    wait_for_kernel_before();
    if (sweep == 0)
        own = quasi_entry(a, first);
    quasi_sweep(a, sweep, own, &maxima, first, (int64_t)gridDim.x * blockDim.x);
}

#endif
