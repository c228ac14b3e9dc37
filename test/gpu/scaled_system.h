/* test/gpu/scaled_system.h: systems for factorizations on a device, and the comparison of their
 * factors with the CPU's, of one precision (-DPREC_x)
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_GPU_SCALED_SYSTEM_H
#define TEST_GPU_SCALED_SYSTEM_H

#include "cpu_system.h"
#include "gpu/factor/build.h"

/* Fronts in shared memory as far as they fit; all in tiles; each a task; all small ones one block's
 * work; with many groups and with none. */
static const factor_tuning tunings[] = {
    {.small_rows = 112,
     .blocks = 264,
     .bucket_part = .001,
     .run_seconds = 30e-6,
     .apart = 1,
     .wide = 3,
     .together = 4,
     .crowded = 1},
    {.small_rows = 0,
     .blocks = 2,
     .bucket_part = .2,
     .run_seconds = 1,
     .wide = 2,
     .together = 5,
     .crowded = 9},
    {.small_rows = 20, .blocks = 1, .bucket_part = 0, .run_seconds = 0, .wide = 4, .together = 1},
    {.small_rows = 112, .blocks = 20, .bucket_part = 1, .run_seconds = 10, .wide = INT32_MAX},
};
enum { TUNINGS = sizeof tunings / sizeof *tunings };

/* A system with random positive definite values on this pattern, which is taken over. */
void positive_system(cpu_system *s, random_stream *r, pattern a, int order);
/* That, or one with random quasi-definite values, Hermitian, or real, and complex symmetric, in
 * natural order. */
enum { DEFINITE_ONE, SIGNED_ONE, SYMMETRIC_ONE, SYSTEM_KINDS = SYMMETRIC_ONE + SCALAR_COMPLEX };
void system_of_kind(cpu_system *s, random_stream *r, pattern a, int kind);
/* Leaves of `copies` rows each around a hub, which comes last: a front with very many children. */
pattern wide_pattern(int32_t leaves, int32_t copies);
/* Leaves of one row each, with up to eight of `hubs` rows, which are joined to one another and come
 * last: groups of leaves. */
pattern leaves_pattern(random_stream *r, int32_t leaves, int32_t hubs);
/* Its program; tuning: NULL or as for factor_program_build. */
factor_program program_of(cpu_system *s, const factor_tuning *tuning);
/* The same but for the last rows of P A P^T, so many pivots of the last front. */
factor_program program_of_part(cpu_system *s, const factor_tuning *tuning, int32_t schur_size);
factor_pattern fronts_of(const cpu_system *s);
/* Changes a random entry of its diagonal so that the CPU's Cholesky fails, and returns the first
 * row of P A P^T whose pivot is refused; *entry: number of the entry, *good: what it was.  The
 * system's factor is lost. */
int32_t make_indefinite(cpu_system *s, random_stream *r, int64_t *entry, scalar *good);
/* The panels of a program are the CPU's up to rounding; with signs D behind them too. */
void compare_panels(cpu_system *s, const factor_program *g, const scalar *panel, int seed);
/* Two factors by a program are the same, bit for bit. */
void compare_bits(const factor_program *g, const scalar *panel, const scalar *again);

#endif
