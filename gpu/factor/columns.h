/* gpu/factor/columns.h: by which words of a factorization others wait for columns of L
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_FACTOR_COLUMNS_H
#define GPU_FACTOR_COLUMNS_H

#include "base/memory.h"
#include "gpu/device/column_words.h"
#include "gpu/factor/program.h"

typedef struct factor_columns {
    const factor_program *program;
    int32_t *run; /* nodes: the first front of the run that a small one is in, -1: it is in tiles */
} factor_columns;

/* OUT_OF_MEMORY; nothing is owned then. */
libsolver_status factor_columns_build(memory *m, const factor_program *program, factor_columns *c);
void factor_columns_free(memory *m, factor_columns *c);
/* The words of these columns, which must stay. */
column_progress factor_columns_progress(const factor_columns *c);

#endif
