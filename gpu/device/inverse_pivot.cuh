/* gpu/device/inverse_pivot.cuh: thread scope: D^-1 of L D L^T, row by row
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_DEVICE_INVERSE_PIVOT_CUH
#define GPU_DEVICE_INVERSE_PIVOT_CUH

#include "dense/cuda/device/scalar.cuh"

/* A row of D^-1: D^-1(c,c) and, in a 2x2 pivot, D^-1(c, neighbour). */
template <typename T> struct pivot_row {
    T diagonal, off;
    int neighbour; /* 1: of c + 1, -1: of c - 1, 0: none */
};

/* Of D with this diagonal and, in e(c), D(c + 1, c): [a e'; e b]^-1 scaled by e against overflow,
 * as the host does it; of a zero pivot zero. */
template <typename T>
__device__ __forceinline__ pivot_row<T> inverse_pivot(const T *diagonal, const T *below,
                                                      bool hermitian, int32_t position)
{
    const T one = from_real<T>(1), zero{};
    const T e = below[position], before = position > 0 ? below[position - 1] : zero,
            d = diagonal[position];
    const bool first = magnitude(e) != 0, second = !first && magnitude(before) != 0;
    if (!first && !second)
        return {magnitude(d) != 0 ? divide(one, d) : zero, zero, 0};
    const T under = first ? e : before, above = conjugate_if(under, hermitian);
    const T upper = first ? d : diagonal[position - 1], lower = first ? diagonal[position + 1] : d;
    const T x = divide(upper, above), y = divide(lower, under), determinant = multiply(x, y) - one;
    const T left = divide(one, multiply(above, determinant)),
            right = divide(one, multiply(under, determinant));
    if (first)
        return {multiply(y, left), -right, 1};
    return {multiply(x, right), -left, -1};
}

#endif
