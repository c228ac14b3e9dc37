/* base/scalar.h: the scalar type of a *_tmpl.c file, chosen by -DPREC_s, _d, _c or _z
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * scalar: entries of the matrix.  real: magnitudes.  wide: sums of products that must be better
 * than scalar.  NAME(f): f_d and so on. */
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

/* What differs between real and complex.  hermitian: A = A^H, otherwise A = A^T; it makes no
 * difference to real types, where all but scalar_abs are the identity. */
#if SCALAR_COMPLEX
/* |a| to a few units in the last place, without overflow; NaN if a part is NaN. */
static inline real scalar_abs(scalar a)
{
    const real x = (real)fabs(creal(a)), y = (real)fabs(cimag(a));
    const real most = x > y ? x : y, least = x > y ? y : x;
    const real ratio = least == most ? 1 : least / most; /* both may be 0 or infinite */
    return most > 0 ? most * (real)sqrt(1 + ratio * ratio) : most + least;
}
static inline real scalar_real(scalar a)
{
    return (real)creal(a);
}
static inline scalar scalar_conj(scalar a)
{
    return (scalar)conj(a);
}
static inline int scalar_finite(scalar a)
{
    return isfinite(creal(a)) && isfinite(cimag(a));
}
#else
static inline real scalar_abs(scalar a)
{
#if defined(PREC_s)
    return fabsf(a);
#else
    return fabs(a); /* a < 0 ? -a : a would be a branch */
#endif
}
static inline real scalar_real(scalar a)
{
    return a;
}
static inline scalar scalar_conj(scalar a)
{
    return a;
}
static inline int scalar_finite(scalar a)
{
    return isfinite(a);
}
#endif

/* a(j,i) from a(i,j) */
static inline scalar scalar_mirror(scalar a, int hermitian)
{
    return hermitian ? scalar_conj(a) : a;
}
/* An entry of the diagonal without the imaginary part that rounding gives it. */
static inline scalar scalar_diagonal(scalar a, int hermitian)
{
    return hermitian ? (scalar)scalar_real(a) : a;
}
/* Whether a may stand on the diagonal. */
static inline int scalar_is_diagonal(scalar a, int hermitian)
{
    return !hermitian || a == scalar_conj(a);
}
/* Re conj(a) b */
static inline double scalar_inner(scalar a, scalar b)
{
    return (double)scalar_real(scalar_conj(a) * b);
}

#endif
