/* ordering/graph.c: adjacency graph of a symmetric pattern
 * SPDX-License-Identifier: BSD-3-Clause */
#include "ordering/ordering.h"
#include <string.h>

/* adj(v) = { i : A(i,v) != 0, i != v }.  O(n + nnz), no workspace. */
libsolver_status graph_build(memory *m, const pattern *a, graph *g)
{
    const int32_t n = a->n;
    *g = (graph){.n = n};
    g->start = memory_zeroed(m, (int64_t)n + 1, sizeof(int64_t));
    g->neighbor = memory_new(m, 2 * (a->start[n] - n), sizeof(int32_t));
    if (!g->start || !g->neighbor) {
        graph_free(m, g);
        return LIBSOLVER_OUT_OF_MEMORY;
    }
    for (int32_t j = 0; j < n; j++) {
        const int64_t begin = a->start[j] + 1, end = a->start[j + 1];
        g->start[j] += end - begin;
        for (int64_t p = begin; p < end; p++)
            g->start[a->row[p]]++;
    }
    for (int64_t v = 0, sum = 0; v <= n; v++) {
        const int64_t degree = g->start[v];
        g->start[v] = sum;
        sum += degree;
    }
    /* Columns 0..j-1 have put all smaller neighbours of j in place, in ascending order; column j
     * adds the larger ones.  start(v) is where the next neighbour of v goes, in the end where those
     * of v + 1 begin. */
    for (int32_t j = 0; j < n; j++) {
        const int64_t begin = a->start[j] + 1, end = a->start[j + 1];
        int32_t *own = g->neighbor + g->start[j];
        g->start[j] += end - begin;
        for (int64_t p = begin; p < end; p++) {
            const int32_t i = a->row[p];
            *own++ = i;
            g->neighbor[g->start[i]++] = j;
        }
    }
    memmove(g->start + 1, g->start, (size_t)n * sizeof(int64_t));
    g->start[0] = 0;
    return LIBSOLVER_OK;
}

void graph_free(memory *m, graph *g)
{
    memory_free(m, g->start);
    memory_free(m, g->neighbor);
    memory_free(m, g->weight);
    *g = (graph){.n = -1};
}
