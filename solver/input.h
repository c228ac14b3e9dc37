/* solver/input.h: from the caller's views to the lower triangle by columns
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOLVER_INPUT_H
#define SOLVER_INPUT_H

#include "base/memory.h"
#include "base/message.h"
#include "ordering/ordering.h"

/* A view's pattern, copied: duplicates merged, diagonal completed. */
typedef struct input {
    pattern a;
    int64_t entries;      /* of the view */
    int64_t *target;      /* entries: place in a; of a FULL view, -1 - place for entries above the diagonal */
    int full;             /* every entry has its mirror image, to be compared */
    uint64_t fingerprint; /* of the view's indices */
} input;

/* Checks the view and reads its pattern.  INVALID, OUT_OF_MEMORY, NOT_BUILT. */
libsolver_status input_read(memory *m, const libsolver_matrix *a, input *in, message *why);
void input_free(memory *m, input *in);

/* Whether the view has the pattern that was read.  Without pointers and indices it is taken to have.
 * PATTERN_MISMATCH, INVALID. */
libsolver_status input_matches(const input *in, const libsolver_matrix *a, message *why);

/* sum := values of the pattern's entries, duplicates summed.  mirrored: as long as sum, for FULL views,
 * otherwise NULL. NONFINITE, INVALID (a FULL view that is not symmetric). */
libsolver_status input_values_d(const input *in, const double *values, double *sum, double *mirrored,
                                message *why);

#endif
