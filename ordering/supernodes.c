/* ordering/supernodes.c: fundamental supernodes of an elimination  [Liu, Ng, Peyton, On finding
 * supernodes for sparse matrix computations, SIAM J. Matrix Anal. Appl. 14 (1993)], and what their
 * fronts will cost
 * SPDX-License-Identifier: BSD-3-Clause */
#include "ordering/analysis.h"
#include <string.h>

void supernodes_free(memory *m, supernode_set *s)
{
    memory_free(m, s->of);
    memory_free(m, s->first);
    memory_free(m, s->above);
    memory_free(m, s->size);
    *s = (supernode_set){0};
}

/* Vertex j continues the supernode of j - 1 if j - 1 is its only child and L(:,j) is L(:,j-1)
 * without the rows of j - 1. */
libsolver_status supernodes_find(memory *m, const graph *g, const elimination_tree *e,
                                 supernode_set *s)
{
    const int32_t n = e->n;
    *s = (supernode_set){.of = memory_zeroed(m, n, sizeof(int32_t))};
    if (!s->of)
        return LIBSOLVER_OUT_OF_MEMORY;
    int32_t *children = s->of; /* of j, until j's supernode is known */
    for (int32_t j = 0; j < n; j++)
        if (e->parent[j] != -1)
            children[e->parent[j]]++;
    for (int32_t j = 0, before = 0; j < n; j++) { /* before: columns of vertex j - 1 */
        const int continues = j > 0 && e->parent[j - 1] == j && children[j] == 1 &&
                              e->count[j] == e->count[j - 1] - before;
        s->number += !continues;
        s->of[j] = s->number - 1;
        before = g->weight ? g->weight[e->perm[j]] : 1;
    }
    s->first = memory_new(m, s->number, sizeof(int32_t));
    s->above = memory_new(m, s->number, sizeof(int32_t));
    s->size = memory_zeroed(m, s->number, sizeof(front_size));
    if (!s->first || !s->above || !s->size) {
        supernodes_free(m, s);
        return LIBSOLVER_OUT_OF_MEMORY;
    }
    for (int32_t j = 0, column = 0; j < n; j++) {
        const int32_t t = s->of[j], columns = g->weight ? g->weight[e->perm[j]] : 1;
        if (s->size[t].k == 0) {
            s->first[t] = column;
            s->size[t].m = e->count[j];
        }
        s->size[t].k += columns;
        /* the last vertex of the supernode determines its parent */
        s->above[t] = e->parent[j] == -1 ? -1 : s->of[e->parent[j]];
        column += columns;
    }
    return LIBSOLVER_OK;
}

libsolver_status elimination_seconds(memory *m, int threads, const elimination_tree *e,
                                     front_cost merge, front_seconds cost, double column,
                                     const waiting_rows *waiting, double *seconds)
{
    const supernode_set s = e->s;
    front_size *size = memory_new(m, s.number, sizeof(front_size));
    unsigned char *merged = memory_new(m, s.number, 1);
    int64_t *waits = memory_zeroed(m, 4 * (int64_t)s.number, sizeof(int64_t)), longest = 0;
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    *seconds = 0;
    if (size && merged && waits) {
        if (s.number > 0)
            memcpy(size, s.size, sizeof(front_size) * (size_t)s.number);
        status = relax_fronts(m, threads, s.number, s.above, merge, size, merged);
    }
    /* leave: how many of a front's waiting rows do not go on to its parent; come: how many have
     * come from its children; chain: columns on the longest path below */
    int64_t *leave = status == LIBSOLVER_OK ? waits + s.number : NULL,
            *come = status == LIBSOLVER_OK ? leave + s.number : NULL,
            *chain = status == LIBSOLVER_OK ? come + s.number : NULL;
    for (int32_t j = 0; j < e->n && waiting && status == LIBSOLVER_OK; j++) {
        waits[s.of[j]] += waiting->from[e->perm[j]];
        leave[s.of[j]] += waiting->to[e->perm[j]];
    }
    for (int32_t t = 0; t < s.number && status == LIBSOLVER_OK; t++) {
        const int32_t above = s.above[t];
        const int64_t go_on = waits[t] - leave[t];
        chain[t] += merged[t] ? 0 : size[t].k; /* those of a merged one are its parent's */
        longest = longest > chain[t] ? longest : chain[t];
        if (above >= 0) {
            chain[above] = chain[above] > chain[t] ? chain[above] : chain[t];
            waits[above] += go_on;
            come[above] += merged[t] ? come[t] : go_on;
        }
        if (!merged[t])
            *seconds += waiting && waiting->are_pivots
                            ? cost(size[t].k + come[t] - go_on, size[t].m + come[t], go_on)
                            : cost(size[t].k, size[t].m, waits[t]);
    }
    *seconds += column * (double)longest;
    memory_free(m, size);
    memory_free(m, merged);
    memory_free(m, waits);
    return status;
}
