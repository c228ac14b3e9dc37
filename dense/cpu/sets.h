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

#endif
