/* test/support/fake/device.c: what must hold on the device on the host, parts of its memory, and
 * blocks of vectors in it
 * SPDX-License-Identifier: BSD-3-Clause */
#include "device.h"
#include "base/memory.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fake_insist(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "on the fake device: %s\n", what);
    abort();
}

libsolver_status fake_no_memory(const char *object, int64_t bytes, message *why)
{
    return NO_DEVICE_MEMORY(why, object, bytes, fake.capacity - fake.bytes);
}

void *fake_place(char *base, int64_t *at, int64_t bytes)
{
    char *here = base ? base + *at : NULL;
    *at += round_up(bytes, 256);
    return here;
}

void fake_copy(void *to, const void *from, int64_t bytes)
{
    if (from && bytes > 0)
        memcpy(to, from, (size_t)bytes);
}

int fake_grow(void **block, int64_t *held, int64_t *allocations, int64_t bytes)
{
    if (bytes <= *held)
        return 1;
    fake_free(*block);
    ++*allocations;
    *block = fake_allocate(bytes, 1);
    *held = *block ? bytes : 0;
    return *block != NULL;
}

int fake_grow_buffer(device_buffer *b, int64_t *allocations, int64_t bytes)
{
    return fake_grow(&b->at, &b->bytes, allocations, bytes);
}

void fake_free_buffer(device_buffer *b)
{
    fake_free(b->at);
    *b = (device_buffer){0};
}

char *fake_entry(const libsolver_vectors *v, int64_t i, int64_t j)
{
    return (char *)v->values +
           type_bytes(v->type) * (v->layout == LIBSOLVER_ROW_MAJOR ? i * v->ld + j : i + j * v->ld);
}

void fake_check_block(const libsolver_vectors *v)
{
    if (v->rows > 0 && v->columns > 0)
        fake_insist(fake_room(fake_entry(v, v->rows - 1, v->columns - 1)) >= type_bytes(v->type) &&
                        fake_room(v->values) > 0,
                    "a block of vectors is not in its memory");
}
