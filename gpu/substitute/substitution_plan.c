/* gpu/substitute/substitution_plan.c: the solve of a tree by substitution: its tasks in their
 * order, and what flows into each row
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/substitute/substitution_plan.h"
#include <string.h>

static int is_small(const substitution_node *v)
{
    return v->columns <= SUBSTITUTE_SMALL && v->columns + v->rows <= SUBSTITUTE_SMALL_FRONT;
}

static void set_nodes(const factor_tree *tree, const int64_t *panel_at, substitution *s)
{
    for (int32_t v = 0; v < tree->nodes; v++)
        s->node[v] =
            (substitution_node){.panel = panel_at[v],
                                .row_start = tree->row_start[v],
                                .first = tree->first[v],
                                .columns = tree->first[v + 1] - tree->first[v],
                                .rows = (int32_t)(tree->row_start[v + 1] - tree->row_start[v]),
                                .ld = tree->ld[v]};
}

/* ---- Sources --------------------------------------------------------------------------------- */

/* The row of the front of v that position c is, place(c) being that of a row below; -1: none. */
static int32_t row_of(const substitution *s, const substitution_node *v, const int32_t *place,
                      int32_t c)
{
    if (c >= v->first && c < v->first + v->columns)
        return c - v->first;
    const int32_t q = place[c];
    return q >= 0 && q < v->rows && s->row[v->row_start + q] == c ? v->columns + q : -1;
}

/* Passes over all rows of all nodes with the number of the row of the parent's front that each
 * flows into: first counts, then fills.  place: n. */
static libsolver_status visit_sources(const factor_tree *tree, const int32_t *child_start,
                                      const int32_t *child, int fill, int32_t *place,
                                      substitution *s)
{
    for (int32_t v = 0; v < s->nodes; v++) {
        const substitution_node *up = &s->node[v];
        for (int32_t q = 0; q < up->rows && child_start[v + 1] > child_start[v]; q++)
            place[s->row[up->row_start + q]] = q;
        for (int32_t k = child_start[v]; k < child_start[v + 1]; k++)
            for (int64_t q = tree->row_start[child[k]]; q < tree->row_start[child[k] + 1]; q++) {
                const int32_t i = row_of(s, up, place, s->row[q]);
                if (i < 0)
                    return LIBSOLVER_INTERNAL;
                const int64_t to = up->first + up->row_start + i;
                if (fill)
                    s->source[s->source_start[to]++] = (int32_t)q;
                else
                    s->source_start[to + 1]++;
            }
    }
    return LIBSOLVER_OK;
}

/* Filling leaves every start where the next one was. */
static libsolver_status find_sources(memory *m, const factor_tree *tree, const int32_t *child_start,
                                     const int32_t *child, int32_t *place, substitution *s)
{
    const int64_t fronts = s->n + s->rows;
    memset(place, 0xff, (size_t)s->n * sizeof *place);
    const libsolver_status status = visit_sources(tree, child_start, child, 0, place, s);
    if (status != LIBSOLVER_OK)
        return status;
    for (int64_t i = 0; i < fronts; i++)
        s->source_start[i + 1] += s->source_start[i];
    s->source = memory_new(m, s->source_start[fronts], sizeof(int32_t));
    if (!s->source)
        return LIBSOLVER_OUT_OF_MEMORY;
    visit_sources(tree, child_start, child, 1, place, s);
    for (int64_t i = fronts; i > 0; i--)
        s->source_start[i] = s->source_start[i - 1];
    s->source_start[0] = 0;
    return LIBSOLVER_OK;
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

/* Nodes by height, of one height the small ones first.  height: nodes, workspace. */
static libsolver_status order_nodes(memory *m, const factor_tree *tree, const substitution *s,
                                    int32_t *height, int32_t *order)
{
    int32_t heights = 0;
    memset(height, 0, (size_t)s->nodes * sizeof *height);
    for (int32_t v = 0; v < s->nodes; v++) {
        const int32_t up = tree->above[v];
        if (up >= 0 && height[up] <= height[v])
            height[up] = height[v] + 1;
        heights = height[v] >= heights ? height[v] + 1 : heights;
    }
    int32_t *start = memory_zeroed(m, 2 * (int64_t)heights + 1, sizeof(int32_t));
    if (!start)
        return LIBSOLVER_OUT_OF_MEMORY;
    for (int32_t v = 0; v < s->nodes; v++)
        start[2 * height[v] + !is_small(&s->node[v]) + 1]++;
    for (int32_t h = 0; h < 2 * heights; h++)
        start[h + 1] += start[h];
    for (int32_t v = 0; v < s->nodes; v++)
        order[start[2 * height[v] + !is_small(&s->node[v])]++] = v;
    memory_free(m, start);
    return LIBSOLVER_OK;
}

/* Where the block of pivots of node v that begins at `from` ends: no 2x2 pivot is split. */
static int32_t end_of_block(const substitution_node *v, const unsigned char *joined, int32_t from)
{
    if (v->columns - from <= SUBSTITUTE_ROWS)
        return v->columns;
    return from + SUBSTITUTE_ROWS - (joined && joined[v->first + from + SUBSTITUTE_ROWS - 1]);
}

static int32_t add_task(substitution *s, int32_t count, int32_t node, int32_t from, int32_t to)
{
    if (s->task)
        s->task[count] = (substitution_task){.node = node, .from = from, .to = to};
    return count + 1;
}

/* Of one node: pivots, then what is below. */
static int32_t add_forward(substitution *s, const unsigned char *joined, int32_t count,
                           int32_t node)
{
    const substitution_node *v = &s->node[node];
    for (int32_t from = 0; from < v->columns; from = end_of_block(v, joined, from))
        count = add_task(s, count, node, from, end_of_block(v, joined, from));
    for (int32_t from = v->columns, end = v->columns + v->rows; from < end; from += SUBSTITUTE_ROWS)
        count = add_task(s, count, node, from,
                         end - from < SUBSTITUTE_ROWS ? end : from + SUBSTITUTE_ROWS);
    return count;
}

/* All forward tasks, or only their number while there are none; small nodes are gathered until a
 * task is full or a large node comes, which may be above them. */
static int32_t add_all_forward(substitution *s, const unsigned char *joined, const int32_t *order)
{
    int32_t count = 0, from = 0;
    s->smalls = 0;
    for (int32_t k = 0; k < s->nodes; k++) {
        const int small = is_small(&s->node[order[k]]);
        if (small)
            s->small[s->smalls++] = order[k];
        if (s->smalls > from && (s->smalls - from == SUBSTITUTE_WARPS || !small)) {
            count = add_task(s, count, -1, from, s->smalls);
            from = s->smalls;
        }
        if (!small)
            count = add_forward(s, joined, count, order[k]);
    }
    return s->smalls > from ? add_task(s, count, -1, from, s->smalls) : count;
}

/* The forward tasks in reverse, but for those of rows below. */
static void add_all_backward(substitution *s)
{
    s->tasks = s->forward_tasks;
    for (int32_t k = s->forward_tasks - 1; k >= 0; k--) {
        const substitution_task t = s->task[k];
        if (t.node < 0 || t.from < s->node[t.node].columns)
            s->tasks = add_task(s, s->tasks, t.node, t.from, t.to);
    }
}

static libsolver_status set_tasks(memory *m, const unsigned char *joined, const int32_t *order,
                                  substitution *s)
{
    s->small = memory_new(m, s->nodes, sizeof(int32_t));
    if (!s->small)
        return LIBSOLVER_OUT_OF_MEMORY;
    s->forward_tasks = add_all_forward(s, joined, order);
    s->task = memory_new(m, 2 * (int64_t)s->forward_tasks, sizeof(substitution_task));
    if (!s->task)
        return LIBSOLVER_OUT_OF_MEMORY;
    add_all_forward(s, joined, order);
    add_all_backward(s);
    return LIBSOLVER_OK;
}

/* start(v), child: the nodes below each, ascending. */
static void find_children(const factor_tree *tree, int32_t *start, int32_t *child)
{
    memset(start, 0, ((size_t)tree->nodes + 2) * sizeof *start);
    for (int32_t v = 0; v < tree->nodes; v++)
        if (tree->above[v] >= 0)
            start[tree->above[v] + 2]++;
    for (int32_t v = 0; v < tree->nodes; v++)
        start[v + 2] += start[v + 1];
    for (int32_t v = 0; v < tree->nodes; v++)
        if (tree->above[v] >= 0)
            child[start[tree->above[v] + 1]++] = v;
}

static libsolver_status build(memory *m, const factor_tree *tree, const unsigned char *joined,
                              const int64_t *panel_at, substitution *s)
{
    const int32_t nodes = tree->nodes;
    int32_t *child_start = memory_new(m, (int64_t)nodes + 2, sizeof(int32_t)),
            *child = memory_new(m, nodes, sizeof(int32_t)),
            *order = memory_new(m, nodes, sizeof(int32_t)),
            *place = memory_new(m, (int64_t)s->n > nodes ? s->n : nodes, sizeof(int32_t));
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    if (s->node && s->source_start && child_start && child && order && place) {
        set_nodes(tree, panel_at, s);
        find_children(tree, child_start, child);
        status = order_nodes(m, tree, s, place, order);
    }
    if (status == LIBSOLVER_OK)
        status = set_tasks(m, joined, order, s);
    if (status == LIBSOLVER_OK)
        status = find_sources(m, tree, child_start, child, place, s);
    memory_free(m, child_start);
    memory_free(m, child);
    memory_free(m, order);
    memory_free(m, place);
    return status;
}

libsolver_status substitution_build(memory *m, const factor_tree *tree, const unsigned char *joined,
                                    const int64_t *panel_at, substitution *s)
{
    const int64_t rows = tree->row_start[tree->nodes];
    *s = (substitution){.n = tree->n, .nodes = tree->nodes, .rows = rows, .row = tree->row};
    if (substitution_packets(s) > INT32_MAX / SUBSTITUTE_COLUMNS)
        return LIBSOLVER_INTERNAL;
    s->node = memory_new(m, tree->nodes, sizeof(substitution_node));
    s->source_start = memory_zeroed(m, tree->n + rows + 1, sizeof(int32_t));
    const libsolver_status status = build(m, tree, joined, panel_at, s);
    if (status != LIBSOLVER_OK)
        substitution_free(m, s);
    return status;
}

void substitution_free(memory *m, substitution *s)
{
    memory_free(m, s->node);
    memory_free(m, s->source_start);
    memory_free(m, s->source);
    memory_free(m, s->small);
    memory_free(m, s->task);
    *s = (substitution){.n = 0};
}
