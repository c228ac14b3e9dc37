/* dense/cuda/device/arguments.h: what the public calls ask of their arguments
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DENSE_CUDA_DEVICE_ARGUMENTS_H
#define DENSE_CUDA_DEVICE_ARGUMENTS_H

#include "dense/cuda/device/view.cuh"
#include <cstring>

static inline bool uplo_valid(libsolver_storage uplo)
{
    return uplo == LIBSOLVER_LOWER || uplo == LIBSOLVER_UPPER;
}

static inline bool diagonal_valid(libsolver_diagonal diag)
{
    return diag == LIBSOLVER_UNIT || diag == LIBSOLVER_NON_UNIT;
}

static inline bool case_valid(triangle_case c)
{
    return uplo_valid(c.uplo) && c.trans >= LIBSOLVER_NO_TRANSPOSE &&
           c.trans <= LIBSOLVER_CONJUGATE_TRANSPOSE && diagonal_valid(c.diag);
}

static inline bool type_valid(libsolver_type type)
{
    return type == LIBSOLVER_S || type == LIBSOLVER_D || type == LIBSOLVER_C || type == LIBSOLVER_Z;
}

/* n^2 entries must be countable, and a row an int */
static inline bool size_valid(int64_t n)
{
    return n >= 0 && n <= INT32_MAX - 1024;
}

static inline bool order_valid(int64_t n, int64_t lda)
{
    return size_valid(n) && lda >= (n > 1 ? n : 1);
}

/* The caller's factor: one entry on the host, NULL for 1. */
template <typename T> static inline T alpha_of(const void *alpha)
{
    T value = from_real<T>(1);
    if (alpha != nullptr)
        memcpy(&value, alpha, sizeof value);
    return value;
}

#endif
