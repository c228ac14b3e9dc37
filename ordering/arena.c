/* ordering/arena.c: memory taken and given back in the order of a stack
 * SPDX-License-Identifier: BSD-3-Clause */
#include "ordering/arena.h"

/* The blocks lie behind it. */
struct arena_chunk {
    arena_chunk *next;
    size_t bytes; /* for blocks */
};

#define HEADER ((size_t)round_up((int64_t)sizeof(arena_chunk), MEMORY_ALIGNMENT))

void arena_init(arena *a, memory *m, size_t chunk)
{
    *a = (arena){.m = m, .chunk = chunk};
}

static void free_chunks(arena *a, arena_chunk *c)
{
    while (c) {
        arena_chunk *next = c->next;
        memory_free(a->m, c);
        c = next;
    }
}

void arena_free(arena *a)
{
    free_chunks(a, a->first);
    a->first = a->current = NULL;
}

/* Makes the next chunk the current one, a new one if it is too small. */
static int next_chunk(arena *a, size_t bytes)
{
    arena_chunk **link = a->current ? &a->current->next : &a->first;
    if (*link && (*link)->bytes < bytes) {
        free_chunks(a, *link);
        *link = NULL;
    }
    if (!*link) {
        const size_t want = bytes > a->chunk ? bytes : a->chunk;
        arena_chunk *c = memory_new(a->m, (int64_t)(HEADER + want), 1);
        if (!c)
            return 0;
        *c = (arena_chunk){NULL, want};
        *link = c;
    }
    a->current = *link;
    a->used = 0;
    return 1;
}

void *arena_new(arena *a, int64_t count, size_t size)
{
    if (count < 0 || count > (INT64_MAX - MEMORY_ALIGNMENT) / (int64_t)size)
        return NULL;
    const size_t bytes = (size_t)round_up(count * (int64_t)size, MEMORY_ALIGNMENT);
    if (!a->current || a->current->bytes - a->used < bytes)
        if (!next_chunk(a, bytes))
            return NULL;
    char *block = (char *)a->current + HEADER + a->used;
    a->used += bytes;
    return block;
}

arena_mark arena_here(const arena *a)
{
    return (arena_mark){a->current, a->used};
}

void arena_back(arena *a, arena_mark mark)
{
    a->current = mark.current;
    a->used = mark.used;
}
