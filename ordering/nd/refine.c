/* ordering/nd/refine.c: vertex separators improved by moving their vertices to one side [Fiduccia,
 * Mattheyses, DAC 1982; for separators: Ashcraft, Liu, SIAM J. Matrix Anal. Appl. 19 (1998)]
 * SPDX-License-Identifier: BSD-3-Clause */
#include "ordering/nd/nd.h"
#include <string.h>

/* Moves after the best separator of a pass: in proportion to its vertices, in these bounds.  To
 * move a separator by a layer takes as many moves as it has vertices: with at most 300 factors of
 * lap3d:50 have a tenth more entries. */
#define PATIENCE_PART 2
#define PATIENCE_LEAST 20
#define PATIENCE_MOST 2000

/* A pass also ends when the separator has become heavier than the best by 1 / HOPE_PART and
 * HOPE_LEAST vertices of mean weight, from where it does not come back. */
#define HOPE_PART 20
#define HOPE_LEAST 10

typedef struct entry {
    int32_t gain, vertex;
} entry;

/* Vertices of the separator by what moving them to one side gains: the largest first. */
typedef struct heap {
    int32_t size;
    entry *at;
    int32_t *place; /* n: of each vertex, -1: not in the heap */
} heap;

struct refiner {
    heap to[2];
    int32_t *pull[2]; /* n: of a vertex of the separator, weight of its neighbours in LEFT, RIGHT */
    int32_t *list, *place, listed; /* the separator's vertices, their places in the list */
    int32_t *locked, stamp;        /* locked(v) == stamp: v was moved in this pass */
    int32_t *log, logged; /* vertices in the order in which they changed, ~v where a move begins; at
                             most 3 n, as a vertex moves once a pass and joins the separator once
                             before and once after */
};

static void heap_set(heap *h, int32_t k, entry e)
{
    h->at[k] = e;
    h->place[e.vertex] = k;
}

static void heap_up(heap *h, int32_t k, entry e)
{
    while (k > 0 && h->at[(k - 1) / 2].gain < e.gain) {
        heap_set(h, k, h->at[(k - 1) / 2]);
        k = (k - 1) / 2;
    }
    heap_set(h, k, e);
}

static void heap_down(heap *h, int32_t k, entry e)
{
    for (int32_t child; (child = 2 * k + 1) < h->size; k = child) {
        child += child + 1 < h->size && h->at[child + 1].gain > h->at[child].gain;
        if (h->at[child].gain <= e.gain)
            break;
        heap_set(h, k, h->at[child]);
    }
    heap_set(h, k, e);
}

static void heap_insert(heap *h, int32_t v, int32_t gain)
{
    heap_up(h, h->size++, (entry){gain, v});
}

static void heap_remove(heap *h, int32_t v)
{
    const int32_t k = h->place[v];
    if (k < 0)
        return;
    h->place[v] = -1;
    const entry last = h->at[--h->size];
    if (last.vertex == v)
        return;
    if (k > 0 && h->at[(k - 1) / 2].gain < last.gain)
        heap_up(h, k, last);
    else
        heap_down(h, k, last);
}

static void heap_change(heap *h, int32_t v, int32_t difference)
{
    const int32_t k = h->place[v];
    if (k < 0)
        return;
    const entry e = {h->at[k].gain + difference, v};
    if (difference > 0)
        heap_up(h, k, e);
    else
        heap_down(h, k, e);
}

static void heap_clear(heap *h)
{
    for (int32_t k = 0; k < h->size; k++)
        h->place[h->at[k].vertex] = -1;
    h->size = 0;
}

refiner *nd_refiner(arena *scratch, int32_t n)
{
    refiner *w = arena_new(scratch, 1, sizeof *w);
    if (!w)
        return NULL;
    *w = (refiner){.stamp = 0};
    int32_t *block = arena_new(scratch, 10 * (int64_t)n, sizeof(int32_t));
    entry *entries = arena_new(scratch, 2 * (int64_t)n, sizeof(entry));
    if (!block || !entries)
        return NULL;
    int32_t **const part[] = {&w->to[0].place, &w->to[1].place, &w->place, &w->locked,
                              &w->pull[0],     &w->pull[1],     &w->list,  &w->log};
    for (int k = 0; k < 8; k++)
        *part[k] = block + (int64_t)k * n;
    memset(block, -1, sizeof(int32_t) * 4 * (size_t)n);
    w->to[0].at = entries;
    w->to[1].at = entries + n;
    return w;
}

static void list_add(refiner *w, int32_t v)
{
    w->place[v] = w->listed;
    w->list[w->listed++] = v;
}

static void list_remove(refiner *w, int32_t v)
{
    const int32_t last = w->list[--w->listed];
    w->list[w->place[v]] = last;
    w->place[last] = w->place[v];
    w->place[v] = -1;
}

static void compute_pull(refiner *w, const weighted_graph *g, const separation *s, int32_t v)
{
    int32_t sum[3] = {0, 0, 0};
    for (int64_t p = g->start[v]; p < g->start[v + 1]; p++)
        sum[s->side[g->neighbor[p]]] += g->weight[g->neighbor[p]];
    w->pull[LEFT][v] = sum[LEFT];
    w->pull[RIGHT][v] = sum[RIGHT];
}

/* v of the separator goes to one side, its neighbours on the other into the separator. */
static void move(refiner *w, const weighted_graph *g, separation *s, int32_t v, int to)
{
    const int other = 1 - to;
    const int32_t weight = g->weight[v];
    heap_remove(&w->to[LEFT], v);
    heap_remove(&w->to[RIGHT], v);
    list_remove(w, v);
    s->side[v] = (unsigned char)to;
    s->weight[SEPARATOR] -= weight;
    s->weight[to] += weight;
    w->locked[v] = w->stamp;
    w->log[w->logged++] = ~v;
    for (int64_t p = g->start[v]; p < g->start[v + 1]; p++) {
        const int32_t u = g->neighbor[p];
        if (s->side[u] == SEPARATOR) {
            w->pull[to][u] += weight;
            heap_change(&w->to[other], u, -weight);
        } else if (s->side[u] == other) {
            const int32_t joining = g->weight[u];
            s->side[u] = SEPARATOR;
            s->weight[other] -= joining;
            s->weight[SEPARATOR] += joining;
            list_add(w, u);
            w->log[w->logged++] = u;
            int32_t sum[3] = {0, 0, 0};
            for (int64_t q = g->start[u]; q < g->start[u + 1]; q++) {
                const int32_t x = g->neighbor[q];
                sum[s->side[x]] += g->weight[x];
                if (s->side[x] == SEPARATOR) {
                    w->pull[other][x] -= joining;
                    heap_change(&w->to[to], x, joining);
                }
            }
            w->pull[LEFT][u] = sum[LEFT];
            w->pull[RIGHT][u] = sum[RIGHT];
            if (w->locked[u] != w->stamp) {
                heap_insert(&w->to[LEFT], u, joining - sum[RIGHT]);
                heap_insert(&w->to[RIGHT], u, joining - sum[LEFT]);
            }
        }
    }
}

/* Takes moves back until the log has `keep` entries. */
static void undo(refiner *w, const weighted_graph *g, separation *s, int32_t keep)
{
    while (w->logged > keep) {
        int32_t begin = w->logged - 1;
        while (w->log[begin] >= 0)
            begin--;
        const int32_t v = ~w->log[begin];
        const int to = s->side[v], other = 1 - to;
        for (int32_t k = begin + 1; k < w->logged; k++) {
            const int32_t u = w->log[k];
            s->side[u] = (unsigned char)other;
            s->weight[other] += g->weight[u];
            s->weight[SEPARATOR] -= g->weight[u];
            list_remove(w, u);
        }
        s->side[v] = SEPARATOR;
        s->weight[to] -= g->weight[v];
        s->weight[SEPARATOR] += g->weight[v];
        list_add(w, v);
        w->logged = begin;
    }
}

static int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* The side to which the next vertex goes, -1 when none can. */
static int choose_side(const refiner *w, const weighted_graph *g, const separation *s,
                       int32_t heaviest, int favoured)
{
    int can[2];
    for (int to = 0; to < 2; to++)
        can[to] = w->to[to].size > 0 &&
                  (s->weight[to] + (int64_t)g->weight[w->to[to].at[0].vertex] <= heaviest ||
                   s->weight[to] < s->weight[1 - to]);
    if (!can[LEFT] || !can[RIGHT])
        return can[LEFT] ? LEFT : can[RIGHT] ? RIGHT : -1;
    /* a side that is too heavy is relieved first */
    if (s->weight[LEFT] > heaviest || s->weight[RIGHT] > heaviest)
        return s->weight[LEFT] > heaviest ? RIGHT : LEFT;
    const int32_t left = w->to[LEFT].at[0].gain, right = w->to[RIGHT].at[0].gain;
    return left > right ? LEFT : right > left ? RIGHT : favoured;
}

static int32_t excess(const separation *s, int32_t heaviest)
{
    const int32_t heavier = larger(s->weight[LEFT], s->weight[RIGHT]);
    return heavier > heaviest ? heavier - heaviest : 0;
}

/* One pass; nonzero if the separation is better afterwards. */
static int pass(refiner *w, const weighted_graph *g, int32_t heaviest, int favoured, separation *s)
{
    w->stamp++;
    w->logged = 0;
    for (int32_t k = 0; k < w->listed; k++) {
        const int32_t v = w->list[k];
        compute_pull(w, g, s, v);
        heap_insert(&w->to[LEFT], v, g->weight[v] - w->pull[RIGHT][v]);
        heap_insert(&w->to[RIGHT], v, g->weight[v] - w->pull[LEFT][v]);
    }
    int32_t best = s->weight[SEPARATOR], best_excess = excess(s, heaviest), keep = 0, since = 0;
    int32_t best_heavier = larger(s->weight[LEFT], s->weight[RIGHT]);
    int improved = 0;
    const int32_t patience = w->listed < PATIENCE_MOST / PATIENCE_PART
                                 ? PATIENCE_LEAST + PATIENCE_PART * w->listed
                                 : PATIENCE_MOST;
    const int64_t hope = HOPE_LEAST * (int64_t)g->total / g->n;
    while (since < patience && s->weight[SEPARATOR] <= best + (int64_t)best / HOPE_PART + hope) {
        const int to = choose_side(w, g, s, heaviest, favoured);
        if (to < 0)
            break;
        const int32_t v = w->to[to].at[0].vertex;
        move(w, g, s, v, to);
        since++;
        const int32_t e = excess(s, heaviest), heavier = larger(s->weight[LEFT], s->weight[RIGHT]);
        if (e < best_excess ||
            (e == best_excess && (s->weight[SEPARATOR] < best ||
                                  (s->weight[SEPARATOR] == best && heavier < best_heavier)))) {
            improved |= e < best_excess || s->weight[SEPARATOR] < best;
            best = s->weight[SEPARATOR];
            best_excess = e;
            best_heavier = heavier;
            keep = w->logged;
            since = 0;
        }
    }
    heap_clear(&w->to[LEFT]);
    heap_clear(&w->to[RIGHT]);
    undo(w, g, s, keep);
    return improved;
}

static void list_separator(refiner *w, const weighted_graph *g, const separation *s)
{
    w->listed = 0;
    for (int32_t v = 0; v < g->n; v++)
        if (s->side[v] == SEPARATOR)
            list_add(w, v);
}

static void unlist(refiner *w)
{
    for (int32_t k = 0; k < w->listed; k++)
        w->place[w->list[k]] = -1;
    w->listed = 0;
}

void nd_refine(refiner *w, const weighted_graph *g, int32_t heaviest, int passes, nd_random *r,
               separation *s)
{
    list_separator(w, g, s);
    const int parity = (int)(nd_draw(r) & 1);
    for (int k = 0; k < passes; k++)
        if (!pass(w, g, heaviest, (k + parity) % 2, s))
            break;
    unlist(w);
}

void nd_grow(refiner *w, const weighted_graph *g, int32_t until, nd_random *r, separation *s)
{
    memset(s->side, RIGHT, (size_t)g->n);
    s->weight[LEFT] = s->weight[SEPARATOR] = 0;
    s->weight[RIGHT] = g->total;
    w->listed = w->logged = 0;
    w->stamp++;
    while (s->weight[LEFT] < until && s->weight[RIGHT] > 0) {
        if (w->to[LEFT].size == 0) { /* the first vertex, or one of another component */
            int32_t v = nd_below(r, g->n);
            while (s->side[v] != RIGHT)
                v = v + 1 < g->n ? v + 1 : 0;
            s->side[v] = SEPARATOR;
            s->weight[RIGHT] -= g->weight[v];
            s->weight[SEPARATOR] += g->weight[v];
            list_add(w, v);
            compute_pull(w, g, s, v);
            heap_insert(&w->to[LEFT], v, g->weight[v] - w->pull[RIGHT][v]);
            heap_insert(&w->to[RIGHT], v, g->weight[v] - w->pull[LEFT][v]);
        }
        move(w, g, s, w->to[LEFT].at[0].vertex, LEFT);
        w->logged = 0;
    }
    heap_clear(&w->to[LEFT]);
    heap_clear(&w->to[RIGHT]);
    unlist(w);
}
