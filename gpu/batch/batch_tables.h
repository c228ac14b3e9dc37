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

/* Columns [first, first + k) of L with the rows below them, row[rows], ..., in P A P^T. */
typedef struct batch_front {
    int64_t panel, rows;
    int32_t first, k, m, ld;
} batch_front;

typedef struct batch_tables {
    int32_t n, fronts;
    int32_t wide; /* most rows of a front */
    int64_t rows;
    batch_front *front; /* children before parents */
    int32_t *row;       /* rows */
} batch_tables;

/* OUT_OF_MEMORY, after which what is there is to be freed too. */
libsolver_status batch_tables_build(struct memory *m, const struct factor_program *program,
                                    const struct factor_pattern *pattern, batch_tables *t);
void batch_tables_free(struct memory *m, batch_tables *t);

#ifdef __cplusplus
}
#endif
#endif
