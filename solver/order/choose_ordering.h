/* solver/order/choose_ordering.h: the elimination order that the options ask for
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOLVER_ORDER_CHOOSE_ORDERING_H
#define SOLVER_ORDER_CHOOSE_ORDERING_H

#include "base/environment.h"
#include "ordering/ordering.h"
#include "solver/libsolver.h"
#include "solver/matching/matching.h"

/* perm, length a->n: the row eliminated k-th.  used: the method.  INVALID (the caller's
 * permutation), NOT_BUILT, OUT_OF_MEMORY, CANCELLED. */
libsolver_status choose_ordering(environment *env, const pattern *a,
                                 const libsolver_options *options, int32_t *perm,
                                 libsolver_ordering *used, message *why);

/* The elimination forest of such an order.  magnitude: NULL, or |a| of the pattern's entries, when
 * rows that a matching pairs are to be eliminated together.  matched, NULL before: that matching,
 * for the caller to free; NULL without magnitude.  seconds: predicted, of a factorization with ten
 * solves; 0 for a given order. */
libsolver_status choose_forest(environment *env, const pattern *a, const double *magnitude,
                               const libsolver_options *options, forest *f,
                               libsolver_ordering *used, double *seconds, matching **matched,
                               message *why);

#endif
