/* solver/cpu/plan/tree.h: a factor of the CPU backend as dense blocks over a tree
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOLVER_CPU_PLAN_TREE_H
#define SOLVER_CPU_PLAN_TREE_H

#include "base/memory.h"
#include "base/factor_tree.h"

/* The view of a factor and the arrays that belong to it; the factor must outlive it unchanged. */
typedef struct cpu_tree {
    factor_tree view;
    void *array[9];
    int arrays;
} cpu_tree;

/* numeric: of the CPU backend of that precision, with a factor.  OUT_OF_MEMORY. */
libsolver_status cpu_tree_view_s(const void *numeric, cpu_tree *tree);
libsolver_status cpu_tree_view_d(const void *numeric, cpu_tree *tree);
libsolver_status cpu_tree_view_c(const void *numeric, cpu_tree *tree);
libsolver_status cpu_tree_view_z(const void *numeric, cpu_tree *tree);
void cpu_tree_free(memory *m, cpu_tree *tree);

#endif
