/* gpu/substitute/grouped_tree.c: a tree with groups, from that of a factor
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/substitute/grouped_tree.h"
#include "base/message.h"
#include "gpu/factor/groups.h"
#include "gpu/substitute/bundles.h"
#include <string.h>

/* LONG: terms of a sum for which groups are made; most children of a node then, and least of a
 * group. */
enum { LONG = 24, WIDE = 24, TOGETHER = 16 };

/* While groups are looked for: the tree's children, and what factor_groups_find is given. */
typedef struct grouping {
    const factor_tree *tree;
    tree_children children;
    int32_t *place;     /* n: see row_in_front */
    int32_t *terms;     /* n: of the rows of the front at hand, how many children have them */
    int64_t *row_start; /* nodes + 1: of fronts, with their pivots */
    int32_t *position;  /* of their rows in the parent's front, where that has many children */
} grouping;

static int32_t children_of(const grouping *b, int32_t v)
{
    return b->children.start[v + 1] - b->children.start[v];
}

/* Moves the last of `count` ascending numbers to where it belongs; most are there. */
static void insert_last(int32_t *number, int64_t count)
{
    const int32_t last = number[count - 1];
    int64_t at = count - 1;
    for (; at > 0 && number[at - 1] > last; at--)
        number[at] = number[at - 1];
    number[at] = last;
}

/* Positions of the rows of v's children, ascending, and the most terms of a row of v. */
static libsolver_status place_children(const grouping *b, int32_t v, int32_t *longest)
{
    const factor_tree *t = b->tree;
    const int64_t rows = t->row_start[v + 1] - t->row_start[v];
    const int32_t front = t->first[v + 1] - t->first[v] + (int32_t)rows;
    memset(b->terms, 0, (size_t)front * sizeof *b->terms);
    for (int64_t i = 0; i < rows; i++)
        b->place[t->row[t->row_start[v] + i]] = (int32_t)i;
    for (int32_t k = b->children.start[v]; k < b->children.start[v + 1]; k++) {
        const int32_t c = b->children.child[k];
        const int64_t count = t->row_start[c + 1] - t->row_start[c];
        int32_t *position = b->position + b->row_start[c + 1] - count;
        for (int64_t i = 0; i < count; i++) {
            position[i] = row_in_front(t, b->place, v, t->row[t->row_start[c] + i]);
            if (position[i] < 0)
                return LIBSOLVER_INTERNAL;
            const int32_t terms = ++b->terms[position[i]];
            *longest = terms > *longest ? terms : *longest;
            insert_last(position, i + 1);
        }
    }
    return LIBSOLVER_OK;
}

static libsolver_status find(memory *m, grouping *b, factor_groups *groups)
{
    const factor_tree *t = b->tree;
    int32_t longest = 0;
    b->row_start[0] = 0;
    for (int32_t v = 0; v < t->nodes; v++)
        b->row_start[v + 1] =
            b->row_start[v] + t->first[v + 1] - t->first[v] + t->row_start[v + 1] - t->row_start[v];
    b->position = memory_zeroed(m, b->row_start[t->nodes], sizeof(int32_t));
    if (!b->position)
        return LIBSOLVER_OUT_OF_MEMORY;
    memset(b->place, 0xff, (size_t)t->n * sizeof *b->place);
    for (int32_t v = 0; v < t->nodes; v++)
        if (children_of(b, v) > WIDE)
            TRY(place_children(b, v, &longest));
    if (longest <= LONG)
        return LIBSOLVER_OK;
    const factor_pattern pattern = {.n = t->n,
                                    .nodes = t->nodes,
                                    .first = t->first,
                                    .above = t->above,
                                    .row_start = b->row_start,
                                    .position = b->position};
    return factor_groups_find(m, &pattern, WIDE, TOGETHER, 0, groups);
}

/* Groups, none where no sum is long. */
static libsolver_status find_groups(memory *m, const factor_tree *tree, factor_groups *groups)
{
    grouping b = {.tree = tree,
                  .children = {.start = memory_new(m, (int64_t)tree->nodes + 2, sizeof(int32_t)),
                               .child = memory_new(m, tree->nodes, sizeof(int32_t))}};
    int32_t most = 0;
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    *groups = (factor_groups){.nodes = tree->nodes, .fronts = tree->nodes};
    if (b.children.start && b.children.child) {
        tree_children_find(tree, &b.children);
        for (int32_t v = 0; v < tree->nodes; v++)
            most = children_of(&b, v) > most ? children_of(&b, v) : most;
        status = LIBSOLVER_OK;
    }
    if (most > LONG) {
        b.place = memory_new(m, tree->n, sizeof(int32_t));
        b.terms = memory_new(m, tree->n, sizeof(int32_t));
        b.row_start = memory_new(m, (int64_t)tree->nodes + 1, sizeof(int64_t));
        status = b.place && b.terms && b.row_start ? find(m, &b, groups) : LIBSOLVER_OUT_OF_MEMORY;
    }
    memory_free(m, b.children.start);
    memory_free(m, b.children.child);
    memory_free(m, b.place);
    memory_free(m, b.terms);
    memory_free(m, b.row_start);
    memory_free(m, b.position);
    return status;
}

/* Node q of the view, front `f` of the groups, when all behind it are written. */
static void write_node(const factor_groups *groups, const factor_tree *tree, int32_t f, int32_t q,
                       const int32_t *number, const int64_t *panel_at, grouped_tree *g)
{
    const int32_t parent = groups->above[f], up = parent >= 0 ? number[parent] : -1;
    g->above[q] = up;
    if (f < tree->nodes) {
        const int64_t rows = tree->row_start[f + 1] - tree->row_start[f];
        g->row_start[q] = g->row_start[q + 1] - rows;
        g->first[q] = tree->first[f];
        g->ld[q] = tree->ld[f];
        g->panels[q] = panel_at[f];
        memcpy(g->row + g->row_start[q], tree->row + tree->row_start[f],
               (size_t)rows * sizeof *g->row);
        return;
    }
    const int32_t columns = g->first[up + 1] - g->first[up],
                  *position = groups->position + groups->row_start[f];
    g->row_start[q] = g->row_start[q + 1] - groups->rows[f];
    g->first[q] = g->first[q + 1];
    g->ld[q] = 0;
    g->panels[q] = g->panels[q + 1];
    for (int32_t i = 0; i < groups->rows[f]; i++)
        g->row[g->row_start[q] + i] = position[i] < columns
                                          ? g->first[up] + position[i]
                                          : g->row[g->row_start[up] + position[i] - columns];
}

static libsolver_status write_view(memory *m, const factor_groups *groups, const factor_tree *tree,
                                   const int64_t *panel_at, grouped_tree *g)
{
    const int32_t nodes = groups->fronts;
    int64_t rows = tree->row_start[tree->nodes];
    for (int32_t f = tree->nodes; f < nodes; f++)
        rows += groups->rows[f];
    int32_t *number = memory_new(m, nodes, sizeof(int32_t));
    g->first = memory_new(m, (int64_t)nodes + 1, sizeof(int32_t));
    g->above = memory_new(m, nodes, sizeof(int32_t));
    g->row = memory_new(m, rows, sizeof(int32_t));
    g->ld = memory_new(m, nodes, sizeof(int32_t));
    g->row_start = memory_new(m, (int64_t)nodes + 1, sizeof(int64_t));
    g->panels = memory_new(m, (int64_t)nodes + 1, sizeof(int64_t));
    const int has_memory =
        number && g->first && g->above && g->row && g->ld && g->row_start && g->panels;
    if (has_memory) {
        for (int32_t q = 0; q < nodes; q++)
            number[groups->visit[q]] = q;
        g->first[nodes] = tree->n;
        g->row_start[nodes] = rows;
        g->panels[nodes] = panel_at[tree->nodes];
        for (int32_t q = nodes - 1; q >= 0; q--)
            write_node(groups, tree, groups->visit[q], q, number, panel_at, g);
        g->view.nodes = nodes;
        g->view.first = g->first;
        g->view.above = g->above;
        g->view.row_start = g->row_start;
        g->view.row = g->row;
        g->view.ld = g->ld;
        g->panel_at = g->panels;
    }
    memory_free(m, number);
    return has_memory ? LIBSOLVER_OK : LIBSOLVER_OUT_OF_MEMORY;
}

libsolver_status grouped_tree_make(memory *m, const factor_tree *tree, const int64_t *panel_at,
                                   grouped_tree *g)
{
    factor_groups groups;
    *g = (grouped_tree){.view = *tree, .panel_at = panel_at};
    libsolver_status status = find_groups(m, tree, &groups);
    if (status == LIBSOLVER_OK && groups.fronts > tree->nodes)
        status = write_view(m, &groups, tree, panel_at, g);
    factor_groups_free(m, &groups);
    return status;
}

void grouped_tree_free(memory *m, grouped_tree *g)
{
    memory_free(m, g->first);
    memory_free(m, g->above);
    memory_free(m, g->row);
    memory_free(m, g->ld);
    memory_free(m, g->row_start);
    memory_free(m, g->panels);
    *g = (grouped_tree){.panel_at = NULL};
}
