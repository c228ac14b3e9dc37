/* base/owned_tree.c: frees a view of a factor
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/owned_tree.h"
#include <string.h>

void owned_tree_free(memory *m, owned_tree *tree)
{
    for (int i = 0; i < tree->arrays; i++)
        memory_free(m, tree->array[i]);
    memset(tree, 0, sizeof *tree);
}
