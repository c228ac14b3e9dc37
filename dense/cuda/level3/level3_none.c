/* dense/cuda/level3/level3_none.c: the public calls in a build without CUDA
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense/libsolver_dense.h"
#include <stddef.h>

libsolver_status libsolver_dense_create(const libsolver_dense_options *options,
                                        libsolver_dense_context **context)
{
    (void)options;
    if (context == NULL)
        return LIBSOLVER_INVALID;
    *context = NULL;
    return LIBSOLVER_NOT_BUILT;
}

void libsolver_dense_destroy(libsolver_dense_context *context)
{
    (void)context;
}

libsolver_status libsolver_dense_trsm(libsolver_dense_context *context, libsolver_type type,
                                      libsolver_side side, libsolver_storage uplo,
                                      libsolver_transpose trans, libsolver_diagonal diag, int64_t m,
                                      int64_t n, const void *alpha, const void *a, int64_t lda,
                                      void *b, int64_t ldb, void *stream)
{
    (void)context, (void)type, (void)side, (void)uplo, (void)trans, (void)diag, (void)m, (void)n,
        (void)alpha, (void)a, (void)lda, (void)b, (void)ldb, (void)stream;
    return LIBSOLVER_NOT_BUILT;
}

libsolver_status libsolver_dense_trmm(libsolver_dense_context *context, libsolver_type type,
                                      libsolver_side side, libsolver_storage uplo,
                                      libsolver_transpose trans, libsolver_diagonal diag, int64_t m,
                                      int64_t n, const void *alpha, const void *a, int64_t lda,
                                      void *b, int64_t ldb, void *stream)
{
    (void)context, (void)type, (void)side, (void)uplo, (void)trans, (void)diag, (void)m, (void)n,
        (void)alpha, (void)a, (void)lda, (void)b, (void)ldb, (void)stream;
    return LIBSOLVER_NOT_BUILT;
}

libsolver_status libsolver_dense_trtri(libsolver_dense_context *context, libsolver_type type,
                                       libsolver_storage uplo, libsolver_diagonal diag, int64_t n,
                                       void *a, int64_t lda, void *stream)
{
    (void)context, (void)type, (void)uplo, (void)diag, (void)n, (void)a, (void)lda, (void)stream;
    return LIBSOLVER_NOT_BUILT;
}

libsolver_status libsolver_dense_lauum(libsolver_dense_context *context, libsolver_type type,
                                       libsolver_storage uplo, int64_t n, void *a, int64_t lda,
                                       void *stream)
{
    (void)context, (void)type, (void)uplo, (void)n, (void)a, (void)lda, (void)stream;
    return LIBSOLVER_NOT_BUILT;
}

libsolver_status libsolver_dense_potrf(libsolver_dense_context *context, libsolver_type type,
                                       libsolver_storage uplo, int64_t n, void *a, int64_t lda,
                                       int *info, void *stream)
{
    (void)context, (void)type, (void)uplo, (void)n, (void)a, (void)lda, (void)info, (void)stream;
    return LIBSOLVER_NOT_BUILT;
}

libsolver_status libsolver_dense_potrs(libsolver_dense_context *context, libsolver_type type,
                                       libsolver_storage uplo, int64_t n, int64_t nrhs,
                                       const void *a, int64_t lda, void *b, int64_t ldb,
                                       void *stream)
{
    (void)context, (void)type, (void)uplo, (void)n, (void)nrhs, (void)a, (void)lda, (void)b,
        (void)ldb, (void)stream;
    return LIBSOLVER_NOT_BUILT;
}

libsolver_status libsolver_dense_posv(libsolver_dense_context *context, libsolver_type type,
                                      libsolver_storage uplo, int64_t n, int64_t nrhs, void *a,
                                      int64_t lda, void *b, int64_t ldb, int *info, void *stream)
{
    (void)context, (void)type, (void)uplo, (void)n, (void)nrhs, (void)a, (void)lda, (void)b,
        (void)ldb, (void)info, (void)stream;
    return LIBSOLVER_NOT_BUILT;
}

libsolver_status libsolver_dense_potri(libsolver_dense_context *context, libsolver_type type,
                                       libsolver_storage uplo, int64_t n, void *a, int64_t lda,
                                       void *stream)
{
    (void)context, (void)type, (void)uplo, (void)n, (void)a, (void)lda, (void)stream;
    return LIBSOLVER_NOT_BUILT;
}
