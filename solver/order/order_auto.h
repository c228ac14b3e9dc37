/* solver/order/order_auto.h: AMD or nested dissection
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOLVER_ORDER_ORDER_AUTO_H
#define SOLVER_ORDER_ORDER_AUTO_H

#include "solver/order/candidate.h"

/* AMD's order or that of nested dissection, whichever has the shorter predicted time. */
libsolver_status order_auto(choice *c, candidate *best);

#endif
