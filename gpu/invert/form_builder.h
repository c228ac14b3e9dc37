/* gpu/invert/form_builder.h: what the steps of making a former's tables share
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_INVERT_FORM_BUILDER_H
#define GPU_INVERT_FORM_BUILDER_H

#include "gpu/invert/form_tables.h"

typedef struct form_builder {
    memory *m;
    const factor_tree *tree;
    const unsigned char *joined;
    const pieces *p;
    const groups *g;
    const solve_plan *plan;
    const int64_t *panel_at;
    form_tables *t;
    int32_t *first_tile; /* groups */
    int32_t *order;      /* groups: small, small roots, then the others, the widest first */
    int32_t smalls, small_tops;
    int32_t *place;  /* n: of positions below the group at hand */
    int32_t *padded; /* n, by columns of groups: in strips */
} form_builder;

/* form_launches.c: workspace, items and launches of the tiled groups, which are listed; limit: of a
 * batch's workspace, in bytes. */
void form_add_launches(form_builder *b, int64_t limit);

#endif
