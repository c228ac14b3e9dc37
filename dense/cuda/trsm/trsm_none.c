/* dense/cuda/trsm/trsm_none.c: the public calls in a build without CUDA
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense/libsolver_dense.h"

int64_t libsolver_trsm_workspace_bytes(int64_t n, int64_t nrhs)
{
    (void)n, (void)nrhs;
    return 0;
}

int64_t libsolver_trsm_prepare_bytes(libsolver_type type, int64_t n)
{
    (void)type, (void)n;
    return 0;
}

libsolver_status libsolver_trsm_workspace_init(void *workspace, int64_t bytes, void *stream)
{
    (void)workspace, (void)bytes, (void)stream;
    return LIBSOLVER_NOT_BUILT;
}

libsolver_status libsolver_trsm(libsolver_type type, libsolver_side side, libsolver_storage uplo,
                                libsolver_transpose trans, libsolver_diagonal diag, int64_t m,
                                int64_t n, const void *alpha, const void *a, int64_t lda, void *b,
                                int64_t ldb, void *workspace, int64_t workspace_bytes, void *stream)
{
    (void)type, (void)side, (void)uplo, (void)trans, (void)diag, (void)m, (void)n, (void)alpha;
    (void)a, (void)lda, (void)b, (void)ldb, (void)workspace, (void)workspace_bytes, (void)stream;
    return LIBSOLVER_NOT_BUILT;
}

libsolver_status libsolver_trsm_prepare(libsolver_type type, libsolver_side side,
                                        libsolver_storage uplo, libsolver_transpose trans,
                                        libsolver_diagonal diag, int64_t n, const void *a,
                                        int64_t lda, void *storage, int64_t storage_bytes,
                                        double growth_limit, void *stream,
                                        libsolver_trsm_prepared *prepared)
{
    (void)type, (void)side, (void)uplo, (void)trans, (void)diag, (void)n, (void)a, (void)lda;
    (void)storage, (void)storage_bytes, (void)growth_limit, (void)stream, (void)prepared;
    return LIBSOLVER_NOT_BUILT;
}

libsolver_status libsolver_trsm_solve(const libsolver_trsm_prepared *prepared, int64_t nrhs,
                                      const void *alpha, void *b, int64_t ldb, void *workspace,
                                      int64_t workspace_bytes, void *stream)
{
    (void)prepared, (void)nrhs, (void)alpha, (void)b, (void)ldb, (void)workspace,
        (void)workspace_bytes, (void)stream;
    return LIBSOLVER_NOT_BUILT;
}
