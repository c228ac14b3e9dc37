/* test/support/typed_scalar.h: scalars of one precision (-DPREC_x) in tests, and what their
 * rounding errors are measured by
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_SUPPORT_TYPED_SCALAR_H
#define TEST_SUPPORT_TYPED_SCALAR_H

#include "base/scalar.h"
#include "random.h"

typedef long double _Complex exact;

/* A complex operation makes four times as many. */
#define ROUNDING ((SCALAR_COMPLEX ? 4 : 1) * (long double)EPS)
/* The backward error that solutions have by default. */
#define TOLERANCE (EPS < 1e-10 ? 1e-14 : 5e-6)
/* Symmetric and, if complex, Hermitian. */
#define SYMMETRIES (SCALAR_COMPLEX ? 2 : 1)

/* x + i y, or x */
static inline scalar scalar_of(double x, double y)
{
#if SCALAR_COMPLEX
    return (scalar)(x + y * _Complex_I);
#else
    (void)y;
    return (scalar)x;
#endif
}

/* Parts in [-1, 1) */
static inline scalar random_scalar(random_stream *r)
{
    const double x = random_real(r), y = random_real(r);
    return scalar_of(x, y);
}

static inline exact exact_mirror(exact a, int hermitian)
{
    return SCALAR_COMPLEX && hermitian ? conjl(a) : a;
}

#endif
