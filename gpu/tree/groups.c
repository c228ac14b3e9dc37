/* gpu/tree/groups.c: connected pieces of a layer as groups, with their columns and rows
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/tree/groups.h"
#include "base/message.h"
#include <string.h>

void groups_free(memory *m, groups *g)
{
    memory_free(m, g->piece_start);
    memory_free(m, g->piece);
    memory_free(m, g->of_piece);
    memory_free(m, g->above);
    memory_free(m, g->height);
    memory_free(m, g->column_start);
    memory_free(m, g->column);
    memory_free(m, g->row_start);
    memory_free(m, g->row);
    memory_free(m, g->group_of);
    memory_free(m, g->local);
    memory_free(m, g->without_inverse);
    memset(g, 0, sizeof *g);
}

int64_t groups_entries(const groups *g)
{
    int64_t entries = 0;
    for (int32_t i = 0; i < g->count; i++)
        entries += group_entries(g, i);
    return entries;
}

/* of_piece, numbered by the top piece of each group in ascending order. */
static void number_groups(const pieces *p, const int32_t *layer, groups *g)
{
    int32_t *top = g->of_piece; /* first the top piece, then the number */
    for (int32_t i = p->count - 1; i >= 0; i--) {
        const int32_t a = p->above[i];
        const int joins = a >= 0 && layer[a] == layer[i] && !p->alone[i] && !p->alone[a];
        top[i] = joins ? top[a] : i;
    }
    /* tops take their numbers in ascending order; others look theirs up, which are above and come
     * later: two passes */
    g->count = 0;
    for (int32_t i = 0; i < p->count; i++)
        if (top[i] == i)
            g->height[i] = g->count++; /* height: scratch here */
    for (int32_t i = 0; i < p->count; i++)
        top[i] = g->height[top[i]];
}

/* Pieces and columns of each group, ascending; group_of and local. */
static void list_columns(const factor_tree *tree, const pieces *p, groups *g)
{
    memset(g->piece_start, 0, (size_t)(g->count + 1) * sizeof(int32_t));
    memset(g->column_start, 0, (size_t)(g->count + 1) * sizeof(int32_t));
    for (int32_t i = 0; i < p->count; i++) {
        g->piece_start[g->of_piece[i] + 1]++;
        g->column_start[g->of_piece[i] + 1] += p->end[i] - p->begin[i];
    }
    for (int32_t i = 0; i < g->count; i++) {
        g->piece_start[i + 1] += g->piece_start[i];
        g->column_start[i + 1] += g->column_start[i];
    }
    for (int32_t i = 0; i < p->count; i++) {
        const int32_t o = g->of_piece[i], from = tree->first[p->node[i]] + p->begin[i];
        g->piece[g->piece_start[o]++] = i;
        g->without_inverse[o] |= p->without_inverse[i];
        for (int32_t c = from; c < tree->first[p->node[i]] + p->end[i]; c++) {
            g->column[g->column_start[o]++] = c;
            g->group_of[c] = o;
        }
    }
    for (int32_t i = g->count; i > 0; i--) {
        g->piece_start[i] = g->piece_start[i - 1];
        g->column_start[i] = g->column_start[i - 1];
    }
    g->piece_start[0] = g->column_start[0] = 0;
    for (int32_t i = 0; i < g->count; i++)
        for (int32_t c = g->column_start[i]; c < g->column_start[i + 1]; c++)
            g->local[g->column[c]] = c - g->column_start[i];
}

static int32_t top_piece(const groups *g, int32_t i)
{
    return g->piece[g->piece_start[i + 1] - 1];
}

/* above, height, and the rows below each top piece. */
static libsolver_status list_rows(memory *m, const factor_tree *tree, const pieces *p, groups *g)
{
    g->row_start[0] = 0;
    for (int32_t i = 0; i < g->count; i++) {
        g->row_start[i + 1] = g->row_start[i] + piece_rows(tree, p, top_piece(g, i));
        g->height[i] = 0;
    }
    g->row = memory_new(m, g->row_start[g->count], sizeof(int32_t));
    if (!g->row)
        return LIBSOLVER_OUT_OF_MEMORY;
    for (int32_t i = 0; i < g->count; i++) {
        const int32_t t = top_piece(g, i), s = p->node[t];
        int32_t *row = g->row + g->row_start[i];
        for (int32_t c = tree->first[s] + p->end[t]; c < tree->first[s + 1]; c++)
            *row++ = c;
        memcpy(row, tree->row + tree->row_start[s],
               (size_t)(tree->row_start[s + 1] - tree->row_start[s]) * sizeof(int32_t));
        const int32_t a = group_rows(g, i) > 0 && p->above[t] >= 0 ? g->of_piece[p->above[t]] : -1;
        g->above[i] = a;
        if (a >= 0 && g->height[a] <= g->height[i])
            g->height[a] = g->height[i] + 1;
        if (g->height[i] >= g->heights)
            g->heights = g->height[i] + 1;
    }
    return LIBSOLVER_OK;
}

libsolver_status groups_build(memory *m, const factor_tree *tree, const pieces *p,
                              const int32_t *layer, groups *g)
{
    memset(g, 0, sizeof *g);
    const int32_t n = tree->n, count = p->count;
    g->of_piece = memory_new(m, count, sizeof(int32_t));
    g->piece = memory_new(m, count, sizeof(int32_t));
    g->height = memory_new(m, count, sizeof(int32_t));
    g->above = memory_new(m, count, sizeof(int32_t));
    g->piece_start = memory_new(m, count + 1, sizeof(int32_t));
    g->column_start = memory_new(m, count + 1, sizeof(int32_t));
    g->row_start = memory_new(m, count + 1, sizeof(int64_t));
    g->column = memory_new(m, n, sizeof(int32_t));
    g->group_of = memory_new(m, n, sizeof(int32_t));
    g->local = memory_new(m, n, sizeof(int32_t));
    g->without_inverse = memory_zeroed(m, count, 1);
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    if (g->of_piece && g->piece && g->height && g->above && g->piece_start && g->column_start &&
        g->row_start && g->column && g->group_of && g->local && g->without_inverse) {
        number_groups(p, layer, g);
        list_columns(tree, p, g);
        status = list_rows(m, tree, p, g);
    }
    if (status != LIBSOLVER_OK)
        groups_free(m, g);
    return status;
}
