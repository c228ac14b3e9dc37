/* ordering/arena.h: memory taken and given back in the order of a stack
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ORDERING_ARENA_H
#define ORDERING_ARENA_H

#include "base/memory.h"

typedef struct arena_chunk arena_chunk;

typedef struct arena {
    memory *m;
    arena_chunk *first, *current; /* chunks behind the current one are empty */
    size_t used;                  /* bytes of the current one */
    size_t chunk;                 /* bytes that a new chunk has at least */
} arena;

typedef struct arena_mark {
    arena_chunk *current;
    size_t used;
} arena_mark;

/* Takes no memory yet. */
void arena_init(arena *a, memory *m, size_t chunk);
void arena_free(arena *a);
/* count * size bytes, uninitialised, aligned to 64; NULL when they cannot be had. */
void *arena_new(arena *a, int64_t count, size_t size);
/* arena_back gives back what was taken after the mark; its chunks are kept for later calls. */
arena_mark arena_here(const arena *a);
void arena_back(arena *a, arena_mark mark);

#endif
