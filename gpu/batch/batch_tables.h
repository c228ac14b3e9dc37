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

enum { BATCH_PARTS = 16 }; /* most of a tree, beside its top */

/* Columns [first, first + k) of L with the rows below them, row[rows], ..., in P A P^T. */
typedef struct batch_front {
    int64_t panel, rows;
    int32_t first, k, m, ld;
} batch_front;

/* How the warps of a block share the tree: parts of it are subtrees, each one warp's at a time, for
 * which it needs nobody, and all of them have the top.  What a subtree changes of the rows of the
 * top goes to a copy of the part's own, so that sums have a fixed order, whoever has the part.  By
 * the pattern alone. */
typedef struct batch_share {
    int32_t begin[BATCH_PARTS + 1]; /* fronts [begin[q], begin[q + 1]) are part q's, those from
                                       begin[BATCH_PARTS] on the top's */
    int32_t parts;                  /* that have fronts, the first of them */
    int32_t top;                    /* pivots of the top */
} batch_share;

typedef struct batch_tables {
    int32_t n, fronts;
    int64_t rows;
    batch_share share;
    batch_front *front; /* children before parents, in the order of the share */
    int32_t *row;       /* rows */
    int32_t *shared;    /* rows: the same for a block, of n + parts * top scalars: part q has
                           the pivots of the top at n + q * top */
    int32_t *top_row;   /* top: which rows these are */
} batch_tables;

/* OUT_OF_MEMORY, after which what is there is to be freed too. */
libsolver_status batch_tables_build(struct memory *m, const struct factor_program *program,
                                    const struct factor_pattern *pattern, batch_tables *t);
void batch_tables_free(struct memory *m, batch_tables *t);

/* Which part has each front of the pattern: part[s] < BATCH_PARTS, or BATCH_PARTS, the top.
 * OUT_OF_MEMORY. */
libsolver_status batch_share_fronts(struct memory *m, const struct factor_program *program,
                                    const struct factor_pattern *pattern, uint8_t *part);

#ifdef __cplusplus
}
#endif
#endif
