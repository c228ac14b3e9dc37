/* test/gpu/scaled_system.h: what a factorization on a device is given of a system that the CPU has
 * factorized, and the comparison of the two factors, of one precision (-DPREC_x)
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_GPU_SCALED_SYSTEM_H
#define TEST_GPU_SCALED_SYSTEM_H

#include "cpu_system.h"
#include "gpu/factor/build.h"

/* Fronts in shared memory as far as they fit; all in tiles; each a task; all small ones one block's
 * work. */
static const factor_tuning tunings[] = {
    {.small_rows = 112, .run_seconds = 30e-6, .run_part = 0},
    {.small_rows = 0, .run_seconds = 1, .run_part = 0},
    {.small_rows = 20, .run_seconds = 0, .run_part = 0},
    {.small_rows = 112, .run_seconds = 10, .run_part = 0},
};
enum { TUNINGS = sizeof tunings / sizeof *tunings };

typedef struct scaled {
    backend_plan_view plan;
    scalar *values; /* S A S in the plan's order */
    real *diagonal;
} scaled;

scaled scaled_values(const cpu_system *s);
void scaled_free(scaled *v);

/* A system with random positive definite values on this pattern, which is taken over. */
void positive_system(cpu_system *s, random_stream *r, pattern a, int order);
/* Its program; tuning: NULL or as for factor_program_build. */
factor_program program_of(cpu_system *s, const scaled *v, const factor_tuning *tuning);
/* The values in the order of a program; freed by free. */
scalar *values_for(const scaled *v, const factor_program *g);
/* Where value number e of the pattern is in that order. */
int64_t place_of_value(const factor_program *g, int64_t e);
/* The panels of a program are the CPU's up to rounding. */
void compare_panels(cpu_system *s, const factor_program *g, const scalar *panel, int seed);

#endif
