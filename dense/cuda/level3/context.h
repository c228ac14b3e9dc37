/* dense/cuda/level3/context.h: what the calls for large matrices share
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DENSE_CUDA_LEVEL3_CONTEXT_H
#define DENSE_CUDA_LEVEL3_CONTEXT_H

#include "dense/cuda/level3/cublas.h"
#include "dense/cuda/level3/products.h"
#include "dense/libsolver_dense.h"

enum {
    LEVEL3_INFOS = 32,         /* of nested factorizations */
    LEVEL3_BLOCK_BYTES = 4096, /* of a column of the largest diagonal block that trsm inverts */
    LEVEL3_CUBLAS_BYTES = 32 << 20,
};

struct libsolver_dense_context {
    const cublas_calls *cublas;
    cublas_handle handle;
    int owns_handle;
    int64_t order, leaf;
    libsolver_dense_trsm_form form;
    int64_t block; /* order of the diagonal blocks that are inverted, where a type has room for that
                    */
    int64_t whole, few_columns; /* trmm is one launch up to that order, 0: the type's own, or to so
                                   few columns */
    /* on the device, parts of one allocation */
    void *memory;
    void *few;        /* libsolver_trsm's workspace */
    void *scratch;    /* libsolver_potrf's workspace, or diagonal blocks */
    void *inverses;   /* of diagonal blocks, half of the place of their making */
    void *sums;       /* of their rows, a double each */
    int64_t *refused; /* diagonal blocks that are substituted with */
    void *copy;       /* products of trsm */
    void *room;       /* multiply_triangle's */
    void *products;   /* cuBLAS's workspace */
    int *info;
    int64_t few_bytes, scratch_bytes, copy_bytes, inverse_bytes;
};

#endif
