/* cli/mm_write.h: Matrix Market files, every double to its last bit (17 digits), .gz by suffix
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_MM_WRITE_H
#define CLI_MM_WRITE_H

#include "failure.h"
#include "triplets.h"

/* Coordinates, symmetric or hermitian.  comment: one line, or NULL. */
int mm_write_matrix(const char *path, const triplets *a, const char *comment, failure *f);

/* n x columns, array, general; width 1: real, 2: complex, values are pairs. */
int mm_write_vectors(const char *path, int64_t n, int64_t columns, int width, const double *values,
                     failure *f);

#endif
