/* base/factor_tree.h: a factor as dense blocks over a tree, the input of the solve on a device
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef BASE_FACTOR_TREE_H
#define BASE_FACTOR_TREE_H

#include "libsolver_types.h"

/* P S A S P^T = L L^T or L D L^T (^H: Hermitian), eliminated node by node in postorder.  Positions
 * are places in the order of elimination.  Node s eliminates positions first[s] .. first[s+1] (p of
 * them, 0 is possible); below them its columns of L have the rows row[row_start[s] ..
 * row_start[s+1]), in any order, all of which are positions of ancestors.
 *
 *              p
 *         +---------+
 *       p | L11     |   panel[s]: (p + rows) x p by columns, leading dimension ld[s]; above it:
 *         |---------|   anything; LDL^T: L11 is unit lower triangular and its diagonal is not read,
 *  rows   | L21     |   D(j,j) = d[s][j], D(j+1,j) = e[s][j]; a zero pivot: both 0, skipped; of
 *         |         |   a factor that is made on a device d[s] and e[s] are NULL: no 2x2 pivots
 *         +---------+
 *
 * Nothing is owned here. */
typedef struct factor_tree {
    libsolver_type type;
    int hermitian, cholesky;
    int32_t n, nodes;
    const int32_t *first;     /* nodes + 1 */
    const int32_t *above;     /* nodes: parent, -1 at a root; above[s] > s */
    const int64_t *row_start; /* nodes + 1 */
    const int32_t *row;
    const int32_t *ld;                              /* nodes */
    const void *const *panel, *const *d, *const *e; /* nodes; d, e for LDL^T */
    const int32_t *user_row;                        /* n: row of A at each position */
    const void *scale;                              /* n reals: S, by rows of A */
    const double *wide_scale; /* mixed precision: S, and nobody reads scale: the factor, in single
                                 precision, is that of S A S, rounded, and b and x are in double */
} factor_tree;

#endif
