/* dense/cuda/device/growth.h: when an inverse may stand for a substitution
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DENSE_CUDA_DEVICE_GROWTH_H
#define DENSE_CUDA_DEVICE_GROWTH_H

/* A diagonal block is solved by its inverse while max row sum of |L||inv(L)|, at worst the factor
 * by which the backward error of x = inv(L) b exceeds that of substitution, stays within this
 * limit.  Found by bench_accuracy: below it no backward error of a solve with inverses was above 10
 * units of roundoff, past it they reach several hundred (doc/design/dense.md). */
constexpr double GROWTH_LIMIT = 1e4;

#endif
