/* gpu/refine/wide.cuh: sums of products in more than working precision, for residuals  [Ogita,
 * Rump, Oishi 2005]
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_REFINE_WIDE_CUH
#define GPU_REFINE_WIDE_CUH

#include "dense/cuda/device/scalar.cuh"
#include <type_traits>

/* a b, not fused with what is done to it */
INLINE double rounded_product(double a, double b)
{
#ifdef __CUDA_ARCH__
    return __dmul_rn(a, b);
#else
    return a * b;
#endif
}

/* |a| to a few units in the last place, without overflow */
INLINE double modulus(double a)
{
    return fabs(a);
}
INLINE double modulus(complex_s a)
{
    return sqrt((double)a.re * a.re + (double)a.im * a.im);
}
INLINE double modulus(complex_d a)
{
    const double square = fma(a.re, a.re, rounded_product(a.im, a.im));
    if (square > 1e-280 && square < 1e280)
        return sqrt(square);
    if (a.re == 0 && a.im == 0)
        return 0;
    const double x = fabs(a.re), y = fabs(a.im), most = x > y ? x : y, least = x > y ? y : x;
    const double ratio = least == most ? 1 : least / most; /* both may be infinite */
    return most * sqrt(1 + ratio * ratio);
}

/* What less_than makes, in double precision for every type: its magnitude then is in no danger of
 * underflow when T is single. */
template <typename T> using wide_of = std::conditional_t<scalar<T>::is_complex, complex_d, double>;

template <typename T> INLINE T narrow(wide_of<T> a)
{
    if constexpr (scalar<T>::is_complex)
        return {(real_of<T>)a.re, (real_of<T>)a.im};
    else
        return (T)a;
}

/* A sum of products: add_product returns the size of the product.  less_than(b): b less the sum,
 * rounded once or twice. */
template <typename T> struct wide_sum;

template <> struct wide_sum<float> {
    double sum = 0;
    INLINE double add_product(float a, float x)
    {
        const double p = (double)a * x; /* exact */
        sum += p;
        return fabs(p);
    }
    INLINE void add(const wide_sum &o) { sum += o.sum; }
    INLINE double less_than(float b) const { return b - sum; }
};

template <> struct wide_sum<double> {
    double sum = 0, rest = 0;
    /* sum + rest += p + e, |e| <= eps |p| */
    INLINE void add_pair(double p, double e)
    {
        const double s = sum + p, t = s - sum;
        rest += ((sum - (s - t)) + (p - t)) + e;
        sum = s;
    }
    INLINE double add_product(double a, double x)
    {
        const double p = rounded_product(a, x);
        add_pair(p, fma(a, x, -p));
        return fabs(p);
    }
    INLINE void add(const wide_sum &o) { add_pair(o.sum, o.rest); }
    INLINE double less_than(double b) const
    {
        wide_sum difference{b, 0};
        difference.add_pair(-sum, -rest);
        return difference.sum + difference.rest;
    }
};

template <typename R> struct wide_sum<complex_of<R>> {
    wide_sum<R> re, im;
    INLINE double add_product(complex_of<R> a, complex_of<R> x)
    {
        re.add_product(a.re, x.re);
        re.add_product(-a.im, x.im);
        im.add_product(a.re, x.im);
        im.add_product(a.im, x.re);
        if constexpr (sizeof(R) == 4)
            return modulus(complex_d{(double)a.re * x.re - (double)a.im * x.im,
                                     (double)a.re * x.im + (double)a.im * x.re});
        else
            return modulus(multiply(a, x));
    }
    INLINE void add(const wide_sum &o)
    {
        re.add(o.re);
        im.add(o.im);
    }
    INLINE complex_d less_than(complex_of<R> b) const
    {
        return {re.less_than(b.re), im.less_than(b.im)};
    }
};

/* A wide sum as an array of doubles. */
template <typename T> constexpr int WIDE_PARTS = sizeof(wide_sum<T>) / sizeof(double);

#endif
