/* cli/room.h: the memory of the tool and of the library's contexts in it, counted together against
 * --memory-limit
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_ROOM_H
#define CLI_ROOM_H

#include <stddef.h>
#include <stdint.h>

/* Most bytes that may be in use from now on, 0: any number.  One limit for the whole process, as
 * its memory is one. */
void room_limit(int64_t bytes);
/* Bytes that may still be taken, at least 1; 0: any number. */
int64_t room_left(void);
/* Bytes of the latest request that was refused, 0: none was. */
int64_t room_wanted(void);

/* count * size bytes, at least 1, as malloc, calloc and realloc give them; NULL: they cannot be
 * had, or the product overflows.  Freed by room_free only. */
void *room_new(int64_t count, size_t size);
void *room_zeroed(int64_t count, size_t size);
void *room_resize(void *block, int64_t count, size_t size);
void room_free(void *block);

/* The same for libsolver_options.allocate and release; from any thread. */
void *room_allocate(void *user, size_t bytes);
void room_release(void *user, void *block);

#endif
