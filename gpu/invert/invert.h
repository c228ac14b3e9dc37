/* gpu/invert/invert.h: the inverses of the groups, computed on the host: the values of a program
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_INVERT_INVERT_H
#define GPU_INVERT_INVERT_H

#include "base/environment.h"
#include "gpu/plan/plan.h"

/* A solve by an explicit inverse has a backward error of about (largest row sum of |L_K| |L_K^-1|)
 * eps instead of eps; a group in which that sum exceeds this limit is cut finer. */
#define INVERSE_GROWTH_LIMIT 1e4

/* Fills plan->value_bytes bytes: tiles of M = L_K^-1 and W = -L_R M or G = M^T D^-1 M of every
 * group, and D^-1.  growth(i), length groups, out: the largest row sum of |L_K| |M|, which does not
 * depend on the scaling of rows; root_growth(i): that of |L_K| |D| |L_K^T| |G|, 0 without G.  By
 * the environment's threads; the same values for any number of them. OUT_OF_MEMORY, CANCELLED. */
#define INVERT_VALUES(p) \
    libsolver_status invert_values_##p(environment *env, const factor_tree *tree, const pieces *p, \
                                       const groups *g, const solve_plan *plan, char *values, \
                                       double *growth, double *root_growth);
INVERT_VALUES(s)
INVERT_VALUES(d)
INVERT_VALUES(c)
INVERT_VALUES(z)
#undef INVERT_VALUES

#endif
