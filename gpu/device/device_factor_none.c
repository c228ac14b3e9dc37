/* gpu/device/device_factor_none.c: a factor in a device's memory, in a build without CUDA
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/device/device_factor.h"

libsolver_status device_factor_take(device_factor *f, const device_factor_shape *shape,
                                    message *why)
{
    (void)f, (void)shape;
    return BUILT_WITHOUT_CUDA(why);
}

libsolver_status device_factor_upload(device_factor *f, device_factor_copy *fill, void *user,
                                      message *why)
{
    (void)f, (void)fill, (void)user;
    return BUILT_WITHOUT_CUDA(why);
}

libsolver_status device_factor_download(device_factor *f, device_factor_copy *drain, void *user,
                                        message *why)
{
    (void)f, (void)drain, (void)user;
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
