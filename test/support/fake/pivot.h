/* test/support/fake/pivot.h: D^-1 of L D L^T, by the formula for the inverse of a 2x2 matrix
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_SUPPORT_FAKE_PIVOT_H
#define TEST_SUPPORT_FAKE_PIVOT_H

#include "base/scalar.h"

/* Row `at` of D^-1 has `diagonal`, and `off` in the column that is `neighbour` away. */
typedef struct pivot_row {
    scalar diagonal, off;
    int neighbour;
} pivot_row;

/* d and, in e(c), D(c + 1, c); of a zero pivot zero. */
static inline pivot_row pivot_of(const scalar *d, const scalar *e, int hermitian, int32_t at)
{
    const int first = e[at] != 0, second = !first && at > 0 && e[at - 1] != 0;
    if (!first && !second)
        return (pivot_row){.diagonal = d[at] != 0 ? 1 / d[at] : 0};
    const int32_t c = first ? at : at - 1;
    const wide above = scalar_mirror(e[c], hermitian), below = e[c],
               determinant = (wide)d[c] * d[c + 1] - above * below;
    if (first)
        return (pivot_row){.diagonal = (scalar)(d[c + 1] / determinant),
                           .off = (scalar)(-above / determinant),
                           .neighbour = 1};
    return (pivot_row){.diagonal = (scalar)(d[c] / determinant),
                       .off = (scalar)(-below / determinant),
                       .neighbour = -1};
}

/* Row `at` of |D| times a vector with y there and `before` and `after` beside it. */
static inline real pivot_size(const scalar *d, const scalar *e, int cholesky, int32_t at,
                              real before, real y, real after)
{
    return cholesky ? y
                    : scalar_abs(d[at]) * y + (at > 0 ? scalar_abs(e[at - 1]) * before : 0) +
                          scalar_abs(e[at]) * after;
}

#endif
