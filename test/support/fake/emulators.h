/* test/support/fake/emulators.h: what kernels do, on the host, of each precision
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_SUPPORT_FAKE_EMULATORS_H
#define TEST_SUPPORT_FAKE_EMULATORS_H

#include "gpu/batch/device_batch.h"
#include "gpu/device/device_values.h"
#include "gpu/factor/outcome.h"
#include "gpu/factor/program.h"
#include "gpu/solve/device_solver.h"
#include "gpu/invert/device_invert.h"
#include "gpu/refine/residual.h"
#include "gpu/substitute/device_substitution.h"

/* The tasks that compute the values of a program. */
typedef struct emulated_inversion {
    invert_pattern pattern; /* all arrays are there */
    const void *panel;      /* then d and e by position (L D L^T) */
    int64_t panel_scalars;
    int hermitian, cholesky;
    void *values, *workspace, *sums; /* sums: 3 SQUARE reals for each strip */
    int64_t value_bytes, workspace_bytes;
    double *growth, *root_growth; /* of small groups, then of strips */
    uint64_t seed;
} emulated_inversion;

/* One right-hand side by substitution; published: a scalar for each packet.  b, x: by rows of A,
 * apart. */
typedef struct emulated_substitution {
    const device_substitution *plan;
    const void *scale;
    const int32_t *user_row;
    int32_t n;
    const void *b;
    void *x, *published;
} emulated_substitution;

/* One step of a refinement, or its end. */
typedef struct emulated_refinement {
    device_matrix a;
    device_refinement w;
    refine_step step;
    refine_outcome outcome;
} emulated_refinement;

/* Solves or, with error, refinements of items of a batch. */
typedef struct emulated_batch {
    const device_batch *t;
    const int32_t *list;
    int64_t number, columns;
    const batch_places *b, *x;
    int steps;
    double tolerance, least_progress;
    double *error; /* of all items */
} emulated_batch;

/* A factorization. */
typedef struct emulated_factorization {
    const factor_program *program;
    const int32_t *row_of; /* of the pattern */
    const int32_t *index;  /* the same, read with signs alone */
    const int8_t *signs;   /* NULL: Cholesky */
    const void *values;    /* of A, in the order that it was analysed in */
    int is_mixed;          /* values and scale are in double precision, the rest is in single */
    int is_unscaled;
    double shift;  /* the scaled diagonal is multiplied by 1 + shift */
    int by_levels; /* 0: by some blocks that draw tasks and wait */
    double doubt_level;
    void *panel;     /* out: panel_scalars, with signs 2 n more */
    void *arena;     /* out: arena_scalars; NULL: nobody wants them */
    void *scale;     /* out: n reals of the values' precision, by rows of A */
    uint64_t *trace; /* NULL, or out: when each task began and ended, in ns */
    cholesky_outcome *outcome;
    uint64_t seed;
} emulated_factorization;

/* The Schur complement of a factor that was made with this scale and arena, by columns. */
typedef struct emulated_complement {
    const factor_program *program;
    const int32_t *row_of;
    const void *values, *scale, *arena;
    void *out;
} emulated_complement;

/* Each returns NULL, or what is wrong with what it was given (a static string); of a matrix and of
 * sums, whose flaws are set, there is nothing to be said.  replaces: values are too if there are
 * some. */
#define EMULATORS(p) \
    void emulate_batch_##p(const emulated_batch *e); \
    const char *emulate_factorization_##p(const emulated_factorization *f); \
    void emulate_complement_##p(const emulated_complement *c); \
    const char *emulate_inversion_##p(const emulated_inversion *f); \
    const char *emulate_substitution_##p(const emulated_substitution *s); \
    void emulate_sums_##p(const value_sums *s, const void *given, const void *shift, void *sum, \
                          value_flaws *flaws); \
    void emulate_shift_##p(const value_sums *s, const void *sum, const void *shift, void *value); \
    void emulate_matrix_##p(const device_matrix *a, const void *lower); \
    const char *emulate_refine_step_##p(const emulated_refinement *r); \
    const char *emulate_refine_finish_##p(const emulated_refinement *r);
EMULATORS(s)
EMULATORS(d)
EMULATORS(c)
EMULATORS(z)
#undef EMULATORS

#endif
