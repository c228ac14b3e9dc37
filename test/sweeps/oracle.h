/* test/sweeps/oracle.h: what is true of a small dense symmetric or Hermitian matrix, found without
 * the library
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Exact rank by elimination modulo primes; signs of the eigenvalues, solutions and determinant by L
 * D L^T with complete pivoting in numbers of 113 bits, with a bound on what rounding can have done.
 * No BLAS, no library of mathematics. */
#ifndef TEST_SWEEPS_ORACLE_H
#define TEST_SWEEPS_ORACLE_H

#if defined(__aarch64__)
typedef long double quad; /* 113 bits there */
#else
__extension__ typedef __float128 quad;
#endif

/* re + i im; im is 0 in real matrices and not looked at. */
typedef struct quad_complex {
    quad re, im;
} quad_complex;

/* n x n by columns, both triangles.  Finite entries, as the matrix stores them: nothing here is
 * rounded first. */
typedef struct oracle_matrix {
    int n, is_complex;
    int is_hermitian; /* A = A^H rather than A^T; makes no difference to real ones */
    quad_complex *entry;
} oracle_matrix;

/* Zeros; the program ends if there is no memory. */
oracle_matrix oracle_matrix_new(int n, int is_complex, int is_hermitian);
void oracle_matrix_free(oracle_matrix *a);

/* Rank, never too large.  Too small only if two fixed primes of 61 bits divide what decides it,
 * which chance does once in some 10^30 times. */
int oracle_rank(const oracle_matrix *a);

/* P S A S P^T = L D L^T or L D L^H; S: powers of two. */
typedef struct oracle_factor oracle_factor;
oracle_factor *oracle_factorize(const oracle_matrix *a);
void oracle_factor_free(oracle_factor *f);

/* Signs of the eigenvalues of a real or Hermitian matrix.  decided: proved, but for the chance that
 * oracle_rank names; if it is 0 the counts are a guess (zero is right even then).  For complex
 * symmetric ones only zero = n - rank is meant, and decided says that solutions and determinant can
 * be relied on. */
typedef struct oracle_signs {
    int positive, negative, zero, decided;
} oracle_signs;
oracle_signs oracle_factor_signs(const oracle_factor *f);
oracle_signs oracle_inertia(const oracle_matrix *a); /* of A, when nothing else is wanted */
/* Signs of the eigenvalues of S A S, S from the factor, that are larger than `margin` in size; the
 * others count as zero. */
oracle_signs oracle_signs_beyond(const oracle_factor *f, const oracle_matrix *a, double margin);

/* Of nonsingular matrices.  x := A^-1 x, refined. */
void oracle_solve(const oracle_factor *f, const oracle_matrix *a, quad_complex *x);
/* det A = (re + i im) exp(log_abs), |re + i im| = 1 */
void oracle_determinant(const oracle_factor *f, double *log_abs, double *re, double *im);
/* |S'A S'|_1 |(S'A S')^-1|_1 to a few digits, up to some 10^16; S' diagonal of length n, NULL:
 * 1. */
double oracle_condition(const oracle_factor *f, const oracle_matrix *a, const double *s);
/* inverse := |A^-1| entry by entry, n x n by columns, as exact as the condition. */
void oracle_inverse(const oracle_factor *f, const oracle_matrix *a, long double *inverse);
/* s := powers of two that bring the entries of S'A S' near 1. */
void oracle_scaling(const oracle_factor *f, double *s);

/* Componentwise backward error omega1 + omega2 of x [Arioli, Demmel, Duff 1989].  A row counts for
 * omega2 where |A||x| + |b| is at most 1000 n eps times the norms; rows within rounding errors of
 * this border may be in either part: the error lies between least and most, which are equal where
 * there are none. */
typedef struct oracle_error {
    double least, most;
} oracle_error;
oracle_error oracle_backward_error(const oracle_matrix *a, const quad_complex *x,
                                   const quad_complex *b, double eps);

double quad_abs(quad_complex v); /* to double precision */

#endif
