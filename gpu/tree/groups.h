/* gpu/tree/groups.h: which columns of the factor are inverted together
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Pieces are blocks of consecutive columns of one node of the tree, at first whole nodes; groups
 * are connected sets of pieces.  With the columns of a group in order of elimination, and the R
 * rows below those of its top piece, L of the group is [L_K; L_R], (k + R) x k.  The solve works
 * with M = L_K^-1 and W = -L_R M:
 *
 *     forward:   z = D^-1 M f,  and W f goes to the ancestors
 *     backward:  x = M^T z + W^T x_R
 *     a root:    x = G f,  G = M^T D^-1 M                               (^H for Hermitian matrices)
 *
 * where f is the right-hand side plus what descendants passed up.
 *
 * G saves a step, but where D is ill-conditioned its rows lose what they have in common: such a
 * root is solved with like the others (without_inverse).
 *
 * Every row of a descendant's W lies in the columns or rows of the next group above it, since rows
 * of a front below its pivots are rows of its parent's front. */
#ifndef GPU_TREE_GROUPS_H
#define GPU_TREE_GROUPS_H

#include "base/memory.h"
#include "base/factor_tree.h"

typedef struct pieces {
    int32_t count;
    int32_t *node;                  /* count */
    int32_t *begin, *end;           /* count: columns of the node, begin < end */
    int32_t *above;                 /* count: the piece next above, -1 at a root; above[i] > i */
    unsigned char *alone;           /* count: must be a group by itself */
    unsigned char *without_inverse; /* count: a root with this piece has no G */
} pieces;

typedef struct groups {
    int32_t count;
    int32_t *piece_start, *piece; /* count + 1; pieces: ascending in each group, the last is its top
                                   */
    int32_t *of_piece;            /* pieces */
    int32_t *above;               /* count: the group next above, -1 at a root; above[g] > g */
    int32_t *height;           /* count: 0 without children, otherwise 1 + the greatest of theirs */
    int32_t *column_start;     /* count + 1: k, summed */
    int32_t *column;           /* n: positions of each group's columns, ascending */
    int64_t *row_start;        /* count + 1: R, summed */
    int32_t *row;              /* positions of the rows below */
    int32_t *group_of, *local; /* n: group of a position, and its place among the columns there */
    unsigned char *without_inverse; /* count */
    int32_t heights;                /* 1 + greatest height */
} groups;

static inline int32_t group_columns(const groups *g, int32_t i)
{
    return g->column_start[i + 1] - g->column_start[i];
}
static inline int32_t group_rows(const groups *g, int32_t i)
{
    return (int32_t)(g->row_start[i + 1] - g->row_start[i]);
}

/* A root that is solved with by G. */
static inline int group_is_root_with_inverse(const groups *g, int32_t i)
{
    return group_rows(g, i) == 0 && !g->without_inverse[i];
}
/* Entries of M and W, or of G. */
static inline int64_t group_entries(const groups *g, int32_t i)
{
    const int64_t k = group_columns(g, i), r = group_rows(g, i);
    return group_is_root_with_inverse(g, i) ? k * k : k * (k + 1) / 2 + k * r;
}

/* Of the operations that form M and W of a group of k columns and r rows below, or G of a root,
 * three times as many: a whole number. */
static inline double forming_thirds(double k, double r)
{
    return (r > 0 ? 1 : 2) * k * k * k + 3 * k * k * r;
}

/* What layers are chosen by: a device's step from group to group, and its memory. */
typedef struct layer_costs {
    double step; /* seconds */
    double bytes_per_second;
    double solves; /* that share the time in which groups are formed; 0: that does not count */
    double operations_per_second; /* at which they are, but in no less than ... */
    double column_seconds;        /* ... this times the columns of the largest */
    int64_t scalar_bytes;
    int64_t largest;       /* most columns of a group */
    int64_t entries_limit; /* most entries of all M and W, 0: none */
} layer_costs;

/* Nodes without columns are left out.  OUT_OF_MEMORY, here and below; nothing is owned then. */
libsolver_status pieces_build(memory *m, const factor_tree *tree, pieces *p);
/* Splits piece i, where cut[i] > 1, into that many, which stay alone; cut[i] = 1: i stays alone; 0:
 * as it was.  A block is never split inside a 2x2 pivot: joined[c] is nonzero when positions c and
 * c + 1 are one (NULL: none are). */
libsolver_status pieces_split(memory *m, const factor_tree *tree, const int32_t *cut,
                              const unsigned char *joined, pieces *p);
void pieces_free(memory *m, pieces *p);

/* Rows below piece i. */
static inline int64_t piece_rows(const factor_tree *tree, const pieces *p, int32_t i)
{
    const int32_t s = p->node[i];
    return tree->first[s + 1] - tree->first[s] - p->end[i] + tree->row_start[s + 1] -
           tree->row_start[s];
}

/* layer(i), length pieces, out: ascending to the roots; pieces joined by above within one layer are
 * a group. */
libsolver_status layers_choose(memory *m, const factor_tree *tree, const pieces *p,
                               const layer_costs *costs, int32_t *layer);
/* Cuts large nodes, whole in p, into parts that stay alone, as small as is fastest by the forecast
 * of a solve and its part of forming. */
libsolver_status parts_choose(memory *m, const factor_tree *tree, const unsigned char *joined,
                              const layer_costs *costs, pieces *p);
/* Cuts pieces of more than `largest` columns into as few equal parts as have no more, which stay
 * alone. */
libsolver_status parts_cut(memory *m, const factor_tree *tree, const unsigned char *joined,
                           int64_t largest, pieces *p);
libsolver_status groups_build(memory *m, const factor_tree *tree, const pieces *p,
                              const int32_t *layer, groups *g);
void groups_free(memory *m, groups *g);
/* Entries of all M and W (roots: of G). */
int64_t groups_entries(const groups *g);
/* The forecast that layers are chosen by, of these groups. */
double groups_seconds(const groups *g, const layer_costs *costs);

#endif
