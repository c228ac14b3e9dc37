/* dense/cuda/level3/cublas.c: cuBLAS is found and loaded
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense/cuda/level3/cublas.h"
#include "libsolver_types.h"
#include <dlfcn.h>
#include <pthread.h>

static cublas_calls calls;
static int loaded;

/* A function's address by way of an object's, which ISO C does not convert. */
static int find(void *library, const char *name, void *function)
{
    return (*(void **)function = dlsym(library, name)) != NULL;
}

static void load(void)
{
    /* the interface has been the same in all of these */
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11",
                                        "libcublas.so"};
    void *library = NULL;
    for (size_t k = 0; library == NULL && k < sizeof names / sizeof *names; k++)
        library = dlopen(names[k], RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL)
        return;
    loaded = find(library, "cublasGetProperty", &calls.get_property) &&
             find(library, "cublasCreate_v2", &calls.create) &&
             find(library, "cublasDestroy_v2", &calls.destroy) &&
             find(library, "cublasSetStream_v2", &calls.set_stream) &&
             find(library, "cublasSetWorkspace_v2", &calls.set_workspace) &&
             find(library, "cublasSetPointerMode_v2", &calls.set_pointer_mode) &&
             find(library, "cublasSetAtomicsMode", &calls.set_atomics) &&
             find(library, "cublasSgemm_v2", &calls.gemm[LIBSOLVER_S]) &&
             find(library, "cublasDgemm_v2", &calls.gemm[LIBSOLVER_D]) &&
             find(library, "cublasCgemm_v2", &calls.gemm[LIBSOLVER_C]) &&
             find(library, "cublasZgemm_v2", &calls.gemm[LIBSOLVER_Z]) &&
             find(library, "cublasSgemmStridedBatched", &calls.gemm_strided[LIBSOLVER_S]) &&
             find(library, "cublasDgemmStridedBatched", &calls.gemm_strided[LIBSOLVER_D]) &&
             find(library, "cublasCgemmStridedBatched", &calls.gemm_strided[LIBSOLVER_C]) &&
             find(library, "cublasZgemmStridedBatched", &calls.gemm_strided[LIBSOLVER_Z]) &&
             find(library, "cublasSsyrk_v2", &calls.herk[LIBSOLVER_S]) &&
             find(library, "cublasDsyrk_v2", &calls.herk[LIBSOLVER_D]) &&
             find(library, "cublasCherk_v2", &calls.herk[LIBSOLVER_C]) &&
             find(library, "cublasZherk_v2", &calls.herk[LIBSOLVER_Z]);
}

const cublas_calls *cublas_load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return loaded ? &calls : NULL;
}
