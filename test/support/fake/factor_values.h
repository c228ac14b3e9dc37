/* test/support/fake/factor_values.h: what comes before and behind the tasks of a factorization, of
 * each precision
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_SUPPORT_FAKE_FACTOR_VALUES_H
#define TEST_SUPPORT_FAKE_FACTOR_VALUES_H

#include "base/scalar.h"
#include "emulators.h"

/* values, of the program's entries: scaled, in its order; diagonal, n: theirs, with signs largest
 * entries of rows.  0, here and below: no memory. */
int NAME(emulate_scaling)(const emulated_factorization *f, scalar *values, real *diagonal,
                          cholesky_outcome *outcome);
/* With signs: L with a unit diagonal, which is not written, and D; pivots are compared with what
 * came into their rows. */
int NAME(emulate_judgement)(const emulated_factorization *f, const real *diagonal,
                            cholesky_outcome *outcome);

#endif
