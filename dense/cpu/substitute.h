/* dense/cpu/substitute.h: triangular solves with the panel of one front, one right-hand side
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The kernels read a panel once, four columns at a time.  They are compiled for several instruction sets; which are taken depends
 * on the processor alone. */
#ifndef DENSE_CPU_SUBSTITUTE_H
#define DENSE_CPU_SUBSTITUTE_H

#include "base/scalar.h"

/* L: the first p columns of a lower triangle of m rows, leading dimension ld, L11 with a unit diagonal if `unit`.
 *
 * forward:   z(0:p) := L11^-1 z(0:p),  z(p:m) -= L21 z(0:p)
 * backward:  z(0:p) := L11^-T (z(0:p) - L21^T z(p:m))
 * product:             y -= A x,    A rows x columns
 * product_transposed:  y -= A^T x */
typedef struct substitution {
    void (*forward)(int m, int p, int ld, int unit, const scalar *l, scalar *z);
    void (*backward)(int m, int p, int ld, int unit, const scalar *l, scalar *z);
    void (*product)(int rows, int columns, int ld, const scalar *a, const scalar *x, scalar *y);
    void (*product_transposed)(int rows, int columns, int ld, const scalar *a, const scalar *x, scalar *y);
} substitution;

/* The kernels for this processor. */
const substitution *NAME(substitution_kernels)(void);

/* forward and backward with a whole panel, ld = m.  A large one is cut by size alone, into OpenMP tasks. */
void NAME(substitute_forward)(const substitution *kernels, int m, int p, int unit, const scalar *panel,
                              scalar *z);
void NAME(substitute_backward)(const substitution *kernels, int m, int p, int unit, const scalar *panel,
                               scalar *z);

#endif
