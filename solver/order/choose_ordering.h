/* solver/order/choose_ordering.h: the elimination order that the options ask for
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOLVER_ORDER_CHOOSE_ORDERING_H
#define SOLVER_ORDER_CHOOSE_ORDERING_H

#include "base/backend.h"
#include "ordering/ordering.h"
#include "solver/libsolver.h"
#include "solver/matching/matching.h"

/* What an order is chosen for. */
typedef struct order_request {
    environment *env;
    const pattern *a;
    const double *magnitude; /* |a| of the pattern's entries, when rows that a matching pairs may be
                                eliminated together; otherwise NULL, as for choose_ordering */
    const libsolver_options *options;
    const backend_costs *costs; /* of the backend that will factorize */
} order_request;

typedef struct order_result {
    libsolver_ordering used; /* the method */
    double seconds;          /* predicted, of a factorization with ten solves; 0: a given order */
    matching *matched;       /* that matching, for the caller to free; NULL without magnitude */
    int scales;              /* it is to scale the matrix too: its pairs are eliminated together
                                because in another order many rows would wait for a pivot */
} order_result;

/* perm, length r->a->n: the row eliminated k-th.  used: the method.  INVALID (the caller's
 * permutation), NOT_BUILT, OUT_OF_MEMORY, CANCELLED. */
libsolver_status choose_ordering(const order_request *r, int32_t *perm, libsolver_ordering *used,
                                 message *why);
/* The elimination forest of such an order.  result->matched is to be freed after a failure too. */
libsolver_status choose_forest(const order_request *r, forest *f, order_result *result,
                               message *why);

/* *lacks: whether f, the forest of an order that was chosen without magnitudes, is to be replaced
 * by one that is chosen with those of r, as pairs of rows may then be eliminated together. */
libsolver_status order_lacks_pairs(const order_request *r, const forest *f, int *lacks);

#endif
