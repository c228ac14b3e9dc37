/* dense/cpu/sets.h: the instruction sets that kernels are compiled for: names, and whether this
 * processor has them
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The build says -DSET_plain, -DSET_avx2 or -DSET_avx512 where a kernel is compiled, and
 * -DHAVE_avx2 and so on where one is chosen. */
#ifndef DENSE_CPU_SETS_H
#define DENSE_CPU_SETS_H

#include "base/scalar.h"

#if defined(SET_avx512)
#define SET(f) NAME(f##_avx512)
#elif defined(SET_avx2)
#define SET(f) NAME(f##_avx2)
#else
#define SET(f) NAME(f##_plain)
#endif

/* For functions of constants that choose registers and loops. */
#define INLINE_ALWAYS static inline __attribute__((always_inline))

#ifdef HAVE_avx2
static inline int here_is_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#endif
#ifdef HAVE_avx512
static inline int here_is_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}
#endif

#endif
