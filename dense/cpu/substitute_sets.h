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

extern const substitution NAME(substitution_plain), NAME(substitution_avx2), NAME(substitution_avx512);

/* The kernels of one set for width 1 (substitute_single_tmpl.c); the others call them. */
void SET(single_forward)(int m, int p, int ld, int unit, const scalar *l, scalar *z);
void SET(single_backward)(int m, int p, int ld, int unit, const scalar *l, scalar *z);
void SET(single_product)(int rows, int columns, int ld, const scalar *a, const scalar *x, scalar *y);
void SET(single_product_transposed)(int rows, int columns, int ld, const scalar *a, const scalar *x, scalar *y);

#endif
