/* gpu/former.h: the values of a program formed on a device from a factor
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_FORMER_H
#define GPU_FORMER_H

#include "base/environment.h"
#include "gpu/form_device.h"
#include "gpu/plan.h"

/* What the last load and the values since then took. */
typedef struct former_info {
    double load, tables, kernels; /* seconds: of the factor's way to the device, of tables on the host, of kernels */
    int64_t factor_bytes, pattern_bytes, workspace_bytes; /* held on the device */
} former_info;

typedef struct former {
    environment *env;
    device_form device;
    int64_t *panel_at; /* nodes + 1 */
    int64_t workspace_limit; /* bytes, exceeded where one group needs more */
    const factor_tree *tree;
    former_info info;
} former;

/* On env's device and this stream, never NULL; nothing is allocated yet. */
void former_open(former *f, environment *env, void *stream);
void former_close(former *f);
/* Gives back what it holds on the device. */
void former_drop(former *f);

/* Copies panels and D to the device; the tree must stay.  OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY, CUDA, NOT_BUILT, here and below. */
libsolver_status former_load(former *f, const factor_tree *tree, char *error, int room);
/* form_values (gpu/form.h) with the values on the device: tiles of every group, and D^-1.  May come again with other groups. */
libsolver_status former_values(former *f, const unsigned char *joined, const pieces *p, const groups *g, const solve_plan *plan, void *values,
                               double *growth, double *square_growth, char *error, int room);

#endif
