/* ordering/graph.c: adjacency graph of a symmetric pattern
 * SPDX-License-Identifier: BSD-3-Clause */
#include "ordering/analysis.h"
#include <string.h>

/* Neighbours that each vertex gets from columns [begin, end) of A. */
static void count_neighbours(const pattern *a, int32_t begin, int32_t end, int64_t *next)
{
    memset(next, 0, sizeof(int64_t) * (size_t)a->n);
    for (int32_t j = begin; j < end; j++) {
        const int64_t first = a->start[j] + 1, last = a->start[j + 1];
        next[j] += last - first;
        for (int64_t p = first; p < last; p++)
            next[a->row[p]]++;
    }
}

/* Puts them in place, vertex v's from next(v) on.  Columns before j have put all smaller neighbours
 * of j in place, in ascending order; column j adds the larger ones. */
static void put_neighbours(const pattern *a, int32_t begin, int32_t end, int64_t *next,
                           int32_t *neighbor)
{
    for (int32_t j = begin; j < end; j++) {
        const int64_t first = a->start[j] + 1, last = a->start[j + 1];
        int32_t *own = neighbor + next[j];
        next[j] += last - first;
        for (int64_t p = first; p < last; p++) {
            const int32_t i = a->row[p];
            *own++ = i;
            neighbor[next[i]++] = j;
        }
    }
}

/* adj(v) = { i : A(i,v) != 0, i != v }.  O(n + nnz); threads have some columns of A each. */
libsolver_status graph_build(memory *m, int threads, const pattern *a, graph *g)
{
    const int32_t n = a->n;
    const int parts = pattern_parts(a, threads);
    *g = (graph){.n = n};
    g->start = memory_new(m, (int64_t)n + 1, sizeof(int64_t));
    g->neighbor = memory_new(m, 2 * (a->start[n] - n), sizeof(int32_t));
    int64_t *next = memory_new(m, (int64_t)parts * n, sizeof(int64_t)); /* of each part */
    if (!g->start || !g->neighbor || !next) {
        memory_free(m, next);
        graph_free(m, g);
        return LIBSOLVER_OUT_OF_MEMORY;
    }
#pragma omp parallel for num_threads(threads) if (parts > 1) schedule(static, 1)
    for (int q = 0; q < parts; q++)
        count_neighbours(a, pattern_cut(a, parts, q), pattern_cut(a, parts, q + 1),
                         next + (int64_t)q * n);
    pattern_offsets(n, parts, threads, 0, next, g->start);
#pragma omp parallel for num_threads(threads) if (parts > 1) schedule(static, 1)
    for (int q = 0; q < parts; q++)
        put_neighbours(a, pattern_cut(a, parts, q), pattern_cut(a, parts, q + 1),
                       next + (int64_t)q * n, g->neighbor);
    memory_free(m, next);
    return LIBSOLVER_OK;
}

void graph_free(memory *m, graph *g)
{
    memory_free(m, g->start);
    memory_free(m, g->neighbor);
    memory_free(m, g->weight);
    *g = (graph){.n = -1};
}
