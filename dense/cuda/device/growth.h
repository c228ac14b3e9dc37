/* dense/cuda/device/growth.h: when an inverse may stand for a substitution
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DENSE_CUDA_DEVICE_GROWTH_H
#define DENSE_CUDA_DEVICE_GROWTH_H

/* A diagonal block is solved by its inverse while max row sum of |L||inv(L)|, at worst the factor
 * by which the backward error of x = inv(L) b exceeds that of substitution, stays within this
 * limit.  Found by bench_accuracy: below it no backward error of a solve with inverses was above 10
 * units of roundoff, past it they reach several hundred (doc/design/dense.md). */
constexpr double GROWTH_LIMIT = 1e4;

/* The same where right-hand sides may be those of small solutions, x random and b = L x: then
 * nothing hides the growth, and errors of an eighth of it were seen (test_level3_accuracy: 350 to
 * 590 units of roundoff at 4.6e3). */
constexpr double SIDES_GROWTH_LIMIT = 256;

/* The same for rows of a factor, A21 inv(L)^H, whose error goes into everything that follows: with
 * L = U D, D its diagonal, no entry of inv(U) is larger than this, for L of order 8 and for a tile.
 * It does not depend on the scaling of columns.  Products lose digits long before the inverse is
 * large: with 8 for both, slam_manhattan's backward error is 30 times that of substitution. Grids
 * and finite elements have entries of .3 to 2. */
constexpr double ROWS_GROWTH_LIMIT = 1.5, TILE_GROWTH_LIMIT = 4;

#endif
