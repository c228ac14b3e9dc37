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

/* While fronts are merged. */
typedef struct relaxation {
    front_cost cost;
    front_size *size;
    unsigned char *merged;
    int32_t *head, *next; /* children of each front */
    int64_t *zeros;
    double *seconds, *key;
} relaxation;

/* From the leaves up, each front takes in those of its children for which one front is predicted to
 * be no slower than two, the child that brings the fewest zeros first.  A child that was not merged
 * is not reconsidered: the front only grows, and with it the zeros a child would bring. */
static void relax_front(const relaxation *r, int32_t p)
{
    front_size *const size = r->size;
    r->merged[p] = 0;
    r->zeros[p] = 0;
    r->seconds[p] = r->cost(size[p].k, size[p].m);
    for (int32_t c = r->head[p]; c != -1; c = r->next[c])
        r->key[c] = -(double)new_zeros(size[c], size[p]);
    for (int32_t c = tree_sort(r->head[p], r->next, r->key); c != -1; c = r->next[c]) {
        const front_size both = merged_size(size[c], size[p]);
        const int64_t filled = r->zeros[c] + r->zeros[p] + new_zeros(size[c], size[p]);
        if (stored(both) > SMALL_BLOCK && (double)filled > ZEROS_FRACTION * (double)stored(both))
            continue;
        const double together = r->cost(both.k, both.m);
        if (together > r->seconds[c] + r->seconds[p])
            continue;
        r->merged[c] = 1;
        size[p] = both;
        r->zeros[p] = filled;
        r->seconds[p] = together;
    }
}

/* O(n log n). */
libsolver_status relax_fronts(memory *m, int threads, int32_t n, const int32_t *above,
                              front_cost cost, front_size *size, unsigned char *merged)
{
    const relaxation r = {.cost = cost,
                          .size = size,
                          .merged = merged,
                          .head = memory_new(m, (int64_t)n + 1, sizeof(int32_t)),
                          .next = memory_new(m, n, sizeof(int32_t)),
                          .zeros = memory_new(m, n, sizeof(int64_t)),
                          .seconds = memory_new(m, n, sizeof(double)),
                          .key = memory_new(m, n, sizeof(double))};
    tree_cut cut = {0};
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    if (r.head && r.next && r.zeros && r.seconds && r.key)
        status = tree_cut_find(m, threads_for_fronts(threads, n), n, above, NULL, &cut);
    if (status == LIBSOLVER_OK) {
        tree_children(n, above, r.head, r.next);
#pragma omp taskgroup
        for (int32_t q = 0; q < cut.subtrees; q++) {
#pragma omp task firstprivate(q)
            for (int32_t p = cut.begin[q]; p < cut.end[q]; p++)
                relax_front(&r, p);
        }
        for (int32_t p = 0, q = cut.subtrees - 1; p < n; p++)
            if (q >= 0 && p == cut.begin[q])
                p = cut.end[q--] - 1;
            else
                relax_front(&r, p);
    }
    tree_cut_free(m, &cut);
    memory_free(m, r.head);
    memory_free(m, r.next);
    memory_free(m, r.zeros);
    memory_free(m, r.seconds);
    memory_free(m, r.key);
    return status;
}
