/* gpu/substitute/substitution.h: the solve of a tree with the factor as it is: what the host plans
 * and the device runs
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Diagonal blocks of up to SUBSTITUTE_ROWS pivots are inverted when a factor is taken, into the
 * unused triangle above them; otherwise the factor is read as it is:
 *
 *     forward    pivots:  z = L_K^-1 (b + what children passed up - L z before)
 *                below:   what children passed up - L z, passed up
 *     backward   pivots:  x = L_K^-H (D^-1 z - L^H x behind)
 *
 * A large node is solved with in blocks of rows, each a task.  Small nodes go together in bundles:
 * pieces of the tree whose panels fit into the shared memory of a block of threads, each a task a
 * sweep, in which values go from node to node in shared memory.  Tasks are taken in their order,
 * in which each comes behind those whose values it reads: forward tasks, then backward ones.  A
 * value that another task may read is published once a launch, in a packet: z of position c in
 * packet c, its x in packet n + c, and what goes up from row number q of all nodes in packet
 * 2 n + q. */
#ifndef GPU_SUBSTITUTE_SUBSTITUTION_H
#define GPU_SUBSTITUTE_SUBSTITUTION_H

#include <stdint.h>

/* ROWS: most pivots of a block, and rows of a large node's task; COLUMNS: most right-hand sides of
 * a task.  A bundle's tables and panels have at most BUNDLE_BYTES, its fronts BUNDLE_SLOTS rows. */
enum {
    SUBSTITUTE_ROWS = 64,
    SUBSTITUTE_WARPS = 8,
    SUBSTITUTE_COLUMNS = 8,
    SUBSTITUTE_NARROW = 16, /* most pivots of a block that half a warp inverts */
    BUNDLE_BYTES = 30720,
    BUNDLE_SLOTS = 512
};

/* sources: where those of its rows begin in source_start; only large nodes have them. */
typedef struct substitution_node {
    int64_t panel;     /* scalars from the panels' begin */
    int64_t row_start; /* of the rows below, among those of all nodes */
    int32_t first, columns, rows, ld, sources;
} substitution_node;

/* `bytes` bytes from byte `from` of the tables (a bundle's first copy) or of the panels to byte
 * `to` of a bundle's memory; all three are multiples of 16. */
typedef struct substitution_copy {
    int64_t from;
    int32_t to, bytes;
} substitution_copy;

/* Rows [from, to) of the front of `node`, all of them pivots or none; backward only pivots.  node <
 * 0: a bundle, which has `bytes` bytes in all, by its first copies and those numbered [from, to).
 */
enum { FIRST_COPIES = 3 };
typedef struct substitution_task {
    int32_t node, from, to, bytes;
    substitution_copy first[FIRST_COPIES]; /* bytes 0: there are no more */
} substitution_task;

/* A diagonal block of `order` > 1 pivots, scalar `at` of the panels; large: its node is. */
typedef struct substitution_block {
    int64_t at;
    int32_t ld;
    int16_t order, large;
} substitution_block;

/* A bundle's table: a head, then what it says at these numbers of words from it.  Each row of the
 * front of each of its nodes has a slot of shared memory: of pivots z, then x; of rows below what
 * goes up, then the x that the node reads.
 *     level    levels + 1: the first node of each; children come in earlier levels
 *     node     by levels; a multiple of 4
 *     user     for each slot: the row of A of a pivot, -1: it is a row below
 *     at       for each slot: the position of a pivot; for a row below where its x is, a slot or ~
 * a packet outside  for each slot, and one more: its first code in `code` of those that are
 * packets, inside   and of those that are slots, behind them; both are added in their order
 */
typedef struct bundle_head {
    int32_t nodes, levels, slots, level, node, user, at, outside, inside, code, reserved[2];
} bundle_head;
/* panel: scalars from the begin of the bundle's memory; shape: its columns, and its rows below <<
 * 8; slot: of the first row of its front; up: the packet of its first row below, -1: nobody outside
 * reads it. */
typedef struct bundle_node {
    int32_t panel, ld, shape, slot, first, up, reserved[2];
} bundle_node;

/* source_start: for row i of the front of a large node, number sources + i, begin of its sources:
 * rows of children, which are added in this order. */
typedef struct substitution {
    int32_t n, nodes, forward_tasks, tasks, copies, blocks, narrow_blocks;
    int64_t rows; /* below all nodes */
    int64_t table_words;
    substitution_node *node;
    const int32_t *row;    /* rows: positions; the tree's, or ... */
    int32_t *own_row;      /* ... these, where there are groups (grouped_tree.h) */
    int32_t sources;       /* rows of the fronts of large nodes */
    int32_t *source_start; /* sources + 1 */
    int32_t *source;       /* source_start[sources] */
    int32_t *table;        /* of all bundles */
    substitution_copy *copy;
    substitution_task *task;
    substitution_block *block; /* the first narrow_blocks have at most SUBSTITUTE_NARROW pivots */
} substitution;

/* Packets of one right-hand side. */
static inline int64_t substitution_packets(const substitution *s)
{
    return 2 * (int64_t)s->n + s->rows;
}

#endif
