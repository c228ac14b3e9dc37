/* solver/libsolver_batch.h: many systems of one pattern, factorized and solved together
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     libsolver_batch_create(S, 1000, &batch);       // S: an analysis of the pattern
 *     libsolver_batch_refactorize(batch, &values);   // of every active item
 *     libsolver_batch_solve(batch, &b, &x);          // one pass; nothing is checked
 *     libsolver_batch_refine(batch, NULL, &b, &x, errors);    // each item's backward errors
 *     libsolver_batch_items(batch, items);           // status, failed row and inertia of each
 *     libsolver_batch_free(batch);
 *
 * A batch has `count` items, each a matrix of the pattern analysed and its factor.  Scenarios of an
 * optimiser or cells of a simulation, say, small enough that one alone does not fill the machine.
 *
 * Where.  With an analysis whose context asks for LIBSOLVER_BACKEND_GPU, kinds SPD and
 * QUASI_DEFINITE (expected_signs are those of all items): all items in one launch on the device.
 * Everything else is done on the CPU, where threads share the items: other kinds
 * (libsolver_batch_info.cpu_reason and the log tell), and what AUTO has put on the CPU.  AUTO
 * decides by a single system: ask for the GPU where the batch is large.
 *
 * Failures.  An item that fails, being not positive definite or not finite, has a status of its own
 * and changes nothing in the others.  On the GPU nobody puts a pivot right that is rounding error
 * or has not the expected sign: such a quasi-definite item is NOT_POSITIVE_DEFINITE, failed_row
 * tells where.  A call returns the status of the first active item that has failed, otherwise the
 * most severe remark on one; libsolver_batch_message names the item.
 *
 * Results.  CPU: the bits of each item are those that libsolver_factorize and the other calls for a
 * single system give for its first values after an analysis with values, libsolver_refactorize for
 * later ones, with the same backend asked for at analyze (the GPU's analyses have orders of their
 * own), whatever the threads, the count and the other items.  GPU: the same bits on every run,
 * whatever the count and the other items; factors are made by the tasks that make a single one,
 * solutions are not those of libsolver_solve to the last bit, which substitutes in another order.
 *
 * One call at a time uses a batch.  options.log may be called from several threads. */
#ifndef LIBSOLVER_BATCH_H
#define LIBSOLVER_BATCH_H

#include "libsolver.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct libsolver_batch libsolver_batch;

/* Values of the items' matrices, each in the order of the indices that were analysed: those of item
 * i at items[i], or, items being NULL, `stride` scalars behind those of item i - 1.  Both arrays
 * lie where `place` says, the pointers too.  stride >= the number of values of an item.  A zeroed
 * struct with values and stride: on the host. */
typedef struct libsolver_batch_values {
    const void *values;
    const void *const *items; /* count, NULL: strided */
    int64_t stride;
    libsolver_place place; /* DEVICE: of a batch on the device alone */
    int64_t reserved[4];   /* zero */
} libsolver_batch_values;

/* Right-hand sides or solutions of the items, n x columns each, found as the values above. ld and
 * layout: of each block, as in libsolver_vectors.  Blocks of different items must not overlap;
 * that of an inactive item is neither read nor written to, its pointer may be NULL. */
typedef struct libsolver_batch_vectors {
    void *values; /* of right-hand sides never written to: see libsolver_const */
    void *const *items;
    int64_t stride, columns, ld;
    libsolver_layout layout;
    libsolver_place place;
    int64_t reserved[4]; /* zero */
} libsolver_batch_vectors;

/* Items of an analysis with no values yet, all of them active.  The analysis must outlive the batch
 * and have no Schur complement (NOT_BUILT).  Values at analyze decide about pairs of rows, as
 * libsolver_analyze says; a batch keeps that order.  GPU: takes all memory, nothing is allocated
 * after it.  CPU: each item takes the memory of its factor, libsolver_batch_bytes, which its first
 * refactorize fills, and later ones as libsolver_refactorize.  *batch is NULL after a failure,
 * whose message is the context's.  INVALID (count < 1), NOT_BUILT, OUT_OF_MEMORY,
 * OUT_OF_DEVICE_MEMORY, CUDA. */
LIBSOLVER_API libsolver_status libsolver_batch_create(const libsolver_analysis *analysis,
                                                      int64_t count, libsolver_batch **batch);
LIBSOLVER_API void libsolver_batch_free(libsolver_batch *batch);

/* Bytes that a batch of `count` items takes on the host and on the device, after its first solves
 * of one column, as libsolver_analysis_info predicts those of one factor, but without what the
 * context holds already.  Zeros if the analysis is NULL or count < 1. */
LIBSOLVER_API void libsolver_batch_bytes(const libsolver_analysis *analysis, int64_t count,
                                         int64_t *host_bytes, int64_t *device_bytes);

/* From now on calls concern the items i with active[i] != 0 alone; the others keep values, factor
 * and status.  active: count bytes on the host or the device, copied; NULL: all items. NOT_BUILT
 * (device memory), CUDA. */
LIBSOLVER_API libsolver_status libsolver_batch_set_active(libsolver_batch *batch,
                                                          const uint8_t *active,
                                                          libsolver_place place);

/* New values and factors of all active items.  An item's status is what libsolver_refactorize would
 * say; after any failure it has no factor until a later refactorize succeeds, its old one included.
 * Nothing has changed where the call itself is refused: INVALID, NOT_BUILT (device memory on the
 * CPU).  CANCELLED and CUDA leave no factor to the items they hit, on the GPU all active ones. GPU:
 * an inertia is certain if no pivot is small; there is no second look. */
LIBSOLVER_API libsolver_status libsolver_batch_refactorize(libsolver_batch *batch,
                                                           const libsolver_batch_values *a);

/* One pass of substitution for all columns of all active items, unrefined and unchecked, as
 * libsolver_solve_plain.  X may be B.  B and X lie in the same memory, of the host or, of a batch
 * on the device, the device.  An item without a factor keeps its status, and its X is not written
 * to.  Waits for the end. */
LIBSOLVER_API libsolver_status libsolver_batch_solve(libsolver_batch *batch,
                                                     const libsolver_batch_vectors *b,
                                                     const libsolver_batch_vectors *x);

/* Refines the X of all active items as libsolver_refine_within; limits: NULL for the options', 0
 * steps: only check.  backward_error: NULL, or count x columns on the host, of item i from
 * backward_error[i * columns] on; those of items that are inactive or have no factor are left as
 * they are. X must not be B.  An item is INACCURATE whose tolerance was not reached.  A history is
 * refused (INVALID).  GPU: plain steps alone, METHOD_FGMRES is NOT_BUILT, and a B that is not
 * finite has an infinite error (CPU: NONFINITE). */
LIBSOLVER_API libsolver_status libsolver_batch_refine(libsolver_batch *batch,
                                                      const libsolver_limits *limits,
                                                      const libsolver_batch_vectors *b,
                                                      const libsolver_batch_vectors *x,
                                                      double *backward_error);

/* Status of each item after the last call that concerned it, count, to host or device memory.
 * NOT_BUILT (device memory), CUDA. */
LIBSOLVER_API libsolver_status libsolver_batch_status(libsolver_batch *batch,
                                                      libsolver_status *status,
                                                      libsolver_place place);

typedef struct libsolver_batch_item {
    libsolver_status status;          /* INVALID before the first refactorize */
    libsolver_kind kind;              /* of its factor, AUTO: there is none */
    int64_t failed_row;               /* as libsolver_factor_info.failed_row */
    libsolver_inertia_counts inertia; /* zeros without a factor and for complex symmetric A */
    double backward_error;            /* largest of its columns in the last refine, or NaN */
    int64_t reserved[4];
} libsolver_batch_item;

/* What is known of each item, count. */
LIBSOLVER_API void libsolver_batch_items(const libsolver_batch *batch, libsolver_batch_item *items);

/* Zeros when the batch is NULL. */
typedef struct libsolver_batch_info {
    int64_t count, active;
    libsolver_backend backend;       /* that factorizes and solves */
    libsolver_cpu_reason cpu_reason; /* where the GPU was to be used */
    int64_t device_bytes;            /* held now by the batch */
    int64_t allocations;             /* successful ones of the context so far */
    int64_t reserved[8];
} libsolver_batch_info;

LIBSOLVER_API void libsolver_batch_query(const libsolver_batch *batch, libsolver_batch_info *info);

/* As libsolver_factor_message and _place: of the latest call that has failed for some item. */
LIBSOLVER_API const char *libsolver_batch_message(const libsolver_batch *batch);
LIBSOLVER_API const char *libsolver_batch_place(const libsolver_batch *batch);

#ifdef __cplusplus
}
#endif
#endif
