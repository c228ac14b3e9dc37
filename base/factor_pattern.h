/* base/factor_pattern.h: what a factorization elsewhere is given of a plan: fronts over a tree,
 * from the pattern alone
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef BASE_FACTOR_PATTERN_H
#define BASE_FACTOR_PATTERN_H

#include <stdint.h>

/* Front s, of nodes in postorder, eliminates the rows first[s] .. first[s+1] of P A P^T, its k
 * pivots; it has m = row_start[s+1] - row_start[s] rows, ascending, its pivots first.  The last
 * schur_size rows, if any, are not eliminated: the last front, a root, has them all, and what is
 * left there is the Schur complement.  Nothing is owned here. */
typedef struct factor_pattern {
    int32_t n, nodes;
    int hermitian; /* A = A^H; 0: A = A^T, no difference for real types */
    int32_t schur_size;
    const int32_t *first;     /* nodes + 1 */
    const int32_t *above;     /* nodes: parent, -1 at a root; above[s] > s */
    const int64_t *row_start; /* nodes + 1 */
    const int32_t *position;  /* row_start[nodes]: place of each row in the front of the parent,
                                 ascending; those of pivots and of roots are not read */
    const int32_t *row_of;    /* n: row of A at each row of P A P^T */
    const int64_t *start; /* n + 1: entries of the lower triangle of P A P^T by columns, each column
                             beginning with its diagonal */
    const int32_t *row;   /* start[n]: of each */
    const int32_t *local; /* start[n]: place of its row in the front of its column */
    const int32_t *index; /* row_start[nodes]: rows of each front, as rows of P A P^T */
    const int8_t *signs;  /* n: L D L^T without pivoting, of each row of P A P^T the sign of its
                             pivot, or all 0: any; NULL: Cholesky */
    const int64_t *place; /* start[n]: which of these each entry of A is, in the order that A was
                             analysed in; -1 - it: its mirror image */
} factor_pattern;

/* k of front s. */
static inline int32_t factor_pattern_pivots(const factor_pattern *p, int32_t s)
{
    return p->first[s + 1] - p->first[s] - (s == p->nodes - 1 ? p->schur_size : 0);
}

#endif
