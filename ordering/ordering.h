/* ordering/ordering.h: everything that depends on the pattern only; no floating-point values of A
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The order of calls:  graph -> compress -> amd / nd / metis -> elimination (etree, postorder,
 * counts) -> forest (of all rows, fundamental supernodes) -> partition (relaxed supernodes of a
 * backend) -> rows of each supernode. */
#ifndef ORDERING_ORDERING_H
#define ORDERING_ORDERING_H

#include "base/environment.h"
#include "libsolver_types.h"
#include <stdatomic.h>

/* Where part q of n things in equal parts begins, and where part q - 1 ends: n for q = parts. */
static inline int32_t equal_cut(int32_t n, int parts, int q)
{
    return (int32_t)((int64_t)n * q / parts);
}

/* Lower triangle of a symmetric matrix by columns: rows of column j are row[start[j] ..
 * start[j+1]), ascending, each once, the diagonal first and always present. */
typedef struct pattern {
    int32_t n;
    int64_t *start; /* n + 1 */
    int32_t *row;   /* start[n] */
} pattern;

/* Undirected graph without loops: each edge stored at both ends, neighbours ascending.  weight:
 * vertices of the original graph that each stands for (NULL: one each). */
typedef struct graph {
    int32_t n;
    int64_t *start;    /* n + 1 */
    int32_t *neighbor; /* start[n] */
    int32_t *weight;   /* n or NULL */
} graph;

/* Less work than this takes one thread a few milliseconds, of which others would save a tenth or
 * nothing; and a process that has no team of threads yet needs .1 to several milliseconds to make
 * one. */
#define FRONTS_FOR_THREADS 8192
#define ENTRIES_FOR_THREADS 40000

/* `threads`, or 1 where a team does not pay: for what is done for each of so many fronts, ... */
static inline int threads_for_fronts(int threads, int32_t fronts)
{
    return fronts < FRONTS_FOR_THREADS ? 1 : threads;
}

/* ... and for the dissection of g. */
static inline int threads_for_dissection(int threads, const graph *g)
{
    return g->start[g->n] < ENTRIES_FOR_THREADS ? 1 : threads;
}

/* graph of a pattern.  Owned by the caller; graph_free.  threads, here and below: so many share the
 * work; the result does not depend on them. */
libsolver_status graph_build(memory *m, int threads, const pattern *a, graph *g);
void graph_free(memory *m, graph *g);

/* Merges vertices with equal closed neighbourhoods (adj(v) + v), as the unknowns of a mesh node
 * have [Ashcraft 1995]. class_of: length g->n, out, the vertex of `compressed` that stands for
 * each.  When less than a tenth of the vertices would go, compressed gets n = -1 and no memory. */
libsolver_status graph_compress(memory *m, int threads, const graph *g, graph *compressed,
                                int32_t *class_of);

/* The graph in which the vertices v of each class_of[v] in [0, classes) are one, with weights.  O(n
 * + nnz). */
libsolver_status graph_merge(memory *m, const graph *g, const int32_t *class_of, int32_t classes,
                             graph *merged);

/* perm[k] = vertex eliminated k-th.  Length g->n.  amd: SuiteSparse AMD where weights are equal,
 * otherwise ours, which honours them.  metis: METIS_NodeND with fixed seed, weights honoured; its
 * effects on the host are in metis.c; NOT_BUILT without METIS, and for more edges than its integers
 * can count.  Connected components, vertices of degree 0 and n = 0 are fine. */
libsolver_status order_amd(memory *m, const graph *g, int32_t *perm);
libsolver_status order_metis(memory *m, const graph *g, int32_t *perm);

/* Nested dissection: vertex separators by breadth-first search in lattices, otherwise multilevel
 * ones; minimum degree at the leaves; weights honoured.  thin: parts whose separators have at most
 * so many rows are dissected on where others are leaves; of a band, say, where minimum degree gives
 * one long path and dissection many short ones.  The same permutation from the same seed, for any
 * number of threads.  O(nnz log n). OUT_OF_MEMORY, CANCELLED. */
libsolver_status order_nd(environment *env, const graph *g, uint64_t seed, int32_t thin,
                          int32_t *perm);

/* The caller's control over a dissection that is under way. */
typedef struct nd_watch {
    const atomic_int *stop; /* nonzero: give up, the order is no longer wanted */
    void (*separated)(void *user, int32_t weight); /* NULL, or called with the number of
                                                      rows of the first separator */
    void (*is_no_lattice)(void *user); /* NULL, or called where the graph is no lattice, before its
                                          first separator is looked for, which takes longer then */
    void *user;
    int32_t thin; /* as for order_nd */
} nd_watch;

/* The same by OpenMP tasks of the caller's team of threads; all have finished on return.  CANCELLED
 * after watch->stop. */
libsolver_status order_nd_watched(environment *env, const graph *g, uint64_t seed,
                                  const nd_watch *watch, int32_t *perm);

/* perm of the original graph from one of the compressed graph: classes in order, members ascending
 * inside a class.  class_of: NULL if it is the original graph. */
libsolver_status order_expand(memory *m, int32_t n, const int32_t *class_of, int32_t classes,
                              const int32_t *compressed_perm, int32_t *perm);

/* Elimination forest of P A P^T and its fundamental supernodes, in postorder: column k of the
 * forest is row perm[k] of A. Supernode s has columns [first[s], first[s+1]); its front has
 * `rows[s]` rows, pivot columns included. */
typedef struct forest {
    int32_t n, supernodes;
    int32_t *perm;   /* n: postordered */
    int32_t *parent; /* n: column's parent in the elimination tree, -1 at a root; parent[j] > j */
    int32_t *count;  /* n: entries of column j of L, diagonal included */
    int32_t *first;  /* supernodes + 1 */
    int32_t *rows;   /* supernodes: count of its first column */
    int32_t *above;  /* supernodes: parent supernode, -1 at a root; above[s] > s */
    int64_t factor_nnz;  /* sum of count */
    double factor_flops; /* sum of count^2 */
    int32_t levels;      /* supernodes on the longest path */
    int32_t chain;       /* most columns on a path */
} forest;

/* Predicted seconds of one front with k pivot columns and m rows, for the backend that asks. */
typedef double (*front_cost)(int64_t k, int64_t m);
/* The same when `waiting` further rows pass through the front uneliminated. */
typedef double (*front_seconds)(int64_t k, int64_t m, int64_t waiting);
/* For each vertex of a graph, the number of rows that begin to wait at its front (from) and that
 * stop waiting there (to). */
typedef struct waiting_rows {
    int32_t *from, *to;
    int are_pivots; /* where they stop they become pivots; otherwise they are zero */
} waiting_rows;

/* A front of m rows whose first k are its pivots. */
typedef struct front_size {
    int32_t k, m;
} front_size;

/* The fundamental supernodes in the plain postorder.  Each holds whole vertices of the graph: the
 * rows that one stands for have the same structure and no other children. */
typedef struct supernode_set {
    int32_t number;
    int32_t *of;      /* vertices: supernode of the one eliminated j-th */
    int32_t *first;   /* number: its first column */
    int32_t *above;   /* number: its parent */
    front_size *size; /* number */
} supernode_set;

/* A graph eliminated in some order: its elimination tree, in postorder. */
typedef struct elimination_tree {
    int32_t n;
    int32_t *perm;   /* n: vertex eliminated k-th */
    int32_t *parent; /* n: in the tree, -1 at a root; parent[k] > k */
    int32_t *count;  /* n: entries of the column of L of the first of the rows that vertex perm[k]
                        stands for, diagonal included;  those of the others are one shorter each */
    int64_t factor_nnz; /* the costs, as in forest */
    double factor_flops;
    supernode_set s;
} elimination_tree;

/* perm: any permutation of g's vertices; e gets an equivalent one.  threads, here and in
 * elimination_seconds: of the team that calls, whose tasks then share the work. */
libsolver_status elimination_build(memory *m, int threads, const graph *g, const int32_t *perm,
                                   elimination_tree *e);
void elimination_free(memory *m, elimination_tree *e);
/* seconds: sum of cost over the fronts that a partition by `merge` would have, and `column` for
 * each column on the longest path.  waiting: NULL if no row does; rows stop waiting only at
 * ancestors of where they began, and if they become pivots there, fronts on the way are larger by
 * them.  O(n + supernodes log(supernodes)). */
libsolver_status elimination_seconds(memory *m, int threads, const elimination_tree *e,
                                     front_cost merge, front_seconds cost, double column,
                                     const waiting_rows *waiting, double *seconds);

/* The forest of an elimination of the graph of a matrix of order n; class_of: when it is that of
 * its compressed graph, as from graph_compress, otherwise NULL.  Children come in Liu's order for
 * the least stack.  O(n + supernodes log(supernodes)).  On failure f owns nothing, as all objects
 * here.
 */
libsolver_status forest_of_elimination(memory *m, const elimination_tree *e, int32_t n,
                                       const int32_t *class_of, forest *f);
/* The same from any permutation of A's rows.  O(nnz alpha + supernodes log(supernodes)). */
libsolver_status forest_build(memory *m, const pattern *a, const int32_t *perm, forest *f);
void forest_free(memory *m, forest *f);
/* Only factor_nnz and factor_flops of a permutation. */
libsolver_status forest_cost(memory *m, const pattern *a, const int32_t *perm, int64_t *factor_nnz,
                             double *factor_flops);

/* permuted := lower triangle of P A P^T by columns, of each first the diagonal, the others in any
 * order; its arrays are the caller's.  place, unless NULL: of an entry of A its place there, -1 -
 * it if that is its mirror image.  O(n + nnz). */
libsolver_status pattern_permute(memory *m, int threads, const pattern *a, const int32_t *perm,
                                 pattern *permuted, int64_t *place);

/* Relaxed supernodes: fundamental ones merged with their parents where that lowers the predicted
 * time.  Same meaning as in forest, but supernodes hold explicit zeros, and row lists are there. */
typedef struct partition {
    int32_t n, supernodes;
    int32_t *perm;      /* n: column k is row perm[k] of A */
    int32_t *first;     /* supernodes + 1 */
    int32_t *above;     /* supernodes: parent, -1 at a root; above[s] > s, postordered */
    int64_t *row_start; /* supernodes + 1 */
    int32_t *row; /* rows of the front of s: row[row_start[s] .. row_start[s+1]), ascending; its
                     pivot columns first */
    int64_t stored_nnz; /* sum of k (k + 1) / 2 + k (m - k) over fronts of m rows and k pivots */
} partition;

/* permuted, place: as from pattern_permute for p's order, both or none. */
libsolver_status partition_build(memory *m, int threads, const pattern *a, const forest *f,
                                 front_cost cost, partition *p, pattern *permuted, int64_t *place);
void partition_free(memory *m, partition *p);

/* Validators for debug builds and tests: NULL if all invariants hold, otherwise what is broken (a
 * static string). */
const char *pattern_check(const pattern *a);
const char *graph_check(const graph *g);
const char *permutation_check(memory *m, int32_t n, const int32_t *perm);
const char *forest_check(const forest *f);
const char *partition_check(const partition *p);

#endif
