/* solver/cpu/plan/tree.h: a factor of the CPU backend as dense blocks over a tree
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOLVER_CPU_PLAN_TREE_H
#define SOLVER_CPU_PLAN_TREE_H

#include "base/owned_tree.h"

/* numeric: of the CPU backend of that precision, with a factor.  OUT_OF_MEMORY. */
libsolver_status cpu_tree_view_s(const void *numeric, owned_tree *tree);
libsolver_status cpu_tree_view_d(const void *numeric, owned_tree *tree);
libsolver_status cpu_tree_view_c(const void *numeric, owned_tree *tree);
libsolver_status cpu_tree_view_z(const void *numeric, owned_tree *tree);

#endif
