/* solver/order/candidate.h: orders to choose from, with what they will cost
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOLVER_ORDER_CANDIDATE_H
#define SOLVER_ORDER_CANDIDATE_H

#include "base/backend.h"
#include "ordering/ordering.h"
#include "solver/libsolver.h"
#include "solver/matching/matching.h"

/* An order with its elimination: of the compressed graph's vertices or, unless by_classes, of the
 * rows. */
typedef struct candidate {
    elimination_tree e; /* .perm NULL: not found yet */
    int by_classes;
    double seconds; /* predicted, of a factorization with ten solves */
    libsolver_ordering method;
} candidate;

/* Everything an order is chosen from. */
typedef struct choice {
    environment *env;
    memory *m;
    const backend_costs *costs;
    const graph *g;
    graph compressed; /* .n = -1: nothing to compress */
    int32_t *class_of;
    int paired;    /* the compressed graph is one of 2x2 pivots, whose rows are not alike */
    int may_scale; /* the matching that has paired them may scale the matrix as well */
    const matching *matched;  /* of its rows; NULL: not known */
    unsigned char *has_pivot; /* rows: whether the diagonal has one; NULL: none will wait for one */
    int for_many_solves;      /* very many solves: the time of the analysis does not matter */
    candidate amd;
} choice;

/* The graph to be ordered. */
static inline const graph *choice_graph(const choice *c)
{
    return c->compressed.n < 0 ? c->g : &c->compressed;
}

/* nd_watch.thin of dissections. */
int32_t candidate_thin(const choice *c);
/* The order by one method; watch: of nested dissection, or NULL; with it, the tasks are those of
 * the caller's team. */
libsolver_status candidate_find(const choice *c, libsolver_ordering method, const nd_watch *watch,
                                candidate *k);
/* AMD's, once. */
libsolver_status candidate_find_amd(choice *c);
/* Its seconds once more, now that has_pivot is known. */
libsolver_status candidate_delay_amd(choice *c);

#endif
