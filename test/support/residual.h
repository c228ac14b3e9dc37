/* test/support/residual.h: the backward error of a solution, from the files alone
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_SUPPORT_RESIDUAL_H
#define TEST_SUPPORT_RESIDUAL_H

/* omega1 + omega2 [Arioli, Demmel, Duff 1989], the largest of the columns of x, by code that shares
 * nothing with the library or the tool; eps: that of the precision in which x was computed.  Real
 * or complex Matrix Market files, plain or .gz, symmetric, Hermitian or general, believed to be
 * well formed; x and b dense.  b_path NULL: b = A x*, x*(i) = 1 + 0.1 (i mod 7), each b(i) rounded
 * once.  NaN: a file cannot be read or does not fit. */
double residual_backward_error(const char *a_path, const char *x_path, const char *b_path,
                               double eps);

#endif
