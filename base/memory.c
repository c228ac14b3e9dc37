/* base/memory.c: counted, 64-byte aligned memory from the caller's allocator
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/memory.h"
#include <stdlib.h>
#include <string.h>

/* Lies right before every block:   | raw ... | header | block (aligned) ... | */
typedef struct header {
    void *raw;     /* NULL: a pool's */
    int64_t bytes; /* as counted */
} header;

void memory_init(memory *m, void *(*allocate)(void *, size_t), void (*release)(void *, void *),
                 void *user, int64_t limit)
{
    m->allocate = allocate;
    m->release = release;
    m->user = user;
    m->limit = limit;
    atomic_init(&m->in_use, 0);
    atomic_init(&m->peak, 0);
    atomic_init(&m->calls, 0);
    atomic_init(&m->wanted, 0);
}

static void *refuse(memory *m, int64_t bytes)
{
    atomic_store(&m->wanted, bytes);
    return NULL;
}

/* Taken beside each block. */
#define SLACK (MEMORY_ALIGNMENT + (int64_t)sizeof(header))

int64_t memory_counted(int64_t count, size_t size)
{
    return count * (int64_t)size + SLACK;
}

struct memory_pool {
    int64_t room;
    _Atomic int64_t used;
    char bytes[];
};

/* Below the 32 MiB from which on glibc maps each block by itself, whatever has been freed. */
#define LARGEST_POOL ((int64_t)31 << 20)

/* Sanitizers look at the ends of blocks, which a pool would hide. */
#if defined(__SANITIZE_ADDRESS__)
#define HAS_POOLS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_POOLS 0
#endif
#endif
#ifndef HAS_POOLS
#define HAS_POOLS 1
#endif

memory_pool *memory_pool_new(memory *m, int64_t bytes, int64_t more)
{
    if (!HAS_POOLS || m->allocate || m->limit > 0 || bytes <= 0 || bytes > LARGEST_POOL)
        return NULL;
    const int64_t room = more < LARGEST_POOL - bytes ? bytes + more : LARGEST_POOL;
    memory_pool *pool = malloc(sizeof(memory_pool) + (size_t)room);
    if (pool) {
        pool->room = room;
        atomic_init(&pool->used, 0);
    }
    return pool;
}

void memory_pool_free(memory_pool *pool)
{
    free(pool);
}

void memory_keep_freed(memory *m)
{
    memory_pool *volatile pool = memory_pool_new(m, LARGEST_POOL, 0); /* not to be optimized away */
    memory_pool_free(pool);
}

/* So many of its bytes, NULL if it has not got them. */
static char *pool_take(memory_pool *pool, int64_t bytes)
{
    int64_t used = pool ? atomic_load(&pool->used) : 0;
    do
        if (!pool || bytes > pool->room - used)
            return NULL;
    while (!atomic_compare_exchange_weak(&pool->used, &used, used + bytes));
    return pool->bytes + used;
}

void *memory_new_in(memory_pool *pool, memory *m, int64_t count, size_t size)
{
    if (count < 0 || (size > 0 && count > (INT64_MAX - SLACK) / (int64_t)size))
        return refuse(m, INT64_MAX);
    const int64_t bytes = memory_counted(count, size);
    const int64_t now = atomic_fetch_add(&m->in_use, bytes) + bytes;
    char *const pooled = pool_take(pool, bytes), *raw = pooled;
    if (!pooled && (m->limit == 0 || now <= m->limit))
        raw = m->allocate ? m->allocate(m->user, (size_t)bytes) : malloc((size_t)bytes);
    if (!raw) {
        atomic_fetch_sub(&m->in_use, bytes);
        return refuse(m, bytes);
    }
    int64_t peak = atomic_load(&m->peak);
    while (now > peak && !atomic_compare_exchange_weak(&m->peak, &peak, now))
        ;
    atomic_fetch_add(&m->calls, 1);
    const uintptr_t first = (uintptr_t)raw + sizeof(header);
    char *block =
        raw + sizeof(header) + (MEMORY_ALIGNMENT - first % MEMORY_ALIGNMENT) % MEMORY_ALIGNMENT;
    ((header *)(void *)block)[-1] = (header){pooled ? NULL : raw, bytes};
    return block;
}

void *memory_new(memory *m, int64_t count, size_t size)
{
    return memory_new_in(NULL, m, count, size);
}

static void *zeroed(memory_pool *pool, memory *m, int64_t count, size_t size)
{
    void *block = memory_new_in(pool, m, count, size);
    if (block)
        memset(block, 0, (size_t)count * size);
    return block;
}

void *memory_zeroed(memory *m, int64_t count, size_t size)
{
    return zeroed(NULL, m, count, size);
}

void memory_free(memory *m, void *block)
{
    if (!block)
        return;
    const header h = ((header *)block)[-1];
    atomic_fetch_sub(&m->in_use, h.bytes);
    if (!h.raw)
        return;
    if (m->release)
        m->release(m->user, h.raw);
    else
        free(h.raw);
}

int memory_take(memory *m, const memory_part *part, int parts)
{
    return memory_take_in(NULL, m, part, parts);
}

int memory_take_in(memory_pool *pool, memory *m, const memory_part *part, int parts)
{
    int complete = 1;
    for (int k = 0; k < parts; k++) {
        void *block =
            (part[k].zeroed ? zeroed : memory_new_in)(pool, m, part[k].count, part[k].size);
        memcpy(part[k].pointer, &block, sizeof block);
        complete &= block != NULL;
    }
    return complete;
}

void memory_release(memory *m, const memory_part *part, int parts)
{
    for (int k = 0; k < parts; k++) {
        void *block;
        memcpy(&block, part[k].pointer, sizeof block);
        memory_free(m, block);
        block = NULL;
        memcpy(part[k].pointer, &block, sizeof block);
    }
}

int64_t memory_sum(const memory_part *part, int parts)
{
    int64_t sum = 0;
    for (int k = 0; k < parts; k++)
        sum += memory_counted(part[k].count, part[k].size);
    return sum;
}
