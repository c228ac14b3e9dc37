/* cli/chosen_residual.h: b - A x, summed in a precision of choice
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_CHOSEN_RESIDUAL_H
#define CLI_CHOSEN_RESIDUAL_H

#include "options.h"
#include "triplets.h"

/* r = b - A x for k columns, as in certificate.h; every product and sum rounded to that precision,
 * the result to double.  r may be b.  False: out of memory. */
bool residual(const triplets *a, residual_precision precision, int64_t k, const double *b,
              const double *x, double *r);

#endif
