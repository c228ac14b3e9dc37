/* base/subnormal.h: flush a thread's subnormal results to zero; on most processors arithmetic with
 * subnormal numbers is about a hundred times slower than with zeros
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef BASE_SUBNORMAL_H
#define BASE_SUBNORMAL_H

#include <stdint.h>

#if defined(__SSE2__)
#include <xmmintrin.h>
#define SUBNORMAL_FLUSH ((uint64_t)_MM_FLUSH_ZERO_ON)
static inline uint64_t subnormal_mode(void)
{
    return _mm_getcsr();
}
static inline void subnormal_set_mode(uint64_t mode)
{
    _mm_setcsr((unsigned)mode);
}
#elif defined(__aarch64__)
#define SUBNORMAL_FLUSH ((uint64_t)1 << 24)
static inline uint64_t subnormal_mode(void)
{
    uint64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
}
static inline void subnormal_set_mode(uint64_t mode)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(mode));
}
#else
#define SUBNORMAL_FLUSH ((uint64_t)0)
static inline uint64_t subnormal_mode(void)
{
    return 0;
}
static inline void subnormal_set_mode(uint64_t mode)
{
    (void)mode;
}
#endif

/* Sets the given bits in the calling thread's floating-point mode; returns the previous mode, for
 * subnormal_set_mode. */
static inline uint64_t subnormal_add_mode(uint64_t bits)
{
    const uint64_t mode = subnormal_mode();
    subnormal_set_mode(mode | bits);
    return mode;
}

#endif
