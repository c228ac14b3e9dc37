/* cli/device.h: what `libsolver bench` needs of a GPU: a stream, blocks in its memory, and its
 * clock
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Functions that can fail return 0 when they did not. */
#ifndef CLI_DEVICE_H
#define CLI_DEVICE_H

#include <stddef.h>

/* The device that the following calls of this thread are for: not 0, there is none of that number.
 */
int device_use(int device);

/* A stream that does not wait for the legacy default one; NULL without a GPU. */
void *device_stream_create(void);
void device_stream_free(void *stream);

/* A copy of host memory on the device; device_array_free in every case. */
int device_array_create(const void *host, size_t bytes, void **block);
int device_array_get(const void *block, size_t bytes, void *host);
void device_array_free(void *block);

/* Seconds of one asynchronous call on the stream: medians over means of back-to-back calls, by the
 * device's clock; *graph: of as many replayed from a CUDA graph, NaN if they cannot be captured. */
int device_time(void *stream, int (*call)(void *user), void *user, double *seconds, double *graph);

/* Bytes a second that the device's memory takes and gives when it copies within itself, both ways
 * counted; NaN if it is not known. */
double device_copy_rate(void);

#endif
