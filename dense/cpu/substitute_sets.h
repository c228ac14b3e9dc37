/* dense/cpu/substitute_sets.h: names of the kernels by instruction set
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The build says -DSET_plain, -DSET_avx2 or -DSET_avx512 where a kernel is compiled, and -DHAVE_avx2 and so on where one is chosen. */
#ifndef DENSE_CPU_SUBSTITUTE_SETS_H
#define DENSE_CPU_SUBSTITUTE_SETS_H

#include "dense/cpu/substitute.h"

#if defined(SET_avx512)
#define SET(f) NAME(f##_avx512)
#elif defined(SET_avx2)
#define SET(f) NAME(f##_avx2)
#else
#define SET(f) NAME(f##_plain)
#endif

extern const substitution NAME(single_substitution_plain), NAME(single_substitution_avx2), NAME(single_substitution_avx512);
extern const substitution NAME(block_substitution_plain), NAME(block_substitution_avx2), NAME(block_substitution_avx512);

#endif
