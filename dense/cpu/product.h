/* dense/cpu/product.h: products of the blocks of large fronts
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * What front_kernels.h does for small blocks, for those whose operands are worth packing: a
 * micro-kernel keeps a tile of C in registers and runs over packed slivers of L and W.  It is
 * compiled for several instruction sets; which is taken depends on the processor alone, so no
 * processor is unknown as it may be to a BLAS. */
#ifndef DENSE_CPU_PRODUCT_H
#define DENSE_CPU_PRODUCT_H

#include "base/scalar.h"

/* C := C - L W^T, or, if not `add`, -L W^T;  C rows x columns, L rows x inner, W columns x inner,
 * all by columns.  hermitian: W^H.  trapezoid: only entries on and below the diagonal of C; others
 * become undefined.  200 KiB of stack; every entry is summed in the same order whatever the tiles
 * around it. */
typedef void product_kernel(int hermitian, int trapezoid, int rows, int columns, int inner,
                            const scalar *l, int ldl, const scalar *w, int ldw, int add, scalar *c,
                            int ldc);

product_kernel NAME(product_plain), NAME(product_avx2), NAME(product_avx512);

/* The kernel for this processor. */
product_kernel *NAME(product_here)(void);

#if SCALAR_COMPLEX
/* X := X T^-T (T^-H if hermitian),  X rows x n, T lower triangular, with a unit diagonal if `unit`;
 * for a few columns, as solve_right of front_kernels.h is for real types. */
typedef void solve_kernel(int hermitian, int unit, int rows, int n, const scalar *t, int ldt,
                          scalar *x, int ldx);

solve_kernel NAME(solve_columns_plain), NAME(solve_columns_avx2), NAME(solve_columns_avx512);
#endif

#endif
