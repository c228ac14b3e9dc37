/* gpu/factor/quasi_definite.cuh: device scope: the pivots of a factorization with signs that are
 * given beside what was assembled into their rows
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_FACTOR_QUASI_DEFINITE_CUH
#define GPU_FACTOR_QUASI_DEFINITE_CUH

#include "gpu/device/lanes.cuh"
#include "gpu/factor/values.cuh"

enum {
    ROW_LANES = 4,  /* which sum what the fronts of a row have */
    LONG_ROW = 128, /* fronts; a row that has more is a block's */
    JUDGE_THREADS = 1024
};

/* Sums |L|^2 of a row of P A P^T, without the diagonal, are formed in a fixed order, so that what
 * comes of a pivot in doubt is the same on every run: each front leaves its sums of rows in places
 * of their own, those of one row next to each other. */
template <typename T> struct quasi_arguments {
    value_arguments<T> values; /* diagonal: largest entries of the rows of the scaled matrix */
    sign_places signs;
    bool is_symmetric;       /* complex symmetric: pivots are complex, and ... */
    bool expects_signs;      /* ... their real parts are to have the signs */
    const int64_t *row_sums; /* n + 1: where the sums of each row of P A P^T begin */
    const int32_t *long_row; /* long_rows of those that are eliminated, ascending */
    int long_rows;
    const T *panel;
    const unsigned *ended; /* NULL, or what is 1 when all tasks have ended; ... */
    uint64_t patience;     /* ... ns to wait for that */
    double least, doubt; /* pivots at most so many times what came into their rows are refused, are
                            in doubt */
};

/* A pivot beside the magnitude of its row, as dense/cpu/ldlt.h has them. */
template <typename T>
__device__ __forceinline__ void judge_row(const quasi_arguments<T> &a, int k, double sum)
{
    const T pivot = a.panel[a.signs.pivot + k];
    const bool negative = sign_table<true>{a.signs.sign_word, k}.at(0).negative & 1;
    const double size = size_of(pivot), real = (double)real_part(pivot),
                 magnitude = (double)a.values.diagonal[k] + sum, least = a.least * magnitude;
    /* a real part that is rounding error beside the imaginary one may have either sign */
    const bool has_sign =
        !a.is_symmetric || !a.expects_signs || (negative ? -real : real) >= -least;
    if (!(size > least && magnitude < INFINITY && has_sign))
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

/* Blocks of JUDGE_THREADS: the first ones have a long row each, the others so many short ones as
 * they have groups of lanes. */
template <typename T>
__device__ __forceinline__ void judge_pivots(const quasi_arguments<T> &a, int64_t number)
{
    __shared__ double of_warp[JUDGE_THREADS / 32];
    const int thread = (int)threadIdx.x;
    if (number < a.long_rows) {
        const int k = a.long_row[number];
        const double own = sum_of_lanes(sum_of_places(a.signs.sum, a.row_sums[k] + thread,
                                                      a.row_sums[k + 1], JUDGE_THREADS),
                                        32);
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
    if (k < a.values.eliminated) {
        first = a.row_sums[k];
        end = a.row_sums[k + 1];
    }
    const bool is_own = k < a.values.eliminated && end - first <= LONG_ROW;
    const double sum =
        sum_of_lanes(is_own ? sum_of_places(a.signs.sum, first + thread % ROW_LANES, end, ROW_LANES)
                            : 0,
                     ROW_LANES);
    if (is_own && thread % ROW_LANES == 0)
        judge_row(a, (int)k, sum);
}

/* Behind the tasks, of which it waits for the last alone where there is a word for that. */
template <typename T>
static __global__ void __launch_bounds__(JUDGE_THREADS)
    judge_pivots_kernel(const __grid_constant__ quasi_arguments<T> a)
{
    if (a.ended) {
        let_next_grid_begin();
        if (threadIdx.x == 0)
            wait_until(a.ended, 1, &a.values.outcome->gave_up, a.patience);
        __syncthreads();
    } else
        wait_for_kernel_before();
    judge_pivots(a, blockIdx.x);
    stay_for_grid_before(a.ended != nullptr);
}

#endif
