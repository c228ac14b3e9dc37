/* dense/cuda/potrf/potrf_none.c: the public calls in a build without CUDA
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense/libsolver_dense.h"

int64_t libsolver_potrf_workspace_bytes(libsolver_type type, int64_t n)
{
    (void)type, (void)n;
    return 0;
}

libsolver_status libsolver_potrf(libsolver_type type, libsolver_storage uplo, int64_t n, void *a,
                                 int64_t lda, int *info, void *workspace, int64_t workspace_bytes,
                                 void *stream)
{
    (void)type, (void)uplo, (void)n, (void)a, (void)lda, (void)info, (void)workspace;
    (void)workspace_bytes, (void)stream;
    return LIBSOLVER_NOT_BUILT;
}
