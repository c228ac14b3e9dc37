/* gpu/refine/full_matrix.h: the pattern of A by rows, both triangles, so that each row of A x is a
 * sum of its own
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_REFINE_FULL_MATRIX_H
#define GPU_REFINE_FULL_MATRIX_H

#include "libsolver_types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct memory;
struct pattern;

/* Most entries of a row that one warp sums; longer rows are cut. */
enum { ROW_SEGMENT = 512 };

/* Entries [from, to) of a long row. */
typedef struct row_segment {
    int64_t from, to;
    int32_t row, of;      /* `of`: number of the row among the long ones */
    int32_t first, count; /* the row's segments are [first, first + count) */
} row_segment;

/* Row i has columns column[start[i] .. start[i+1]), ascending.  The value of entry k is that of
 * entry source[k] >> 1 of the lower triangle it was built from, conjugated if source[k] & 1. */
typedef struct full_matrix {
    int32_t n;
    int64_t *start;    /* n + 1 */
    int32_t *column;   /* start[n] */
    uint32_t *source;  /* start[n] */
    int32_t log_width; /* 2^log_width lanes share a short row */
    int32_t segments, long_rows;
    row_segment *segment;
} full_matrix;

/* Most entries of the lower triangle. */
#define FULL_MATRIX_ENTRIES INT32_MAX

/* A from its lower triangle, whose columns have ascending rows.  O(nnz).  OUT_OF_MEMORY. */
libsolver_status full_matrix_build(struct memory *m, const struct pattern *lower, int hermitian,
                                   full_matrix *a);
void full_matrix_free(struct memory *m, full_matrix *a);

#ifdef __cplusplus
}
#endif

#endif
