/* test/support/tree_shapes.h: patterns whose elimination trees branch, and what trees and groups a
 * test has really seen, of one precision (-DPREC_x)
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_SUPPORT_TREE_SHAPES_H
#define TEST_SUPPORT_TREE_SHAPES_H

#include "cpu_system.h"
#include "gpu/tree/groups.h"

/* a and b side by side, without an entry between them; both taken over. */
pattern pattern_beside(pattern a, pattern b);
/* Grids in two and three dimensions, some with several unknowns at a point, sparse random graphs,
 * cliques around a hub, and up to three of these side by side. */
pattern branching_pattern(random_stream *r);

/* A system of a branching pattern in an order drawn at random: of all kinds of values, Hermitian or
 * not where that makes a difference, some with columns that wait for their pivots and some with
 * rows of zeros. */
typedef struct branching_system {
    cpu_system *s; /* the caller's */
    int kind;
    int32_t zeros;       /* rows of zeros */
    unsigned char *zero; /* n */
} branching_system;

void branching_build(branching_system *q, cpu_system *s, random_stream *r);
/* The system too. */
void branching_free(branching_system *q);
/* New values of the same kind, with the same rows of zeros. */
scalar *branching_values(const branching_system *q, random_stream *r);
/* A right-hand side for which there is a solution if only rows of zeros make the matrix
 * singular. */
scalar *branching_b(const branching_system *q, random_stream *r);
/* Whether it has one. */
int branching_is_solvable(const branching_system *q);

/* Trees that a test has seen, and how many of them ... */
typedef struct tree_shapes {
    int trees, branching, uneven, forests, high; /* have a node with several children, with some of
                                                    different height; several roots; four levels */
    int cholesky, pairs, delayed, singular, hermitian;
    int groups_branching, groups_uneven; /* the same of groups of nodes */
    int32_t most_nodes, most_height;
} tree_shapes;

void note_tree(tree_shapes *s, const branching_system *q, const factor_tree *tree);
void note_groups(tree_shapes *s, const groups *g);
/* Prints them, and fails unless each kind was seen in so many of 100 trees at least: branching,
 * uneven and high in half of them. */
void check_shapes(const tree_shapes *s, int with_groups);

#endif
