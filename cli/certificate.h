/* cli/certificate.h: how good a solution is, by code that shares nothing with the library
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_CERTIFICATE_H
#define CLI_CERTIFICATE_H

#include "triplets.h"

/* Vectors are columns of doubles, one for each entry (width 1) or pairs (real, imaginary; width
 * 2). */

/* x*(i) = 1 + 0.1 (i mod 7), i = 0, 1, ..., in each of k columns. */
void made_solution(int32_t n, int64_t k, int width, double *x);

/* max |x - x*| / max |x*|; 0 for n = 0. */
double forward_error(int32_t n, int64_t k, int width, const double *x);

/* The largest componentwise backward error omega1 + omega2 of k columns [Arioli, Demmel, Duff
 * 1989], NaN if x is not finite.  False: out of memory. */
bool backward_error(const triplets *a, int64_t k, const double *b, const double *x,
                    double *largest);

#endif
