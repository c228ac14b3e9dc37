/* gpu/substitute/bundles.c: connected pieces of small nodes that fit into the shared memory of a
 * block of threads, several of one height together
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/substitute/bundles.h"
#include "base/type.h"
#include <string.h>

/* A problem is cut into at least some MANY bundles, each of LEAST bytes or more: so many blocks of
 * threads share a small one, and a bundle is worth its waits. */
enum { MANY = 256, LEAST = 16384 };
/* Bytes of a table that do not depend on its nodes. */
enum { ONCE = 96 };

/* Of a node while pieces are made, of its piece once it is the piece's root. */
typedef struct piece {
    int64_t bytes, slots;
    int32_t height; /* pieces on the longest path below, without it */
    int32_t nodes;
    unsigned char small, inside; /* inside: of its parent's piece */
} piece;

void tree_children_find(const factor_tree *tree, const tree_children *children)
{
    int32_t *start = children->start;
    memset(start, 0, ((size_t)tree->nodes + 2) * sizeof *start);
    for (int32_t v = 0; v < tree->nodes; v++)
        if (tree->above[v] >= 0)
            start[tree->above[v] + 2]++;
    for (int32_t v = 0; v < tree->nodes; v++)
        start[v + 2] += start[v + 1];
    for (int32_t v = 0; v < tree->nodes; v++)
        if (tree->above[v] >= 0)
            children->child[start[tree->above[v] + 1]++] = v;
}

int64_t bundle_node_words(int64_t columns, int64_t rows, int64_t sources)
{
    return 1 + (int64_t)(sizeof(bundle_node) / sizeof(int32_t)) + 4 * (columns + rows) + sources;
}

int64_t bundle_panel_bytes(const factor_tree *tree, const int64_t *panel_at, int32_t v,
                           int64_t *from)
{
    const int64_t columns = tree->first[v + 1] - tree->first[v],
                  rows = tree->row_start[v + 1] - tree->row_start[v],
                  scalars = columns > 0 ? (columns - 1) * tree->ld[v] + columns + rows : 0,
                  size = type_bytes(tree->type);
    *from = panel_at[v] * size / 16 * 16;
    return scalars > 0 ? round_up((panel_at[v] + scalars) * size, 16) - *from : 0;
}

/* Whether a node may be part of a bundle: a copy of its panel ends within the factor, too. */
static int is_small(const factor_tree *tree, const int64_t *panel_at, int32_t v, const piece *p)
{
    const int64_t all = panel_at[tree->nodes] + (tree->cholesky ? 0 : 2 * (int64_t)tree->n);
    int64_t from;
    const int64_t bytes = bundle_panel_bytes(tree, panel_at, v, &from);
    return tree->first[v + 1] - tree->first[v] <= SUBSTITUTE_ROWS &&
           p->bytes + ONCE <= BUNDLE_BYTES && p->slots <= BUNDLE_SLOTS &&
           from + bytes <= all * type_bytes(tree->type);
}

/* Each node for itself. */
static int64_t measure_nodes(const factor_tree *tree, const tree_children *children,
                             const int64_t *panel_at, piece *p)
{
    int64_t sum = 0, from;
    for (int32_t v = 0; v < tree->nodes; v++) {
        const int64_t columns = tree->first[v + 1] - tree->first[v],
                      rows = tree->row_start[v + 1] - tree->row_start[v];
        int64_t sources = 0;
        for (int32_t k = children->start[v]; k < children->start[v + 1]; k++) {
            const int32_t c = children->child[k];
            sources += tree->row_start[c + 1] - tree->row_start[c];
        }
        p[v] = (piece){.bytes = 4 * bundle_node_words(columns, rows, sources) +
                                bundle_panel_bytes(tree, panel_at, v, &from),
                       .slots = columns + rows,
                       .nodes = 1};
        p[v].small = (unsigned char)is_small(tree, panel_at, v, &p[v]);
        sum += p[v].bytes;
    }
    return sum;
}

static int fits(const piece *a, const piece *b, int64_t most)
{
    return a->bytes + b->bytes + ONCE <= most && a->slots + b->slots <= BUNDLE_SLOTS;
}

static void add(piece *a, const piece *b)
{
    a->bytes += b->bytes;
    a->slots += b->slots;
    a->nodes += b->nodes;
}

/* Takes in the pieces of v's children while they fit: those of the three greatest heights, the
 * highest first. */
static void join_children(int32_t v, const int32_t *child, int32_t count, int64_t most, piece *p)
{
    int32_t highest = -1;
    for (int32_t k = 0; k < count; k++)
        highest = p[child[k]].height > highest ? p[child[k]].height : highest;
    for (int32_t h = highest; h >= 0 && p[v].small && h >= highest - 2; h--)
        for (int32_t k = 0; k < count; k++) {
            piece *c = &p[child[k]];
            if (c->height == h && c->small && fits(&p[v], c, most)) {
                c->inside = 1;
                add(&p[v], c);
            }
        }
    for (int32_t k = 0; k < count; k++) {
        const piece *c = &p[child[k]];
        const int32_t height = c->height + !c->inside;
        p[v].height = height > p[v].height ? height : p[v].height;
    }
}

/* Roots of pieces by height, of one height those of small nodes first.  start: 2 heights + 1. */
static int32_t sort_roots(memory *m, const piece *p, int32_t nodes, int32_t *order)
{
    int32_t heights = 0, roots = 0;
    for (int32_t v = 0; v < nodes; v++)
        if (p[v].height >= heights)
            heights = p[v].height + 1;
    int32_t *start = memory_zeroed(m, 2 * (int64_t)heights + 1, sizeof(int32_t));
    if (!start)
        return -1;
    for (int32_t v = 0; v < nodes; v++)
        if (!p[v].inside) {
            start[2 * p[v].height + !p[v].small + 1]++;
            roots++;
        }
    for (int32_t h = 0; h < 2 * heights; h++)
        start[h + 1] += start[h];
    for (int32_t v = 0; v < nodes; v++)
        if (!p[v].inside)
            order[start[2 * p[v].height + !p[v].small]++] = v;
    memory_free(m, start);
    return roots;
}

/* unit(v) of every node: pieces in their order, several small ones of one height while they fit. */
static void number_units(const factor_tree *tree, const int32_t *order, int32_t roots, int64_t most,
                         const piece *p, bundles *b)
{
    piece now = {0};
    b->units = 0;
    for (int32_t k = 0; k < roots; k++) {
        const piece *q = &p[order[k]];
        if (k == 0 || !now.small || !q->small || now.height != q->height || !fits(&now, q, most)) {
            b->large[b->units++] = !q->small;
            now = *q;
        } else {
            add(&now, q);
        }
        b->unit[order[k]] = b->units - 1;
    }
    for (int32_t v = tree->nodes - 1; v >= 0; v--)
        if (p[v].inside)
            b->unit[v] = b->unit[tree->above[v]];
}

/* Nodes by units, within one by levels.  place: nodes, workspace. */
static void list_nodes(const factor_tree *tree, int32_t *place, bundles *b)
{
    const int32_t nodes = tree->nodes;
    int32_t levels = 0;
    memset(b->level, 0, (size_t)nodes * sizeof *b->level);
    for (int32_t v = 0; v < nodes; v++) {
        const int32_t up = tree->above[v];
        levels = b->level[v] >= levels ? b->level[v] + 1 : levels;
        if (up >= 0 && b->unit[up] == b->unit[v] && b->level[up] <= b->level[v])
            b->level[up] = b->level[v] + 1;
    }
    /* two stable passes: by levels into place, then by units */
    int32_t *start = b->start; /* of levels first: a unit has a node of each of its levels */
    memset(start, 0, ((size_t)nodes + 2) * sizeof *start);
    for (int32_t v = 0; v < nodes; v++)
        start[b->level[v] + 1]++;
    for (int32_t l = 0; l < levels; l++)
        start[l + 1] += start[l];
    for (int32_t v = 0; v < nodes; v++)
        place[start[b->level[v]]++] = v;
    memset(start, 0, ((size_t)nodes + 2) * sizeof *start);
    for (int32_t v = 0; v < nodes; v++)
        start[b->unit[v] + 2]++;
    for (int32_t u = 0; u < b->units; u++)
        start[u + 2] += start[u + 1];
    for (int32_t k = 0; k < nodes; k++)
        b->node[start[b->unit[place[k]] + 1]++] = place[k];
    /* a third one, by units alone; each start is where it was when it is done */
    for (int32_t u = b->units; u > 0; u--)
        start[u + 1] = start[u];
    start[1] = 0;
    for (int32_t v = 0; v < nodes; v++)
        b->ascending[start[b->unit[v] + 1]++] = v;
}

libsolver_status bundles_make(memory *m, const factor_tree *tree, const tree_children *children,
                              const int64_t *panel_at, bundles *b)
{
    const int32_t nodes = tree->nodes;
    *b = (bundles){.start = memory_new(m, (int64_t)nodes + 2, sizeof(int32_t)),
                   .node = memory_new(m, nodes, sizeof(int32_t)),
                   .ascending = memory_new(m, nodes, sizeof(int32_t)),
                   .level = memory_new(m, nodes, sizeof(int32_t)),
                   .unit = memory_new(m, nodes, sizeof(int32_t)),
                   .large = memory_new(m, nodes, 1)};
    piece *p = memory_new(m, nodes, sizeof *p);
    int32_t *order = memory_new(m, nodes, sizeof *order), roots = -1;
    if (b->start && b->node && b->ascending && b->level && b->unit && b->large && p && order) {
        const int64_t share = measure_nodes(tree, children, panel_at, p) / MANY,
                      most = share > BUNDLE_BYTES ? BUNDLE_BYTES
                             : share < LEAST      ? LEAST
                                                  : share;
        for (int32_t v = 0; v < nodes; v++)
            join_children(v, children->child + children->start[v],
                          children->start[v + 1] - children->start[v], most, p);
        roots = sort_roots(m, p, nodes, order);
        if (roots >= 0) {
            number_units(tree, order, roots, most / 2, p, b);
            list_nodes(tree, order, b);
        }
    }
    memory_free(m, p);
    memory_free(m, order);
    if (roots < 0) {
        bundles_free(m, b);
        return LIBSOLVER_OUT_OF_MEMORY;
    }
    return LIBSOLVER_OK;
}

void bundles_free(memory *m, bundles *b)
{
    memory_free(m, b->start);
    memory_free(m, b->node);
    memory_free(m, b->ascending);
    memory_free(m, b->level);
    memory_free(m, b->unit);
    memory_free(m, b->large);
    *b = (bundles){.units = 0};
}
