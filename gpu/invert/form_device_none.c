/* gpu/invert/form_device_none.c: values formed on a device, in a build without CUDA
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/invert/form_device.h"
#include <stdio.h>

libsolver_status device_form_pattern(device_form *f, const form_pattern *pattern, char *sentence,
                                     int room)
{
    (void)f;
    (void)pattern;
    snprintf(sentence, (size_t)room, "built without CUDA");
    return LIBSOLVER_NOT_BUILT;
}

libsolver_status device_form_values(device_form *f, const device_factor *factor,
                                    const form_pattern *pattern, void *values, double *growth,
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

void device_form_drop(device_form *f)
{
    (void)f;
}
