/* gpu/invert/form_tables.h: what a device is told of the pattern to form the values of a program
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_INVERT_FORM_TABLES_H
#define GPU_INVERT_FORM_TABLES_H

#include "gpu/invert/form_device.h"
#include "gpu/plan/plan.h"

typedef struct form_tables {
    form_pattern pattern;         /* its arrays are in these */
    int32_t *of_small, *of_tiled; /* the groups that they are */
    buffer pieces, map, smalls, tiled, strips, tops, items, parts, launches;
    int32_t *column_piece, *pivot_at16, *pivot_position;
} form_tables;

/* panel_at(s), nodes: scalars from the panels' begin to that of node s.  joined: see
 * plan_build.  limit: bytes of workspace, exceeded where one group needs more.  OUT_OF_MEMORY;
 * nothing is owned then.  z_row stays the plan's. */
libsolver_status form_tables_build(memory *m, const factor_tree *tree, const unsigned char *joined,
                                   const pieces *p, const groups *g, const solve_plan *plan,
                                   const int64_t *panel_at, int64_t limit, form_tables *t);
/* Frees what only the device reads: counts, launches, tiled groups and numbers of groups stay. */
void form_tables_trim(memory *m, form_tables *t);
void form_tables_free(memory *m, form_tables *t);

#endif
