/* gpu/prepare.h: from a factor to the program of its solve, all of it on the host
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_PREPARE_H
#define GPU_PREPARE_H

#include "gpu/form.h"

typedef struct prepare_options {
    int32_t blocks;        /* resident on the device */
    double step, bytes_per_second; /* of the device, 0: an H200's */
    double entries_factor; /* most entries of all inverses, in entries of L; 0: no limit */
    double growth_limit;   /* 0: FORM_GROWTH_LIMIT */
} prepare_options;

typedef struct prepared_solve {
    pieces cut;
    groups grouped;
    solve_plan plan;
    unsigned char *joined; /* n */
    char *values;          /* plan.value_bytes */
    double growth;         /* largest of a group */
    int64_t factor_entries, entries; /* of L as stored in the tree, and of the inverses */
    int32_t guarded;       /* groups that were cut finer */
    int rounds;
} prepared_solve;

/* Layers, groups, program and values; groups whose inverses would lose digits are cut finer, down to single pivots, which is
 * substitution.  OUT_OF_MEMORY, CANCELLED, INTERNAL; nothing is owned then. */
libsolver_status prepare_solve(environment *env, const factor_tree *tree, const prepare_options *options, message *why,
                               prepared_solve *out);
void prepared_free(memory *m, prepared_solve *s);

#endif
