/* ordering/nd/halo.c: a part of a graph with the vertices around it, for the order of a leaf
 * SPDX-License-Identifier: BSD-3-Clause */
#include "ordering/nd/dissection.h"
#include <string.h>

/* Vertices of the original graph numbered as they come, by open addressing.  No part but this one
 * sees the numbers: neighbouring parts share halo vertices. */
typedef struct numbering {
    int32_t *key, *number, count;
    uint32_t mask;
} numbering;

static int32_t number_of(numbering *h, int32_t v)
{
    uint32_t slot = (uint32_t)v * UINT32_C(0x9e3779b1);
    slot = (slot ^ slot >> 15) & h->mask;
    while (h->key[slot] >= 0 && h->key[slot] != v)
        slot = (slot + 1) & h->mask;
    if (h->key[slot] < 0) {
        h->key[slot] = v;
        h->number[slot] = h->count++;
    }
    return h->number[slot];
}

/* The graph of the part's own vertices, in the order of `vertex`, and of those around it.  Edges
 * between the latter are left out. */
int nd_with_halo(arena *scratch, const dissection *d, const int32_t *vertex, int32_t own,
                 weighted_graph *g)
{
    const graph *whole = d->g;
    int64_t inner = 0, outer = 0;
    for (int32_t i = 0; i < own; i++)
        d->local[vertex[i]] = i;
    for (int32_t i = 0; i < own; i++)
        for (int64_t p = whole->start[vertex[i]]; p < whole->start[vertex[i] + 1]; p++) {
            const int inside = d->local[whole->neighbor[p]] >= 0;
            inner += inside;
            outer += !inside;
        }
    numbering h = {.mask = 15, .count = own};
    while (h.mask < 2 * (uint64_t)(outer < whole->n ? outer : whole->n) && h.mask < UINT32_MAX / 2)
        h.mask = 2 * h.mask + 1;
    const int64_t most = own + (outer < whole->n ? outer : whole->n);
    g->neighbor = arena_new(scratch, inner + 2 * outer, sizeof(int32_t));
    g->start = arena_new(scratch, most + 2, sizeof(int64_t));
    g->weight = arena_new(scratch, most, sizeof(int32_t));
    g->strength = NULL;
    h.key = arena_new(scratch, 2 * ((int64_t)h.mask + 1), sizeof(int32_t));
    if (!g->neighbor || !g->start || !g->weight || !h.key)
        return 0;
    h.number = h.key + h.mask + 1;
    memset(h.key, -1, sizeof(int32_t) * ((size_t)h.mask + 1));
    memset(g->start, 0, sizeof(int64_t) * ((size_t)most + 2));
    int64_t end = 0;
    int64_t *next = g->start + 1; /* next(i): the end of row i so far, its degree at first for the
                                     halo */
    for (int32_t i = 0; i < own; i++) {
        const int32_t v = vertex[i];
        g->start[i] = end;
        g->weight[i] = whole->weight ? whole->weight[v] : 1;
        for (int64_t p = whole->start[v]; p < whole->start[v + 1]; p++) {
            const int32_t u = whole->neighbor[p];
            int32_t j = d->local[u];
            if (j < 0) {
                j = number_of(&h, u);
                g->weight[j] = whole->weight ? whole->weight[u] : 1;
                next[j + 1]++;
            }
            g->neighbor[end++] = j;
        }
    }
    g->n = h.count;
    /* start(j + 2) holds the degree of j; after the sums start(j + 1) is where row j begins, and
     * once it is filled, where it ends */
    g->start[own] = g->start[own + 1] = end;
    for (int32_t j = own; j < g->n; j++)
        g->start[j + 2] += g->start[j + 1];
    for (int32_t i = 0; i < own; i++)
        for (int64_t p = g->start[i]; p < g->start[i + 1]; p++)
            if (g->neighbor[p] >= own)
                g->neighbor[next[g->neighbor[p]]++] = i;
    g->total = 0;
    for (int32_t i = 0; i < g->n; i++)
        g->total += g->weight[i];
    return 1;
}
