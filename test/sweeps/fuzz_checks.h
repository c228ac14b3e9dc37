/* test/sweeps/fuzz_checks.h: what the library says, held against what is true
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_SWEEPS_FUZZ_CHECKS_H
#define TEST_SWEEPS_FUZZ_CHECKS_H

#include "fuzz_session.h"

/* Makes s->whole, s->eliminated and s->truth. */
void need_truth(fuzz_session *s);
int is_nonsingular(fuzz_session *s);
/* Of A, or what is eliminated of it, well scaled; infinite if it is singular. */
double true_condition(fuzz_session *s);
int is_unscaled_single(const fuzz_session *s);
double factor_eps(const fuzz_session *s); /* of the precision of L and D */

/* After (re)factorize with this status, that is no injected failure: status, inertia,
 * failed_row. */
void check_factorized(fuzz_session *s, libsolver_status status);
/* x of A x = b, and the errors reported: one for each column, or NULL and the largest. */
void check_solution(fuzz_session *s, libsolver_status status, const libsolver_solve_info *info,
                    const fuzz_block *b, const fuzz_block *x, const double *errors);
void check_condition(fuzz_session *s, libsolver_status status, double condition);
void check_forward_errors(fuzz_session *s, libsolver_status status, const fuzz_block *b,
                          const fuzz_block *x, const double *errors);
/* L, D, S, the parts of a solve and the determinant. */
void check_factors(fuzz_session *s);
/* The complement, and the solution of a system by condense and expand. */
void check_schur(fuzz_session *s);

#endif
