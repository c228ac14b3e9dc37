/* gpu/device/device_factor.h: a factor in a device's memory
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The panels of its nodes lie one after the other, each from an even place on, with the leading
 * dimensions of the tree; behind
 * them, for L D L^T, the n entries of D's diagonal and the n entries e(c) = D(c + 1, c), both by
 * position.  The factor is copied from the host here, or made on the device; solves and the
 * inversion of groups only read it. */
#ifndef GPU_DEVICE_DEVICE_FACTOR_H
#define GPU_DEVICE_DEVICE_FACTOR_H

#include "base/factor_tree.h"
#include "base/type.h"
#include "gpu/device/device_buffer.h"
#include "gpu/device/device_failure.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct environment environment; /* base/environment.h, which is C alone */

typedef struct device_factor_shape {
    libsolver_type type;
    int hermitian, cholesky;
    int32_t n;
    int64_t panel_scalars; /* of all panels: where the diagonal of D begins */
} device_factor_shape;

typedef struct device_factor {
    environment *env;
    int device;
    void *stream;
    device_factor_shape shape;
    int32_t nodes;
    int64_t *panel_at;    /* nodes + 1, on the host: scalars before the panel of node s */
    device_buffer values; /* panels, d, e; a later factor reuses it if it is large enough */
    int64_t allocations;  /* of values, so far */
    double seconds;       /* that the last load took */
    void *staging;        /* page-locked, two halves of so many bytes each: */
    int64_t half;
    void *staged[2]; /* events: the device has read this half */
} device_factor;

/* Bytes of a factor's values. */
static inline int64_t device_factor_bytes(const device_factor_shape *shape)
{
    return type_bytes(shape->type) *
           (shape->panel_scalars + (shape->cholesky ? 0 : 2 * (int64_t)shape->n));
}
/* On env's device and this stream; nothing is allocated yet. */
void device_factor_open(device_factor *f, environment *env, void *stream);
void device_factor_close(device_factor *f);
/* Copies panels and D from the host and waits for the end.  OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY,
 * CUDA, NOT_BUILT. */
libsolver_status device_factor_load(device_factor *f, const factor_tree *tree, message *why);
/* Memory for the factor of a tree whose panels are made on the device, at f->values.at; the tree's
 * own may be NULL.  Statuses as above. */
libsolver_status device_factor_reserve(device_factor *f, const factor_tree *tree, message *why);
/* The factor that was loaded or made last to the host: panel(s), d(s) and e(s) as in a factor_tree,
 * without rows between columns; d and e are not read for Cholesky.  Waits; OUT_OF_DEVICE_MEMORY:
 * page-locked memory could not be had. */
libsolver_status device_factor_fetch(device_factor *f, const factor_tree *tree, void *const *panel,
                                     void *const *d, void *const *e, message *why);

/* Copies `bytes` bytes of the values, from byte `from` on, to or from the host memory `part`. */
typedef void device_factor_copy(void *user, int64_t from, int64_t bytes, void *part);
/* What these need of CUDA: memory for a factor of this shape; its bytes in and out through half a
 * staging buffer at a time.  The device is current only during each call, here and below. */
libsolver_status device_factor_take(device_factor *f, const device_factor_shape *shape,
                                    message *why);
libsolver_status device_factor_upload(device_factor *f, device_factor_copy *fill, void *user,
                                      message *why);
libsolver_status device_factor_download(device_factor *f, device_factor_copy *drain, void *user,
                                        message *why);
/* Frees the values. */
void device_factor_drop(device_factor *f);
/* Frees values, staging and events. */
void device_factor_release(device_factor *f);

#ifdef __cplusplus
}
#endif
#endif
