/* test/typed_factor.h: what a test of one precision (-DPREC_x) may expect of its factors; -DMIXED: they are in single precision
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_TYPED_FACTOR_H
#define TEST_TYPED_FACTOR_H

#include "base/scalar.h"
#include "libsolver.h"

/* options.mixed, the factor's epsilon, and what a factor is called that has zero pivots. */
#ifdef MIXED
#define CHOICE LIBSOLVER_ON
#define FACTOR_EPS FLT_EPSILON
#define ZERO_PIVOTS LIBSOLVER_PERTURBED
#else
#define CHOICE LIBSOLVER_OFF
#define FACTOR_EPS EPS
#define ZERO_PIVOTS LIBSOLVER_SINGULAR
#endif

#endif
