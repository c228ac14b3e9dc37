/* solver/input/input.h: from the caller's views to the lower triangle by columns
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOLVER_INPUT_INPUT_H
#define SOLVER_INPUT_INPUT_H

#include "base/memory.h"
#include "base/message.h"
#include "ordering/ordering.h"

/* Target of an entry on the side of the diagonal that is not read. */
#define INPUT_IGNORED INT64_MIN

/* Up to so many entries threads are not worth being woken to read them or their values: a parallel
 * region that has one thread takes as long as a matrix of order 20. */
#define INPUT_OF_ONE_THREAD 200000

/* A view's pattern, copied: duplicates merged, diagonal completed. */
typedef struct input {
    pattern a;
    int64_t entries; /* of the view */
    int64_t *target; /* entries: place in a; -1 - place for entries above the diagonal of a FULL
                        view, or a Hermitian one of EITHER triangle; or INPUT_IGNORED.  NULL: ... */
    int in_order;    /* ... the entries are those of a, one by one */
    int full;        /* every entry has its mirror image, to be compared */
    int upper;       /* entries lie above the diagonal: the mirror images of those of a */
    int scattered;   /* some targets are negative although the view is not FULL */
    int hermitian;   /* a mirror image is the conjugate; no difference for real types */
    uint64_t fingerprint; /* of the view's indices */
    int threads;          /* that later calls may take */
} input;

/* The fields of a view; then its number of entries, by its pointers, which must be there and on the
 * host as all arrays below.  INVALID. */
libsolver_status input_check(const libsolver_matrix *a, message *why);
libsolver_status input_entries(const libsolver_matrix *a, int64_t *entries, message *why);
/* Checks the view and reads its pattern.  INVALID, OUT_OF_MEMORY, NOT_BUILT. */
libsolver_status input_read(memory *m, const libsolver_matrix *a, int threads, input *in,
                            message *why);
void input_free(memory *m, input *in);

/* Whether the view has the pattern that was read.  Without pointers and indices it is taken to
 * have.  PATTERN_MISMATCH, INVALID. */
libsolver_status input_matches(const input *in, const libsolver_matrix *a, message *why);

/* What is done with values before the backend has them, by type: values_tmpl.c. */
typedef struct typed_values {
    size_t bytes; /* of a scalar */
    /* sum := values of the pattern's entries, duplicates summed.  NULL: they are in order and only
     * checked.  mirrored: as long as sum, for FULL views, otherwise NULL.  NONFINITE, INVALID (a
     * FULL view that is not symmetric or Hermitian, a Hermitian diagonal that is not real). */
    libsolver_status (*sum)(const input *in, const void *values, void *sum, void *mirrored,
                            message *why);
    /* diagonal := that of sum, n scalars */
    void (*diagonal)(const input *in, const void *sum, void *diagonal);
    /* diagonal := its real part, n, of values as they are given */
    void (*given_diagonal)(const input *in, const void *values, double *diagonal);
    /* The diagonal of sum := diagonal + shift, shift NULL: 0.  NONFINITE, INVALID (Hermitian: not
     * real); sum is as before then. */
    libsolver_status (*shift)(const input *in, const void *diagonal, const libsolver_vectors *shift,
                              void *sum, message *why);
    /* How many entries of the diagonal of sum are 0. */
    int32_t (*zeros)(const input *in, const void *sum);
    /* magnitude := |values| */
    void (*magnitudes)(int64_t count, const void *values, double *magnitude);
    /* 1, or 0 and the place of an entry that is not finite */
    int (*finite)(const libsolver_vectors *v, int64_t *row, int64_t *column);
} typed_values;
extern const typed_values typed_values_s, typed_values_d, typed_values_c, typed_values_z;

#endif
