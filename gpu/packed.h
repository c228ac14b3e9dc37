/* gpu/packed.h: blocks of vectors on the host, packed by columns for their way to a device
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_PACKED_H
#define GPU_PACKED_H

#include "base/type.h"
#include <string.h>

/* Row i, column first + q of a block on the host as entry i + q n of `packed`, or the other way round. */
static inline void packed_copy(const libsolver_vectors *v, int64_t first, int64_t columns, char *packed,
                               int to_packed)
{
    const int by_rows = v->layout == LIBSOLVER_ROW_MAJOR;
    const int64_t row = by_rows ? v->ld : 1, column = by_rows ? 1 : v->ld;
    const size_t scalar = (size_t)type_bytes(v->type);
    for (int64_t q = 0; q < columns; q++)
        for (int64_t i = 0; i < v->rows; i++) {
            char *at = (char *)v->values + (size_t)(i * row + (first + q) * column) * scalar;
            char *other = packed + (size_t)(i + q * v->rows) * scalar;
            memcpy(to_packed ? other : at, to_packed ? at : other, scalar);
        }
}

#endif
