/* base/heap.h: a binary heap of numbers by keys, for schedules
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include <stdint.h>

typedef struct heap_entry {
    int64_t key; /* least first, of equal ones the least number */
    int32_t number;
} heap_entry;

typedef struct heap {
    heap_entry *entry; /* the caller's, with room for all that are in it at a time */
    int32_t count;
} heap;

static inline int heap_comes_before(heap_entry a, heap_entry b)
{
    return a.key < b.key || (a.key == b.key && a.number < b.number);
}

static inline void heap_push(heap *h, heap_entry e)
{
    int32_t at = h->count++;
    while (at > 0 && heap_comes_before(e, h->entry[(at - 1) / 2])) {
        h->entry[at] = h->entry[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    h->entry[at] = e;
}

/* count > 0 */
static inline heap_entry heap_pop(heap *h)
{
    const heap_entry first = h->entry[0], last = h->entry[--h->count];
    int32_t at = 0;
    for (int32_t child; (child = 2 * at + 1) < h->count; at = child) {
        if (child + 1 < h->count && heap_comes_before(h->entry[child + 1], h->entry[child]))
            child++;
        if (!heap_comes_before(h->entry[child], last))
            break;
        h->entry[at] = h->entry[child];
    }
    h->entry[at] = last;
    return first;
}

#endif
