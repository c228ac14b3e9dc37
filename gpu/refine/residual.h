/* gpu/refine/residual.h: A on a device, and a refinement's steps there: x += d, r = b - A x,
 * backward errors, which columns go on
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Every call makes its device current and what was current before again at its end.  Statuses:
 * CUDA, OUT_OF_DEVICE_MEMORY, NOT_BUILT. */
#ifndef GPU_REFINE_RESIDUAL_H
#define GPU_REFINE_RESIDUAL_H

#include "gpu/device/device_failure.h"
#include "gpu/refine/full_matrix.h"
#include "gpu/refine/refine_state.h"
#include "libsolver_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* device and stream are set by the caller. */
typedef struct device_matrix {
    int device;
    void *stream;
    libsolver_type type;
    int32_t n, log_width, segments, long_rows;
    int32_t blocks, norm_blocks; /* of the kernels, for a group of columns */
    int64_t entries, bytes;
    void *memory; /* of all below */
    int64_t *start;
    int32_t *column;
    uint32_t *source;
    row_segment *segment;
    void *value;
    double *row_sum;   /* n: sums of |A|; in double precision for every type, since those of single
                          precision may be next to its smallest numbers.  While they are formed: */
    double *partial;   /* those of segments, ... */
    unsigned *arrived; /* ... and how many of each long row are there; back to 0 at the end */
} device_matrix;

libsolver_status device_matrix_open(device_matrix *a, const full_matrix *pattern,
                                    libsolver_type type, message *why);
/* New values: of the triangle that the pattern was built from, on the device.  One launch, which is
 * not waited for.  follows: it waits for the kernel before it on the stream.  0: that one, which
 * waits for those before itself, has not written the values; this one may run beside its end. */
libsolver_status device_matrix_set(const device_matrix *a, const void *lower, int follows,
                                   message *why);
void device_matrix_close(device_matrix *a);

/* What the refinement of up to `columns` columns writes to.  Blocks are n x columns, by columns. */
typedef struct device_refinement {
    int device;
    int32_t columns;
    void *memory;
    void *residual, *correction, *before, *spare; /* r, d, the x before the last step, and one for
                                                     the caller's use */
    double *norm, *omega, *partial;
    unsigned *arrived;   /* blocks of a launch, then segments of each row; back to 0 at its end */
    refine_state *state; /* on the device */
    refine_state *host_state; /* page-locked: a copy that the device writes */
} device_refinement;

libsolver_status device_refinement_open(const device_matrix *a, int32_t columns,
                                        device_refinement *w, message *why);
void device_refinement_close(device_refinement *w);

typedef struct refine_step {
    libsolver_vectors b, x; /* on the device */
    int first; /* x is measured as it is; otherwise x += d before, in the columns that are not done
                */
    int copies_state; /* the state goes to host_state; false where launches are captured or not
                         waited for */
    double tolerance, least_progress;
    unsigned *failed; /* on the device: nonzero after a solve that gave up */
} refine_step;

/* Whether such vectors can be refined in w.  INVALID. */
static inline libsolver_status device_refine_fits(const device_matrix *a,
                                                  const device_refinement *w,
                                                  const libsolver_vectors *b,
                                                  const libsolver_vectors *x, message *why)
{
    if (b->columns == x->columns && b->columns <= w->columns && b->rows == a->n &&
        x->rows == a->n && b->type == a->type && x->type == a->type)
        return LIBSOLVER_OK;
    return FAIL(why, LIBSOLVER_INVALID,
                "the right-hand side, the solution and the matrix on the device differ in size or "
                "type, or there are more columns than the workspace of refinement has");
}

/* Two launches: [x += d,] r := b - A x, backward errors, state.  A step after all columns are done
 * changes nothing. */
libsolver_status device_refine_step(const device_matrix *a, const device_refinement *w,
                                    void *stream, const refine_step *s, message *why);

/* Where the results of a refinement go that nobody waits for, on the device, NULL: nowhere. */
typedef struct refine_outcome {
    double *backward_error;   /* one for each column */
    libsolver_status *status; /* the most severe remark of `remarks` and INACCURATE, or CUDA; a
                                 block that is not the first adds to it */
    int remarks, is_first_block;
    const int32_t *factor; /* the status of the factor: if it is a failure, that is the status, and
                              errors are infinite; NULL: it has none */
} refine_outcome;

/* The best x takes the place of a worse one.  One launch. */
libsolver_status device_refine_finish(const device_matrix *a, const device_refinement *w,
                                      void *stream, const refine_step *s,
                                      const refine_outcome *outcome, message *why);
/* spare := b, asynchronously; *copy: a view of it. */
libsolver_status device_refine_spare(const device_matrix *a, const device_refinement *w,
                                     void *stream, const libsolver_vectors *b,
                                     libsolver_vectors *copy, message *why);
/* Waits for the stream; then host_state is the state after the last step that copied it. */
libsolver_status device_refine_wait(const device_matrix *a, void *stream, message *why);

#ifdef __cplusplus
}
#endif
#endif
