/* gpu/library/table.c: what libsolver_cuda exports
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/library/calls.h"

#define ENTRY(name, parameters, arguments) .name = name,
#define ENTRY_TYPED(type, name, parameters, arguments) .name = name,

extern const device_calls libsolver_cuda_calls;
LIBSOLVER_API const device_calls libsolver_cuda_calls = {
    .head = {LIBRARY_VERSION, sizeof(device_calls)}, DEVICE_CALLS(ENTRY, ENTRY_TYPED, ENTRY)};
