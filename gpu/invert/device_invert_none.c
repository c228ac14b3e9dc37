/* gpu/invert/device_invert_none.c: the inverses on a device, in a build without CUDA
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/invert/device_invert.h"
#include <stdio.h>

libsolver_status device_inverter_load(device_inverter *f, const invert_pattern *pattern,
                                      char *sentence, int room)
{
    (void)f;
    (void)pattern;
    snprintf(sentence, (size_t)room, "built without CUDA");
    return LIBSOLVER_NOT_BUILT;
}

libsolver_status device_inverter_run(device_inverter *f, const device_factor *factor,
                                     const invert_pattern *pattern, void *values, double *growth,
                                     double *seconds, char *sentence, int room)
{
    (void)f;
    (void)factor;
    (void)pattern;
    (void)values;
    (void)growth;
    *seconds = 0;
    snprintf(sentence, (size_t)room, "built without CUDA");
    return LIBSOLVER_NOT_BUILT;
}

void device_inverter_drop(device_inverter *f)
{
    (void)f;
}
