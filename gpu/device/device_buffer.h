/* gpu/device/device_buffer.h: one allocation in a device's memory that is used again
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_DEVICE_DEVICE_BUFFER_H
#define GPU_DEVICE_DEVICE_BUFFER_H

#include <stdint.h>

/* Zeroed: nothing is allocated. */
typedef struct device_buffer {
    void *at;
    int64_t bytes;
} device_buffer;

#endif
