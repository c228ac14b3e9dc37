/* gpu/batch/batch_tables.h: what solves of a batch read of a pattern
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_BATCH_BATCH_TABLES_H
#define GPU_BATCH_BATCH_TABLES_H

#include "libsolver_types.h"
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct factor_pattern;
struct factor_program;
struct memory;

enum { BATCH_WARPS = 16 }; /* of a block that solves for an item */

/* Columns [first, first + k) of L with the rows below them, row[rows], ..., in P A P^T. */
typedef struct batch_front {
    int64_t panel, rows;
    int32_t first, k, m, ld;
} batch_front;

/* How the warps of a block share the tree: each has some subtrees, for which it needs nobody, and
 * all of them have the top.  What a subtree changes of the rows of the top goes to a copy of the
 * warp's own, so that sums have a fixed order.  By the pattern alone. */
typedef struct batch_share {
    int32_t begin[BATCH_WARPS + 1]; /* fronts [begin[w], begin[w + 1]) are warp w's, those from
                                       begin[BATCH_WARPS] on the top's */
    int32_t top;                    /* pivots of the top */
} batch_share;

typedef struct batch_tables {
    int32_t n, fronts;
    int32_t wide; /* most rows of a front */
    int64_t rows;
    batch_share share;
    batch_front *front; /* children before parents, in the order of the share */
    int32_t *row;       /* rows */
    int32_t *shared;    /* rows: the same for a block, of n + BATCH_WARPS * top scalars: warp w has
                           the pivots of the top at n + w * top */
    int32_t *top_row;   /* top: which rows these are */
} batch_tables;

/* OUT_OF_MEMORY, after which what is there is to be freed too. */
libsolver_status batch_tables_build(struct memory *m, const struct factor_program *program,
                                    const struct factor_pattern *pattern, batch_tables *t);
void batch_tables_free(struct memory *m, batch_tables *t);

/* Which part has each front of the pattern: part[s] is a warp, or BATCH_WARPS, the top.
 * OUT_OF_MEMORY. */
libsolver_status batch_share_fronts(struct memory *m, const struct factor_program *program,
                                    const struct factor_pattern *pattern, uint8_t *part);

#ifdef __cplusplus
}
#endif
#endif
