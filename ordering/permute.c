/* ordering/permute.c: a pattern in another order
 * SPDX-License-Identifier: BSD-3-Clause */
#include "ordering/analysis.h"
#include <string.h>

libsolver_status pattern_permute(memory *m, const pattern *a, const int32_t *perm,
                                 pattern *permuted, int64_t *place)
{
    const int32_t n = a->n;
    int32_t *rank = memory_new(m, n, sizeof(int32_t));
    int64_t *next = memory_new(m, n, sizeof(int64_t));
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    if (!rank || !next)
        goto done;
    permutation_invert(n, perm, rank);
    permuted->n = n;
    /* which of an entry's row and column comes first no processor foresees: no branches */
    memset(next, 0, sizeof(int64_t) * (size_t)n);
    for (int32_t j = 0; j < n; j++) {
        const int32_t j0 = rank[j];
        int64_t own = 0;
        for (int64_t p = a->start[j], end = a->start[j + 1]; p < end; p++) {
            const int32_t i0 = rank[a->row[p]];
            const int is_above = i0 < j0;
            next[i0] += is_above;
            own += !is_above;
        }
        next[j0] += own;
    }
    permuted->start[0] = 0;
    for (int32_t j = 0; j < n; j++) {
        permuted->start[j + 1] = permuted->start[j] + next[j];
        next[j] = permuted->start[j] + 1;
    }
    for (int32_t j = 0; j < n; j++) {
        const int32_t j0 = rank[j];
        const int64_t begin = a->start[j], end = a->start[j + 1], diagonal = permuted->start[j0];
        int64_t own = next[j0];
        permuted->row[diagonal] = j0;
        if (place)
            place[begin] = diagonal;
        for (int64_t p = begin + 1; p < end; p++) {
            const int32_t i0 = rank[a->row[p]];
            const int is_above = i0 < j0;
            const int64_t q = is_above ? next[i0] : own;
            next[i0] += is_above;
            own += !is_above;
            permuted->row[q] = is_above ? j0 : i0;
            if (place)
                place[p] = is_above ? -1 - q : q;
        }
        next[j0] = own;
    }
    status = LIBSOLVER_OK;
done:
    memory_free(m, rank);
    memory_free(m, next);
    return status;
}
