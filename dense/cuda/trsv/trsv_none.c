/* dense/cuda/trsv/trsv_none.c: the public calls in a build without CUDA
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense/libsolver_dense.h"

libsolver_trsv_options libsolver_trsv_default_options(void)
{
    return (libsolver_trsv_options){.form = LIBSOLVER_TRSV_AUTO};
}

int64_t libsolver_trsv_workspace_bytes(int64_t n)
{
    (void)n;
    return 0;
}

int64_t libsolver_trsv_prepare_bytes(libsolver_type type, int64_t n)
{
    (void)type, (void)n;
    return 0;
}

libsolver_status libsolver_trsv_workspace_init(void *workspace, int64_t bytes, void *stream)
{
    (void)workspace, (void)bytes, (void)stream;
    return LIBSOLVER_NOT_BUILT;
}

libsolver_status libsolver_trsv(libsolver_type type, libsolver_storage uplo,
                                libsolver_transpose trans, libsolver_diagonal diag, int64_t n,
                                const void *a, int64_t lda, void *x, int64_t incx, void *workspace,
                                int64_t workspace_bytes, const libsolver_trsv_options *options,
                                void *stream)
{
    (void)type, (void)uplo, (void)trans, (void)diag, (void)n, (void)a, (void)lda, (void)x,
        (void)incx;
    (void)workspace, (void)workspace_bytes, (void)options, (void)stream;
    return LIBSOLVER_NOT_BUILT;
}

libsolver_status libsolver_trsv_prepare(libsolver_type type, libsolver_storage uplo,
                                        libsolver_transpose trans, libsolver_diagonal diag,
                                        int64_t n, const void *a, int64_t lda, void *storage,
                                        int64_t storage_bytes, double growth_limit, void *stream,
                                        libsolver_trsv_prepared *prepared)
{
    (void)type, (void)uplo, (void)trans, (void)diag, (void)n, (void)a, (void)lda, (void)storage,
        (void)storage_bytes;
    (void)growth_limit, (void)stream, (void)prepared;
    return LIBSOLVER_NOT_BUILT;
}

libsolver_status libsolver_trsv_solve(const libsolver_trsv_prepared *prepared, void *x,
                                      int64_t incx, void *workspace, int64_t workspace_bytes,
                                      void *stream)
{
    (void)prepared, (void)x, (void)incx, (void)workspace, (void)workspace_bytes, (void)stream;
    return LIBSOLVER_NOT_BUILT;
}
