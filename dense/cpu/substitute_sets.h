/* dense/cpu/substitute_sets.h: the kernels by instruction set
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DENSE_CPU_SUBSTITUTE_SETS_H
#define DENSE_CPU_SUBSTITUTE_SETS_H

#include "dense/cpu/sets.h"
#include "dense/cpu/substitute.h"

/* From row i of a panel's first column to row i of column j.  What is left below and behind column
 * j is such a panel too; packed, of leading dimension ld - j. */
static inline ptrdiff_t substitution_column(ptrdiff_t ld, int packed, int j)
{
    return j * ld - (packed ? (ptrdiff_t)j * (j + 1) / 2 : 0);
}

/* Small fronts: real ones have kernels where the processor has twice as many vector registers as
 * their rows take, in vectors of four. */
#if !SCALAR_COMPLEX && (defined(SET_avx2) || defined(SET_avx512))
#ifdef SET_avx512
#define SUBSTITUTE_SMALL_VECTORS 16
#else
#define SUBSTITUTE_SMALL_VECTORS 8
#endif
#define SUBSTITUTE_SMALL_LANES 4
void SET(substitute_small_forward)(const substitution_front *f, const scalar *x, int is_leaf,
                                   scalar *z);
void SET(substitute_small_backward)(const substitution_front *f, scalar *x);
#endif

/* [ahead] */
extern const substitution NAME(single_substitution_plain)[2], NAME(single_substitution_avx2)[2],
    NAME(single_substitution_avx512)[2];
extern const substitution NAME(block_substitution_plain), NAME(block_substitution_avx2),
    NAME(block_substitution_avx512);

#endif
