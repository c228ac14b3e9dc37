/* gpu/invert/tables_builder.h: what the steps of building the tables share
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_INVERT_TABLES_BUILDER_H
#define GPU_INVERT_TABLES_BUILDER_H

#include "gpu/invert/tables.h"

typedef struct tables_builder {
    memory *m;
    const factor_tree *tree;
    const unsigned char *joined;
    const pieces *p;
    const groups *g;
    const solve_plan *plan;
    const int64_t *panel_at;
    const column_progress *progress;
    invert_tables *t;
    int32_t *first_tile; /* groups */
    int32_t *order;      /* groups: small ones class by class, small roots, then in tiles, each by
                            columns, most first */
    int32_t smalls;
    int32_t *place;  /* n, by position: number in l of the rows below the group at hand */
    int32_t *padded; /* n, by columns of groups: padded column */
} tables_builder;

/* tasks.c: places in the workspace, items, tasks and batches of the tiled groups, which are in the
 * tables already; limit: bytes of workspace of a batch. */
void tables_add_tasks(tables_builder *b, int64_t limit);

#endif
