/* base/memory.h: counted, 64-byte aligned memory from the caller's allocator
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdint.h>
#include <stddef.h>
#include <stdatomic.h>

#define MEMORY_ALIGNMENT 64

/* The least multiple of unit that is not less than x >= 0. */
static inline int64_t round_up(int64_t x, int64_t unit)
{
    return (x + unit - 1) / unit * unit;
}

/* All memory of the library comes through one of these.  Safe to use from several threads if the
 * two callbacks are. */
typedef struct memory {
    void *(*allocate)(void *user, size_t bytes); /* NULL: malloc */
    void (*release)(void *user, void *block);    /* NULL: free */
    void *user;
    int64_t limit;                /* bytes that may be in use at a time, 0: no limit */
    _Atomic int64_t in_use, peak; /* bytes */
    _Atomic int64_t calls;        /* successful allocations so far */
    _Atomic int64_t wanted;       /* bytes of the latest request that failed */
} memory;

void memory_init(memory *m, void *(*allocate)(void *, size_t), void (*release)(void *, void *),
                 void *user, int64_t limit);

/* count * size bytes (at least 1), uninitialised, aligned to 64; NULL when they cannot be had or
 * the product overflows. */
void *memory_new(memory *m, int64_t count, size_t size);
/* The same, zeroed. */
void *memory_zeroed(memory *m, int64_t count, size_t size);
/* NULL is allowed. */
void memory_free(memory *m, void *block);

/* One large block for what is taken at different times and freed together, or nearly so.  glibc's
 * allocator keeps, for its next caller, twice the largest block that it has seen come and go, of up
 * to 32 MiB: an object in one block finds its pages in place when others like it were freed before;
 * in many blocks it has to wait until the system has cleared them anew (experiments.md, First
 * factorizations).  For any number of callers at a time. */
typedef struct memory_pool memory_pool;

/* For so many bytes, and as much of so many more as such a block has room for; what is not taken
 * from it is not touched.  NULL where there is to be none: the caller has an allocator or a limit
 * of their own, there are too many bytes, or they cannot be had. */
memory_pool *memory_pool_new(memory *m, int64_t bytes, int64_t more);
/* When none of its blocks is in use.  NULL is allowed. */
void memory_pool_free(memory_pool *pool);
/* memory_new from a pool as long as it lasts; the same, and counted alike, without one.  What is
 * freed does not return to the pool. */
void *memory_new_in(memory_pool *pool, memory *m, int64_t count, size_t size);
/* Before many large blocks come and go: glibc's allocator keeps what is freed of them from now on,
 * as after the first such pool.  Nothing where there is to be no pool. */
void memory_keep_freed(memory *m);

/* What a block of memory_new adds to in_use; 0 <= count * size, in range. */
int64_t memory_counted(int64_t count, size_t size);

/* One of the blocks that an object allocates together.  A table of them gives the object's size
 * before anything is allocated. */
typedef struct memory_part {
    void *pointer; /* address of the pointer to the block */
    int64_t count;
    size_t size;
    int zeroed;
} memory_part;

/* Sets all pointers.  0: some block cannot be had; its pointer is NULL then. */
int memory_take(memory *m, const memory_part *part, int parts);
int memory_take_in(memory_pool *pool, memory *m, const memory_part *part, int parts);
/* Frees the blocks, sets the pointers to NULL. */
void memory_release(memory *m, const memory_part *part, int parts);
/* What memory_take adds to in_use. */
int64_t memory_sum(const memory_part *part, int parts);

#endif
