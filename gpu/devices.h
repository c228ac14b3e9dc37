/* gpu/devices.h: the CUDA devices of this machine
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_DEVICES_H
#define GPU_DEVICES_H

#include "libsolver_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gpu_device {
    char name[256];
    int compute_major, compute_minor, multiprocessors;
    int64_t bytes;
} gpu_device;

/* count: devices there are, 0 without a driver; at most capacity of them are described.  NOT_BUILT, CUDA. */
libsolver_status gpu_devices(int capacity, gpu_device *devices, int *count);

#ifdef __cplusplus
}
#endif
#endif
