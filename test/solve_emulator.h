/* test/solve_emulator.h: runs the program of a solve on the host, one task after the other
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_SOLVE_EMULATOR_H
#define TEST_SOLVE_EMULATOR_H

#include "gpu/plan.h"

/* x := the program's answer to b, both of length n and by rows of A.  By levels, or block by block as a device might: each block as far as its
 * inputs are there, in an order drawn from seed.  Returns NULL, or what is wrong with the program (a static string): a value read
 * before it is written or written twice, an address outside its stage, a solve that cannot end. */
const char *emulate_by_levels(const solve_plan *plan, const char *values, const double *scale, const double *b, double *x);
const char *emulate_by_blocks(const solve_plan *plan, const char *values, const double *scale, const double *b, double *x,
                              uint64_t seed);

#endif
