/* ordering/relax.c: which fronts to merge with their parents  [Ashcraft, Grimes, The influence of
 * relaxed supernode partitions on the multifrontal method, ACM Trans. Math. Softw. 15 (1989)]
 * SPDX-License-Identifier: BSD-3-Clause */
#include "ordering/analysis.h"

/* Explicit zeros are at most a quarter of a merged front's factor block once that holds more than
 * 4096 entries: a front_cost knows sizes only, and a chain of merges that each pay must not grow a
 * front whose entries are mostly zeros. */
#define ZEROS_FRACTION 0.25
#define SMALL_BLOCK 4096

/* entries of the factor in a front: the trapezoid of its k columns */
static int64_t stored(front_size s)
{
    return (int64_t)s.k * s.m - (int64_t)s.k * (s.k - 1) / 2;
}

/* c's columns come before p's, and c's rows below its pivots are among p's rows. */
static front_size merged_size(front_size c, front_size p)
{
    return (front_size){c.k + p.k, c.k + p.m};
}

static int64_t new_zeros(front_size c, front_size p)
{
    return stored(merged_size(c, p)) - stored(c) - stored(p);
}

/* From the leaves up, each front takes in those of its children for which one front is predicted to
 * be no slower than two, the child that brings the fewest zeros first.  A child that was not merged
 * is not reconsidered: the front only grows, and with it the zeros a child would bring.  O(n log
 * n). */
libsolver_status relax_fronts(memory *m, int32_t n, const int32_t *above, front_cost cost,
                              front_size *size, unsigned char *merged)
{
    int32_t *head = memory_new(m, (int64_t)n + 1, sizeof(int32_t));
    int32_t *next = memory_new(m, n, sizeof(int32_t));
    int64_t *zeros = memory_zeroed(m, n, sizeof(int64_t));
    double *seconds = memory_new(m, n, sizeof(double));
    double *key = memory_new(m, n, sizeof(double));
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    if (!head || !next || !zeros || !seconds || !key)
        goto done;
    tree_children(n, above, head, next);
    for (int32_t p = 0; p < n; p++) {
        merged[p] = 0;
        seconds[p] = cost(size[p].k, size[p].m);
        for (int32_t c = head[p]; c != -1; c = next[c])
            key[c] = -(double)new_zeros(size[c], size[p]);
        for (int32_t c = tree_sort(head[p], next, key); c != -1; c = next[c]) {
            const front_size both = merged_size(size[c], size[p]);
            const int64_t filled = zeros[c] + zeros[p] + new_zeros(size[c], size[p]);
            if (stored(both) > SMALL_BLOCK &&
                (double)filled > ZEROS_FRACTION * (double)stored(both))
                continue;
            const double together = cost(both.k, both.m);
            if (together > seconds[c] + seconds[p])
                continue;
            merged[c] = 1;
            size[p] = both;
            zeros[p] = filled;
            seconds[p] = together;
        }
    }
    status = LIBSOLVER_OK;
done:
    memory_free(m, head);
    memory_free(m, next);
    memory_free(m, zeros);
    memory_free(m, seconds);
    memory_free(m, key);
    return status;
}
