/* gpu/factor/builder.h: what the parts of a factorization's program are made from, and by
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_FACTOR_BUILDER_H
#define GPU_FACTOR_BUILDER_H

#include "gpu/factor/build.h"
#include "gpu/factor/groups.h"

typedef struct builder {
    memory *m;
    const factor_pattern *pattern;
    factor_program *program;
    factor_tuning tuning;
    factor_groups tree; /* fronts: those of the pattern, `nodes`, then groups; f-long arrays below
                           are of all of them */
    double run_seconds, apart_seconds; /* most of a run; of one that goes on beside its fronts */
    int32_t *level;                    /* f: of the last task of a front */
    int32_t *run_end; /* f: at the first front of a run, the front behind its last; 0: in tiles,
                         or not the first */
    int32_t *last_child, *sibling; /* f: the sibling visited before it, -1: none */
    int32_t *ranges_end;           /* levels: behind the ranges of tiny fronts of each */
    int64_t *own, *other; /* f: scalars that the contribution blocks of a subtree take in the arena
                             of its root and in the other one; then where these begin */
    uint8_t *is_crowded;  /* levels: see is_crowded; NULL: none is */
    int64_t *cursor;      /* of lists that are filled, by level or list */
    uint32_t *given;      /* entries: factor_source.value of those of P A P^T */
} builder;

static inline int is_group(const builder *b, int32_t s)
{
    return s >= b->tree.nodes;
}

static inline int32_t pivots(const builder *b, int32_t s)
{
    return is_group(b, s) ? 0 : factor_pattern_pivots(b->pattern, s);
}

static inline int32_t rows(const builder *b, int32_t s)
{
    return b->tree.rows[s];
}

static inline int32_t above(const builder *b, int32_t s)
{
    return b->tree.above[s];
}

static inline int is_small(const builder *b, int32_t s)
{
    return is_group(b, s) || rows(b, s) <= b->tuning.small_rows;
}

static inline int is_tiny(const builder *b, int32_t s)
{
    return is_small(b, s) && rows(b, s) <= FACTOR_TINY_ROWS;
}

/* Of a group of leaves the first one, -1: it is another group. */
static inline int32_t first_leaf(const builder *b, int32_t group)
{
    return b->tree.first_leaf[group - b->tree.nodes];
}

/* The group of leaves that front s is or belongs to, -1: none. */
static inline int32_t group_of_leaves(const builder *b, int32_t s)
{
    const int32_t group = is_group(b, s) ? s : above(b, s);
    return group >= b->tree.nodes && first_leaf(b, group) >= 0 ? group : -1;
}

/* Whether tasks divide the rows of front s, a level behind all others. */
static inline int is_divided(const builder *b, int32_t s)
{
    return b->program->has_signs && !is_small(b, s) && pivots(b, s) > 0;
}

/* The level at which front s could begin behind those of its children that are not in [from, s). */
static inline int32_t level_behind(const builder *b, int32_t s, int32_t from)
{
    int32_t level = 0;
    for (int32_t c = b->last_child[s]; c >= 0; c = b->sibling[c])
        if ((c < from || c > s) && b->level[c] >= level)
            level = b->level[c] + 1;
    return level;
}

/* The level of the contribution block of a front in tiles: behind the rows of its last panel; of
 * one without pivots the first. */
static inline int32_t contribution_level(const builder *b, int32_t s)
{
    const int32_t nb = factor_pivot_blocks(b->program->front + s);
    return level_behind(b, s, s) + (nb > 0 ? nb + 1 : 0);
}

/* describe.c, in this order: fronts, the places of contribution blocks, what fronts pull from
 * children, entries of A.  OUT_OF_MEMORY; NOT_BUILT: 2^31 tiles or more. */
void builder_describe_fronts(builder *b);
void builder_place_blocks(builder *b);
libsolver_status builder_describe_children(builder *b);
libsolver_status builder_describe_entries(builder *b);

/* tasks.c, once every front has its level and its words: the ranges of tiny fronts, then all tasks
 * by level, and the order in which blocks draw them.  OUT_OF_MEMORY; NOT_BUILT: 2^31 tasks or
 * more. */
libsolver_status builder_list_ranges(builder *b);
libsolver_status builder_list_tasks(builder *b);

#endif
