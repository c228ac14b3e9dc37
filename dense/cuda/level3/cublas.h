/* dense/cuda/level3/cublas.h: the products of cuBLAS, which is loaded when the first context is
 * made
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The library is not linked with cuBLAS: it is large, and most users never call what needs it.  Of
 * its interface, the one of cublas_v2.h, only what is used is declared; enums are passed as ints.
 */
#ifndef DENSE_CUDA_LEVEL3_CUBLAS_H
#define DENSE_CUDA_LEVEL3_CUBLAS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { CUBLAS_N = 0, CUBLAS_T = 1, CUBLAS_C = 2 }; /* cublasOperation_t */
enum { CUBLAS_LOWER = 0, CUBLAS_UPPER = 1 };       /* cublasFillMode_t */
enum { CUBLAS_HOST = 0, CUBLAS_ATOMICS_OFF = 0 };  /* cublasPointerMode_t, cublasAtomicsMode_t */

typedef void *cublas_handle;
/* C := alpha op(A) op(B) + beta C */
typedef int cublas_gemm(cublas_handle handle, int trans_a, int trans_b, int m, int n, int k,
                        const void *alpha, const void *a, int lda, const void *b, int ldb,
                        const void *beta, void *c, int ldc);
/* The same of `count` matrices each, those of an operand so many entries apart */
typedef int cublas_gemm_strided(cublas_handle handle, int trans_a, int trans_b, int m, int n, int k,
                                const void *alpha, const void *a, int lda, long long stride_a,
                                const void *b, int ldb, long long stride_b, const void *beta,
                                void *c, int ldc, long long stride_c, int count);
/* C := alpha op(A) op(A)^H + beta C, alpha and beta real */
typedef int cublas_herk(cublas_handle handle, int uplo, int trans, int n, int k, const void *alpha,
                        const void *a, int lda, const void *beta, void *c, int ldc);

typedef struct cublas_calls {
    int (*get_property)(int part, int *value); /* of the version; part: 0 major, 1 minor, 2 patch */
    int (*create)(cublas_handle *handle);
    int (*destroy)(cublas_handle handle);
    int (*set_stream)(cublas_handle handle, void *stream);
    int (*set_workspace)(cublas_handle handle, void *workspace, size_t bytes);
    int (*set_pointer_mode)(cublas_handle handle, int mode);
    int (*set_atomics)(cublas_handle handle, int mode);
    cublas_gemm *gemm[4]; /* by libsolver_type */
    cublas_gemm_strided *gemm_strided[4];
    cublas_herk *herk[4];
} cublas_calls;

/* Loaded once for the process, or NULL where there is none.  From any thread. */
const cublas_calls *cublas_load(void);

#ifdef __cplusplus
}
#endif
#endif
