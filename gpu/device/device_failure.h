/* gpu/device/device_failure.h: sentences of what failed on a device
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_DEVICE_DEVICE_FAILURE_H
#define GPU_DEVICE_DEVICE_FAILURE_H

#ifdef __cplusplus
extern "C" {
#endif

#include "base/message.h"

#ifdef __cplusplus
}
#endif

/* Each sets the message and returns the status.  step: what was being done, "copying the factor to
 * the device"; sentence: CUDA's. */
#define STEP_FAILED(why, status, step, sentence) FAIL(why, status, "%s failed: %s", step, sentence)

/* object: what the memory was for, "the workspace of the solve". */
#define NO_DEVICE_MEMORY(why, object, wanted_bytes, free_bytes) \
    FAIL(why, LIBSOLVER_OUT_OF_DEVICE_MEMORY, \
         "%s wanted %lld bytes of device memory, of which %lld are free", object, \
         (long long)(wanted_bytes), (long long)(free_bytes))

#define NO_PAGE_LOCKED_MEMORY(why, status, object, wanted_bytes, sentence) \
    FAIL(why, status, "%s wanted %lld bytes of page-locked memory: %s", object, \
         (long long)(wanted_bytes), sentence)

#endif
