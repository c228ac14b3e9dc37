/* dense/cpu/sets.h: names of kernels that are compiled for several instruction sets
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The build says -DSET_plain, -DSET_avx2 or -DSET_avx512 where a kernel is compiled; which one this
 * processor takes: processor.h. */
#ifndef DENSE_CPU_SETS_H
#define DENSE_CPU_SETS_H

#include "base/scalar.h"
#include "dense/cpu/processor.h"

#if defined(SET_avx512)
#define SET(f) NAME(f##_avx512)
#elif defined(SET_avx2)
#define SET(f) NAME(f##_avx2)
#else
#define SET(f) NAME(f##_plain)
#endif

/* For functions of constants that choose registers and loops. */
#define INLINE_ALWAYS static inline __attribute__((always_inline))

/* FOR_UNROLLED(most, int k = 0; k < n; k++): for (int k = 0; k < n; k++), n at most `most` and
 * known once functions are inlined, unrolled completely, so that arrays indexed by k stay in
 * registers.  If clang is given a number, as gcc needs it, it leaves some of these loops rolled
 * and their sums on the stack, and products take 1.7 times as long. */
#define PRAGMA(text) _Pragma(#text)
#ifdef __clang__
#define FOR_UNROLLED(most, ...) PRAGMA(clang loop unroll(full)) for (__VA_ARGS__)
#else
#define FOR_UNROLLED(most, ...) PRAGMA(GCC unroll most) for (__VA_ARGS__)
#endif

#endif
