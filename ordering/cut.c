/* ordering/cut.c: a postordered forest in subtrees, which threads can work on side by side, and the
 * nodes above them
 * SPDX-License-Identifier: BSD-3-Clause */
#include "ordering/analysis.h"

/* Subtrees are no larger than the work of all nodes over this times the threads, so that a thread
 * that comes late finds one that is left, ... */
#define SUBTREES_OF_THREAD 2
/* ... and those of less than the limit over this are not worth being told apart from the nodes
 * above. */
#define LEAST_OF_LIMIT 8
/* Nodes above the subtrees that are worth the detour: so many of all. */
#define MOST_ABOVE 0.25

void tree_cut_free(memory *m, tree_cut *cut)
{
    memory_free(m, cut->begin);
    memory_free(m, cut->number);
    *cut = (tree_cut){0};
}

/* From the last node down: the largest subtrees within the limit. */
static void find_subtrees(int32_t n, const int64_t *start, const int32_t *size, int64_t limit,
                          tree_cut *cut)
{
    for (int32_t j = n - 1; j >= 0;) {
        const int32_t first = j - size[j] + 1;
        const int64_t work = start ? start[j + 1] - start[first] : size[j];
        if (work <= limit && work >= limit / LEAST_OF_LIMIT) {
            cut->begin[cut->subtrees] = first;
            cut->end[cut->subtrees++] = j + 1;
            j = first - 1;
        } else
            cut->number[j--] = cut->above++;
    }
}

libsolver_status tree_cut_find(memory *m, int threads, int32_t n, const int32_t *parent,
                               const int64_t *start, tree_cut *cut)
{
    const int64_t all = start ? start[n] : n;
    const int64_t limit = all / ((int64_t)SUBTREES_OF_THREAD * threads);
    *cut = (tree_cut){0};
    if (threads < 2 || limit < LEAST_OF_LIMIT)
        return LIBSOLVER_OK;
    const int64_t most = all / (limit / LEAST_OF_LIMIT) + 1;
    int32_t *size = memory_new(m, n, sizeof(int32_t));
    cut->begin = memory_new(m, 2 * most, sizeof(int32_t));
    cut->number = memory_new(m, n, sizeof(int32_t));
    if (!size || !cut->begin || !cut->number) {
        memory_free(m, size);
        tree_cut_free(m, cut);
        return LIBSOLVER_OUT_OF_MEMORY;
    }
    cut->end = cut->begin + most;
    for (int32_t j = 0; j < n; j++)
        size[j] = 1;
    for (int32_t j = 0; j < n; j++)
        if (parent[j] != -1)
            size[parent[j]] += size[j];
    find_subtrees(n, start, size, limit, cut);
    memory_free(m, size);
    if (cut->subtrees < 2 || cut->above > MOST_ABOVE * n)
        tree_cut_free(m, cut);
    return LIBSOLVER_OK;
}
