/* ordering/analysis.h: the steps between a graph and a forest or partition, one file each
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * In all of them perm[k] is the vertex eliminated k-th and rank its inverse; trees are given by
 * parents with parent(j) > j and -1 at a root. */
#ifndef ORDERING_ANALYSIS_H
#define ORDERING_ANALYSIS_H

#include "base/message.h"
#include "ordering/ordering.h"

/* order_amd without weights by 32-bit and by 64-bit integers; order_amd takes the first where it
 * can.  Same result. */
libsolver_status amd_order_32(memory *m, const graph *g, int32_t *perm);
libsolver_status amd_order_64(memory *m, const graph *g, int32_t *perm);
/* order_amd with weights.  g->weight must be there. */
libsolver_status amd_order_weighted(memory *m, const graph *g, int32_t *perm);

/* parts.c: the columns of a pattern in parts of about as many entries each.  How many parts so many
 * threads have: one each, if there is enough to do, but no more than twice as many as a column has
 * entries in the mean, as each part notes a number for every column.  The first column of part q,
 * and n for q = parts.  The team has all threads, whatever the parts: a team of another size would
 * cost the making of threads (experiments.md, Fronts on many cores). */
int pattern_parts(const pattern *a, int threads);
int32_t pattern_cut(const pattern *a, int parts, int q);
/* next: parts x n, in: how many numbers each part has for each of n lists; out: where in the lists,
 * one after the other, its first one goes.  A list holds those of the parts in their order, behind
 * `ahead` others.  start: n + 1, out, where each list begins.  Threads share the lists if there are
 * several parts. */
void pattern_offsets(int32_t n, int parts, int threads, int ahead, int64_t *next, int64_t *start);

/* rank(perm(k)) = k */
void permutation_invert(int32_t n, const int32_t *perm, int32_t *rank);

/* parent(j) = min { i > j : L(i,j) != 0 } for LL^T = A(perm,perm), -1 at a root.  ancestor,
 * below: workspace, n each.  Here and below, `threads` are those of the team that calls, if
 * there is one, whose tasks then share the work. */
libsolver_status etree_build(memory *m, int threads, const graph *g, const int32_t *perm,
                             const int32_t *rank, int32_t *parent, int32_t *ancestor,
                             int32_t *below);

/* number(j): place of j in the postorder that visits children in ascending order.  size, slot:
 * workspace, n and n + 1. */
void etree_postorder(int32_t n, const int32_t *parent, int32_t *number, int32_t *size,
                     int32_t *slot);

/* cut.c: disjoint subtrees of a postordered forest, from the last one to the first, of which node
 * end - 1 is the root and [begin, end) are all nodes; and the nodes above them, in none. */
typedef struct tree_cut {
    int32_t subtrees, above;
    int32_t *begin, *end; /* subtrees */
    int32_t *number;      /* n: of each node above, in [0, above) */
} tree_cut;

/* For so many threads; without subtrees where there is little to gain.  start: n + 1, the work of
 * node j is start[j+1] - start[j]; NULL: 1 each.  O(n). */
libsolver_status tree_cut_find(memory *m, int threads, int32_t n, const int32_t *parent,
                               const int64_t *start, tree_cut *cut);
void tree_cut_free(memory *m, tree_cut *cut);

/* count(j) = nnz(L(:,j)), diagonal included, of the first row that vertex perm(j) stands for.  The
 * tree must be postordered.  work: n each.  With the tasks of the team that calls it, if there is
 * one. */
libsolver_status column_counts(memory *m, int threads, const graph *g, const int32_t *perm,
                               const int32_t *rank, const int32_t *parent, int32_t *count,
                               int32_t *const work[4]);

libsolver_status supernodes_find(memory *m, const graph *g, const elimination_tree *e,
                                 supernode_set *s);
void supernodes_free(memory *m, supernode_set *s);

/* place(s): place of front s in the postorder that minimises the stack of the multifrontal method,
 * where a front lies beside the contribution blocks of its children.  n: number of fronts. */
libsolver_status stack_postorder(memory *m, int32_t n, const int32_t *above, const front_size *size,
                                 int32_t *place);

/* Children of each node as lists in ascending order: head(v), next(head(v)), ... -1; the roots are
 * the children of node n.  head: n + 1. */
void tree_children(int32_t n, const int32_t *above, int32_t *head, int32_t *next);
/* Sorts one of them by descending key, equal keys left in their order; returns its new head.  O(q
 * log q). */
int32_t tree_sort(int32_t head, int32_t *next, const double *key);

/* Merges fronts into their parents where that pays.  merged(s): nonzero when s now lies in the
 * front of above(s), otherwise size(s) is that of the front which s and the fronts merged into it
 * have become.  With the tasks of the team that calls it, as column_counts. */
libsolver_status relax_fronts(memory *m, int threads, int32_t n, const int32_t *above,
                              front_cost cost, front_size *size, unsigned char *merged);

/* Fills the row lists of p, of which everything else is there, their lengths in row_start
 * included.  a: lower triangle in p's order.  leads(j): nonzero when column j begins a fundamental
 * supernode. */
libsolver_status front_rows(memory *m, int threads, const pattern *a, const unsigned char *leads,
                            const partition *p);

#endif
