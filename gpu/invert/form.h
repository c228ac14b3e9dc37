/* gpu/invert/form.h: the values of a program, from a factor
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_INVERT_FORM_H
#define GPU_INVERT_FORM_H

#include "base/environment.h"
#include "gpu/plan/plan.h"

/* An explicit inverse solves to about (row sum of |L_K| |L_K^-1|) eps instead of eps; above this a
 * group is cut finer. */
#define FORM_GROWTH_LIMIT 1e4

/* Fills plan->value_bytes bytes: tiles of M = L_K^-1 and W = -L_R M or G = M^T D^-1 M of every
 * group, and D^-1.  growth(i), length groups, out: the largest row sum of |L_K| |M|, which does not
 * depend on the scaling of rows; square_growth(i): that of |L_K| |D| |L_K^T| |G|, 0 without G.  By
 * the environment's threads; the same values for any number of them. OUT_OF_MEMORY, CANCELLED. */
#define FORM_VALUES(p) \
    libsolver_status form_values_##p(environment *env, const factor_tree *tree, const pieces *p, \
                                     const groups *g, const solve_plan *plan, char *values, \
                                     double *growth, double *square_growth);
FORM_VALUES(s)
FORM_VALUES(d)
FORM_VALUES(c)
FORM_VALUES(z)
#undef FORM_VALUES

/* joined(c), n: positions c and c + 1 are a 2x2 pivot. */
void form_joined_s(const factor_tree *tree, unsigned char *joined);
void form_joined_d(const factor_tree *tree, unsigned char *joined);
void form_joined_c(const factor_tree *tree, unsigned char *joined);
void form_joined_z(const factor_tree *tree, unsigned char *joined);

#endif
