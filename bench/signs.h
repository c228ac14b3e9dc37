/* bench/signs.h: expected signs of a quasi-definite problem
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_SIGNS_H
#define BENCH_SIGNS_H

#include "cli/triplets.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The signs of the diagonal of a real matrix, to be freed; no entry, or zero, counts as negative.
 * NULL: no memory. */
static int8_t *signs_of(const triplets *a)
{
    int8_t *sign = malloc((size_t)a->n + 1);
    if (!sign)
        return NULL;
    memset(sign, -1, (size_t)a->n);
    for (int64_t e = 0; e < a->nnz; e++)
        if (a->rows[e] == a->columns[e] && ((const double *)a->values)[e] > 0)
            sign[a->rows[e]] = 1;
    return sign;
}

#endif
