/* gpu/factor/values.cuh: device scope: the values of A scaled, in the order in which tasks read
 * them
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_FACTOR_VALUES_CUH
#define GPU_FACTOR_VALUES_CUH

#include "base/equilibrate.h"
#include "gpu/factor/arguments.cuh"

template <typename T> struct value_arguments {
    const T *given; /* in the order that A was analysed in */
    const factor_source *source;
    const int32_t *diagonal_at, *row_of; /* n: see factor_program.diagonal, factor_pattern */
    int64_t entries;
    int64_t words;
    int n;
    bool is_unscaled;             /* unless entries are out of range */
    unsigned *word;               /* out: zeros */
    T *value;                     /* out: entries */
    real_of<T> *diagonal, *scale; /* out, n each: see factor_arguments; by rows of A */
    gathered_outcome *outcome;
};

template <typename T> __device__ __forceinline__ double size_of(T a)
{
    if constexpr (scalar<T>::is_complex)
        return hypot((double)a.re, (double)a.im);
    else
        return fabs((double)a);
}

/* Whether entries are so near to the ends of the range that pivots might have no reciprocals. */
template <typename T>
__host__ __device__ __forceinline__ bool is_out_of_range(double most, double least)
{
    const double limit = ldexp(1.0, most_scale_exponent(sizeof(real_of<T>) == 4));
    return most > 0 && !(most <= limit && least >= 1 / limit);
}

/* Once the range of entries is known, where that is asked for. */
template <typename T> __device__ __forceinline__ bool is_to_equilibrate(const value_arguments<T> &a)
{
    return !a.is_unscaled || is_out_of_range<T>(__longlong_as_double((long long)a.outcome->most),
                                                __longlong_as_double((long long)a.outcome->least));
}

/* Greatest and least size of an entry that is not zero, of those from `first` on in steps. */
template <typename T>
__device__ __forceinline__ void find_range(const value_arguments<T> &a, int64_t first, int64_t step)
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

template <typename T>
static __global__ void factor_range_kernel(const __grid_constant__ value_arguments<T> a)
{
    wait_for_kernel_before();
    find_range(a, (int64_t)blockIdx.x * blockDim.x + threadIdx.x, (int64_t)gridDim.x * blockDim.x);
}

/* Scaled values, their diagonal, scale factors, and words that are zero: from `first` on in steps.
 */
template <typename T>
__device__ __forceinline__ void scale_values(const value_arguments<T> &a, int64_t first,
                                             int64_t step)
{
    using R = real_of<T>;
    const bool equilibrates = is_to_equilibrate(a);
    auto scale_of = [&](T entry) {
        const double size = fabs((double)real_part(entry)); /* Hermitian: there is no other part */
        return equilibrates && size > 0 ? (R)scale_over_root(1, size, sizeof(R) == 4) : (R)1;
    };
    for (int64_t e = first; e < a.entries; e += step) {
        const factor_source from = a.source[e];
        const T v = conjugate_if(a.given[from.value >> 1], from.value & 1);
        a.value[e] = times_real(v, scale_of(a.given[from.column]) * scale_of(a.given[from.row]));
    }
    for (int64_t w = first; w < a.words; w += step)
        a.word[w] = 0;
    for (int64_t k = first; k < a.n; k += step) {
        const T entry = a.given[a.diagonal_at[k]];
        const R scale = scale_of(entry), size = fabs(real_part(entry));
        a.scale[a.row_of[k]] = scale;
        a.diagonal[k] = scale * size * scale;
        if (!(real_part(entry) > 0))
            atomicMin(&a.outcome->nonpositive, (int)k);
    }
}

template <typename T>
static __global__ void factor_values_kernel(const __grid_constant__ value_arguments<T> a)
{
    wait_for_kernel_before();
    scale_values(a, (int64_t)blockIdx.x * blockDim.x + threadIdx.x,
                 (int64_t)gridDim.x * blockDim.x);
}

#endif
