/* solver/order/schur_pattern.h: patterns and orders in which an index set comes last
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOLVER_ORDER_SCHUR_PATTERN_H
#define SOLVER_ORDER_SCHUR_PATTERN_H

#include "solver/input/input.h"
#include "solver/order/choose_ordering.h"

/* rows := the caller's index set, memory of the size given; every one must be a row, none
 * twice.  INVALID, OUT_OF_MEMORY. */
libsolver_status schur_rows_read(memory *m, int64_t n, const libsolver_options *options,
                                 int32_t **rows, message *why);

/* Adds places to the pattern, for zeros, such that its first row is joined to the rest of the set,
 * and to every row that any of the set is joined to.  Ordered last, the set is then a chain at the
 * top of one elimination tree, all of its other columns below the chain's first: one supernode
 * holds it.  O(nnz). */
libsolver_status schur_join(memory *m, input *in, int32_t size, const int32_t *rows);

/* f: the forest of an order in which the set comes last, in its own order; used: as
 * choose_ordering, of the other rows. */
libsolver_status schur_forest(const order_request *r, int32_t size, const int32_t *rows, forest *f,
                              libsolver_ordering *used, message *why);

#endif
