/* base/equilibrate.h: scale factors that are powers of two, as the host and a device choose them
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef BASE_EQUILIBRATE_H
#define BASE_EQUILIBRATE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define EQUILIBRATE_INLINE __host__ __device__ static inline
#else
#define EQUILIBRATE_INLINE static inline
#endif

/* Scale factors are between 2^-this and 2^this, so that a product of two of them and an entry does
 * not overflow. */
EQUILIBRATE_INLINE int most_scale_exponent(int is_single)
{
    return is_single ? 60 : 500;
}

/* 2^exponent, or the nearest scale factor there is. */
EQUILIBRATE_INLINE double scale_power(int exponent, int is_single)
{
    const int most = most_scale_exponent(is_single);
    exponent = exponent > most ? most : exponent < -most ? -most : exponent;
    const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/* floor(log2(x)), x > 0 */
EQUILIBRATE_INLINE int floor_log2(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 52 ? (int)(bits >> 52) - 1023 : ilogb(x);
}

/* The power of two nearest by ratio to scale / sqrt(largest), scale a power of two, largest > 0;
 * the lower one of two. */
EQUILIBRATE_INLINE double scale_over_root(double scale, double largest, int is_single)
{
    /* log2(largest) / 2 rounded up from its integer part on */
    const int half = (floor_log2(largest) + 2049) / 2 - 1024;
    return scale_power(floor_log2(scale) - half, is_single);
}

#undef EQUILIBRATE_INLINE

#endif
