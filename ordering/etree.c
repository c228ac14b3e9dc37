/* ordering/etree.c: elimination tree of a symmetric pattern and its postorder  [Liu, The role of
 * elimination trees in sparse factorization, SIAM J. Matrix Anal. Appl. 11 (1990), Algorithm 4.2]
 * SPDX-License-Identifier: BSD-3-Clause */
#include "ordering/analysis.h"

void permutation_invert(int32_t n, const int32_t *perm, int32_t *rank)
{
    for (int32_t k = 0; k < n; k++)
        rank[perm[k]] = k;
}

/* O(nnz log n) by path compression alone, nearly linear in practice. */
void etree_build(const graph *g, const int32_t *perm, const int32_t *rank, int32_t *parent,
                 int32_t *ancestor, int32_t *below)
{
    for (int32_t j = 0; j < g->n; j++) {
        const int64_t begin = g->start[perm[j]], end = g->start[perm[j] + 1];
        int32_t count = 0;
        parent[j] = ancestor[j] = -1;
        /* row j of the lower triangle, without a branch that no processor foresees */
        for (int64_t p = begin; p < end; p++) {
            const int32_t k = rank[g->neighbor[p]];
            below[count] = k;
            count += k < j;
        }
        /* climb from each k < j to its root and hang that root under j */
        for (int32_t q = 0; q < count; q++)
            for (int32_t k = below[q], next; k != -1 && k < j; k = next) {
                next = ancestor[k];
                ancestor[k] = j; /* path compression */
                if (next == -1)
                    parent[k] = j;
            }
    }
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
