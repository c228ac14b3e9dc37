/* cli/device_none.c: no GPU, in a build without CUDA
 * SPDX-License-Identifier: BSD-3-Clause */
#include "device.h"
#include <math.h>

int device_use(int device)
{
    (void)device;
    return 1;
}

void *device_stream_create(void)
{
    return NULL;
}

void device_stream_free(void *stream)
{
    (void)stream;
}

int device_array_create(const void *host, size_t bytes, void **block)
{
    (void)host;
    (void)bytes;
    *block = NULL;
    return 1;
}

int device_array_get(const void *block, size_t bytes, void *host)
{
    (void)block;
    (void)bytes;
    (void)host;
    return 1;
}

void device_array_free(void *block)
{
    (void)block;
}

int device_time(void *stream, int (*call)(void *user), void *user, double *seconds, double *graph)
{
    (void)stream;
    (void)call;
    (void)user;
    (void)seconds;
    (void)graph;
    return 1;
}

double device_copy_rate(void)
{
    return NAN;
}
