/* gpu/substitute/bundles.h: a tree cut into bundles of small nodes and large nodes
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_SUBSTITUTE_BUNDLES_H
#define GPU_SUBSTITUTE_BUNDLES_H

#include "base/factor_tree.h"
#include "base/memory.h"
#include "gpu/substitute/substitution.h"

/* The children of each node of a tree, ascending: child[start[v]] .. child[start[v + 1] - 1]. */
typedef struct tree_children {
    int32_t *start, *child;
} tree_children;

/* start: nodes + 2; child: nodes. */
void tree_children_find(const factor_tree *tree, const tree_children *children);

/* The row of the front of v that position c is; -1: none.  place: n, of the rows below v their
 * numbers, of others anything. */
static inline int32_t row_in_front(const factor_tree *tree, const int32_t *place, int32_t v,
                                   int32_t c)
{
    const int32_t columns = tree->first[v + 1] - tree->first[v], at = place[c];
    if (c >= tree->first[v] && c < tree->first[v + 1])
        return c - tree->first[v];
    return at >= 0 && at < tree->row_start[v + 1] - tree->row_start[v] &&
                   tree->row[tree->row_start[v] + at] == c
               ? columns + at
               : -1;
}

/* Units are numbered so that each comes behind those below it.  unit u has the nodes
 * node[start[u]] .. node[start[u + 1] - 1], by levels within it, then ascending. */
typedef struct bundles {
    int32_t units;
    int32_t *start;
    int32_t *node;
    int32_t *ascending;   /* the nodes of each unit by number */
    int32_t *level;       /* of each node within its unit */
    int32_t *unit;        /* of each node */
    unsigned char *large; /* units: of one node, whose blocks of rows are tasks */
} bundles;

/* Words of a bundle's table, beside what it has once, for a node with so many sources. */
int64_t bundle_node_words(int64_t columns, int64_t rows, int64_t sources);
/* Bytes [*from, *from + what is returned) of the panels hold the columns of node v, both multiples
 * of 16. */
int64_t bundle_panel_bytes(const factor_tree *tree, const int64_t *panel_at, int32_t v,
                           int64_t *from);

/* OUT_OF_MEMORY; nothing is owned then. */
libsolver_status bundles_make(memory *m, const factor_tree *tree, const tree_children *children,
                              const int64_t *panel_at, bundles *b);
void bundles_free(memory *m, bundles *b);

#endif
