/* base/owned_tree.h: a factor_tree and the arrays allocated for it
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef BASE_OWNED_TREE_H
#define BASE_OWNED_TREE_H

#include "base/factor_tree.h"
#include "base/memory.h"

/* The factor's values remain the backend's; they must outlive this view and not change. */
typedef struct owned_tree {
    factor_tree view;
    void *array[10];
    int arrays;
} owned_tree;

void owned_tree_free(memory *m, owned_tree *tree);

#endif
