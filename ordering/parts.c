/* ordering/parts.c: the columns of a pattern in parts, one for each thread
 * SPDX-License-Identifier: BSD-3-Clause */
#include "ordering/analysis.h"

enum {
    LEAST_IN_PARTS = 1 << 19, /* entries: less takes a thread a millisecond or two */
    MOST_PARTS = 16
};

int pattern_parts(const pattern *a, int threads)
{
    const int64_t entries = a->start[a->n], most = a->n > 0 ? entries / a->n : 1;
    const int parts = threads < MOST_PARTS ? threads : MOST_PARTS;
    return entries < LEAST_IN_PARTS ? 1 : parts < most ? parts : (int)most;
}

int32_t pattern_cut(const pattern *a, int parts, int q)
{
    const int64_t entry = a->start[a->n] / parts * q;
    int32_t low = 0, high = a->n; /* the first column from there on is in [low, high] */
    if (q == parts)
        return a->n;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (a->start[middle] < entry)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void pattern_offsets(int32_t n, int parts, int ahead, int64_t *next, int64_t *start)
{
    start[0] = 0;
    for (int32_t j = 0; j < n; j++) {
        int64_t end = start[j] + ahead;
        for (int q = 0; q < parts; q++) {
            int64_t *own = next + (int64_t)q * n + j;
            const int64_t count = *own;
            *own = end;
            end += count;
        }
        start[j + 1] = end;
    }
}
