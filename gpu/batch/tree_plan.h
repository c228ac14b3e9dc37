/* gpu/batch/tree_plan.h: the solve by substitution of a pattern's factors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_BATCH_TREE_PLAN_H
#define GPU_BATCH_TREE_PLAN_H

#include "base/memory.h"
#include "gpu/substitute/substitution.h"
#include "libsolver_types.h"

struct factor_pattern;
struct factor_program;

/* Whether items of the pattern are solved with so: there are many fronts. */
int batch_solves_by_tree(const struct factor_pattern *pattern);
/* OUT_OF_MEMORY, INTERNAL; substitution_free in every case. */
libsolver_status batch_tree_plan(memory *m, const struct factor_program *program,
                                 const struct factor_pattern *pattern, libsolver_type type,
                                 substitution *s);

#endif
