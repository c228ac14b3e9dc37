/* gpu/substitute/bundle_table.h: what flows into the rows of nodes, and the tables of bundles
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_SUBSTITUTE_BUNDLE_TABLE_H
#define GPU_SUBSTITUTE_BUNDLE_TABLE_H

#include "gpu/substitute/bundles.h"

/* What plans are written from.  owner: n, the node of each position; place: n, workspace of
 * list_sources, -1 before its first call; slot, panel: nodes, of the first row of each
 * front and of the panel in its bundle. */
typedef struct substitution_draft {
    const factor_tree *tree;
    const tree_children *children;
    const int64_t *panel_at;
    const bundles *units;
    const substitution_node *node;
    const int32_t *owner;
    int32_t *place, *slot, *panel;
} substitution_draft;

/* What is added to rows of fronts: of row i of the one at hand code[start[i]] ..
 * code[start[i + 1] - 1].  start[0] is given. */
typedef struct source_list {
    int32_t *start, *code;
} source_list;

/* The sources of the front of node v, in the order of its children, their rows ascending: rows of
 * all nodes by number, of children in this unit in `inside`, if there is such a list, as slots, and
 * of the others in `outside` as packets.  INTERNAL: a child has a row that the front has not. */
libsolver_status list_sources(const substitution_draft *d, int32_t v, source_list outside,
                              const source_list *inside);

/* Words of the table of unit u, a bundle: a multiple of 4. */
int64_t bundle_words(const substitution_draft *d, int32_t u);
/* That table, word number `at` of all tables, and its copies, of which the first is the table's;
 * *copies is moved past them.  INTERNAL as above. */
libsolver_status bundle_write(const substitution_draft *d, int32_t u, int64_t at, int32_t *table,
                              substitution_copy **copies);

#endif
