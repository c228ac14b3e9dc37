/* ordering/permute.c: a pattern in another order
 * SPDX-License-Identifier: BSD-3-Clause */
#include "ordering/analysis.h"

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
    for (int32_t j = 0; j <= n; j++)
        permuted->start[j] = 0;
    for (int32_t j = 0; j < n; j++)
        for (int64_t p = a->start[j]; p < a->start[j + 1]; p++) {
            const int32_t i0 = rank[a->row[p]], j0 = rank[j];
            permuted->start[(i0 < j0 ? i0 : j0) + 1]++;
        }
    for (int32_t j = 0; j < n; j++) {
        next[j] = permuted->start[j] + 1;
        permuted->start[j + 1] += permuted->start[j];
    }
    for (int32_t j = 0; j < n; j++)
        for (int64_t p = a->start[j]; p < a->start[j + 1]; p++) {
            const int32_t i0 = rank[a->row[p]], j0 = rank[j];
            const int64_t q = i0 == j0 ? permuted->start[j0] : next[i0 < j0 ? i0 : j0]++;
            permuted->row[q] = i0 < j0 ? j0 : i0;
            if (place)
                place[p] = i0 < j0 ? -1 - q : q;
        }
    status = LIBSOLVER_OK;
done:
    memory_free(m, rank);
    memory_free(m, next);
    return status;
}
