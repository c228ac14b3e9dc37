/* solver/values_tmpl.c: the caller's values in the order of the pattern
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/scalar.h"
#include "solver/input.h"
#include <string.h>

libsolver_status NAME(input_values)(const input *in, const scalar *values, scalar *sum, scalar *mirrored,
                                    message *why)
{
    const pattern *a = &in->a;
    const int64_t nnz = a->start[a->n];
    memset(sum, 0, sizeof(scalar) * (size_t)nnz);
    if (mirrored)
        memset(mirrored, 0, sizeof(scalar) * (size_t)nnz);
    for (int64_t e = 0; e < in->entries; e++) {
        if (in->target[e] >= 0)
            sum[in->target[e]] += values[e];
        else
            mirrored[-1 - in->target[e]] += values[e];
    }
    for (int32_t j = 0; j < a->n; j++)
        for (int64_t p = a->start[j]; p < a->start[j + 1]; p++) {
            if (!scalar_finite(sum[p]))
                return FAIL(why, LIBSOLVER_NONFINITE,
                            "the entry in row %d, column %d (0-based) is not finite", a->row[p], j);
            if (mirrored && a->row[p] != j && mirrored[p] != sum[p])
                return FAIL(why, LIBSOLVER_INVALID,
                            "not symmetric: the entries (%d, %d) and (%d, %d), 0-based, differ", a->row[p], j,
                            j, a->row[p]);
        }
    return LIBSOLVER_OK;
}
