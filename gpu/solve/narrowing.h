/* gpu/solve/narrowing.h: solves in single precision for vectors in double, in mixed precision
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * S A S, rounded, has been factorized in single precision.  A column b comes to the solve as
 * 2^p S b, rounded, 2^p bringing its largest entry near 1, since what is small in double may be
 * nothing in single; its solution goes back as 2^-p S times it.  Entries that are less than 2^-90
 * of the largest come as zeros, for they may end below the normal numbers.
 *
 * Every call makes its device current and what was current before again at its end.  Statuses:
 * CUDA, OUT_OF_DEVICE_MEMORY, NOT_BUILT. */
#ifndef GPU_SOLVE_NARROWING_H
#define GPU_SOLVE_NARROWING_H

#include "gpu/device/device_failure.h"
#include "libsolver_types.h"
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* device and stream are set by the caller. */
typedef struct device_narrowing {
    int device;
    void *stream;
    libsolver_type type; /* of vectors: D or Z */
    int32_t n;
    int64_t bytes, allocations; /* of memory, so far */
    void *memory;               /* of: */
    double *scale;              /* n, by rows of A: the diagonal of S */
    float *ones;                /* n: what the solve scales by */
} device_narrowing;

/* Memory that one solve at a time writes to. */
typedef struct narrow_block {
    int device;
    void *memory;
    libsolver_vectors b, x; /* n x columns, by columns, in single precision */
    double *size, *power;   /* of parts of columns, of columns */
} narrow_block;

/* Takes the memory, the same as before if that is enough; for the same type and n it is ready. */
libsolver_status device_narrowing_open(device_narrowing *v, libsolver_type type, int32_t n,
                                       message *why);
/* scale := n factors, on the host or the device, which stay there until the stream has passed. */
libsolver_status device_narrowing_scale(const device_narrowing *v, const double *scale,
                                        message *why);
void device_narrowing_drop(device_narrowing *v);

int64_t narrow_block_bytes(const device_narrowing *v, int32_t columns);
libsolver_status narrow_block_open(const device_narrowing *v, int32_t columns, narrow_block *w,
                                   message *why);
void narrow_block_close(narrow_block *w);

/* w->b := the columns of b; columns of x := w->x.  b and x: on the device, of at most as many
 * columns as the block has.  Asynchronous on `stream` (NULL: v's); two launches and one. */
libsolver_status device_narrow(const device_narrowing *v, const narrow_block *w, void *stream,
                               const libsolver_vectors *b, message *why);
libsolver_status device_widen(const device_narrowing *v, const narrow_block *w, void *stream,
                              const libsolver_vectors *x, message *why);

#ifdef __cplusplus
}
#endif
#endif
