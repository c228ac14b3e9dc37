/* solver/matching/unmatched.h: how long rows without a partner wait to be eliminated
 * in a structurally singular matrix
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOLVER_MATCHING_UNMATCHED_H
#define SOLVER_MATCHING_UNMATCHED_H

#include "ordering/ordering.h"
#include "solver/matching/matching.h"

/* A column that the matching has left over is a combination of columns that alternating paths lead
 * to: over its rows to the columns matched with them, and so on.  It becomes a zero pivot when the
 * last of these is eliminated, and waits until then.  class_of: the vertex of each row in the graph
 * of e, NULL: its number.  waiting: of that graph's vertices; the caller frees waiting->from, which
 * holds both.  O(nnz).  OUT_OF_MEMORY. */
libsolver_status unmatched_find(memory *m, const matching *w, const int32_t *class_of,
                                const elimination_tree *e, waiting_rows *waiting);

#endif
