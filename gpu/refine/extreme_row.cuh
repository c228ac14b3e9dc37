/* gpu/refine/extreme_row.cuh: the residual and the error of a row near the ends of the range of
 * double precision
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * What a sum of products loses to underflow there counts: the error could be taken for less than
 * it is.  Such a row is summed anew, all of it multiplied by the power of two by which the largest
 * of |a_ij x_j| and |b_i| is near 1. */
#ifndef GPU_REFINE_EXTREME_ROW_CUH
#define GPU_REFINE_EXTREME_ROW_CUH

#include "gpu/refine/refine_state.h"
#include "gpu/refine/wide.cuh"
#include <climits>

/* The exponent of the larger part; INT_MIN: a is 0. */
__device__ __forceinline__ int exponent_of(double a)
{
    return a == 0 ? INT_MIN : ilogb(a);
}
__device__ __forceinline__ int exponent_of(complex_d a)
{
    return max(exponent_of(a.re), exponent_of(a.im));
}

__device__ __forceinline__ bool is_finite(double a)
{
    return isfinite(a);
}
__device__ __forceinline__ bool is_finite(complex_d a)
{
    return isfinite(a.re) && isfinite(a.im);
}

/* a 2^exponent */
__device__ __forceinline__ double shifted(double a, int exponent)
{
    return scalbn(a, exponent);
}
__device__ __forceinline__ complex_d shifted(complex_d a, int exponent)
{
    return {scalbn(a.re, exponent), scalbn(a.im, exponent)};
}

/* What a row adds to one of the two maxima of the backward error; see refine_row_error. */
struct row_error {
    double value;
    int is_small;
};

/* One row: entry_of(k) and x_of(k) for from <= k < to; norm: max |x|.  A and b are finite,
 * and norm is though x may have a NaN: then the error is infinite.  *residual: b - A x, rounded
 * once.  By one thread; to be called from a function that is not inlined, so that
 * other rows do without its registers. */
template <typename T, typename ENTRY, typename X>
__device__ __forceinline__ row_error extreme_row_error(int64_t from, int64_t to, ENTRY entry_of,
                                                       X x_of, T b, double norm, double threshold,
                                                       T *residual)
{
    int largest = exponent_of(b), row_largest = INT_MIN;
    for (int64_t k = from; k < to; k++) {
        const int a = exponent_of(entry_of(k)), x = exponent_of(x_of(k));
        if (!is_finite(x_of(k)))
            return {INFINITY, 0};
        row_largest = max(row_largest, a);
        if (a != INT_MIN && x != INT_MIN)
            largest = max(largest, a + x);
    }
    *residual = {};
    if (largest == INT_MIN)
        return {0, 0};
    wide_sum<T> product;
    double bound = 0, row_sum = 0; /* 2^-largest |A||x|, 2^-row_largest |A| */
    for (int64_t k = from; k < to; k++) {
        const T entry = entry_of(k);
        const int a = exponent_of(entry);
        if (a == INT_MIN)
            continue;
        bound += product.add_product(shifted(entry, -a), shifted(x_of(k), a - largest));
        row_sum += modulus(shifted(entry, -row_largest));
    }
    const T right = shifted(b, -largest), r = product.less_than(right);
    const int norm_exponent = exponent_of(norm);
    /* beyond 2^1000 of bound + |b| it is as good as infinite */
    const double row = norm_exponent == INT_MIN || row_largest == INT_MIN
                           ? 0
                           : row_sum * shifted(norm, -norm_exponent) *
                                 shifted(1.0, min(norm_exponent + row_largest - largest, 900));
    *residual = shifted(r, largest);
    row_error error;
    error.value = refine_error_of_sums(modulus(r), modulus(right), bound + modulus(right), row,
                                       threshold, &error.is_small);
    return error;
}

#endif
