/* dense/cuda/device/scalar.cuh: the four scalar types behind one set of inline functions
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DENSE_CUDA_DEVICE_SCALAR_CUH
#define DENSE_CUDA_DEVICE_SCALAR_CUH

#include <cfloat>
#include <cmath>
#include <cstdint>

/* Aligned to its size, so that one entry is one load. */
template <typename R> struct alignas(2 * sizeof(R)) complex_of {
    R re, im;
};
using complex_s = complex_of<float>;
using complex_d = complex_of<double>;

template <typename T> struct scalar {
    using real = T;
    static constexpr bool is_complex = false;
};
template <typename R> struct scalar<complex_of<R>> {
    using real = R;
    static constexpr bool is_complex = true;
};
template <typename T> using real_of = typename scalar<T>::real;

#define INLINE __host__ __device__ __forceinline__

template <typename T> INLINE T from_real(real_of<T> v)
{
    if constexpr (scalar<T>::is_complex)
        return T{v, 0};
    else
        return v;
}

template <typename T> INLINE real_of<T> real_part(T a)
{
    if constexpr (scalar<T>::is_complex)
        return a.re;
    else
        return a;
}

/* c + a b, one rounding for each real product where the hardware fuses it */
INLINE float multiply_add(float c, float a, float b)
{
    return fmaf(a, b, c);
}
INLINE double multiply_add(double c, double a, double b)
{
    return fma(a, b, c);
}
template <typename R>
INLINE complex_of<R> multiply_add(complex_of<R> c, complex_of<R> a, complex_of<R> b)
{
    c.re = fma(a.re, b.re, c.re);
    c.im = fma(a.re, b.im, c.im);
    c.re = fma(-a.im, b.im, c.re);
    c.im = fma(a.im, b.re, c.im);
    return c;
}

template <typename R> INLINE complex_of<R> operator+(complex_of<R> a, complex_of<R> b)
{
    return {a.re + b.re, a.im + b.im};
}
template <typename R> INLINE complex_of<R> operator-(complex_of<R> a, complex_of<R> b)
{
    return {a.re - b.re, a.im - b.im};
}
template <typename R> INLINE complex_of<R> operator-(complex_of<R> a)
{
    return {-a.re, -a.im};
}
template <typename T> INLINE T multiply(T a, T b)
{
    if constexpr (scalar<T>::is_complex)
        return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    else
        return a * b;
}

template <typename T> INLINE T times_real(T a, real_of<T> r)
{
    if constexpr (scalar<T>::is_complex)
        return {a.re * r, a.im * r};
    else
        return a * r;
}

/* a / b; complex by scaling with the larger part, so that |b|^2 is never formed  [Smith 1962] */
template <typename T> INLINE T divide(T a, T b)
{
    if constexpr (scalar<T>::is_complex) {
        using R = real_of<T>;
        const bool tall = (b.re < 0 ? -b.re : b.re) < (b.im < 0 ? -b.im : b.im);
        const R big = tall ? b.im : b.re, small = tall ? b.re : b.im;
        const R ratio = big == 0 ? R(0) : small / big, scale = R(1) / (big + small * ratio);
        const T q = tall ? T{a.re * ratio + a.im, a.im * ratio - a.re}
                         : T{a.re + a.im * ratio, a.im - a.re * ratio};
        return {q.re * scale, q.im * scale};
    } else {
        return a / b;
    }
}

/* 1 / a */
template <typename T> INLINE T reciprocal_of(T a)
{
    return divide(from_real<T>(1), a);
}

/* |re| + |im|: within a factor of sqrt(2) of the modulus */
template <typename T> INLINE real_of<T> magnitude(T a)
{
    if constexpr (scalar<T>::is_complex)
        return fabs(a.re) + fabs(a.im);
    else
        return fabs(a);
}

template <typename T> INLINE T conjugate_if(T a, bool yes)
{
    if constexpr (scalar<T>::is_complex)
        a.im = yes ? -a.im : a.im;
    return a;
}

/* yes ? a : b as a selection: left to itself the compiler makes a divergent branch of it, for 40
 * cycles */
__device__ __forceinline__ float choose(bool yes, float a, float b)
{
    asm("{ .reg .pred p;\n setp.ne.u32 p, %3, 0;\n selp.f32 %0, %1, %2, p; }"
        : "=f"(a)
        : "f"(a), "f"(b), "r"((unsigned)yes));
    return a;
}
__device__ __forceinline__ double choose(bool yes, double a, double b)
{
    asm("{ .reg .pred p;\n setp.ne.u32 p, %3, 0;\n selp.f64 %0, %1, %2, p; }"
        : "=d"(a)
        : "d"(a), "d"(b), "r"((unsigned)yes));
    return a;
}
template <typename R>
__device__ __forceinline__ complex_of<R> choose(bool yes, complex_of<R> a, complex_of<R> b)
{
    return {choose(yes, a.re, b.re), choose(yes, a.im, b.im)};
}

/* a of lane `lane` in this lane's group of `width` lanes */
template <typename T> __device__ __forceinline__ T shuffle(T a, int lane, int width = 32)
{
    if constexpr (scalar<T>::is_complex)
        return {__shfl_sync(~0u, a.re, lane, width), __shfl_sync(~0u, a.im, lane, width)};
    else
        return __shfl_sync(~0u, a, lane, width);
}

template <typename T> __device__ __forceinline__ T shuffle_xor(T a, int mask)
{
    if constexpr (scalar<T>::is_complex)
        return {__shfl_xor_sync(~0u, a.re, mask), __shfl_xor_sync(~0u, a.im, mask)};
    else
        return __shfl_xor_sync(~0u, a, mask);
}

#endif
