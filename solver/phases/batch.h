/* solver/phases/batch.h: what is behind the handle of libsolver_batch.h
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOLVER_PHASES_BATCH_H
#define SOLVER_PHASES_BATCH_H

#include "solver/libsolver_batch.h"
#include "solver/phases/objects.h"

struct libsolver_batch {
    libsolver_context *context;
    const libsolver_analysis *analysis;
    libsolver_analysis on_cpu; /* the same analysis with the CPU's plan; borrows everything */
    libsolver_cpu_reason cpu_reason;
    int64_t count;
    uint8_t *active;                /* count */
    libsolver_batch_item *item;     /* count; kind: not AUTO if it has a factor */
    int64_t *chosen;                /* count: numbers of the items of a call */
    libsolver_status *status;       /* count: of all items, on their way to the device */
    struct batch_on_device *device; /* NULL: all is on the CPU, with ... */
    libsolver_factor **factor;      /* ... count of these */
    message last;
};
typedef struct batch_on_device batch_on_device;

/* The three calls for the `number` items that are chosen, with arguments that have been checked:
 * each sets their status, and *why for the first of them that has failed, whose number it returns
 * (-1: none). */
int64_t batch_refactorize_on_cpu(libsolver_batch *t, int64_t number,
                                 const libsolver_batch_values *a, message *why);
int64_t batch_solve_on_cpu(libsolver_batch *t, int64_t number, const libsolver_batch_vectors *b,
                           const libsolver_batch_vectors *x, message *why);
int64_t batch_refine_on_cpu(libsolver_batch *t, int64_t number, const libsolver_limits *limits,
                            const libsolver_batch_vectors *b, const libsolver_batch_vectors *x,
                            double *backward_error, message *why);
/* The factors, without values.  OUT_OF_MEMORY. */
libsolver_status batch_open_on_cpu(libsolver_batch *t, message *why);
void batch_close_on_cpu(libsolver_batch *t);

/* The same on the device. */
int64_t batch_refactorize_on_device(libsolver_batch *t, int64_t number,
                                    const libsolver_batch_values *a, message *why);
int64_t batch_solve_on_device(libsolver_batch *t, int64_t number, const libsolver_batch_vectors *b,
                              const libsolver_batch_vectors *x, message *why);
int64_t batch_refine_on_device(libsolver_batch *t, int64_t number, const libsolver_limits *limits,
                               const libsolver_batch_vectors *b, const libsolver_batch_vectors *x,
                               double *backward_error, message *why);
/* Whether such a batch can be on the device, otherwise why not. */
int batch_fits_device(const libsolver_analysis *s, int64_t count, libsolver_cpu_reason *reason);
/* All memory of it.  OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY, CUDA, NOT_BUILT. */
libsolver_status batch_open_on_device(libsolver_batch *t, message *why);
void batch_close_on_device(libsolver_batch *t);
/* Bytes of that, and what a batch holds on the device. */
void batch_bytes_on_device(const libsolver_analysis *s, int64_t count, int64_t *host,
                           int64_t *device);
int64_t batch_held_on_device(const libsolver_batch *t);
/* Between host and device. */
libsolver_status batch_copy_on_device(const libsolver_batch *t, void *to, const void *from,
                                      int64_t bytes, message *why);

#endif
