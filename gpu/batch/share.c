/* gpu/batch/share.c: which subtrees the warps of a block have
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * From the roots down the subtree that takes longest is cut: its root goes to the top, its children
 * are subtrees of their own.  As many cuts are made as a prediction likes best: the warps' time, a
 * share of all subtrees and at most the longest, and the top's, which all warps work on. */
#include "base/heap.h"
#include "base/memory.h"
#include "base/message.h"
#include "gpu/batch/batch_tables.h"
#include "gpu/factor/program.h"
#include <string.h>

/* The top has at most this part of the rows, as every warp has a copy of it. */
#define PART_OF_TOP 4

typedef struct sharing {
    const factor_front *front;
    const factor_pattern *pattern;
    int32_t nodes;
    int64_t *seconds;       /* of each front's subtree, by a warp; ns */
    int32_t *last, *before; /* child, -1: none; the sibling before */
    int32_t *cut;           /* fronts that go to the top, in that order */
    heap open;              /* subtrees, the longest first */
} sharing;

/* Predicted ns of a front, forwards and backwards, by a warp or by a block of BATCH_PARTS. */
static int64_t front_ns(const factor_front *f, int32_t warps)
{
    const int64_t panels = (f->k + 31) / 32, rows = 32 * (int64_t)warps,
                  width = f->k < 32 ? f->k : 32, below = (f->m - width + rows - 1) / rows;
    return 1200 + 20 * (int64_t)f->k + panels * below * (300 + 4 * width) +
           (warps > 1 ? 1500 + 400 * panels : 0);
}

static void sum_subtrees(sharing *b)
{
    for (int32_t s = 0; s < b->nodes; s++) {
        b->seconds[s] = 0;
        b->last[s] = -1;
    }
    for (int32_t s = 0; s < b->nodes; s++) {
        const int32_t above = b->pattern->above[s];
        b->seconds[s] += front_ns(b->front + s, 1);
        b->before[s] = above >= 0 ? b->last[above] : -1;
        if (above >= 0) {
            b->seconds[above] += b->seconds[s];
            b->last[above] = s;
        }
    }
}

static void push(sharing *b, int32_t s)
{
    heap_push(&b->open, (heap_entry){-b->seconds[s], s});
}

/* Cuts as long as there is something to gain; returns how many are worth it. */
static int32_t cut_subtrees(sharing *b)
{
    int64_t below = 0, top = 0, least = INT64_MAX, rows = 0;
    int32_t cuts = 0, best = 0;
    b->open.count = 0;
    for (int32_t s = 0; s < b->nodes; s++)
        if (b->pattern->above[s] < 0) {
            push(b, s);
            below += b->seconds[s];
        }
    while (b->open.count > 0) {
        const int64_t longest = -b->open.entry[0].key, share = below / BATCH_PARTS,
                      predicted = top + share + longest - longest / BATCH_PARTS;
        if (predicted < least) {
            least = predicted;
            best = cuts;
        }
        if (top > least || longest <= share / BATCH_PARTS)
            break;
        const int32_t s = heap_pop(&b->open).number;
        const int64_t own = front_ns(b->front + s, 1);
        rows += b->front[s].k;
        if (PART_OF_TOP * rows > b->pattern->n)
            break;
        b->cut[cuts++] = s;
        below -= own;
        top += front_ns(b->front + s, BATCH_PARTS);
        for (int32_t c = b->last[s]; c >= 0; c = b->before[c])
            push(b, c);
    }
    return best;
}

/* The subtrees that are left, the longest first, each to the warp that has least to do; then all
 * fronts of a subtree to its root's part. */
static void assign(sharing *b, int32_t cuts, uint8_t *part)
{
    const int32_t *above = b->pattern->above;
    int64_t load[BATCH_PARTS] = {0};
    memset(part, 0, (size_t)b->nodes);
    for (int32_t q = 0; q < cuts; q++)
        part[b->cut[q]] = BATCH_PARTS;
    b->open.count = 0;
    for (int32_t s = 0; s < b->nodes; s++)
        if (part[s] != BATCH_PARTS && (above[s] < 0 || part[above[s]] == BATCH_PARTS))
            push(b, s);
    while (b->open.count > 0) {
        const int32_t s = heap_pop(&b->open).number;
        int w = 0;
        for (int q = 1; q < BATCH_PARTS; q++)
            w = load[q] < load[w] ? q : w;
        part[s] = (uint8_t)w;
        load[w] += b->seconds[s];
    }
    for (int32_t s = b->nodes - 1; s >= 0; s--)
        if (above[s] >= 0 && part[above[s]] != BATCH_PARTS)
            part[s] = part[above[s]];
}

libsolver_status batch_share_fronts(memory *m, const factor_program *g, const factor_pattern *p,
                                    uint8_t *part)
{
    sharing b = {.front = g->front, .pattern = p, .nodes = p->nodes};
    b.seconds = memory_new(m, p->nodes, sizeof(int64_t));
    b.last = memory_new(m, p->nodes, sizeof(int32_t));
    b.before = memory_new(m, p->nodes, sizeof(int32_t));
    b.cut = memory_new(m, p->nodes, sizeof(int32_t));
    b.open.entry = memory_new(m, p->nodes, sizeof(heap_entry));
    const int has_memory = b.seconds && b.last && b.before && b.cut && b.open.entry;
    if (has_memory) {
        sum_subtrees(&b);
        assign(&b, cut_subtrees(&b), part);
    }
    memory_free(m, b.seconds);
    memory_free(m, b.last);
    memory_free(m, b.before);
    memory_free(m, b.cut);
    memory_free(m, b.open.entry);
    return has_memory ? LIBSOLVER_OK : LIBSOLVER_OUT_OF_MEMORY;
}
