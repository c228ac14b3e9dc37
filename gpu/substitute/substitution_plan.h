/* gpu/substitute/substitution_plan.h: from a factor to its solve by substitution
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_SUBSTITUTE_SUBSTITUTION_PLAN_H
#define GPU_SUBSTITUTE_SUBSTITUTION_PLAN_H

#include "base/memory.h"
#include "base/factor_tree.h"
#include "gpu/substitute/substitution.h"

/* panel_at(s), nodes: scalars from the panels' begin to that of node s; joined(c), n: positions c
 * and c + 1 are a 2x2 pivot.  OUT_OF_MEMORY, INTERNAL; nothing is owned then. */
libsolver_status substitution_build(memory *m, const factor_tree *tree, const unsigned char *joined,
                                    const int64_t *panel_at, substitution *s);
void substitution_free(memory *m, substitution *s);

#endif
