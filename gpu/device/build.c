/* gpu/device/build.c: which CUDA code there is
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/device/build.h"
#include <cuda_runtime_api.h>

libsolver_status gpu_build_describe(gpu_build *build, message *why)
{
    (void)why;
    *build = (gpu_build){.architectures = GPU_ARCHITECTURES, .toolkit = CUDART_VERSION};
    if (cudaDriverGetVersion(&build->driver) != cudaSuccess)
        build->driver = 0;
    return LIBSOLVER_OK;
}
