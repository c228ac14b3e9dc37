/* ordering/etree.c: elimination tree of a symmetric pattern and its postorder  [Liu, The role of
 * elimination trees in sparse factorization, SIAM J. Matrix Anal. Appl. 11 (1990), Algorithm 4.2]
 * SPDX-License-Identifier: BSD-3-Clause */
#include "ordering/analysis.h"

void permutation_invert(int32_t n, const int32_t *perm, int32_t *rank)
{
    for (int32_t k = 0; k < n; k++)
        rank[perm[k]] = k;
}

/* Mean number of neighbours up to which threads share the columns: each has memory for as many
 * edges as its columns have. */
#define MOST_NEIGHBORS 32

/* What trees are built from and in. */
typedef struct growing {
    const graph *g;
    const int32_t *perm, *rank;
    int32_t *parent, *ancestor;
} growing;

/* Columns [begin, end), whose tree is that of their edges to each other.  To find the whole tree,
 * all it takes of a part are the edges from each column to its children in it, as these connect
 * what all edges between its columns do, and those to columns before `begin`. */
typedef struct tree_part {
    int32_t begin, end;
    int32_t *edge; /* workspace: as many as a vertex has neighbours; then those edges, column by
                      column */
    libsolver_status status;
} tree_part;

/* Climbs from k < j to the root above it and makes that a child of j.  -1: it is one. */
static inline int32_t hang_root(const growing *t, int32_t k, int32_t j)
{
    for (;;) {
        const int32_t next = t->ancestor[k];
        if (next == j)
            return -1;
        t->ancestor[k] = j; /* path compression */
        if (next == -1) {
            t->parent[k] = j;
            return k;
        }
        k = next;
    }
}

/* The tree of a part; kept(j), unless NULL: how many edges of column j are kept. */
static void grow_part(const growing *t, const tree_part *part, int32_t *kept)
{
    const graph *g = t->g;
    int32_t *edge = part->edge;
    for (int32_t j = part->begin; j < part->end; j++) {
        const int64_t begin = g->start[t->perm[j]], end = g->start[t->perm[j] + 1];
        int32_t count = 0, keep = 0;
        t->parent[j] = t->ancestor[j] = -1;
        /* row j of the lower triangle, without a branch that no processor foresees */
        for (int64_t p = begin; p < end; p++) {
            const int32_t k = t->rank[g->neighbor[p]];
            edge[count] = k;
            count += k < j;
        }
        for (int32_t q = 0; q < count; q++) {
            const int32_t k = edge[q], child = k < part->begin ? k : hang_root(t, k, j);
            if (child != -1)
                edge[keep++] = child;
        }
        if (kept) {
            kept[j] = keep;
            edge += keep;
        }
    }
}

/* One of several, with memory for its edges. */
static void grow_alone(memory *m, const growing *t, tree_part *part, int32_t *kept)
{
    int64_t neighbors = 0;
    for (int32_t j = part->begin; j < part->end; j++)
        neighbors += t->g->start[t->perm[j] + 1] - t->g->start[t->perm[j]];
    part->edge = memory_new(m, neighbors, sizeof(int32_t));
    part->status = part->edge ? LIBSOLVER_OK : LIBSOLVER_OUT_OF_MEMORY;
    if (part->edge)
        grow_part(t, part, kept);
}

/* The first part is the tree of its columns already; those of the others begin anew. */
static void join_parts(const growing *t, int parts, const tree_part *part, const int32_t *kept)
{
    for (int q = 1; q < parts; q++) {
        const int32_t *edge = part[q].edge;
        for (int32_t j = part[q].begin; j < part[q].end; j++) {
            t->parent[j] = t->ancestor[j] = -1;
            for (const int32_t *const end = edge + kept[j]; edge < end; edge++)
                hang_root(t, *edge, j);
        }
    }
}

/* O(nnz log n) by path compression alone, nearly linear in practice. */
libsolver_status etree_build(memory *m, int threads, const graph *g, const int32_t *perm,
                             const int32_t *rank, int32_t *parent, int32_t *ancestor,
                             int32_t *below)
{
    const growing t = {g, perm, rank, parent, ancestor};
    const int parts = g->start[g->n] > MOST_NEIGHBORS * (int64_t)g->n ? 1 : threads;
    if (parts == 1) {
        grow_part(&t, &(tree_part){.end = g->n, .edge = below}, NULL);
        return LIBSOLVER_OK;
    }
    tree_part *part = memory_zeroed(m, parts, sizeof(tree_part));
    if (!part)
        return LIBSOLVER_OUT_OF_MEMORY;
#pragma omp taskgroup
    for (int q = 0; q < parts; q++) {
        part[q].begin = equal_cut(g->n, parts, q);
        part[q].end = equal_cut(g->n, parts, q + 1);
#pragma omp task firstprivate(q)
        grow_alone(m, &t, part + q, below);
    }
    libsolver_status status = LIBSOLVER_OK;
    for (int q = 0; q < parts; q++)
        status = status == LIBSOLVER_OK ? part[q].status : status;
    if (status == LIBSOLVER_OK)
        join_parts(&t, parts, part, below);
    for (int q = 0; q < parts; q++)
        memory_free(m, part[q].edge);
    memory_free(m, part);
    return status;
}

/* A subtree of size(j) nodes takes the places slot(j) - size(j) + 1 .. slot(j) with its root
 * last.  Going down from the last node, parents come before their children, and a child takes the
 * rightmost places of its parent's subtree that are still free.  O(n), no stack. */
void etree_postorder(int32_t n, const int32_t *parent, int32_t *number, int32_t *size,
                     int32_t *slot)
{
    for (int32_t j = 0; j < n; j++)
        size[j] = 1;
    for (int32_t j = 0; j < n; j++)
        if (parent[j] != -1)
            size[parent[j]] += size[j];
    slot[n] = n - 1; /* node n stands above all roots */
    for (int32_t j = n - 1; j >= 0; j--) {
        const int32_t above = parent[j] == -1 ? n : parent[j];
        number[j] = slot[above];
        slot[above] -= size[j];
        slot[j] = number[j] - 1;
    }
}
