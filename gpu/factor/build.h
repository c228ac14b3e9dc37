/* gpu/factor/build.h: the program of a factorization from a pattern
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_FACTOR_BUILD_H
#define GPU_FACTOR_BUILD_H

#include "base/environment.h"
#include "gpu/factor/program.h"

typedef struct factor_tuning {
    int32_t small_rows;     /* most rows of a front that is factorized in shared memory, at most
                               factor_small_rows */
    int32_t blocks;         /* of the device that the order of tasks is made for */
    double bucket_part;     /* ways to the end are told apart by this part of the time of all */
    double run_seconds;     /* a block is given small fronts for so long at least ... */
    double run_part;        /* ... or for this part of the time of all of them, */
    int apart;              /* which is all that they get where they do not wait for one another */
    int32_t wide, together; /* see factor_groups_find */
    int32_t crowded; /* products go to two tiles at once in levels of so many tasks and more; 0: in
                      none; of LIBSOLVER_D without signs alone */
} factor_tuning;

/* type: says what fits in shared memory.  tuning: NULL for what was measured best.  The program
 * depends on nothing else: it is the same on every machine, for any number of threads.
 * OUT_OF_MEMORY, NOT_BUILT (2^31 entries of A or tiles, or more). */
libsolver_status factor_program_build(environment *env, const factor_pattern *pattern,
                                      libsolver_type type, const factor_tuning *tuning,
                                      factor_program *program, message *why);
void factor_program_free(memory *m, factor_program *program);

#endif
