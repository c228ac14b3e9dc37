/* gpu/device/devices.h: the CUDA devices of this machine, and what users have in their memory
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_DEVICE_DEVICES_H
#define GPU_DEVICE_DEVICES_H

#include "gpu/device/device_failure.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gpu_device {
    char name[256];
    int compute_major, compute_minor, multiprocessors;
    int64_t bytes;
} gpu_device;

/* How many devices there are, 0 without a driver.  NOT_BUILT, CUDA. */
libsolver_status gpu_device_count(int *count, message *why);
/* Device number i of them.  NOT_BUILT, CUDA. */
libsolver_status gpu_device_describe(int i, gpu_device *device, message *why);
/* Whether the kernels run on device i: it has what they need (a compute capability of 9.0), and
 * this build has code for it.  NOT_BUILT, CUDA. */
libsolver_status gpu_device_check(int i, message *why);
/* Copies from a device's memory to the host behind what is on a stream; waits.  NOT_BUILT, CUDA. */
libsolver_status gpu_device_read(int device, void *stream, const void *from, int64_t bytes,
                                 void *to, message *why);

/* The kernels wait at barriers in shared memory and work in clusters of blocks, which no GPU before
 * compute capability 9.0 has.  NOT_BUILT. */
static inline libsolver_status gpu_device_suits(int i, const gpu_device *d, message *why)
{
    return d->compute_major >= 9
               ? LIBSOLVER_OK
               : FAIL(
                     why, LIBSOLVER_NOT_BUILT,
                     "device %d, %.60s, has compute capability %d.%d; the kernels need 9.0 or more",
                     i, d->name, d->compute_major, d->compute_minor);
}

#ifdef __cplusplus
}
#endif
#endif
