/* base/memory.c: counted, 64-byte aligned memory from the caller's allocator
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/memory.h"
#include <stdlib.h>
#include <string.h>

/* Lies right before every block:   | raw ... | header | block (aligned) ... | */
typedef struct header {
    void *raw;
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

void *memory_new(memory *m, int64_t count, size_t size)
{
    if (count < 0 || (size > 0 && count > (INT64_MAX - SLACK) / (int64_t)size))
        return refuse(m, INT64_MAX);
    const int64_t bytes = memory_counted(count, size);
    const int64_t now = atomic_fetch_add(&m->in_use, bytes) + bytes;
    char *raw = NULL;
    if (m->limit == 0 || now <= m->limit)
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
    ((header *)(void *)block)[-1] = (header){raw, bytes};
    return block;
}

void *memory_zeroed(memory *m, int64_t count, size_t size)
{
    void *block = memory_new(m, count, size);
    if (block)
        memset(block, 0, (size_t)count * size);
    return block;
}

void memory_free(memory *m, void *block)
{
    if (!block)
        return;
    const header h = ((header *)block)[-1];
    atomic_fetch_sub(&m->in_use, h.bytes);
    if (m->release)
        m->release(m->user, h.raw);
    else
        free(h.raw);
}

int memory_take(memory *m, const memory_part *part, int parts)
{
    int complete = 1;
    for (int k = 0; k < parts; k++) {
        void *block = (part[k].zeroed ? memory_zeroed : memory_new)(m, part[k].count, part[k].size);
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
