/* solver/order/delays.h: which rows of an order will wait for a pivot, and how long
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOLVER_ORDER_DELAYS_H
#define SOLVER_ORDER_DELAYS_H

#include "ordering/ordering.h"

/* g: the graph of a matrix.  has_pivot, length g->n: whether a row's diagonal entry can be its
 * pivot.  Without one a row is eliminated as half of a 2x2 pivot, or by what others add to its
 * diagonal, and waits until there are enough of them.  class_of: the vertex of each row in the
 * graph of e, NULL: its number.  waiting: of that graph's vertices; the caller frees waiting->from,
 * which holds both.  Looks at a bounded number of entries for each row, so that a row may be said
 * to wait that need not.  O(n + edges).  OUT_OF_MEMORY. */
libsolver_status delays_find(memory *m, const graph *g, const unsigned char *has_pivot,
                             const int32_t *class_of, const elimination_tree *e,
                             waiting_rows *waiting);

#endif
