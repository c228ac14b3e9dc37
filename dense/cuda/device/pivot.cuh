/* dense/cuda/device/pivot.cuh: division by the diagonal on the critical path
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DENSE_CUDA_DEVICE_PIVOT_CUH
#define DENSE_CUDA_DEVICE_PIVOT_CUH

#include "dense/cuda/device/scalar.cuh"
#include <type_traits>

/* y / d again and again: by the reciprocal, unless that would overflow or lose digits. */
template <typename T> struct pivot {
    T d, reciprocal;
    bool safe;

    __device__ __forceinline__ explicit pivot(T d) : d(d), reciprocal(reciprocal_of(d))
    {
        using R = real_of<T>;
        const R tiny = 4 * (sizeof(R) == 4 ? R(FLT_MIN) : R(DBL_MIN));
        safe = magnitude(d) > tiny && magnitude(d) < R(1) / tiny;
    }
    /* ALL_SAFE: known of all lanes, so that the steps of a substitution have no branch */
    template <bool ALL_SAFE> __device__ __forceinline__ T quotient(T y) const
    {
        return ALL_SAFE || safe ? multiply(y, reciprocal) : divide(y, d);
    }
};

/* 1 / a from the hardware's 20 bits by two Newton steps, a third of the instructions of a division;
 * a: not near the ends of the range of normal numbers. */
__device__ __forceinline__ double quick_reciprocal(double a)
{
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(a));
    y = fma(y, fma(-a, y, 1.0), y);
    return fma(y, fma(-a, y, 1.0), y);
}
__device__ __forceinline__ float quick_reciprocal(float a)
{
    return 1 / a;
}
template <typename R> __device__ __forceinline__ complex_of<R> quick_reciprocal(complex_of<R> a)
{
    return reciprocal_of(a);
}

/* call(true_type) when every lane's pivots are safe, call(false_type) otherwise; one full warp */
template <typename Call> __device__ __forceinline__ void with_pivots(bool safe, Call call)
{
    if (__all_sync(~0u, safe))
        call(std::true_type());
    else
        call(std::false_type());
}

#endif
