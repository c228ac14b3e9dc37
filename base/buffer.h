/* base/buffer.h: arrays that grow while a program is written
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H

#include "base/memory.h"
#include <string.h>

/* Bytes [0, length) of data are in use.  failed: an allocation failed; later calls do nothing. */
typedef struct buffer {
    memory *m;
    char *data;
    int64_t length, room;
    int failed;
} buffer;

/* Room for `bytes` more at the end; NULL when failed.  The address holds until the next call. */
static inline void *buffer_grow(buffer *b, int64_t bytes)
{
    if (!b->failed && b->length + bytes > b->room) {
        const int64_t room =
            2 * b->room > b->length + bytes ? 2 * b->room : b->length + bytes + 1024;
        char *data = memory_new(b->m, room, 1);
        if (data) {
            if (b->length > 0)
                memcpy(data, b->data, (size_t)b->length);
            memory_free(b->m, b->data);
            b->data = data;
            b->room = room;
        }
        b->failed = !data;
    }
    if (b->failed)
        return NULL;
    b->length += bytes;
    return b->data + b->length - bytes;
}

static inline void buffer_put(buffer *b, const void *what, int64_t bytes)
{
    void *to = buffer_grow(b, bytes);
    if (to && bytes > 0)
        memcpy(to, what, (size_t)bytes);
}

static inline void buffer_free(buffer *b)
{
    memory_free(b->m, b->data);
    b->data = NULL;
    b->length = b->room = 0;
}

#endif
