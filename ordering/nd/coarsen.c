/* ordering/nd/coarsen.c: clusters of vertices joined by strong edges, and the graph of the clusters
 * [Karypis, Kumar, SIAM J. Sci. Comput. 20 (1998), section 3.1]
 * SPDX-License-Identifier: BSD-3-Clause */
#include "ordering/nd/nd.h"
#include <string.h>

/* Vertices are visited window by window, within one in a random order: the order of the graph
 * itself leaves its traces in the clusters and costs 10 to 30 % more fill, an entirely random one
 * misses the caches. */
#define WINDOW 256

/* Most vertices of a cluster: pairs alone give the same fill at 1.1 times the time. */
#define LARGEST 5

#define FEW 16

/* Graphs of at least this many vertices are contracted in pieces, which are tasks: other threads
 * have nothing else to do while the first separators are sought. */
#define LEAST_IN_PIECES 20000
#define PIECES 4

/* The neighbour to whose cluster v should be joined, or -1: by the strongest edge per weight of the
 * cluster, an unclustered vertex being one of its own.  weight: of the cluster that the vertex
 * leads, heaviest + 1 if that is full. */
static int32_t partner(const weighted_graph *g, int32_t v, int32_t heaviest, const int32_t *leader,
                       const int32_t *weight, uint32_t turn)
{
    const int64_t first = g->start[v];
    const int32_t degree = (int32_t)(g->start[v + 1] - first), room = heaviest - g->weight[v];
    if (degree == 0)
        return -1;
    int32_t best = -1, begin = (int32_t)((uint64_t)(uint32_t)(turn * UINT32_C(0x9e3779b1)) *
                                             (uint32_t)degree >>
                                         32);
    int64_t best_strength = 0, best_weight = 1;
    for (int part = 0; part < 2; part++) {
        const int32_t p0 = part == 0 ? begin : 0, p1 = part == 0 ? degree : begin;
        for (int32_t p = p0; p < p1; p++) {
            const int32_t u = g->neighbor[first + p],
                          w = leader[u] < 0 ? g->weight[u] : weight[leader[u]];
            if (w > room)
                continue;
            if (w == 1 && !g->strength)
                return u; /* no other is better */
            const int64_t strength = g->strength ? g->strength[first + p] : 1;
            if (strength * best_weight > best_strength * w) {
                best = u;
                best_strength = strength;
                best_weight = w;
            }
        }
    }
    return best;
}

/* Pairs what is still single, with at most FEW neighbours, with another single vertex at distance
 * two: leaves of a star and the like. */
static void match_at_distance_two(const weighted_graph *g, int32_t heaviest, int32_t *leader,
                                  unsigned char *size, int32_t *waiting)
{
    for (int32_t v = 0; v < g->n; v++)
        waiting[v] = -1;
    int32_t alone = -1; /* waiting vertex without neighbours */
    for (int32_t v = 0; v < g->n; v++) {
        const int64_t degree = g->start[v + 1] - g->start[v];
        if (leader[v] != v || size[v] > 1 || degree > FEW)
            continue;
        for (int64_t p = g->start[v]; p < g->start[v + 1] || degree == 0; p++) {
            int32_t *slot = degree > 0 ? &waiting[g->neighbor[p]] : &alone;
            if (*slot >= 0 && size[*slot] == 1 &&
                (int64_t)g->weight[*slot] + g->weight[v] <= heaviest) {
                leader[v] = *slot;
                size[*slot] = 2;
                *slot = -1;
                break;
            }
            *slot = v;
            if (degree == 0)
                break;
        }
    }
}

int32_t nd_cluster(arena *scratch, const weighted_graph *g, int32_t heaviest, nd_random *r,
                   int32_t *class_of)
{
    const arena_mark mark = arena_here(scratch);
    int32_t *leader = arena_new(scratch, g->n, sizeof(int32_t)), singles = 0;
    int32_t *weight = arena_new(scratch, g->n, sizeof(int32_t));
    unsigned char *size = arena_new(scratch, g->n, 1);
    if (!leader || !weight || !size)
        return -1;
    memset(leader, -1, sizeof(int32_t) * (size_t)g->n);
    for (int32_t base = 0; base < g->n; base += WINDOW) {
        /* i -> step i + offset mod WINDOW */
        const uint32_t draw = nd_draw(r), step = draw | 1, offset = draw >> 16;
        for (uint32_t i = 0; i < WINDOW; i++) {
            const int32_t v = base + (int32_t)((i * step + offset) % WINDOW);
            if (v >= g->n || leader[v] >= 0)
                continue;
            const int32_t u = partner(g, v, heaviest, leader, weight, draw + i);
            if (u < 0) {
                leader[v] = v;
                weight[v] = g->weight[v];
                singles++;
                size[v] = 1;
            } else {
                if (leader[u] < 0) {
                    leader[u] = u;
                    weight[u] = g->weight[u];
                    size[u] = 1;
                }
                const int32_t l = leader[v] = leader[u];
                weight[l] = ++size[l] >= LARGEST ? heaviest + 1 : weight[l] + g->weight[v];
            }
        }
        if (base > INT32_MAX - WINDOW)
            break;
    }
    if (singles > g->n / 10)
        match_at_distance_two(g, heaviest, leader, size, weight);
    int32_t classes = 0, *number = weight;
    memset(number, -1, sizeof(int32_t) * (size_t)g->n);
    for (int32_t v = 0; v < g->n; v++) {
        int32_t *c = &number[leader[v]];
        if (*c < 0)
            *c = classes++;
        class_of[v] = *c;
    }
    arena_back(scratch, mark);
    return classes;
}

/* Members of each class: member[first[c]] .. member[first[c + 1]-1].  slot: classes + 1. */
static void list_members(int32_t n, const int32_t *class_of, int32_t classes, int32_t *first,
                         int32_t *member)
{
    memset(first, 0, sizeof(int32_t) * ((size_t)classes + 1));
    for (int32_t v = 0; v < n; v++)
        first[class_of[v]]++;
    for (int32_t c = 0, sum = 0; c <= classes; c++) {
        const int32_t size = c < classes ? first[c] : 0;
        first[c] = sum;
        sum += size;
    }
    for (int32_t v = 0; v < n; v++)
        member[first[class_of[v]]++] = v;
    for (int32_t c = classes; c > 0; c--)
        first[c] = first[c - 1];
    first[0] = 0;
}

/* Some of the clusters, with room for their edges. */
typedef struct piece {
    int32_t begin, end; /* of its clusters */
    int64_t room, used; /* where its edges begin and end */
    int64_t *place; /* n of the coarse graph: of the edge to each cluster, before the last one that
                       had it: none */
} piece;

/* The edges of a piece's clusters and their weights.  first, member: list_members'. */
static void contract_piece(const weighted_graph *g, const int32_t *class_of, const int32_t *first,
                           const int32_t *member, weighted_graph *coarse, piece *w)
{
    memset(w->place, -1, sizeof(int64_t) * (size_t)coarse->n);
    int32_t *neighbor = coarse->neighbor, *strength = coarse->strength;
    int64_t end = w->room;
    for (int32_t c = w->begin; c < w->end; c++) {
        const int64_t begin = coarse->start[c] = end;
        int32_t weight = 0;
        for (int32_t i = first[c]; i < first[c + 1]; i++) {
            const int32_t v = member[i];
            weight += g->weight[v];
            for (int64_t p = g->start[v]; p < g->start[v + 1]; p++) {
                const int32_t d = class_of[g->neighbor[p]], add = g->strength ? g->strength[p] : 1;
                if (d == c)
                    continue;
                if (w->place[d] < begin) {
                    w->place[d] = end;
                    neighbor[end] = d;
                    strength[end++] = add;
                } else {
                    int32_t *sum = &strength[w->place[d]];
                    *sum = *sum > INT32_MAX - add ? INT32_MAX : *sum + add;
                }
            }
        }
        coarse->weight[c] = weight;
    }
    w->used = end;
}

/* Cuts the clusters into pieces, with room for all edges of their members. */
static void cut(const weighted_graph *g, const int32_t *first, const int32_t *member,
                int32_t classes, int pieces, piece *w)
{
    for (int k = 0; k < pieces; k++) {
        w[k].begin = (int32_t)((int64_t)classes * k / pieces);
        w[k].end = (int32_t)((int64_t)classes * (k + 1) / pieces);
    }
    w[0].room = 0;
    for (int k = 1; k < pieces; k++) {
        w[k].room = w[k - 1].room;
        for (int32_t i = first[w[k - 1].begin]; i < first[w[k].begin]; i++)
            w[k].room += g->start[member[i] + 1] - g->start[member[i]];
    }
}

/* The edges of all pieces side by side; their number. */
static int64_t close_gaps(weighted_graph *coarse, int pieces, const piece *w)
{
    int64_t end = w[0].used;
    for (int k = 1; k < pieces; k++) {
        const int64_t count = w[k].used - w[k].room, gap = w[k].room - end;
        memmove(coarse->neighbor + end, coarse->neighbor + w[k].room,
                sizeof(int32_t) * (size_t)count);
        memmove(coarse->strength + end, coarse->strength + w[k].room,
                sizeof(int32_t) * (size_t)count);
        for (int32_t c = w[k].begin; c < w[k].end; c++)
            coarse->start[c] -= gap;
        end += count;
    }
    return end;
}

int nd_contract(arena *scratch, const weighted_graph *g, const int32_t *class_of, int32_t classes,
                weighted_graph *coarse)
{
    const int64_t nnz = g->start[g->n];
    const int pieces = g->n < LEAST_IN_PIECES ? 1 : PIECES;
    coarse->n = classes;
    coarse->total = g->total;
    coarse->start = arena_new(scratch, (int64_t)classes + 1, sizeof(int64_t));
    coarse->weight = arena_new(scratch, classes, sizeof(int32_t));
    /* neighbours and strengths side by side, until their number is known */
    coarse->neighbor = arena_new(scratch, 2 * nnz, sizeof(int32_t));
    if (!coarse->start || !coarse->weight || !coarse->neighbor)
        return 0;
    coarse->strength = coarse->neighbor + nnz;
    const arena_mark mark = arena_here(scratch);
    int32_t *first = arena_new(scratch, (int64_t)classes + 1, sizeof(int32_t));
    int32_t *member = arena_new(scratch, g->n, sizeof(int32_t));
    int64_t *place = arena_new(scratch, (int64_t)pieces * classes, sizeof(int64_t));
    if (!first || !member || !place)
        return 0;
    list_members(g->n, class_of, classes, first, member);
    piece w[PIECES];
    cut(g, first, member, classes, pieces, w);
    for (int k = 0; k < pieces; k++) {
        w[k].place = place + (int64_t)k * classes;
#pragma omp task if (pieces > 1) firstprivate(k) shared(w)
        contract_piece(g, class_of, first, member, coarse, &w[k]);
    }
#pragma omp taskwait
    const int64_t end = close_gaps(coarse, pieces, w);
    coarse->start[classes] = end;
    memmove(coarse->neighbor + end, coarse->strength, sizeof(int32_t) * (size_t)end);
    coarse->strength = coarse->neighbor + end;
    arena_back(scratch, mark);
    return 1;
}
