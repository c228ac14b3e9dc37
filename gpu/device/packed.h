/* gpu/device/packed.h: parts of blocks of vectors, and blocks on the host, packed by columns for
 * their way to a device
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_DEVICE_PACKED_H
#define GPU_DEVICE_PACKED_H

#include "base/type.h"
#include <string.h>

/* The same of rows side by side, which are `ld` scalars apart, where the size is known. */
static inline void packed_rows(char *values, int64_t rows, int64_t columns, int64_t ld,
                               size_t scalar, char *packed, int to_packed)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t q = 0; q < columns; q++) {
            char *at = values + (size_t)(i * ld + q) * scalar,
                 *other = packed + (size_t)(i + q * rows) * scalar;
            memcpy(to_packed ? other : at, to_packed ? at : other, scalar);
        }
}

/* Row i, column first + q of a block on the host as entry i + q n of `packed`, or the other way
 * round. */
static inline void packed_copy(const libsolver_vectors *v, int64_t first, int64_t columns,
                               char *packed, int to_packed)
{
    const size_t scalar = (size_t)type_bytes(v->type), column = (size_t)v->rows * scalar;
    if (v->layout == LIBSOLVER_ROW_MAJOR) {
        char *values = (char *)v->values + (size_t)first * scalar;
        if (scalar == 8)
            packed_rows(values, v->rows, columns, v->ld, 8, packed, to_packed);
        else if (scalar == 4)
            packed_rows(values, v->rows, columns, v->ld, 4, packed, to_packed);
        else
            packed_rows(values, v->rows, columns, v->ld, 16, packed, to_packed);
        return;
    }
    for (int64_t q = 0; q < columns; q++) {
        char *at = (char *)v->values + (size_t)((first + q) * v->ld) * scalar,
             *other = packed + (size_t)q * column;
        memcpy(to_packed ? other : at, to_packed ? at : other, column);
    }
}

/* Columns [first, first + columns) of a block, which stay where they are. */
static inline libsolver_vectors columns_of(const libsolver_vectors *v, int64_t first,
                                           int64_t columns)
{
    libsolver_vectors part = *v;
    part.values = (char *)v->values +
                  first * (v->layout == LIBSOLVER_ROW_MAJOR ? 1 : v->ld) * type_bytes(v->type);
    part.columns = columns;
    return part;
}

#endif
