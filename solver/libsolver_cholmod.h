/* solver/libsolver_cholmod.h: cholmod_sparse and cholmod_dense seen as libsolver's views
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * For programs that have SuiteSparse's matrices, or want its I/O and tools, and solve with
 * libsolver:
 *
 *     libsolver_matrix a;
 *     libsolver_vectors b, x;
 *     libsolver_status status = libsolver_cholmod_matrix(A, &a);      // A: cholmod_sparse *
 *     if (status == LIBSOLVER_OK)
 *         status = libsolver_cholmod_vectors(B, &b);     // B, X: cholmod_dense *
 *     if (status == LIBSOLVER_OK)
 *         status = libsolver_cholmod_vectors(X, &x);
 *     if (status == LIBSOLVER_OK)
 *         status = libsolver_factor_matrix(&a, NULL, &F);   // and so on
 *
 * Nothing is copied and nothing is owned: a view points into the arrays of the CHOLMOD object,
 * which stays the caller's to change and to free (cholmod_free_sparse, cholmod_free_dense) and must
 * outlive the view.  libsolver keeps nothing of a view after a call.  A solve writes into the
 * arrays of X, which the caller has allocated.
 *
 * libsolver itself neither includes nor links CHOLMOD.  This header takes the <cholmod.h> that was
 * included before it, or finds <suitesparse/cholmod.h> or <cholmod.h>; it calls none of CHOLMOD's
 * functions. */
#ifndef LIBSOLVER_CHOLMOD_H
#define LIBSOLVER_CHOLMOD_H

#include "libsolver_types.h"
#include <string.h>

#if !defined(CHOLMOD_MAIN_VERSION) && defined(__has_include)
#if __has_include(<suitesparse/cholmod.h>)
#include <suitesparse/cholmod.h>
#endif
#endif
#ifndef CHOLMOD_MAIN_VERSION
#include <cholmod.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The library's type for an xtype and dtype.  1: done, 0: there is none. */
static inline int libsolver_cholmod_type(int xtype, int dtype, libsolver_type *type)
{
    if ((dtype != CHOLMOD_DOUBLE && dtype != CHOLMOD_SINGLE) ||
        (xtype != CHOLMOD_REAL && xtype != CHOLMOD_COMPLEX))
        return 0;
    if (xtype == CHOLMOD_REAL)
        *type = dtype == CHOLMOD_DOUBLE ? LIBSOLVER_D : LIBSOLVER_S;
    else
        *type = dtype == CHOLMOD_DOUBLE ? LIBSOLVER_Z : LIBSOLVER_C;
    return 1;
}

/* *view := A, a square matrix in packed form.  A look at the fields, O(1); rows and values are
 * checked by libsolver_analyze and libsolver_factorize, which copy them.
 *
 * stype < 0: LOWER_OF_FULL, stype > 0: UPPER_OF_FULL: entries on the other side of the diagonal are
 * ignored, as CHOLMOD does.
 *
 * stype = 0: FULL, both triangles.  libsolver_factorize compares them and answers INVALID if they
 * differ.
 *
 * itype: int or SuiteSparse_long.  sorted: both, with or without duplicates.
 *
 * xtype: real or complex, in double or single precision as dtype says; whether the library was
 * built for the type is libsolver_analyze's answer (NOT_BUILT).  A pattern gives a view of type D
 * without values, which can be analysed; to factorize, set view->values.
 *
 * view->symmetry is HERMITIAN for complex matrices with stype != 0: that is how CHOLMOD takes
 * them.  With stype = 0 it does not say.  The view is SYMMETRIC then, as CHOLMOD reads complex
 * symmetric files; a caller who knows better sets view->symmetry.  A wrong guess is no wrong
 * answer: the triangles differ, INVALID.
 *
 * INVALID, *view zeroed: A is NULL or not square; it has no pointers, no row indices or more
 * entries than nzmax; it is not packed (cholmod_sort(A, &c) packs it); it is zomplex, real and
 * imaginary parts apart (cholmod_sparse_xtype(CHOLMOD_COMPLEX, A, &c) joins them). */
static inline libsolver_status libsolver_cholmod_matrix(const cholmod_sparse *A,
                                                        libsolver_matrix *view)
{
    memset(view, 0, sizeof *view);
    if (!A || !A->p || !A->packed || A->nrow != A->ncol || A->ncol > (size_t)INT64_MAX)
        return LIBSOLVER_INVALID;

    libsolver_index pointer_type = LIBSOLVER_INT64, index_type = LIBSOLVER_INT64;
    if (A->itype == CHOLMOD_INT)
        pointer_type = index_type = LIBSOLVER_INT32;
    else if (A->itype != CHOLMOD_LONG)
        return LIBSOLVER_INVALID;
#ifdef SuiteSparse_long
    else if (sizeof(SuiteSparse_long) != sizeof(int64_t)) /* long on a machine of 32 bits */
        pointer_type = index_type = LIBSOLVER_INT32;
#endif

    const int64_t entries = pointer_type == LIBSOLVER_INT32 ? ((const int32_t *)A->p)[A->ncol]
                                                            : ((const int64_t *)A->p)[A->ncol];
    if (entries < 0 || (uint64_t)entries > A->nzmax || (entries > 0 && !A->i))
        return LIBSOLVER_INVALID;

    libsolver_type type = LIBSOLVER_D;
    if (A->xtype != CHOLMOD_PATTERN &&
        (!libsolver_cholmod_type(A->xtype, A->dtype, &type) || (entries > 0 && !A->x)))
        return LIBSOLVER_INVALID;

    view->n = (int64_t)A->ncol;
    view->nnz = entries;
    view->pointers = A->p;
    view->indices = A->i;
    view->values = A->xtype == CHOLMOD_PATTERN ? NULL : A->x;
    view->type = type;
    view->symmetry =
        A->xtype == CHOLMOD_COMPLEX && A->stype != 0 ? LIBSOLVER_HERMITIAN : LIBSOLVER_SYMMETRIC;
    view->storage = A->stype < 0   ? LIBSOLVER_LOWER_OF_FULL
                    : A->stype > 0 ? LIBSOLVER_UPPER_OF_FULL
                                   : LIBSOLVER_FULL;
    view->format = LIBSOLVER_COMPRESSED;
    view->pointer_type = pointer_type;
    view->index_type = index_type;
    return LIBSOLVER_OK;
}

/* *view := X, column-major with leading dimension X->d, for right-hand sides and for solutions: a
 * view for a solution writes to X->x.  Real or complex, double or single precision.
 *
 * INVALID, *view zeroed: X is NULL, a pattern, or zomplex (cholmod_dense_xtype(CHOLMOD_COMPLEX, X,
 * &c) joins the parts); it has no values, d < nrow, or d * ncol > nzmax. */
static inline libsolver_status libsolver_cholmod_vectors(const cholmod_dense *X,
                                                         libsolver_vectors *view)
{
    libsolver_type type = LIBSOLVER_D;
    memset(view, 0, sizeof *view);
    if (!X || !libsolver_cholmod_type(X->xtype, X->dtype, &type) || X->d < X->nrow ||
        X->d > (size_t)INT64_MAX || X->ncol > (size_t)INT64_MAX ||
        (X->ncol > 0 && X->d > X->nzmax / X->ncol) || (!X->x && X->nrow > 0 && X->ncol > 0))
        return LIBSOLVER_INVALID;
    view->values = X->x;
    view->rows = (int64_t)X->nrow;
    view->columns = (int64_t)X->ncol;
    view->ld = (int64_t)X->d;
    view->type = type;
    view->layout = LIBSOLVER_COLUMN_MAJOR;
    return LIBSOLVER_OK;
}

#ifdef __cplusplus
}
#endif
#endif
