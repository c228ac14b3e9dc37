/* ordering/parts.c: the columns of a pattern in parts, one for each thread
 * SPDX-License-Identifier: BSD-3-Clause */
#include "ordering/analysis.h"

enum {
    LEAST_IN_PARTS = 1 << 19, /* entries: less takes a thread a millisecond or two */
    MOST_PARTS = 16
};

int pattern_parts(const pattern *a, int threads)
{
    const int64_t entries = a->start[a->n], most = a->n > 0 ? 2 * entries / a->n : 1;
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

/* Lists [begin, end) from where the first one begins; returns where the last one ends. */
static int64_t place_lists(int32_t n, int32_t begin, int32_t end, int64_t first, int parts,
                           int ahead, int64_t *next, int64_t *start)
{
    for (int32_t j = begin; j < end; j++) {
        start[j] = first;
        first += ahead;
        for (int q = 0; q < parts; q++) {
            int64_t *own = next + (int64_t)q * n + j;
            const int64_t count = *own;
            *own = first;
            first += count;
        }
    }
    return first;
}

static int64_t sum_of_lists(int32_t n, int32_t begin, int32_t end, int parts, int ahead,
                            const int64_t *next)
{
    int64_t sum = (int64_t)(end - begin) * ahead;
    for (int q = 0; q < parts; q++)
        for (int32_t j = begin; j < end; j++)
            sum += next[(int64_t)q * n + j];
    return sum;
}

/* Lists have as many ranges as the pattern has parts. */
void pattern_offsets(int32_t n, int parts, int threads, int ahead, int64_t *next, int64_t *start)
{
    int64_t first[MOST_PARTS] = {0};
#pragma omp parallel for num_threads(threads) if (parts > 1) schedule(static, 1)
    for (int q = 0; q < parts - 1; q++)
        first[q + 1] =
            sum_of_lists(n, equal_cut(n, parts, q), equal_cut(n, parts, q + 1), parts, ahead, next);
    for (int q = 1; q < parts; q++)
        first[q] += first[q - 1];
#pragma omp parallel for num_threads(threads) if (parts > 1) schedule(static, 1)
    for (int q = 0; q < parts; q++) {
        const int64_t end = place_lists(n, equal_cut(n, parts, q), equal_cut(n, parts, q + 1),
                                        first[q], parts, ahead, next, start);
        if (q == parts - 1)
            start[n] = end;
    }
}
