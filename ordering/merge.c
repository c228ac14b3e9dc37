/* ordering/merge.c: a graph with sets of vertices merged into one each
 * SPDX-License-Identifier: BSD-3-Clause */
#include "ordering/ordering.h"

/* Number of classes next to class c, whose members are first, next[first], ...  mark[d] = c once d
 * has been met; -1 before all calls.  Unless lists is NULL, c is written to the end of each
 * neighbour's list. */
static int64_t visit_class(const graph *g, const int32_t *class_of, int32_t c, int32_t first,
                           const int32_t *next, int32_t *mark, int64_t *end, int32_t *lists)
{
    int64_t edges = 0;
    mark[c] = c;
    for (int32_t v = first; v != -1; v = next[v])
        for (int64_t p = g->start[v]; p < g->start[v + 1]; p++) {
            const int32_t d = class_of[g->neighbor[p]];
            if (mark[d] == c)
                continue;
            mark[d] = c;
            edges++;
            if (lists)
                lists[end[d]++] = c;
        }
    return edges;
}

libsolver_status graph_merge(memory *m, const graph *g, const int32_t *class_of, int32_t classes,
                             graph *merged)
{
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    int32_t *head = memory_new(m, classes, sizeof(int32_t)),
            *next = memory_new(m, g->n, sizeof(int32_t));
    int32_t *mark = memory_new(m, classes, sizeof(int32_t));
    int64_t *end = memory_new(m, classes, sizeof(int64_t));
    *merged = (graph){.n = classes};
    merged->start = memory_new(m, (int64_t)classes + 1, sizeof(int64_t));
    merged->weight = memory_zeroed(m, classes, sizeof(int32_t));
    if (!head || !next || !mark || !end || !merged->start || !merged->weight)
        goto done;
    for (int32_t c = 0; c < classes; c++)
        head[c] = mark[c] = -1;
    for (int32_t v = g->n - 1; v >= 0; v--) {
        const int32_t c = class_of[v];
        next[v] = head[c];
        head[c] = v;
        merged->weight[c] += g->weight ? g->weight[v] : 1;
    }
    merged->start[0] = 0;
    for (int32_t c = 0; c < classes; c++)
        merged->start[c + 1] =
            merged->start[c] + visit_class(g, class_of, c, head[c], next, mark, NULL, NULL);
    merged->neighbor = memory_new(m, merged->start[classes], sizeof(int32_t));
    if (!merged->neighbor)
        goto done;
    /* the graph is symmetric: written into its neighbours' lists, the classes ascend there */
    for (int32_t c = 0; c < classes; c++) {
        end[c] = merged->start[c];
        mark[c] = -1;
    }
    for (int32_t c = 0; c < classes; c++)
        visit_class(g, class_of, c, head[c], next, mark, end, merged->neighbor);
    status = LIBSOLVER_OK;
done:
    memory_free(m, head);
    memory_free(m, next);
    memory_free(m, mark);
    memory_free(m, end);
    if (status != LIBSOLVER_OK)
        graph_free(m, merged);
    return status;
}
