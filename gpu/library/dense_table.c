/* gpu/library/dense_table.c: what libsolver_cuda_dense exports
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/library/calls.h"

#define ENTRY(name, parameters, arguments) .name = name,
#define ENTRY_TYPED(type, name, parameters, arguments) .name = name,

extern const dense_calls libsolver_cuda_dense_calls;
LIBSOLVER_API const dense_calls libsolver_cuda_dense_calls = {
    .head = {LIBRARY_VERSION, sizeof(dense_calls)},
    DENSE_CALLS(ENTRY, ENTRY_TYPED, ENTRY).libsolver_dense_create = libsolver_dense_create,
    .libsolver_dense_message = libsolver_dense_message};
