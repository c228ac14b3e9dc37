/* solver/phases/factorize.h: what makes factors, for calls that wait and for those that do not
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOLVER_PHASES_FACTORIZE_H
#define SOLVER_PHASES_FACTORIZE_H

#include "solver/phases/objects.h"

/* Whether a matrix is of the pattern and type that was analysed.  INVALID, PATTERN_MISMATCH,
 * OUT_OF_MEMORY; the message is the factor's, here and below. */
libsolver_status factor_check_matrix(libsolver_factor *f, const libsolver_matrix *a);
/* The factorization of the values that were taken last: those of f->incoming, or on the device. */
libsolver_status factor_factorize_values(libsolver_factor *f);

#endif
