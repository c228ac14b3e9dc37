/* base/type.h: what scalar types consist of
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef BASE_TYPE_H
#define BASE_TYPE_H

#include "libsolver_types.h"

/* Bytes of the real numbers that a scalar consists of. */
static inline int64_t type_real_bytes(libsolver_type type)
{
    return type == LIBSOLVER_S || type == LIBSOLVER_C ? 4 : 8;
}

static inline int type_is_complex(libsolver_type type)
{
    return type == LIBSOLVER_C || type == LIBSOLVER_Z;
}

static inline int64_t type_bytes(libsolver_type type)
{
    return type == LIBSOLVER_S ? 4 : type == LIBSOLVER_Z ? 16 : 8;
}

#endif
