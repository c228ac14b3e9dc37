/* gpu/factor/values.cuh: device scope: the values of A scaled, in the order in which tasks read
 * them
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_FACTOR_VALUES_CUH
#define GPU_FACTOR_VALUES_CUH

#include "base/equilibrate.h"
#include "gpu/factor/arguments.cuh"

/* Values of A in V, which are factorized in T: the same, or in mixed precision single of double. */
template <typename T, typename V = T> struct value_arguments {
    const V *given; /* in the order that A was analysed in */
    const factor_source *source;
    const int32_t *diagonal_at, *row_of; /* n: see factor_program.diagonal, factor_pattern */
    int64_t entries;
    int64_t words;
    int n, eliminated;    /* rows of P A P^T; the first ones, see factor_program.schur_size */
    bool is_unscaled;     /* unless entries are out of range */
    double shift;         /* the scaled diagonal is multiplied by 1 + shift */
    unsigned *word;       /* out: zeros */
    T *value;             /* out: entries */
    real_of<T> *diagonal; /* out, n: see factor_arguments */
    real_of<V> *scale;    /* out, n: by rows of A */
    gathered_outcome *outcome;
};

/* An entry that has been scaled, rounded to the precision of the factor. */
template <typename T, typename V> __device__ __forceinline__ T rounded_to(V v)
{
    using R = real_of<T>;
    if constexpr (scalar<T>::is_complex)
        return T{(R)v.re, (R)v.im};
    else
        return (R)v;
}

template <typename T> __device__ __forceinline__ double size_of(T a)
{
    if constexpr (scalar<T>::is_complex)
        return hypot((double)a.re, (double)a.im);
    else
        return fabs((double)a);
}

/* The scale factor of all rows without equilibration: 1, in mixed precision the power of two that
 * makes the largest entry about 1. */
template <typename T, typename V>
__host__ __device__ __forceinline__ double common_scale(double most)
{
    return sizeof(V) > sizeof(T) && most > 0 ? scale_over_root(1, most, 0) : 1;
}

/* Whether entries, scaled so, are so near to the ends of the range that pivots might have no
 * reciprocals. */
template <typename T, typename V = T>
__host__ __device__ __forceinline__ bool is_out_of_range(double most, double least)
{
    const double limit = ldexp(1.0, most_scale_exponent(sizeof(real_of<T>) == 4)),
                 scale = common_scale<T, V>(most), square = scale * scale;
    return most > 0 && !(square * most <= limit && square * least >= 1 / limit);
}

/* How rows are scaled, once the range of entries is known, where that is asked for. */
template <typename R> struct row_scaling {
    bool equilibrates;
    R common; /* otherwise */
};
template <typename T, typename V>
__device__ __forceinline__ row_scaling<real_of<V>> scaling_of(const value_arguments<T, V> &a)
{
    if (!a.is_unscaled)
        return {true, 1};
    const double most = __longlong_as_double((long long)a.outcome->most),
                 least = __longlong_as_double((long long)a.outcome->least);
    return {is_out_of_range<T, V>(most, least), (real_of<V>)common_scale<T, V>(most)};
}

/* Greatest and least size of an entry that is not zero, of those from `first` on in steps. */
template <typename T, typename V>
__device__ __forceinline__ void find_range(const value_arguments<T, V> &a, int64_t first,
                                           int64_t step)
{
    double most = 0, least = INFINITY;
    for (int64_t e = first; e < a.entries; e += step) {
        const double size = size_of(a.given[e]);
        most = fmax(most, size);
        least = size > 0 ? fmin(least, size) : least;
    }
#pragma unroll
    for (int mask = 16; mask > 0; mask /= 2) {
        most = fmax(most, __shfl_xor_sync(~0u, most, mask));
        least = fmin(least, __shfl_xor_sync(~0u, least, mask));
    }
    if (threadIdx.x % 32 == 0) {
        atomicMax(&a.outcome->most, (unsigned long long)__double_as_longlong(most));
        atomicMin(&a.outcome->least, (unsigned long long)__double_as_longlong(least));
    }
}

template <typename T, typename V>
static __global__ void factor_range_kernel(const __grid_constant__ value_arguments<T, V> a)
{
    wait_for_kernel_before();
    find_range(a, (int64_t)blockIdx.x * blockDim.x + threadIdx.x, (int64_t)gridDim.x * blockDim.x);
}

/* Scaled values, their diagonal, scale factors, and words that are zero: from `first` on in steps.
 */
template <typename T, typename V>
__device__ __forceinline__ void scale_values(const value_arguments<T, V> &a, int64_t first,
                                             int64_t step)
{
    using R = real_of<V>;
    const row_scaling<R> scaling = scaling_of(a);
    const R diagonal_times = (R)(1 + a.shift);
    auto scale_of = [&](V entry) {
        const double size = fabs((double)real_part(entry)); /* Hermitian: there is no other part */
        return !scaling.equilibrates ? scaling.common
               : size > 0            ? (R)scale_over_root(1, size, sizeof(R) == 4)
                                     : (R)1;
    };
    for (int64_t e = first; e < a.entries; e += step) {
        const factor_source from = a.source[e];
        const V v = conjugate_if(a.given[from.value >> 1], from.value & 1);
        const V s = times_real(v, scale_of(a.given[from.column]) * scale_of(a.given[from.row]));
        a.value[e] = rounded_to<T>(from.row == from.column ? times_real(s, diagonal_times) : s);
    }
    for (int64_t w = first; w < a.words; w += step)
        a.word[w] = 0;
    for (int64_t k = first; k < a.n; k += step) {
        const V entry = a.given[a.diagonal_at[k]];
        const R scale = scale_of(entry), size = fabs(real_part(entry));
        a.scale[a.row_of[k]] = scale;
        a.diagonal[k] = (real_of<T>)(scale * size * scale * diagonal_times);
        if (k < a.eliminated && !(real_part(entry) > 0))
            atomicMin(&a.outcome->nonpositive, (int)k);
    }
}

template <typename T, typename V>
static __global__ void factor_values_kernel(const __grid_constant__ value_arguments<T, V> a)
{
    wait_for_kernel_before();
    scale_values(a, (int64_t)blockIdx.x * blockDim.x + threadIdx.x,
                 (int64_t)gridDim.x * blockDim.x);
}

#endif
