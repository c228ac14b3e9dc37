/* gpu/batch/device_batch.h: many systems of one pattern on a device
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Items of a call are given by a list of their numbers.  Calls wait for the end.  Statuses: CUDA,
 * OUT_OF_DEVICE_MEMORY, NOT_BUILT. */
#ifndef GPU_BATCH_DEVICE_BATCH_H
#define GPU_BATCH_DEVICE_BATCH_H

#include "gpu/batch/batch_tables.h"
#include "gpu/device/device_values.h"
#include "gpu/factor/device_factorizer.h"
#include "gpu/refine/full_matrix.h"
#include "gpu/substitute/device_substitution.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a batch is made from, on the host; read by _open alone, but for the program. */
typedef struct batch_shape {
    libsolver_type type;
    int64_t count, given; /* items; values given of each */
    const factor_program *program;
    const factor_pattern *fronts;
    const batch_tables *tables;
    const substitution *solves; /* NULL: items are solved with front by front */
    const full_matrix *full;    /* by rows of A */
    const value_sums *sums;
} batch_shape;

typedef struct device_batch {
    int device, multiprocessors;
    void *stream;
    libsolver_type type;
    int64_t count, given, entries;
    int32_t n, fronts;
    batch_share share;
    int has_signs; /* L D L^T */
    const factor_program *program;
    device_factorizer factorizer;
    device_buffer tables, items, staged; /* staged: values as they are given, where they are summed
                                            and come from the host */
    int64_t panel_bytes, value_bytes;    /* of an item */
    value_sums sums;                     /* of places on the device, here and below */
    const batch_front *front;
    const int32_t *row, *shared, *top_row, *row_of, *column;
    const int32_t *index; /* the pattern's, and ... */
    const int8_t *signs;  /* ... its signs: of an emulator, which has no factorizer */
    const int64_t *start;
    const uint32_t *source;
    void *panel, *value, *work, *before, *block[2]; /* block: n for each item, for vectors of the
                                                       host */
    int32_t *item;
    int *unsound;
    void *outcome, *gathered;         /* gathered: page-locked, a copy of outcome and unsound */
    double *error;                    /* count */
    device_substitution substitution; /* zeroed: there is none */
    void *packets, *head, *state;     /* of substitution */
} device_batch;

/* Zeroed but for device and stream. */
libsolver_status device_batch_open(device_batch *t, const batch_shape *shape, message *why);
void device_batch_close(device_batch *t);
int64_t device_batch_bytes(const batch_shape *shape); /* that _open takes */

/* Arrays of all items on the device; items NULL: strided. */
typedef struct batch_places {
    void *values;
    void *const *items;
    int64_t stride;
    int64_t row, column; /* of blocks: steps, in scalars, */
    int64_t offset;      /* and where they begin behind those pointers */
} batch_places;

enum { BATCH_NOT_FINITE = 1, BATCH_NOT_MIRRORED = 2 }; /* what is wrong with values */

/* unsound, outcome: of each item of the list. */
libsolver_status device_batch_factorize(device_batch *t, const int32_t *list, int64_t number,
                                        const batch_places *values, int is_unscaled,
                                        double doubt_level, int *unsound, cholesky_outcome *outcome,
                                        message *why);
libsolver_status device_batch_solve(device_batch *t, const int32_t *list, int64_t number,
                                    int64_t columns, const batch_places *b, const batch_places *x,
                                    message *why);
/* One column; error: of each item of the batch, filled for those of the list. */
libsolver_status device_batch_refine(device_batch *t, const int32_t *list, int64_t number,
                                     const batch_places *b, const batch_places *x, int steps,
                                     double tolerance, double least_progress, double *error,
                                     message *why);
/* Copies either way; waits. */
libsolver_status device_batch_copy(const device_batch *t, void *to, const void *from, int64_t bytes,
                                   message *why);

#ifdef __cplusplus
}
#endif
#endif
