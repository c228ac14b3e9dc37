/* base/owned_tree.h: a factor_tree with the arrays that were made for it
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef BASE_OWNED_TREE_H
#define BASE_OWNED_TREE_H

#include "base/factor_tree.h"
#include "base/memory.h"

/* The factor itself stays its backend's, and must outlive this unchanged. */
typedef struct owned_tree {
    factor_tree view;
    void *array[9];
    int arrays;
} owned_tree;

void owned_tree_free(memory *m, owned_tree *tree);

#endif
