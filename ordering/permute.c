/* ordering/permute.c: a pattern in another order
 * SPDX-License-Identifier: BSD-3-Clause */
#include "ordering/analysis.h"
#include <string.h>

/* How many entries below its diagonal each column gets from columns [begin, end) of A. */
static void count_entries(const pattern *a, const int32_t *rank, int32_t begin, int32_t end,
                          int64_t *next)
{
    /* which of an entry's row and column comes first no processor foresees: no branches */
    memset(next, 0, sizeof(int64_t) * (size_t)a->n);
    for (int32_t j = begin; j < end; j++) {
        const int32_t j0 = rank[j];
        int64_t own = 0;
        for (int64_t p = a->start[j] + 1, last = a->start[j + 1]; p < last; p++) {
            const int32_t i0 = rank[a->row[p]];
            const int is_above = i0 < j0;
            next[i0] += is_above;
            own += !is_above;
        }
        next[j0] += own;
    }
}

/* These entries to their places, of which next(k) is the first that column k has for them. */
static void put_entries(const pattern *a, const int32_t *rank, int32_t begin, int32_t end,
                        int64_t *next, pattern *permuted, int64_t *place)
{
    for (int32_t j = begin; j < end; j++) {
        const int32_t j0 = rank[j];
        const int64_t first = a->start[j], last = a->start[j + 1], diagonal = permuted->start[j0];
        int64_t own = next[j0];
        permuted->row[diagonal] = j0;
        if (place)
            place[first] = diagonal;
        for (int64_t p = first + 1; p < last; p++) {
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
}

/* Threads have some columns of A each.  In every column entries come in the order of these, so that
 * their places do not depend on how many threads there are. */
libsolver_status pattern_permute(memory *m, int threads, const pattern *a, const int32_t *perm,
                                 pattern *permuted, int64_t *place)
{
    const int32_t n = a->n;
    const int parts = pattern_parts(a, threads);
    int32_t *rank = memory_new(m, n, sizeof(int32_t));
    int64_t *next = memory_new(m, (int64_t)parts * n, sizeof(int64_t)); /* of each part */
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    if (!rank || !next)
        goto done;
    permutation_invert(n, perm, rank);
    permuted->n = n;
#pragma omp parallel for num_threads(threads) if (parts > 1) schedule(static, 1)
    for (int q = 0; q < parts; q++)
        count_entries(a, rank, pattern_cut(a, parts, q), pattern_cut(a, parts, q + 1),
                      next + (int64_t)q * n);
    pattern_offsets(n, parts, threads, 1, next, permuted->start); /* behind the diagonal */
#pragma omp parallel for num_threads(threads) if (parts > 1) schedule(static, 1)
    for (int q = 0; q < parts; q++)
        put_entries(a, rank, pattern_cut(a, parts, q), pattern_cut(a, parts, q + 1),
                    next + (int64_t)q * n, permuted, place);
    status = LIBSOLVER_OK;
done:
    memory_free(m, rank);
    memory_free(m, next);
    return status;
}
