/* gpu/invert/tables.h: the tables by which a device inverts the groups of a program
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_INVERT_TABLES_H
#define GPU_INVERT_TABLES_H

#include "gpu/invert/device_invert.h"
#include "gpu/plan/plan.h"

typedef struct invert_tables {
    invert_pattern pattern;       /* its arrays are in these */
    int32_t *of_small, *of_tiled; /* the groups that they are */
    buffer pieces, map, smalls, tiled, strips, roots, items, parts, tasks, batches, waits;
    int32_t *column_piece, *pivot_at16, *pivot_position, *column_wait;
} invert_tables;

/* A factor with the groups and the program of its solve. */
typedef struct invert_input {
    const factor_tree *tree;
    const unsigned char *joined; /* see plan_build */
    const pieces *p;
    const groups *g;
    const solve_plan *plan;          /* its z_row is used without a copy */
    const int64_t *panel_at;         /* see device_factor */
    const column_progress *progress; /* of the factorization, NULL: it is over before */
} invert_input;

/* limit: bytes of workspace, exceeded where one group needs more.  OUT_OF_MEMORY; nothing is owned
 * then. */
libsolver_status invert_tables_build(memory *m, const invert_input *input, int64_t limit,
                                     invert_tables *t);
/* Frees what only the device reads; counts, batches, tiled groups and numbers of groups stay. */
void invert_tables_trim(memory *m, invert_tables *t);
void invert_tables_free(memory *m, invert_tables *t);

#endif
