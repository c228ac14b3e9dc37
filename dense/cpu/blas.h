/* dense/cpu/blas.h: the BLAS routines used, by precision, column-major
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Called from OpenMP tasks: the BLAS must be serial and thread-safe.  Arguments are as many, and in
 * the order, as the BLAS has them. */
#ifndef DENSE_CPU_BLAS_H
#define DENSE_CPU_BLAS_H

#include "base/scalar.h"

#if defined(PREC_d)
#define BLAS(f) d##f##_
#elif defined(PREC_s)
#define BLAS(f) s##f##_
#elif defined(PREC_z)
#define BLAS(f) z##f##_
#else
#define BLAS(f) c##f##_
#endif

void BLAS(gemm)(const char *, const char *, const int *, const int *, const int *, const scalar *,
                const scalar *, const int *, const scalar *, const int *, const scalar *, scalar *,
                const int *);
void BLAS(trsm)(const char *, const char *, const char *, const char *, const int *, const int *,
                const scalar *, const scalar *, const int *, scalar *, const int *);
void BLAS(gemv)(const char *, const int *, const int *, const scalar *, const scalar *, const int *,
                const scalar *, const int *, const scalar *, scalar *, const int *);
void BLAS(trsv)(const char *, const char *, const char *, const int *, const scalar *, const int *,
                scalar *, const int *);

/* The BLAS's letter for the transposed factor: L^H of a Hermitian matrix, L^T of a symmetric
 * one. */
static inline char transposed(int hermitian)
{
    return SCALAR_COMPLEX && hermitian ? 'C' : 'T';
}

/* C := alpha op(A) op(B) + beta C,  C m x n, inner size k */
static inline void gemm(char ta, char tb, int m, int n, int k, scalar alpha, const scalar *a,
                        int lda, const scalar *b, int ldb, scalar beta, scalar *c, int ldc)
{
    if (m > 0 && n > 0)
        BLAS(gemm)(&ta, &tb, &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc);
}

/* B := alpha op(A)^-1 B (side L) or alpha B op(A)^-1 (side R),  B m x n */
static inline void trsm(char side, char uplo, char trans, char diag, int m, int n, scalar alpha,
                        const scalar *a, int lda, scalar *b, int ldb)
{
    if (m > 0 && n > 0)
        BLAS(trsm)(&side, &uplo, &trans, &diag, &m, &n, &alpha, a, &lda, b, &ldb);
}

/* y := alpha op(A) x + beta y,  A m x n */
static inline void gemv(char trans, int m, int n, scalar alpha, const scalar *a, int lda,
                        const scalar *x, scalar beta, scalar *y)
{
    const int one = 1;
    if (m > 0 && n > 0)
        BLAS(gemv)(&trans, &m, &n, &alpha, a, &lda, x, &one, &beta, y, &one);
}

/* x := op(A)^-1 x,  A n x n lower triangular */
static inline void trsv(char trans, char diag, int n, const scalar *a, int lda, scalar *x)
{
    const int one = 1;
    if (n > 0)
        BLAS(trsv)("L", &trans, &diag, &n, a, &lda, x, &one);
}

#endif
