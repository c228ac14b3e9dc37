/* ordering/counts.c: column counts of the factor without forming it  [Gilbert, Ng, Peyton, An
 * efficient algorithm to compute row and column counts for sparse Cholesky factorization, SIAM J.
 * Matrix Anal. Appl. 15 (1994), Figure 3; Davis, Direct Methods for Sparse Linear Systems (2006),
 * section 4.5]
 * SPDX-License-Identifier: BSD-3-Clause */
#include "ordering/analysis.h"
#include <string.h>

/* What subtrees note of the columns above them takes no more than so many numbers for each column.
 */
#define MOST_AREA 4

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
 * the tree is its own row subtree.  A vertex that stands for w rows counts w times.
 *
 * All that concerns two columns of one subtree of the elimination tree is known in it.  So threads
 * count subtrees, and for the columns above them each is one node, a leaf of the rows above that
 * have leaves in it. */

/* What the columns of a subtree, or those above all of them, are counted with. */
typedef struct counting {
    const graph *g;
    const int32_t *perm, *rank, *parent;
    int32_t *count, *first;
    int32_t *leaf;     /* of each row subtree, the leaf met last; -1: none yet */
    int32_t *ancestor; /* see find_root */
} counting;

/* Columns [begin, end) of a subtree. */
typedef struct counted_part {
    int32_t begin, end;
    const int32_t *number; /* of the rows above it, which are no one's */
    int32_t *leaf;         /* theirs, met in this subtree; by number */
    int32_t *new;          /* workspace: as many as a vertex has neighbours */
} counted_part;

static int32_t rows_of(const counting *c, int32_t j)
{
    return c->g->weight ? c->g->weight[c->perm[j]] : 1;
}

/* Leaf j of row i, after the leaf before it. */
static void count_leaf(const counting *c, int32_t i, int32_t before)
{
    if (before != -1)
        c->count[find_root(c->ancestor, before)] -= rows_of(c, i);
}

/* Column j has been counted; its parent ends the row subtree of j. */
static void leave_column(const counting *c, int32_t j)
{
    if (c->parent[j] == -1)
        return;
    c->count[c->parent[j]] -= rows_of(c, j);
    c->ancestor[j] = c->parent[j];
}

static void count_column(const counting *c, const counted_part *part, int32_t j)
{
    const graph *g = c->g;
    const int32_t v = c->perm[j], first = c->first[j];
    int32_t leaves = 0;
    /* not where A(i,j) lies above the diagonal, or j's subtree already holds a leaf of row i;
     * without a branch that no processor foresees */
    for (int64_t p = g->start[v], end = g->start[v + 1]; p < end; p++) {
        const int32_t i = c->rank[g->neighbor[p]];
        part->new[leaves] = i;
        leaves += (i > j) & ((i >= part->end) | (c->leaf[i] < first));
    }
    for (int32_t q = 0; q < leaves; q++) {
        const int32_t i = part->new[q];
        int32_t *leaf = i < part->end ? c->leaf + i : part->leaf + part->number[i];
        if (*leaf >= first)
            continue;
        c->count[j] += rows_of(c, i);
        count_leaf(c, i, *leaf);
        *leaf = j;
    }
}

/* first(parent): the first descendant, as children precede parents. */
static void first_to_parent(const counting *c, int32_t j)
{
    const int32_t above = c->parent[j];
    if (above != -1 && c->first[j] < c->first[above])
        c->first[above] = c->first[j];
}

/* A subtree, but for what its root leaves to those above. */
static void count_subtree(const counting *c, const counted_part *part)
{
    for (int32_t j = part->begin; j < part->end; j++)
        c->first[j] = c->ancestor[j] = j;
    for (int32_t j = part->begin; j < part->end; j++) {
        c->count[j] = c->first[j] != j ? 0 : rows_of(c, j);
        if (j + 1 < part->end)
            first_to_parent(c, j);
    }
    for (int32_t j = part->begin; j < part->end; j++) {
        count_column(c, part, j);
        if (j + 1 < part->end)
            leave_column(c, j);
    }
    for (int32_t j = part->begin; j + 1 < part->end; j++)
        c->count[c->parent[j]] += c->count[j];
}

/* Its root is a leaf of the row subtrees that have leaves in it: rows above, which it is in. */
static void join_subtree(const counting *c, const counted_part *part)
{
    const int32_t root = part->end - 1;
    for (int32_t i = c->parent[root]; i != -1; i = c->parent[i])
        if (part->leaf[part->number[i]] != -1) {
            count_leaf(c, i, c->leaf[i]);
            c->leaf[i] = root;
        }
    leave_column(c, root);
}

/* The columns above n parts, in their order, each part's root taking the place of the part. */
static void count_above(const counting *c, int32_t parts, const counted_part *part,
                        const counted_part *whole)
{
    const int32_t n = c->g->n;
    for (int32_t j = 0, q = parts - 1; j < n;)
        if (q >= 0 && j == part[q].begin) {
            join_subtree(c, part + q);
            j = part[q--].end;
        } else {
            count_column(c, whole, j);
            leave_column(c, j++);
        }
    for (int32_t j = 0, q = parts - 1; j < n; j++) {
        if (q >= 0 && j == part[q].begin)
            j = part[q--].end - 1;
        if (c->parent[j] != -1)
            c->count[c->parent[j]] += c->count[j];
    }
}

/* first, of those above their parts, which are counted. */
static void begin_above(const counting *c, int32_t parts, const counted_part *part)
{
    const int32_t n = c->g->n;
    for (int32_t j = 0, q = parts - 1; j < n; j++)
        if (q >= 0 && j == part[q].begin)
            j = part[q--].end - 1;
        else
            c->first[j] = c->ancestor[j] = j;
    for (int32_t j = 0, q = parts - 1; j < n; j++) {
        if (q >= 0 && j == part[q].begin)
            j = part[q--].end - 1;
        else
            c->count[j] = c->first[j] != j ? 0 : rows_of(c, j);
        first_to_parent(c, j);
    }
}

static int64_t largest_degree(const graph *g)
{
    int64_t most = 0;
    for (int32_t v = 0; v < g->n; v++)
        most = most > g->start[v + 1] - g->start[v] ? most : g->start[v + 1] - g->start[v];
    return most;
}

/* The subtrees of the cut, each by a task of the team that is here. */
static void count_subtrees(const counting *c, const tree_cut *cut, int64_t degree, int32_t *area,
                           counted_part *part)
{
#pragma omp taskgroup
    for (int32_t q = 0; q < cut->subtrees; q++) {
        int32_t *own = area + q * (cut->above + degree);
        part[q] = (counted_part){cut->begin[q], cut->end[q], cut->number, own, own + cut->above};
        memset(own, -1, sizeof(int32_t) * (size_t)cut->above);
#pragma omp task firstprivate(q)
        count_subtree(c, part + q);
    }
}

/* O(nnz alpha). */
libsolver_status column_counts(memory *m, int threads, const graph *g, const int32_t *perm,
                               const int32_t *rank, const int32_t *parent, int32_t *count,
                               int32_t *const work[4])
{
    const counting c = {g, perm, rank, parent, count, work[0], work[1], work[2]};
    const counted_part whole = {.end = g->n, .new = work[3]};
    const int64_t degree = largest_degree(g);
    tree_cut cut;
    TRY(tree_cut_find(m, threads, g->n, parent, NULL, &cut));
    if (cut.subtrees * (cut.above + degree) > MOST_AREA * (int64_t)g->n)
        tree_cut_free(m, &cut);
    counted_part *part = memory_new(m, cut.subtrees, sizeof(counted_part));
    int32_t *area = memory_new(m, cut.subtrees * (cut.above + degree), sizeof(int32_t));
    const libsolver_status status = part && area ? LIBSOLVER_OK : LIBSOLVER_OUT_OF_MEMORY;
    if (status == LIBSOLVER_OK) {
        memset(c.leaf, -1, sizeof(int32_t) * (size_t)g->n);
        count_subtrees(&c, &cut, degree, area, part);
        begin_above(&c, cut.subtrees, part);
        count_above(&c, cut.subtrees, part, &whole);
    }
    memory_free(m, part);
    memory_free(m, area);
    tree_cut_free(m, &cut);
    return status;
}
