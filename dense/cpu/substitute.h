/* dense/cpu/substitute.h: triangular solves with the panel of one front, one right-hand side or a
 * block
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A block of right-hand sides is kept by rows.  The kernels read a panel once, a few columns at a
 * time.  They are compiled for several instruction sets; which are taken depends on the processor
 * alone.
 *
 * A panel is stored by columns, all of m rows, or packed: column j from the diagonal on, m - j rows
 * right behind those of column j - 1.  Row i >= j of column j is then at i + j m - j (j + 1) / 2.
 */
#ifndef DENSE_CPU_SUBSTITUTE_H
#define DENSE_CPU_SUBSTITUTE_H

#include "base/scalar.h"
#include <stddef.h>
#include <stdint.h>

/* A small front of one right-hand side.  Row i of it is row index[i] of the vectors of the sweep.
 */
typedef struct substitution_front {
    const scalar *panel;
    const int32_t *index; /* m */
    int m, p, packed, unit;
    int ahead; /* what comes next is asked for */
} substitution_front;

/* Where these fronts end, if 1 <= p; some kernels take fewer rows, see small_rows. */
#define SUBSTITUTE_SMALL_ROWS 64
#define SUBSTITUTE_SMALL_PIVOTS 16

/* L: the first p columns of a lower triangle of m rows, leading dimension ld, or packed with ld =
 * m; L11 with a unit diagonal if `unit`.  Row i of z, of x and of y: `width` scalars at i width,
 * where width = substitution_width of something.
 *
 * forward:   z(0:p) := L11^-1 z(0:p),  z(p:m) -= L21 z(0:p)
 * backward:  z(0:p) := L11^-T (z(0:p) - L21^T z(p:m))
 * product:             y -= A x,    A rows x columns
 * product_transposed:  y -= A^T x
 *
 * The same of fronts of at most small_rows rows, with what a sweep does beside, where it is worth
 * it: 0 and NULL elsewhere.  z has room for m rounded up to 4, x for all rows.
 *
 * small_forward:   z(0:p) := L11^-1 (x(index(0:p)) + z(0:p)),  z(p:m) -= L21 z(0:p);
 *                  is_leaf: z counts as zero before
 * small_backward:  x(index(0:p)) := L11^-T (x(index(0:p)) - L21^T x(index(p:m))) */
typedef struct substitution {
    void (*forward)(int m, int p, int ld, int packed, int unit, const scalar *l, int width,
                    scalar *z);
    void (*backward)(int m, int p, int ld, int packed, int unit, const scalar *l, int width,
                     scalar *z);
    void (*product)(int rows, int columns, int ld, const scalar *a, int width, const scalar *x,
                    scalar *y);
    void (*product_transposed)(int rows, int columns, int ld, const scalar *a, int width,
                               const scalar *x, scalar *y);
    int small_rows;
    void (*small_forward)(const substitution_front *f, const scalar *x, int is_leaf, scalar *z);
    void (*small_backward)(const substitution_front *f, scalar *x);
} substitution;

/* The kernels for this processor and this width of a row.  ahead: L does not fit the caches; the
 * single ones ask for columns before it is their turn then. */
const substitution *NAME(substitution_kernels)(int width, int ahead);

/* Scalars in a row of c right-hand sides: c and some that only fill it up, at most 2 c. */
static inline int64_t substitution_width(int64_t c)
{
    const int64_t bytes = c * (int64_t)sizeof(scalar), rest = bytes % 128;
    const int64_t fill = rest == 0 ? 0 : rest <= 16 ? 16 : rest <= 32 ? 32 : rest <= 64 ? 64 : 128;
    return c == 1 ? 1 : (bytes - rest + fill) / (int64_t)sizeof(scalar);
}

/* Panels of more entries are not packed here. */
#define SUBSTITUTE_LARGE 262144

/* forward and backward with a whole panel, ld = m.  A large one is cut by size alone, into OpenMP
 * tasks. */
void NAME(substitute_forward)(const substitution *kernels, int m, int p, int packed, int unit,
                              const scalar *panel, int width, scalar *z);
void NAME(substitute_backward)(const substitution *kernels, int m, int p, int packed, int unit,
                               const scalar *panel, int width, scalar *z);

#endif
