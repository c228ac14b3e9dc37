/* dense/cuda/level3/built.c: what dense calls run with
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense/cuda/level3/cublas.h"
#include "dense/libsolver_dense.h"

int libsolver_dense_cublas_version(void)
{
    const cublas_calls *calls = cublas_load();
    int part[3] = {0}; /* major, minor, patch */
    for (int k = 0; k < 3 && calls; k++)
        if (calls->get_property(k, &part[k]) != 0)
            return 0;
    return 10000 * part[0] + 100 * part[1] + part[2];
}

const char *libsolver_dense_message(void)
{
    return cublas_load() ? ""
                         : "contexts of libsolver_dense.h need cuBLAS, of which neither "
                           "libcublas.so.13 nor .12 nor .11 is found";
}
