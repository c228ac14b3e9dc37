/* ordering/counts.c: column counts of the factor without forming it  [Gilbert, Ng, Peyton, An
 * efficient algorithm to compute row and column counts for sparse Cholesky factorization, SIAM J.
 * Matrix Anal. Appl. 15 (1994), Figure 3; Davis, Direct Methods for Sparse Linear Systems (2006),
 * section 4.5]
 * SPDX-License-Identifier: BSD-3-Clause */
#include "ordering/analysis.h"

/* Root of v's set, which is the smallest ancestor of v not yet passed. */
static int32_t find_root(int32_t *ancestor, int32_t v)
{
    int32_t root = v;
    while (ancestor[root] != root)
        root = ancestor[root];
    for (int32_t next; v != root; v = next) {
        next = ancestor[v];
        ancestor[v] = root;
    }
    return root;
}

/* Row i of L is a subtree of the elimination tree with root i, whose leaves are among { j : A(i,j)
 * != 0 }.  count(j), the number of row subtrees that hold j, is the sum of weights over j's
 * descendants and j: +1 at every leaf of every row subtree, -1 at the least common ancestor of two
 * consecutive leaves of one, and -1 at the parent of i, where row subtree i has ended.  A leaf i of
 * the tree is its own row subtree.  A vertex that stands for w rows counts w times.  O(nnz
 * alpha). */
void column_counts(const graph *g, const int32_t *perm, const int32_t *rank, const int32_t *parent,
                   int32_t *count, int32_t *first, int32_t *leaf, int32_t *ancestor, int32_t *new)
{
    const int32_t n = g->n, *weight = g->weight;
    for (int32_t j = 0; j < n; j++)
        first[j] = ancestor[j] = j;
    for (int32_t j = 0; j < n; j++) { /* first(j): the first descendant, as children precede parents
                                       */
        count[j] = first[j] != j ? 0 : weight ? weight[perm[j]] : 1;
        leaf[j] = -1; /* of row subtree j, the leaf met last */
        if (parent[j] != -1 && first[j] < first[parent[j]])
            first[parent[j]] = first[j];
    }
    for (int32_t j = 0; j < n; j++) {
        const int32_t v = perm[j], first_of_j = first[j];
        int32_t leaves = 0;
        if (parent[j] != -1)
            count[parent[j]] -= weight ? weight[v] : 1;
        /* not where A(i,j) lies above the diagonal, or j's subtree already holds a leaf of row i;
         * without a branch that no processor foresees */
        for (int64_t p = g->start[v], end = g->start[v + 1]; p < end; p++) {
            const int32_t i = rank[g->neighbor[p]];
            new[leaves] = i;
            leaves += (i > j) & (leaf[i] < first_of_j);
        }
        for (int32_t q = 0; q < leaves; q++) {
            const int32_t i = new[q], rows = weight ? weight[perm[i]] : 1;
            count[j] += rows;
            if (leaf[i] != -1)
                count[find_root(ancestor, leaf[i])] -= rows;
            leaf[i] = j;
        }
        if (parent[j] != -1)
            ancestor[j] = parent[j];
    }
    for (int32_t j = 0; j < n; j++)
        if (parent[j] != -1)
            count[parent[j]] += count[j];
}
