/* base/scalar.h: the scalar type of a *_tmpl.c file, chosen by -DPREC_s, _d, _c or _z
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * scalar: entries of the matrix.  real: magnitudes.  wide: sums of products that must be better than scalar.
 * NAME(f): f_d and so on. */
#ifndef BASE_SCALAR_H
#define BASE_SCALAR_H

#include "libsolver_types.h"
#include <complex.h>
#include <float.h>
#include <math.h>

#if defined(PREC_d)
typedef double scalar;
typedef long double wide;
typedef double real;
#define NAME(f) f##_d
#define SCALAR_TYPE LIBSOLVER_D
#define SCALAR_COMPLEX 0
#define EPS DBL_EPSILON
#elif defined(PREC_s)
typedef float scalar;
typedef double wide;
typedef float real;
#define NAME(f) f##_s
#define SCALAR_TYPE LIBSOLVER_S
#define SCALAR_COMPLEX 0
#define EPS FLT_EPSILON
#elif defined(PREC_z)
typedef double _Complex scalar;
typedef long double _Complex wide;
typedef double real;
#define NAME(f) f##_z
#define SCALAR_TYPE LIBSOLVER_Z
#define SCALAR_COMPLEX 1
#define EPS DBL_EPSILON
#elif defined(PREC_c)
typedef float _Complex scalar;
typedef double _Complex wide;
typedef float real;
#define NAME(f) f##_c
#define SCALAR_TYPE LIBSOLVER_C
#define SCALAR_COMPLEX 1
#define EPS FLT_EPSILON
#else
#error "compile *_tmpl.c files with -DPREC_s, -DPREC_d, -DPREC_c or -DPREC_z"
#endif

#if SCALAR_COMPLEX
static inline real scalar_abs(scalar a)
{
    return (real)cabs(a);
}
static inline real scalar_real(scalar a)
{
    return (real)creal(a);
}
static inline int scalar_finite(scalar a)
{
    return isfinite(creal(a)) && isfinite(cimag(a));
}
#else
static inline real scalar_abs(scalar a)
{
    return a < 0 ? -a : a;
}
static inline real scalar_real(scalar a)
{
    return a;
}
static inline int scalar_finite(scalar a)
{
    return isfinite(a);
}
#endif

#endif
