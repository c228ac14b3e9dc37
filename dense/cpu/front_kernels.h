/* dense/cpu/front_kernels.h: the inner loops of a front's partial factorization
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Tiles of a few columns and some vectors of rows are kept in registers; nothing is packed, so a
 * call costs little: blocks of less than 20 rows are worked on two to three times as fast as by a
 * BLAS; for larger ones see product.h.  The kernels are compiled for several instruction sets;
 * which are taken depends on the processor alone.
 *
 * All matrices lie by columns.  hermitian: ^H in place of ^T; it makes no difference to real
 * types. */
#ifndef DENSE_CPU_FRONT_KERNELS_H
#define DENSE_CPU_FRONT_KERNELS_H

#include "base/scalar.h"

/* Columns of a tile. */
#define TILE 4

/* As many arguments as such products have in the BLAS: they are called for the smallest blocks. */
typedef struct front_kernels {
    /* C := C - L W^T, or, if not `add`, -L W^T;  C rows x columns, L rows x inner, W columns x
     * inner.  trapezoid: only entries on and below the diagonal; others become undefined. */
    void (*update)(int hermitian, int trapezoid, int rows, int columns, int inner, const scalar *l,
                   int ldl, const scalar *w, int ldw, int add, scalar *c, int ldc);
    /* X := X T^-T,  X rows x n, T lower triangular of order n, with a unit diagonal if `unit` */
    void (*solve_right)(int hermitian, int unit, int rows, int n, const scalar *t, int ldt,
                        scalar *x, int ldx);
    /* A = L L^H: the first k columns of a trapezoid of m rows become [L11; L21].  A pivot <= 16 eps
     * diagonal(j) is refused; returns k, or the column of the first that is. */
    int (*cholesky)(int m, int k, scalar *a, int lda, const real *diagonal);
    /* L := W D^-1 for `columns` columns of `rows` rows.  d, e: the 1x1 and 2x2 pivots, as in
     * front_ldlt.  largest(c), c the first column of a pivot: raised to the largest entry of rows
     * [0, pivot_rows) of that pivot's columns of L. */
    void (*divide)(int hermitian, int rows, int pivot_rows, int columns, const scalar *w, int ldw,
                   const scalar *d, const scalar *e, scalar *l, int ldl, real *largest);
    /* LDL^T of the n x n lower triangle b (n <= LDLT_BLOCK, leading dimension ldlt_block_ld(n), 0
     * above the diagonal and below row n) with complete pivoting [Bunch, Parlett 1971]: order[i] is
     * the row that came to place i, d and e hold D.  Stops where what is left is noise at the level
     * `zero`; returns the pivots found.  g, length n, in the original order, is permuted and
     * increased. */
    int (*ldlt_block)(int hermitian, int n, real zero, scalar *b, int *order, scalar *d, scalar *e,
                      real *g);
    /* g(i) += sum over c of |L(i,c)|^2 weight(c) */
    void (*add_magnitudes)(int rows, int columns, const scalar *l, int ldl, const real *weight,
                           real *g);
} front_kernels;

static inline int ldlt_block_ld(int n)
{
    return (n + 7) / 8 * 8; /* whole vectors */
}

/* Whether rows x inner entries are few enough that these kernels beat the packing ones (product.h):
 * in a loop of updates of 4 to 512 rows, inner size 2 to 128, on an AMD EPYC 9004 real ones did up
 * to about 4096, in fronts of 200 x 32 and 300 x 24 beyond that.  Complex ones have no vectors. */
static inline int front_kernels_pay(int64_t rows, int64_t inner)
{
    return rows * inner <= (SCALAR_COMPLEX ? 32 : 8192);
}

/* The kernels for this processor. */
const front_kernels *NAME(front_kernels_here)(void);

#endif
