/* cli/certificate.h: how good a solution is, by code that shares nothing with the library
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_CERTIFICATE_H
#define CLI_CERTIFICATE_H

#include "triplets.h"

/* x*(i) = 1 + 0.1 (i mod 7), i = 0, 1, ..., in each of k columns. */
void made_solution(int32_t n, int64_t k, double *x);

/* max |x - x*| / max |x*|; 0 for n = 0. */
double forward_error(int32_t n, int64_t k, const double *x);

/* The largest componentwise backward error omega1 + omega2 of k columns [Arioli, Demmel, Duff 1989], type D.
 * NaN: out of memory, or x is not finite. */
double backward_error(const triplets *a, int64_t k, const double *b, const double *x);

#endif
