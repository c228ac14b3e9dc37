/* gpu/tree/pieces.c: blocks of columns of the nodes of a factor
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/tree/groups.h"
#include "base/message.h"
#include <string.h>

static libsolver_status pieces_new(memory *m, int32_t count, pieces *p)
{
    p->count = count;
    p->node = memory_new(m, count, sizeof(int32_t));
    p->begin = memory_new(m, count, sizeof(int32_t));
    p->end = memory_new(m, count, sizeof(int32_t));
    p->above = memory_new(m, count, sizeof(int32_t));
    p->alone = memory_zeroed(m, count, 1);
    p->without_inverse = memory_zeroed(m, count, 1);
    if (p->node && p->begin && p->end && p->above && p->alone && p->without_inverse)
        return LIBSOLVER_OK;
    pieces_free(m, p);
    return LIBSOLVER_OUT_OF_MEMORY;
}

void pieces_free(memory *m, pieces *p)
{
    memory_free(m, p->node);
    memory_free(m, p->begin);
    memory_free(m, p->end);
    memory_free(m, p->above);
    memory_free(m, p->alone);
    memory_free(m, p->without_inverse);
    memset(p, 0, sizeof *p);
}

/* above(i) for pieces in order of elimination: the next of the same node, or the lowest of the
 * nearest ancestor that has any.  lowest(s): workspace, nodes. */
static void link_pieces(const factor_tree *tree, pieces *p, int32_t *lowest)
{
    for (int32_t s = 0; s < tree->nodes; s++)
        lowest[s] = -1;
    for (int32_t i = p->count - 1; i >= 0; i--)
        lowest[p->node[i]] = i;
    for (int32_t s = tree->nodes - 1; s >= 0; s--)
        if (lowest[s] < 0 && tree->above[s] >= 0)
            lowest[s] = lowest[tree->above[s]];
    for (int32_t i = 0; i < p->count; i++) {
        const int32_t s = p->node[i];
        if (i + 1 < p->count && p->node[i + 1] == s)
            p->above[i] = i + 1;
        else
            p->above[i] = tree->above[s] < 0 ? -1 : lowest[tree->above[s]];
    }
}

libsolver_status pieces_build(memory *m, const factor_tree *tree, pieces *p)
{
    int32_t count = 0;
    for (int32_t s = 0; s < tree->nodes; s++)
        count += tree->first[s + 1] > tree->first[s];
    int32_t *lowest = memory_new(m, tree->nodes, sizeof(int32_t));
    const libsolver_status status = lowest ? pieces_new(m, count, p) : LIBSOLVER_OUT_OF_MEMORY;
    if (status == LIBSOLVER_OK) {
        count = 0;
        for (int32_t s = 0; s < tree->nodes; s++)
            if (tree->first[s + 1] > tree->first[s]) {
                p->node[count] = s;
                p->begin[count] = 0;
                p->end[count++] = tree->first[s + 1] - tree->first[s];
            }
        link_pieces(tree, p, lowest);
    }
    memory_free(m, lowest);
    return status;
}

libsolver_status pieces_split(memory *m, const factor_tree *tree, const int32_t *cut,
                              const unsigned char *joined, pieces *p)
{
    int64_t most = 0;
    for (int32_t i = 0; i < p->count; i++)
        most += cut[i] > 1 ? cut[i] : 1;
    if (most > tree->n)
        most = tree->n;
    pieces q = {0};
    int32_t *lowest = memory_new(m, tree->nodes, sizeof(int32_t));
    const libsolver_status status =
        lowest ? pieces_new(m, (int32_t)most, &q) : LIBSOLVER_OUT_OF_MEMORY;
    if (status == LIBSOLVER_OK) {
        int32_t count = 0;
        for (int32_t i = 0; i < p->count; i++) {
            const int32_t s = p->node[i], parts = cut[i] > 1 ? cut[i] : 1,
                          length = p->end[i] - p->begin[i];
            int32_t from = p->begin[i];
            for (int32_t part = 0; part < parts && from < p->end[i]; part++) {
                int32_t to = p->begin[i] + (int32_t)((int64_t)length * (part + 1) / parts);
                if (to < p->end[i] && to > 0 && joined && joined[tree->first[s] + to - 1])
                    to++;
                if (to <= from)
                    continue;
                q.node[count] = s;
                q.begin[count] = from;
                q.end[count] = from = to;
                q.without_inverse[count] = p->without_inverse[i];
                q.alone[count++] = p->alone[i] || cut[i] > 0;
            }
        }
        q.count = count;
        link_pieces(tree, &q, lowest);
        pieces_free(m, p);
        *p = q;
    }
    memory_free(m, lowest);
    return status;
}
