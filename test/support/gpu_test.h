/* test/support/gpu_test.h: what the tests on a device begin with
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_SUPPORT_GPU_TEST_H
#define TEST_SUPPORT_GPU_TEST_H

#include "gpu_required.h"
#include <cuda_runtime_api.h>
#include <string.h>

#define CUDA(call) assert_int_equal((call), cudaSuccess)

/* Whether there is a device; small: whether the first argument asks for sizes and repeats for
 * compute-sanitizer. */
static inline int device_is_here(int argc, char **argv, int *small)
{
    int devices = 0;
    *small = argc > 1 && !strcmp(argv[1], "small");
    return cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
}

#endif
