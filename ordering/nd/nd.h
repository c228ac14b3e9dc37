/* ordering/nd/nd.h: the parts of nested dissection, one file each
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * All of them draw random numbers from the stream they are given and what they compute depends on
 * nothing else.  They are serial but for the contraction of large graphs, whose result does not
 * depend on threads either.  Sums of vertex weights fit in int32 (they count vertices of the
 * original graph). */
#ifndef ORDERING_ND_H
#define ORDERING_ND_H

#include "base/environment.h"
#include "base/hash.h"
#include "ordering/minimum_degree.h"
#include "ordering/ordering.h"

typedef struct nd_random {
    uint64_t state;
} nd_random;

static inline uint32_t nd_draw(nd_random *r)
{
    return (uint32_t)(hash64(r->state += HASH64_STEP) >> 32);
}

/* 0 .. bound - 1 */
static inline int32_t nd_below(nd_random *r, int32_t bound)
{
    return (int32_t)((uint64_t)nd_draw(r) * (uint64_t)bound >> 32);
}

/* Sides of a separation: no edge joins LEFT and RIGHT. */
enum { LEFT, RIGHT, SEPARATOR };

typedef struct separation {
    unsigned char *side; /* n */
    int32_t weight[3];   /* of each side */
    int is_level;        /* by nd_cut_lattice */
} separation;

/* Vertices in clusters of neighbours joined by strong edges, none heavier than `heaviest` unless it
 * is one vertex.  class_of: n, the cluster of each, numbered by its first vertex.  Returns the
 * number of clusters, or -1 for lack of memory. */
int32_t nd_cluster(arena *scratch, const weighted_graph *g, int32_t heaviest, nd_random *r,
                   int32_t *class_of);
/* The graph whose vertices are the clusters.  0 for lack of memory. */
int nd_contract(arena *scratch, const weighted_graph *g, const int32_t *class_of, int32_t classes,
                weighted_graph *coarse);

/* Workspace of refinement for graphs of up to n vertices. */
typedef struct refiner refiner;
refiner *nd_refiner(arena *scratch, int32_t n);

/* Lowers the separator's weight by moving its vertices to either side, neither heavier than
 * `heaviest` if that can be had.  Stops after `passes` or when nothing is gained. */
void nd_refine(refiner *w, const weighted_graph *g, int32_t heaviest, int passes, nd_random *r,
               separation *s);
/* Grows LEFT from a random vertex until it weighs `until`, everything else being RIGHT or
 * SEPARATOR. */
void nd_grow(refiner *w, const weighted_graph *g, int32_t until, nd_random *r, separation *s);

/* Side weights that a separator may leave: 60 % of the whole, more where single vertices are
 * heavy. */
static inline int32_t nd_heaviest_side(const weighted_graph *g)
{
    return (int32_t)((int64_t)g->total * 3 / 5);
}

/* A separation of g at one distance from a vertex at its edge, s->is_level = 1, where that is as
 * good as any, as in a lattice; otherwise s->is_level = 0 and the rest of s is undefined.  depth:
 * of g in the dissection; a part, depth > 0, is one of a lattice and need not be tested again.
 * O(nnz), mostly much less where g is no lattice.  OUT_OF_MEMORY. */
libsolver_status nd_cut_lattice(arena *scratch, const weighted_graph *g, int depth, nd_random *r,
                                separation *s);

/* A separation of g, the best of `tries` on a coarser graph; of several the better of two rivals is
 * chosen on g itself, or, rivals == 1, where they are tried.  OUT_OF_MEMORY; CANCELLED when *stop
 * is no longer zero, unless stop is NULL. */
libsolver_status nd_bisect(arena *scratch, const weighted_graph *g, int tries, int rivals,
                           const atomic_int *stop, nd_random *r, separation *s);

#endif
