/* gpu/tree/tree_shape.h: what of a factor a program of its solve depends on: all but the values
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_TREE_TREE_SHAPE_H
#define GPU_TREE_TREE_SHAPE_H

#include "base/memory.h"
#include "base/message.h"
#include "base/factor_tree.h"

/* Copies of a tree's arrays, and where its 2x2 pivots are. */
typedef struct tree_shape {
    libsolver_type type;
    int hermitian, cholesky;
    int32_t n, nodes;
    int32_t *first, *above; /* see factor_tree */
    int64_t *row_start;
    int32_t *row, *ld, *user_row;
    unsigned char *joined; /* n: positions c and c + 1 are a 2x2 pivot */
    unsigned char *seen;   /* n: workspace */
} tree_shape;

/* OUT_OF_MEMORY; nothing is owned then. */
libsolver_status tree_shape_copy(memory *m, const factor_tree *tree, tree_shape *shape);
/* Whether a tree has just this shape; a zeroed one, which no tree has, is allowed.  O(n + nodes +
 * rows), nothing is allocated. */
int tree_shape_is(const tree_shape *shape, const factor_tree *tree);
void tree_shape_free(memory *m, tree_shape *shape);
/* joined(c), length n, out: nonzero where positions c and c + 1 are a 2x2 pivot. */
void tree_joined_s(const factor_tree *tree, unsigned char *joined);
void tree_joined_d(const factor_tree *tree, unsigned char *joined);
void tree_joined_c(const factor_tree *tree, unsigned char *joined);
void tree_joined_z(const factor_tree *tree, unsigned char *joined);
/* Entries of L. */
int64_t tree_entries(const factor_tree *tree);

#endif
