/* gpu/device/build.h: which CUDA code there is
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_DEVICE_BUILD_H
#define GPU_DEVICE_BUILD_H

#include "base/message.h"

typedef struct gpu_build {
    const char *architectures; /* "sm_90, compute_90" */
    int toolkit, driver;       /* versions of CUDA, 1000 major + 10 minor; 0: no driver */
} gpu_build;

/* NOT_BUILT. */
libsolver_status gpu_build_describe(gpu_build *build, message *why);

#endif
