/* dense/cpu/front_kernels_sets.h: the kernels by instruction set
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DENSE_CPU_FRONT_KERNELS_SETS_H
#define DENSE_CPU_FRONT_KERNELS_SETS_H

#include "dense/cpu/front_kernels.h"
#include "dense/cpu/sets.h"

#if defined(SET_avx2) || defined(SET_plain)
int SET(ldlt_block)(int hermitian, int n, real zero, scalar *b, int *order, scalar *d, scalar *e,
                    real *g);
#endif

extern const front_kernels NAME(front_kernels_plain), NAME(front_kernels_avx2);

#endif
