/* gpu/device/devices_none.c: the answers of a build without CUDA
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/device/devices.h"

libsolver_status gpu_device_count(int *count, message *why)
{
    *count = 0;
    return BUILT_WITHOUT_CUDA(why);
}

libsolver_status gpu_device_describe(int i, gpu_device *device, message *why)
{
    (void)i;
    (void)device;
    return BUILT_WITHOUT_CUDA(why);
}

libsolver_status gpu_device_read(int device, void *stream, const void *from, int64_t bytes,
                                 void *to, message *why)
{
    (void)device, (void)stream, (void)from, (void)bytes, (void)to;
    return BUILT_WITHOUT_CUDA(why);
}
