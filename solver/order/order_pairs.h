/* solver/order/order_pairs.h: whether rows that a matching pairs are eliminated together
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOLVER_ORDER_ORDER_PAIRS_H
#define SOLVER_ORDER_ORDER_PAIRS_H

#include "solver/order/candidate.h"
#include "solver/order/choose_ordering.h"

/* What an order of r->a, whose graph is g, is chosen from: *chosen is pairs, the graph of pairs of
 * rows, or plain.  Either may have been begun, and choice_free is for both in every case.  Sets
 * result->matched and scales. */
libsolver_status choose_pairs(const order_request *r, const graph *g, choice *pairs, choice *plain,
                              choice **chosen, order_result *result);
void choice_free(choice *c);

#endif
