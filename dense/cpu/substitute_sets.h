/* dense/cpu/substitute_sets.h: the kernels by instruction set
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DENSE_CPU_SUBSTITUTE_SETS_H
#define DENSE_CPU_SUBSTITUTE_SETS_H

#include "dense/cpu/sets.h"
#include "dense/cpu/substitute.h"

/* [ahead] */
extern const substitution NAME(single_substitution_plain)[2], NAME(single_substitution_avx2)[2],
    NAME(single_substitution_avx512)[2];
extern const substitution NAME(block_substitution_plain), NAME(block_substitution_avx2),
    NAME(block_substitution_avx512);

#endif
