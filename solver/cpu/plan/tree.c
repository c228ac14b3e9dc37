/* solver/cpu/plan/tree.c: the end of a view of a factor
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/cpu/plan/tree.h"
#include <string.h>

void cpu_tree_free(memory *m, cpu_tree *tree)
{
    for (int i = 0; i < tree->arrays; i++)
        memory_free(m, tree->array[i]);
    memset(tree, 0, sizeof *tree);
}
