/* gpu/device/device_factor_none.c: a factor in a device's memory, in a build without CUDA
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/device/device_factor.h"

libsolver_status device_factor_upload(device_factor *f, const device_factor_shape *shape,
                                      device_factor_fill *fill, void *user, message *why)
{
    (void)f;
    (void)shape;
    (void)fill;
    (void)user;
    return BUILT_WITHOUT_CUDA(why);
}

void device_factor_drop(device_factor *f)
{
    (void)f;
}

void device_factor_release(device_factor *f)
{
    (void)f;
}
