/* dense/cuda/growth.h: when an inverse may stand for a substitution
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DENSE_CUDA_GROWTH_H
#define DENSE_CUDA_GROWTH_H

/* A diagonal block is solved by its inverse while max row sum of |L||inv(L)|, at worst the factor by which the backward
 * error of x = inv(L) b exceeds that of substitution, stays within this limit.  Found by bench_accuracy: the errors of
 * solves with inverses leave those of substitution behind above it (doc/dense-trsv.md). */
constexpr double GROWTH_LIMIT = 1e4;

#endif
