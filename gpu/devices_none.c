/* gpu/devices_none.c: the answer of a build without CUDA
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/devices.h"

libsolver_status gpu_devices(int capacity, gpu_device *devices, int *count)
{
    (void)capacity;
    (void)devices;
    *count = 0;
    return LIBSOLVER_NOT_BUILT;
}
