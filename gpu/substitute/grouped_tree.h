/* gpu/substitute/grouped_tree.h: nodes with very many children, whose values are summed in groups
 * first
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * What children pass up to a row is added one after the other.  Where thousands have the same row,
 * that is all the time of a solve.  So they are cut into groups as a factorization cuts them
 * (gpu/factor/groups.h), each a node without pivots: its rows are those of its children, and what
 * it passes up is their sums.  Backward nobody waits for it, since rows ask for x where it is
 * found. */
#ifndef GPU_SUBSTITUTE_GROUPED_TREE_H
#define GPU_SUBSTITUTE_GROUPED_TREE_H

#include "base/factor_tree.h"
#include "base/memory.h"

typedef struct grouped_tree {
    factor_tree view; /* with groups; of its arrays by nodes only first, above, row_start, row
                         and ld are to be read */
    const int64_t *panel_at; /* view's nodes + 1; a group has no scalars */
    /* what is owned of these; NULL where there are no groups and the arrays are the tree's */
    int32_t *first, *above, *row, *ld;
    int64_t *row_start, *panels;
} grouped_tree;

/* panel_at: the tree's nodes + 1.  Depends on the tree alone.  OUT_OF_MEMORY, INTERNAL: a child has
 * a row that its parent has not; grouped_tree_free in every case. */
libsolver_status grouped_tree_make(memory *m, const factor_tree *tree, const int64_t *panel_at,
                                   grouped_tree *g);
void grouped_tree_free(memory *m, grouped_tree *g);

#endif
