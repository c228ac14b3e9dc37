/* dense/cuda/batched/batched_none.c: the public calls in a build without CUDA
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense/libsolver_dense.h"

libsolver_status libsolver_trsv_strided_batched(libsolver_type type, libsolver_storage uplo,
                                                libsolver_transpose trans, libsolver_diagonal diag,
                                                int64_t n, const void *a, int64_t lda,
                                                int64_t stride_a, void *x, int64_t incx,
                                                int64_t stride_x, int64_t batch, void *stream)
{
    (void)type, (void)uplo, (void)trans, (void)diag, (void)n, (void)a, (void)lda, (void)stride_a,
        (void)x;
    (void)incx, (void)stride_x, (void)batch, (void)stream;
    return LIBSOLVER_NOT_BUILT;
}

libsolver_status libsolver_trsv_batched(libsolver_type type, libsolver_storage uplo,
                                        libsolver_transpose trans, libsolver_diagonal diag,
                                        int64_t n, const void *const *a, int64_t lda,
                                        void *const *x, int64_t incx, int64_t batch, void *stream)
{
    (void)type, (void)uplo, (void)trans, (void)diag, (void)n, (void)a, (void)lda, (void)x,
        (void)incx, (void)batch;
    (void)stream;
    return LIBSOLVER_NOT_BUILT;
}

libsolver_status libsolver_trsv_variable_batched(libsolver_type type, libsolver_storage uplo,
                                                 libsolver_transpose trans, libsolver_diagonal diag,
                                                 int64_t max_n, const int64_t *n,
                                                 const void *const *a, const int64_t *lda,
                                                 void *const *x, int64_t incx, int64_t batch,
                                                 void *stream)
{
    (void)type, (void)uplo, (void)trans, (void)diag, (void)max_n, (void)n, (void)a, (void)lda,
        (void)x, (void)incx;
    (void)batch, (void)stream;
    return LIBSOLVER_NOT_BUILT;
}

libsolver_status libsolver_trsm_strided_batched(libsolver_type type, libsolver_side side,
                                                libsolver_storage uplo, libsolver_transpose trans,
                                                libsolver_diagonal diag, int64_t m, int64_t n,
                                                const void *a, int64_t lda, int64_t stride_a,
                                                void *b, int64_t ldb, int64_t stride_b,
                                                int64_t batch, void *stream)
{
    (void)type, (void)side, (void)uplo, (void)trans, (void)diag, (void)m, (void)n, (void)a,
        (void)lda, (void)stride_a, (void)b, (void)ldb, (void)stride_b, (void)batch, (void)stream;
    return LIBSOLVER_NOT_BUILT;
}

libsolver_status libsolver_trsm_batched(libsolver_type type, libsolver_side side,
                                        libsolver_storage uplo, libsolver_transpose trans,
                                        libsolver_diagonal diag, int64_t m, int64_t n,
                                        const void *const *a, int64_t lda, void *const *b,
                                        int64_t ldb, int64_t batch, void *stream)
{
    (void)type, (void)side, (void)uplo, (void)trans, (void)diag, (void)m, (void)n, (void)a,
        (void)lda, (void)b, (void)ldb, (void)batch, (void)stream;
    return LIBSOLVER_NOT_BUILT;
}

libsolver_status libsolver_trsm_variable_batched(libsolver_type type, libsolver_side side,
                                                 libsolver_storage uplo, libsolver_transpose trans,
                                                 libsolver_diagonal diag, int64_t max_m,
                                                 int64_t max_n, const int64_t *m, const int64_t *n,
                                                 const void *const *a, const int64_t *lda,
                                                 void *const *b, const int64_t *ldb, int64_t batch,
                                                 void *stream)
{
    (void)type, (void)side, (void)uplo, (void)trans, (void)diag, (void)max_m, (void)max_n, (void)m,
        (void)n, (void)a, (void)lda, (void)b, (void)ldb, (void)batch, (void)stream;
    return LIBSOLVER_NOT_BUILT;
}

libsolver_status libsolver_trmm_strided_batched(libsolver_type type, libsolver_side side,
                                                libsolver_storage uplo, libsolver_transpose trans,
                                                libsolver_diagonal diag, int64_t m, int64_t n,
                                                const void *a, int64_t lda, int64_t stride_a,
                                                void *b, int64_t ldb, int64_t stride_b,
                                                int64_t batch, void *stream)
{
    (void)type, (void)side, (void)uplo, (void)trans, (void)diag, (void)m, (void)n, (void)a,
        (void)lda, (void)stride_a, (void)b, (void)ldb, (void)stride_b, (void)batch, (void)stream;
    return LIBSOLVER_NOT_BUILT;
}

libsolver_status libsolver_trmm_batched(libsolver_type type, libsolver_side side,
                                        libsolver_storage uplo, libsolver_transpose trans,
                                        libsolver_diagonal diag, int64_t m, int64_t n,
                                        const void *const *a, int64_t lda, void *const *b,
                                        int64_t ldb, int64_t batch, void *stream)
{
    (void)type, (void)side, (void)uplo, (void)trans, (void)diag, (void)m, (void)n, (void)a,
        (void)lda, (void)b, (void)ldb, (void)batch, (void)stream;
    return LIBSOLVER_NOT_BUILT;
}

libsolver_status libsolver_trmm_variable_batched(libsolver_type type, libsolver_side side,
                                                 libsolver_storage uplo, libsolver_transpose trans,
                                                 libsolver_diagonal diag, int64_t max_m,
                                                 int64_t max_n, const int64_t *m, const int64_t *n,
                                                 const void *const *a, const int64_t *lda,
                                                 void *const *b, const int64_t *ldb, int64_t batch,
                                                 void *stream)
{
    (void)type, (void)side, (void)uplo, (void)trans, (void)diag, (void)max_m, (void)max_n, (void)m,
        (void)n, (void)a, (void)lda, (void)b, (void)ldb, (void)batch, (void)stream;
    return LIBSOLVER_NOT_BUILT;
}

libsolver_status libsolver_trtri_strided_batched(libsolver_type type, libsolver_storage uplo,
                                                 libsolver_diagonal diag, int64_t n, void *a,
                                                 int64_t lda, int64_t stride_a, int64_t batch,
                                                 void *stream)
{
    (void)type, (void)uplo, (void)diag, (void)n, (void)a, (void)lda, (void)stride_a, (void)batch,
        (void)stream;
    return LIBSOLVER_NOT_BUILT;
}

libsolver_status libsolver_trtri_batched(libsolver_type type, libsolver_storage uplo,
                                         libsolver_diagonal diag, int64_t n, void *const *a,
                                         int64_t lda, int64_t batch, void *stream)
{
    (void)type, (void)uplo, (void)diag, (void)n, (void)a, (void)lda, (void)batch, (void)stream;
    return LIBSOLVER_NOT_BUILT;
}

libsolver_status libsolver_trtri_variable_batched(libsolver_type type, libsolver_storage uplo,
                                                  libsolver_diagonal diag, int64_t max_n,
                                                  const int64_t *n, void *const *a,
                                                  const int64_t *lda, int64_t batch, void *stream)
{
    (void)type, (void)uplo, (void)diag, (void)max_n, (void)n, (void)a, (void)lda, (void)batch,
        (void)stream;
    return LIBSOLVER_NOT_BUILT;
}

libsolver_status libsolver_potrf_strided_batched(libsolver_type type, libsolver_storage uplo,
                                                 int64_t n, void *a, int64_t lda, int64_t stride_a,
                                                 int *info, int64_t batch, void *stream)
{
    (void)type, (void)uplo, (void)n, (void)a, (void)lda, (void)stride_a, (void)info, (void)batch,
        (void)stream;
    return LIBSOLVER_NOT_BUILT;
}

libsolver_status libsolver_potrf_batched(libsolver_type type, libsolver_storage uplo, int64_t n,
                                         void *const *a, int64_t lda, int *info, int64_t batch,
                                         void *stream)
{
    (void)type, (void)uplo, (void)n, (void)a, (void)lda, (void)info, (void)batch, (void)stream;
    return LIBSOLVER_NOT_BUILT;
}

libsolver_status libsolver_potrf_variable_batched(libsolver_type type, libsolver_storage uplo,
                                                  int64_t max_n, const int64_t *n, void *const *a,
                                                  const int64_t *lda, int *info, int64_t batch,
                                                  void *stream)
{
    (void)type, (void)uplo, (void)max_n, (void)n, (void)a, (void)lda, (void)info, (void)batch,
        (void)stream;
    return LIBSOLVER_NOT_BUILT;
}
