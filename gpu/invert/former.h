/* gpu/invert/former.h: the values of a program formed on a device from a factor
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_INVERT_FORMER_H
#define GPU_INVERT_FORMER_H

#include "base/environment.h"
#include "gpu/invert/form_tables.h"

/* What the last load and the values since then took. */
typedef struct former_info {
    double load, tables, kernels; /* seconds: of the factor's way to the device, of tables on the
                                     host, of kernels */
    int64_t factor_bytes, pattern_bytes, workspace_bytes; /* held on the device */
} former_info;

typedef struct former {
    environment *env;
    device_form device;
    int32_t nodes;
    int64_t *panel_at;       /* nodes + 1 */
    int64_t workspace_limit; /* bytes, exceeded where one group needs more */
    const factor_tree *tree;
    form_tables tables; /* of the plan at hand */
    double *growth;     /* of small groups and strips, twice */
    former_info info;
} former;

/* On env's device and this stream, never NULL; nothing is allocated yet. */
void former_open(former *f, environment *env, void *stream);
void former_close(former *f);
/* Gives back what it holds on the device and of the plan. */
void former_drop(former *f);

/* Copies panels and D to the device; the tree must stay until former_plan.  OUT_OF_MEMORY,
 * OUT_OF_DEVICE_MEMORY, CUDA, NOT_BUILT, here and below. */
libsolver_status former_load(former *f, const factor_tree *tree, char *error, int room);
/* What the device has to know of groups and their program; serves this and later factors of the
 * same shape (gpu/tree/tree_shape.h). */
libsolver_status former_plan(former *f, const unsigned char *joined, const pieces *p,
                             const groups *g, const solve_plan *plan, char *error, int room);
/* form_values (gpu/invert/form.h) for that plan with the values on the device: tiles of every
 * group, and D^-1.  Nothing is allocated from the second time on. */
libsolver_status former_values(former *f, void *values, double *growth, double *square_growth,
                               char *error, int room);
/* Held on the device. */
int64_t former_bytes(const former *f);

#endif
