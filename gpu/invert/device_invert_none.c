/* gpu/invert/device_invert_none.c: the inverses on a device, in a build without CUDA
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/invert/device_invert.h"

libsolver_status device_inverter_load(device_inverter *f, const invert_pattern *pattern,
                                      message *why)
{
    (void)f;
    (void)pattern;
    return BUILT_WITHOUT_CUDA(why);
}

libsolver_status device_inverter_launch(device_inverter *f, const device_factor *factor,
                                        const invert_pattern *pattern, void *values, int is_timed,
                                        message *why)
{
    (void)f;
    (void)factor;
    (void)pattern;
    (void)values;
    (void)is_timed;
    return BUILT_WITHOUT_CUDA(why);
}

libsolver_status device_inverter_finish(const device_inverter *f, largest_growth *growth,
                                        double *seconds, message *why)
{
    (void)f;
    *growth = (largest_growth){0};
    *seconds = 0;
    return BUILT_WITHOUT_CUDA(why);
}

libsolver_status device_inverter_growths(const device_inverter *f, double *growth, message *why)
{
    (void)f;
    (void)growth;
    return BUILT_WITHOUT_CUDA(why);
}

void device_inverter_drop(device_inverter *f)
{
    (void)f;
}
