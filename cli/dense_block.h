/* cli/dense_block.h: right-hand sides and solutions, in doubles for the tool and in the library's
 * type
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_DENSE_BLOCK_H
#define CLI_DENSE_BLOCK_H

#include "triplets.h"

/* n x columns, column-major. */
typedef struct dense_block {
    int32_t n;
    int64_t columns;
    libsolver_type type;
    double *values; /* pairs (real, imaginary) for complex types */
    float *single;  /* the same for types S and C, otherwise NULL */
} dense_block;

/* Room for values that are not set; or, in the other one, with the values given, which the block
 * frees from now on whatever comes out.  False: out of memory.  dense_free in every case. */
bool dense_create(dense_block *d, int32_t n, int64_t columns, libsolver_type type);
bool dense_adopt(dense_block *d, int32_t n, int64_t columns, libsolver_type type, double *values);
void dense_free(dense_block *d);

/* Values that the tool has set go to the library (and are rounded to single precision for S and C)
 * ... */
void dense_set(dense_block *d);
/* ... and those that the library has set come back. */
void dense_get(dense_block *d);

/* The first columns as the library's view. */
libsolver_vectors dense_view(const dense_block *d, int64_t columns);

#endif
