/* gpu/device/value_sums.cuh: thread scope: entries of A as sums of the values given, and their
 * check
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_DEVICE_VALUE_SUMS_CUH
#define GPU_DEVICE_VALUE_SUMS_CUH

#include "dense/cuda/device/scalar.cuh"
#include "gpu/device/device.cuh"
#include "gpu/device/device_values.h"

template <typename T> __device__ __forceinline__ bool is_finite(T a)
{
    if constexpr (scalar<T>::is_complex)
        return isfinite(a.re) && isfinite(a.im);
    else
        return isfinite(a);
}

template <typename T> __device__ __forceinline__ bool is_equal(T a, T b)
{
    if constexpr (scalar<T>::is_complex)
        return a.re == b.re && a.im == b.im;
    else
        return a == b;
}

template <typename T> __device__ __forceinline__ bool is_real(T a)
{
    if constexpr (scalar<T>::is_complex)
        return a.im == 0;
    else
        return true;
}

/* The values given of entry p, one after the other; what is wrong with them is noted. */
template <typename T>
__device__ __forceinline__ T sum_of_entry(const value_sums &s, const T *given, int64_t p,
                                          bool *finite, bool *symmetric)
{
    T lower = {}, upper = {};
    bool is_mirrored = false;
    if (!s.start)
        lower = given[p];
    else
        for (int32_t q = s.start[p]; q < s.start[p + 1]; q++) {
            const uint32_t source = s.source[q];
            const T v = given[source >> 1];
            if (source & 1) {
                upper = upper + v;
                is_mirrored = true;
            } else
                lower = lower + conjugate_if(v, s.conjugates);
        }
    *finite &= is_finite(lower) && is_finite(upper);
    *symmetric &= !is_mirrored || is_equal(upper, conjugate_if(lower, s.is_hermitian));
    return lower;
}

/* Values that take the place of others, unless something is wrong with them; from NULL: there are
 * none. */
template <typename T> struct value_change {
    const T *from;
    T *to;
    int64_t entries;
    const value_flaws *flaws;
};

/* Threads have the values from `first` on in steps. */
template <typename T>
__device__ __forceinline__ void take_values(const value_change<T> &c, int64_t first, int64_t step)
{
    if (!c.from || c.flaws->nonfinite || c.flaws->asymmetric)
        return;
    for (int64_t p = first; p < c.entries; p += step)
        c.to[p] = c.from[p];
}

/* The tables on the device, or their places there; given: values. */
static inline value_sums put_value_sums(uploader *u, const value_sums *s, int64_t given)
{
    value_sums there = *s;
    there.diagonal = const_cast<int32_t *>(u->put(s->diagonal, s->n));
    there.start = s->start ? const_cast<int32_t *>(u->put(s->start, s->entries + 1)) : nullptr;
    there.source = s->source ? const_cast<uint32_t *>(u->put(s->source, given)) : nullptr;
    return there;
}

#endif
