/* test/support/fake/fake.c: memory, streams and failures of the device that tests have on the host
 * SPDX-License-Identifier: BSD-3-Clause */
#include "fake.h"
#include "dense/libsolver_dense.h"
#include "gpu/device/build.h"
#include "gpu/device/devices.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ORDINARY \
    {.devices = 1, \
     .compute_major = 9, \
     .blocks = 8, \
     .multiprocessors = 4, \
     .capacity = (int64_t)1 << 32, \
     .half = 1 << 16, \
     .seed = 1, \
     .left = INT64_MAX, \
     .failure = LIBSOLVER_CUDA}

fake_device fake = ORDINARY;

void fake_reset(void)
{
    const int64_t bytes = fake.bytes, held = fake.held;
    fake = (fake_device)ORDINARY;
    fake.bytes = bytes;
    fake.held = held;
}

/* ---- Failures -------------------------------------------------------------------------------- */

int fake_fails(const char *call)
{
    fake.calls++;
    if (fake.left == INT64_MAX || fake.left-- != 0)
        return 0;
    fake.left = INT64_MAX;
    fake.last = call;
    return 1;
}

libsolver_status fake_failed(const char *step, message *why)
{
    char sentence[80];
    snprintf(sentence, sizeof sentence, "%s failed on demand", fake.last);
    return STEP_FAILED(why, fake.failure, step, sentence);
}

libsolver_status gpu_device_count(int *count, message *why)
{
    fake.looks++;
    *count = fake.counts_fail ? 0 : fake.devices;
    return fake.counts_fail
               ? STEP_FAILED(why, LIBSOLVER_CUDA, "counting the devices", "it fails on demand")
               : LIBSOLVER_OK;
}

libsolver_status gpu_build_describe(gpu_build *build, message *why)
{
    (void)why;
    *build = (gpu_build){.architectures = "fake", .toolkit = 13000, .driver = 13010};
    return LIBSOLVER_OK;
}

/* Dense calls are not there. */
int libsolver_dense_cublas_version(void)
{
    return 0;
}

const char *libsolver_dense_message(void)
{
    return "the fake device has no dense calls";
}

libsolver_status gpu_device_describe(int i, gpu_device *device, message *why)
{
    MAY_FAIL("asking for a device's properties", why);
    *device = (gpu_device){.compute_major = fake.compute_major,
                           .multiprocessors = fake.multiprocessors,
                           .bytes = fake.capacity};
    snprintf(device->name, sizeof device->name, "fake device %d", i);
    return LIBSOLVER_OK;
}

libsolver_status gpu_device_check(int i, message *why)
{
    MAY_FAIL("looking for code for a device", why);
    gpu_device device = {.name = "old device", .compute_major = fake.compute_major};
    return gpu_device_suits(i, &device, why);
}

libsolver_status gpu_device_read(int device, void *stream, const void *from, int64_t bytes,
                                 void *to, message *why)
{
    MAY_FAIL("copying a matrix from the device", why);
    (void)device;
    fake_wait(stream);
    memcpy(to, from, (size_t)bytes);
    return LIBSOLVER_OK;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* In front of the block. */
typedef struct header {
    struct header *next;
    int64_t bytes;
    int on_device;
} header;

enum { ALIGN = 256 };
static header *first_block;

static char *begin_of(const header *h)
{
    return (char *)h + ALIGN;
}

void *fake_allocate(int64_t bytes, int on_device)
{
    if (bytes > fake.capacity - fake.bytes)
        return NULL;
    header *h = aligned_alloc(ALIGN, (size_t)(ALIGN + (bytes + ALIGN - 1) / ALIGN * ALIGN));
    if (!h)
        return NULL;
    *h = (header){.next = first_block, .bytes = bytes, .on_device = on_device};
    first_block = h;
    fake.bytes += bytes;
    fake.held++;
    /* NaN; larger ones are to fill the device */
    memset(begin_of(h), 0xff, bytes < 1 << 26 ? (size_t)bytes : 0);
    return begin_of(h);
}

void fake_free(void *block)
{
    if (!block)
        return;
    fake_wait(NULL);
    header **at = &first_block;
    while (*at && begin_of(*at) != block)
        at = &(*at)->next;
    header *h = *at;
    if (!h) {
        fprintf(stderr, "a block is freed that is none of the device's\n");
        abort();
    }
    *at = h->next;
    fake.bytes -= h->bytes;
    fake.held--;
    free(h);
}

int64_t fake_room(const void *at)
{
    for (const header *h = first_block; h; h = h->next) {
        const char *begin = begin_of(h), *end = begin + h->bytes;
        if (h->on_device && (const char *)at >= begin && (const char *)at <= end)
            return end - (const char *)at;
    }
    return -1;
}

/* ---- Streams --------------------------------------------------------------------------------- */

typedef struct operation {
    struct operation *next;
    void *stream;
    fake_work *work;
    size_t bytes;
    max_align_t arguments[];
} operation;

typedef struct stream {
    operation **captured; /* NULL: work is done */
} stream;

static operation *queue;

static void append(operation **list, void *on, fake_work *work, const void *arguments, size_t bytes)
{
    operation *o = malloc(sizeof *o + bytes);
    if (!o)
        abort();
    *o = (operation){.stream = on, .work = work, .bytes = bytes};
    memcpy(o->arguments, arguments, bytes);
    while (*list)
        list = &(*list)->next;
    *list = o;
}

void *fake_stream_open(void)
{
    return calloc(1, sizeof(stream));
}

void fake_stream_close(void *s)
{
    fake_wait(s);
    free(s);
}

void fake_launch(void *s, fake_work *work, const void *arguments, size_t bytes)
{
    stream *on = s;
    append(on && on->captured ? on->captured : &queue, s, work, arguments, bytes);
    if (!on)
        fake_wait(NULL);
}

void fake_wait(void *s)
{
    for (operation **at = &queue; *at;) {
        operation *o = *at;
        if (s && o->stream != s) {
            at = &o->next;
            continue;
        }
        *at = o->next;
        o->work(o->arguments);
        free(o);
    }
}

void fake_capture_begin(void *s)
{
    ((stream *)s)->captured = calloc(1, sizeof(operation *));
}

void *fake_capture_end(void *s)
{
    void *captured = ((stream *)s)->captured;
    ((stream *)s)->captured = NULL;
    return captured;
}

void fake_capture_launch(const void *captured, void *s)
{
    for (const operation *o = *(operation *const *)captured; o; o = o->next)
        fake_launch(s, o->work, o->arguments, o->bytes);
}

int fake_is_captured(void *s)
{
    return s && ((stream *)s)->captured;
}

size_t fake_capture_length(const void *captured)
{
    size_t length = 0;
    for (const operation *o = *(operation *const *)captured; o; o = o->next)
        length++;
    return length;
}

void fake_capture_free(void *captured)
{
    for (operation *o = *(operation **)captured, *next; o; o = next) {
        next = o->next;
        free(o);
    }
    free(captured);
}
