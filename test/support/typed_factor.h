/* test/support/typed_factor.h: what a test of one precision (-DPREC_x) may expect of its factors;
 * -DMIXED: they are in single precision, -DON_GPU: they are solved with on the GPU
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_SUPPORT_TYPED_FACTOR_H
#define TEST_SUPPORT_TYPED_FACTOR_H

#include "base/scalar.h"
#include "chosen_backend.h"
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
