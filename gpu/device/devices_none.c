/* gpu/device/devices_none.c: the answers of a build without CUDA
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/device/devices.h"

libsolver_status gpu_device_count(int *count)
{
    *count = 0;
    return LIBSOLVER_NOT_BUILT;
}

libsolver_status gpu_device_describe(int i, gpu_device *device)
{
    (void)i;
    (void)device;
    return LIBSOLVER_NOT_BUILT;
}
