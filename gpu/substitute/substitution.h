/* gpu/substitute/substitution.h: the solve of a tree by substitution with the factor as it is: what
 * the host plans and the device runs
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A node of p columns with r rows below is solved with in blocks of up to SUBSTITUTE_ROWS rows,
 * each a task:
 *
 *     forward    pivots:   z = L_K^-1 (b + what children passed up - L z before)     below: what
 * children passed up - L z, passed up backward   pivots:   x = L_K^-H (D^-1 z - L^H x behind)
 *
 * where a node is small, it is part of a task of several, a warp each.  Tasks are taken in their
 * order, in which each comes behind those whose values it reads: forward tasks, then backward
 * ones.  A value is published once a launch, in a packet: z of position c in packet c, its x in
 * packet n + c, and what goes up from row number q of all nodes in packet 2 n + q. */
#ifndef GPU_SUBSTITUTE_SUBSTITUTION_H
#define GPU_SUBSTITUTE_SUBSTITUTION_H

#include <stdint.h>

/* SMALL: most columns, and rows with them, of a small node; WARPS: small nodes of a task; COLUMNS:
 * most right-hand sides of one. */
enum {
    SUBSTITUTE_ROWS = 64,
    SUBSTITUTE_WARPS = 8,
    SUBSTITUTE_SMALL = 32,
    SUBSTITUTE_SMALL_FRONT = 128,
    SUBSTITUTE_COLUMNS = 4
};

typedef struct substitution_node {
    int64_t panel;     /* scalars from the panels' begin */
    int64_t row_start; /* of the rows below, among those of all nodes */
    int32_t first, columns, rows, ld;
} substitution_node;

/* Rows [from, to) of the front of `node`, all of them pivots or none; backward only pivots.  node <
 * 0: small nodes small[from .. to). */
typedef struct substitution_task {
    int32_t node, from, to, reserved;
} substitution_task;

/* source_start: for row i of the front of node s, number first + row_start + i, begin of its
 * sources: rows of children, which are added in this order. */
typedef struct substitution {
    int32_t n, nodes, smalls, forward_tasks, tasks;
    int64_t rows; /* below all nodes */
    substitution_node *node;
    const int32_t *row;    /* rows: positions; the tree's */
    int32_t *source_start; /* n + rows + 1 */
    int32_t *source;       /* source_start[n + rows] */
    int32_t *small;
    substitution_task *task;
} substitution;

/* Packets of one right-hand side. */
static inline int64_t substitution_packets(const substitution *s)
{
    return 2 * (int64_t)s->n + s->rows;
}

#endif
