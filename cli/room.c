/* cli/room.c: the memory of the tool and of the library's contexts in it, counted together against
 * --memory-limit
 * SPDX-License-Identifier: BSD-3-Clause */
#include "room.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Lies before every block, which so stays aligned as malloc's. */
typedef union header {
    int64_t bytes; /* with itself */
    max_align_t alignment;
} header;

static _Atomic int64_t limit, in_use, wanted;

void room_limit(int64_t bytes)
{
    atomic_store(&limit, bytes);
}

int64_t room_left(void)
{
    const int64_t most = atomic_load(&limit), left = most - atomic_load(&in_use);
    return most == 0 ? 0 : left > 1 ? left : 1;
}

int64_t room_wanted(void)
{
    return atomic_load(&wanted);
}

static void *refuse(int64_t bytes)
{
    atomic_store(&wanted, bytes);
    return NULL;
}

/* Room for `bytes` more, which are counted. */
static int take(int64_t bytes)
{
    const int64_t most = atomic_load(&limit), now = atomic_fetch_add(&in_use, bytes) + bytes;
    if (most == 0 || now <= most)
        return 1;
    atomic_fetch_sub(&in_use, bytes);
    return 0;
}

void *room_resize(void *block, int64_t count, size_t size)
{
    header *old = block ? (header *)block - 1 : NULL;
    if (count < 0 || (size > 0 && count > (INT64_MAX - (int64_t)sizeof(header)) / (int64_t)size))
        return refuse(INT64_MAX);
    const int64_t bytes = (count > 0 ? count : 1) * (int64_t)size + (int64_t)sizeof(header),
                  more = bytes - (old ? old->bytes : 0);
    if (!take(more))
        return refuse(more);
    header *h = realloc(old, (size_t)bytes);
    if (!h) {
        atomic_fetch_sub(&in_use, more);
        return refuse(more);
    }
    h->bytes = bytes;
    return h + 1;
}

void *room_new(int64_t count, size_t size)
{
    return room_resize(NULL, count, size);
}

void *room_zeroed(int64_t count, size_t size)
{
    void *block = room_new(count, size);
    if (block)
        memset(block, 0, (size_t)count * size);
    return block;
}

void room_free(void *block)
{
    if (!block)
        return;
    header *h = (header *)block - 1;
    atomic_fetch_sub(&in_use, h->bytes);
    free(h);
}

void *room_allocate(void *user, size_t bytes)
{
    (void)user;
    return bytes <= INT64_MAX ? room_new((int64_t)bytes, 1) : refuse(INT64_MAX);
}

void room_release(void *user, void *block)
{
    (void)user;
    room_free(block);
}
