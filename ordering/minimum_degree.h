/* ordering/minimum_degree.h: approximate minimum degree on a weighted graph or on a part of one
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ORDERING_MINIMUM_DEGREE_H
#define ORDERING_MINIMUM_DEGREE_H

#include "libsolver_types.h"
#include "ordering/arena.h"

/* A graph with weights: weight(v) vertices of the original one in v, strength(p) of its edges in
 * edge p, as far as int32 can count. */
typedef struct weighted_graph {
    int32_t n;
    int32_t total; /* sum of weight */
    int64_t *start;
    int32_t *neighbor;
    int32_t *weight;
    int32_t *strength; /* NULL: all one */
} weighted_graph;

/* Minimum degree on vertices 0 .. own-1 of g, the others (the halo) being eliminated later; edges
 * between halo vertices may be missing from g.  order: own. */
libsolver_status minimum_degree(arena *scratch, const weighted_graph *g, int32_t own,
                                int32_t *order);

#endif
