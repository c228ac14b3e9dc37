/* test/support/typed_pivots.h: the smallest pivot of D in one precision (-DPREC_x), from D alone
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_SUPPORT_TYPED_PIVOTS_H
#define TEST_SUPPORT_TYPED_PIVOTS_H

#include "typed_scalar.h"

/* Least |eigenvalue| (complex symmetric: singular value) of the nonzero pivots: d = D(k,k), e =
 * D(k+1,k), length n; infinite if there is none. */
static inline long double smallest_of_pivots(int hermitian, int64_t n, const scalar *d,
                                             const scalar *e)
{
    long double smallest = INFINITY;
    for (int64_t k = 0; k < n; k++) {
        const exact a = d[k], b = e[k];
        if (b == 0) {
            smallest = a != 0 ? fminl(smallest, cabsl(a)) : smallest;
            continue;
        }
        const exact c = d[++k];
        const long double det = cabsl(a * c - b * exact_mirror(b, hermitian));
        const long double squares = creall(a * conjl(a) + c * conjl(c)) + 2 * creall(b * conjl(b));
        /* of a normal matrix eigenvalues are singular values: s0^2 + s1^2 = squares, s0 s1 = det */
        const long double root = sqrtl(fmaxl(0, squares * squares - 4 * det * det));
        smallest = fminl(smallest, det / sqrtl((squares + root) / 2));
    }
    return smallest;
}

#endif
