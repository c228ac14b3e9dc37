/* gpu/factor/groups.h: fronts with very many children, whose blocks are summed in groups first
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Whoever assembles a front adds its children's blocks one after the other.  Where there are
 * thousands, that is all the time of a factorization, and one block of threads spends it.  So they
 * are cut into groups, each a front without pivots whose block is the sum of its children's, and
 * groups into groups, until few are left.  Consecutive leaves have groups of their own. */
#ifndef GPU_FACTOR_GROUPS_H
#define GPU_FACTOR_GROUPS_H

#include "base/factor_pattern.h"
#include "base/memory.h"
#include "libsolver_types.h"

/* The tree of a program: the fronts of the pattern, then groups, those of one front behind one
 * another in the order of that front. */
typedef struct factor_groups {
    int32_t nodes, fronts; /* of the pattern; with groups */
    int32_t *above;        /* fronts: parent, -1 at a root */
    int32_t *visit;        /* fronts: all of them, children before parents; a group is visited
                              between its parent and the front before that in the pattern */
    int32_t *rows;         /* fronts */
    int64_t *row_start;    /* fronts: where the positions of a front's rows begin */
    int32_t *position;     /* as factor_pattern's, of all fronts; NULL: there are no groups, and the
                              pattern's holds */
    int64_t positions;
    int32_t *first_leaf; /* fronts - nodes: of a group of leaves the first, the others being
                            numbered consecutively; -1: another group */
} factor_groups;

/* One warp factorizes the leaves of a group and forms its block; their own blocks are not stored:
 * see factorize_group_of_leaves. */
enum { FACTOR_SUMMED_LEAVES = 32 /* most of a group */ };

/* wide: most children of a front that are left as they are; together: least of a group, where there
 * are so many; leaf_rows: most of a leaf, and of a group of leaves, 0: there are none.  Depends on
 * nothing but these and the pattern.  O(positions log positions). OUT_OF_MEMORY, NOT_BUILT (2^31
 * fronts or more); factor_groups_free in every case. */
libsolver_status factor_groups_find(memory *m, const factor_pattern *pattern, int32_t wide,
                                    int32_t together, int32_t leaf_rows, factor_groups *groups);
void factor_groups_free(memory *m, factor_groups *groups);

#endif
