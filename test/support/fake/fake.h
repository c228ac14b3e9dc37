/* test/support/fake/fake.h: a device for tests, on the host: its memory, its streams, and failures
 * on demand
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * What gpu/ declares for CUDA stands in this folder once more, for the host, in the plainest way
 * that keeps the promises of those headers, and none beyond them: memory is not zero when it is
 * taken, what is put on a stream is done when somebody waits for the stream and not before, and
 * what may run at the same time runs in an order drawn at random.  cuda_runtime_api.h has the calls
 * of CUDA that tests make. */
#ifndef TEST_SUPPORT_FAKE_FAKE_H
#define TEST_SUPPORT_FAKE_FAKE_H

#include "gpu/device/device_failure.h"
#include <stddef.h>

typedef struct fake_device {
    int devices;                     /* that there are */
    int compute_major;               /* of their compute capability */
    int counts_fail;                 /* devices cannot be counted */
    int32_t blocks, multiprocessors; /* blocks that are resident together */
    int by_levels;                   /* they cannot be */
    int64_t capacity;                /* bytes of memory */
    int64_t half;                    /* bytes of a factor that come at a time */
    uint64_t seed;                   /* of the order of work */
    int gives_up;                    /* the next solve does, as its blocks wait in vain */
    /* Of calls that may fail so many succeed, then one fails, with this status. */
    int64_t left;
    libsolver_status failure;
    /* what tests look at */
    int64_t calls, bytes, held; /* calls that may fail, so far; bytes and blocks of memory in use,
                                   the host's page-locked too */
    int looks;                  /* at the number of devices */
    int current;                /* the device of CUDA's calls */
    const char *last;           /* the call that failed last */
} fake_device;

extern fake_device fake;

/* As it is at first: one device, no failures.  Blocks in use stay. */
void fake_reset(void);

/* Whether the call at hand fails, which is what its name is for. */
int fake_fails(const char *call);
/* The status of that; step: see gpu/device/device_failure.h. */
libsolver_status fake_failed(const char *step, message *why);
#define MAY_FAIL(step, why) \
    do { \
        if (fake_fails(__func__)) \
            return fake_failed(step, why); \
    } while (0)

/* Memory full of NaN.  NULL: there is no room. */
void *fake_allocate(int64_t bytes, int on_device);
/* Waits for all streams first. */
void fake_free(void *block);
/* How many bytes there are from an address on in a block on the device, -1: it is in none. */
int64_t fake_room(const void *at);

/* Work on a stream, with a copy of its arguments; NULL: done at once. */
typedef void fake_work(void *arguments);
void *fake_stream_open(void);
void fake_stream_close(void *stream);
void fake_launch(void *stream, fake_work *work, const void *arguments, size_t bytes);
/* Does what is on a stream, NULL: on every one. */
void fake_wait(void *stream);
/* From begin to end work goes to a list, which is returned and can be launched. */
void fake_capture_begin(void *stream);
void *fake_capture_end(void *stream);
void fake_capture_launch(const void *captured, void *stream);
int fake_is_captured(void *stream);
size_t fake_capture_length(const void *captured);
void fake_capture_free(void *captured);

#endif
