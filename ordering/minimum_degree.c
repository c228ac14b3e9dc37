/* ordering/minimum_degree.c: approximate minimum degree on a part of a graph, with weights, the
 * part's surroundings (halo) counting in the degrees  [Amestoy, Davis, Duff, SIAM J. Matrix Anal.
 * Appl. 17 (1996); Pellegrini, Roman, Amestoy, Concurrency 12 (2000)]
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The quotient graph: a variable lists elements, then variables; an element (an eliminated pivot)
 * lists the variables of its front.  Indistinguishable variables are merged into one that stands
 * for them. */
#include "ordering/minimum_degree.h"
#include <string.h>

enum { VARIABLE, ELEMENT, DEAD };

typedef struct quotient {
    int32_t n, own, total;
    int64_t *start, end, room; /* list[start[i] .. start[i] + length[i]), free from end to room */
    int32_t *list, *length, *elements;
    int32_t *size;   /* weight of a variable with those merged into it, negative while in the new
                        front */
    int32_t *degree; /* of a variable its external degree, of an element its front's weight */
    unsigned char *state;
    int32_t *head, *next, *previous; /* own variables by bucket of degree */
    int32_t buckets, shift, lowest;
    int32_t *member, *last; /* chains of merged variables */
    int64_t *mark, stamp;   /* of an element: stamp + weight of its front outside the new one; of a
                               variable, >= stamp when seen */
    int32_t *hash_head, *hash_next;
    uint32_t *hash;
} quotient;

static int quotient_allocate(arena *scratch, quotient *q, int64_t nnz)
{
    const int64_t n = q->n;
    q->room = nnz + nnz / 5 + 2 * n + 1;
    q->shift = 0;
    while (q->total >> q->shift > 8 * n)
        q->shift++;
    q->buckets = (q->total >> q->shift) + 1;
    q->list = arena_new(scratch, q->room, sizeof(int32_t));
    q->start = arena_new(scratch, 2 * n, sizeof(int64_t));
    int32_t *block = arena_new(scratch, 11 * n + q->buckets, sizeof(int32_t));
    q->state = arena_new(scratch, n, 1);
    if (!q->list || !q->start || !block || !q->state)
        return 0;
    q->mark = q->start + n;
    int32_t **const part[] = {&q->length,   &q->elements, &q->size, &q->degree,    &q->next,
                              &q->previous, &q->member,   &q->last, &q->hash_head, &q->hash_next};
    for (int k = 0; k < 10; k++)
        *part[k] = block + k * n;
    q->hash = (uint32_t *)(block + 10 * n);
    q->head = block + 11 * n;
    return 1;
}

static void bucket_add(quotient *q, int32_t i)
{
    const int32_t b = q->degree[i] >> q->shift, first = q->head[b];
    q->next[i] = first;
    q->previous[i] = -1;
    if (first >= 0)
        q->previous[first] = i;
    q->head[b] = i;
    if (b < q->lowest)
        q->lowest = b;
}

static void bucket_remove(quotient *q, int32_t i)
{
    const int32_t next = q->next[i], previous = q->previous[i];
    if (next >= 0)
        q->previous[next] = previous;
    if (previous >= 0)
        q->next[previous] = next;
    else
        q->head[q->degree[i] >> q->shift] = next;
}

static void quotient_start(quotient *q, const weighted_graph *g)
{
    q->end = 0;
    q->stamp = 1;
    q->lowest = q->buckets;
    memset(q->head, -1, sizeof(int32_t) * (size_t)q->buckets);
    memset(q->hash_head, -1, sizeof(int32_t) * (size_t)q->n);
    for (int32_t i = 0; i < q->n; i++) {
        const int64_t begin = g->start[i], length = g->start[i + 1] - begin;
        int32_t degree = 0;
        for (int64_t p = 0; p < length; p++) {
            const int32_t v = g->neighbor[begin + p];
            q->list[q->end + p] = v;
            degree += g->weight[v];
        }
        q->start[i] = q->end;
        q->end += length;
        q->degree[i] = degree;
        q->length[i] = (int32_t)length;
        q->elements[i] = 0;
        q->size[i] = g->weight[i];
        q->state[i] = VARIABLE;
        q->member[i] = -1;
        q->last[i] = i;
        q->mark[i] = 0;
    }
    for (int32_t i = q->own - 1; i >= 0; i--)
        bucket_add(q, i);
}

/* Moves all lists together.  The first item of each is kept in start, its place taken by ~owner. */
static void collect_garbage(quotient *q)
{
    for (int32_t i = 0; i < q->n; i++)
        if (q->state[i] != DEAD && q->length[i] > 0) {
            const int64_t p = q->start[i];
            q->start[i] = q->list[p];
            q->list[p] = ~i;
        }
    int64_t to = 0;
    for (int64_t from = 0; from < q->end;) {
        const int32_t i = ~q->list[from++];
        if (i < 0)
            continue;
        q->list[to] = (int32_t)q->start[i];
        q->start[i] = to++;
        for (int32_t k = 1; k < q->length[i]; k++)
            q->list[to++] = q->list[from++];
    }
    q->end = to;
}

/* Puts variable i into the new front, unless it is there or gone. */
static void join(quotient *q, int32_t i, int32_t *weight)
{
    const int32_t size = q->size[i];
    if (size <= 0)
        return;
    *weight += size;
    q->size[i] = -size;
    q->list[q->end++] = i;
    if (i < q->own)
        bucket_remove(q, i);
}

/* Pivot k becomes an element: its front is the union of those of its elements, which vanish, and
 * its variables. */
static void form_element(quotient *q, int32_t k)
{
    int64_t bound = q->length[k];
    for (int32_t j = 0; j < q->elements[k]; j++)
        bound += q->length[q->list[q->start[k] + j]];
    if (q->end + (bound < q->n ? bound : q->n) > q->room)
        collect_garbage(q);
    const int64_t begin = q->end;
    int32_t weight = 0;
    q->size[k] = -q->size[k];
    for (int32_t j = 0; j < q->length[k]; j++) {
        const int32_t i = q->list[q->start[k] + j];
        if (j >= q->elements[k])
            join(q, i, &weight);
        else if (q->state[i] == ELEMENT) {
            for (int32_t x = 0; x < q->length[i]; x++)
                join(q, q->list[q->start[i] + x], &weight);
            q->state[i] = DEAD;
        }
    }
    q->size[k] = -q->size[k];
    q->state[k] = ELEMENT;
    q->start[k] = begin;
    q->length[k] = (int32_t)(q->end - begin);
    q->elements[k] = 0;
    q->degree[k] = weight;
}

/* mark(e) - stamp = weight of e's front outside that of k, for all elements e next to k. */
static void measure_elements(quotient *q, int32_t k)
{
    q->stamp += 2 * (int64_t)q->total + 2;
    for (int32_t x = 0; x < q->length[k]; x++) {
        const int32_t i = q->list[q->start[k] + x];
        for (int32_t j = 0; j < q->elements[i]; j++) {
            const int32_t e = q->list[q->start[i] + j];
            if (q->state[e] != ELEMENT)
                continue;
            if (q->mark[e] < q->stamp)
                q->mark[e] = q->stamp + q->degree[e];
            q->mark[e] += q->size[i]; /* negative */
        }
    }
}

/* Drops from i's list what k covers and puts k first; its approximate degree without k's front. */
static int32_t prune_list(quotient *q, int32_t i, int32_t k)
{
    const int64_t begin = q->start[i];
    int64_t to = begin, degree = 0;
    uint32_t hash = (uint32_t)k;
    for (int32_t j = 0; j < q->elements[i]; j++) {
        const int32_t e = q->list[begin + j];
        if (q->state[e] != ELEMENT || e == k)
            continue;
        if (q->mark[e] == q->stamp) { /* its front lies in k's */
            q->state[e] = DEAD;
            continue;
        }
        degree += q->mark[e] - q->stamp;
        hash += (uint32_t)e;
        q->list[to++] = e;
    }
    const int64_t first_variable = to;
    /* of the variables those outside the new front, of which k is not one; without a branch that no
     * processor foresees */
    for (int32_t j = q->elements[i], length = q->length[i]; j < length; j++) {
        const int32_t v = q->list[begin + j], size = q->size[v];
        const int stays = (size > 0) & (v != k);
        degree += stays ? size : 0;
        hash += stays ? (uint32_t)v : 0;
        q->list[to] = v;
        to += stays;
    }
    /* k or an element of k was dropped, so that there is room for k: it goes where the first
     * variable was, and that one to the end */
    if (to > first_variable)
        q->list[to] = q->list[first_variable];
    q->list[first_variable] = k;
    to++;
    q->elements[i] = (int32_t)(first_variable - begin) + 1;
    q->length[i] = (int32_t)(to - begin);
    q->hash[i] = hash;
    return degree > q->total ? q->total : (int32_t)degree;
}

static void append_members(quotient *q, int32_t to, int32_t from)
{
    q->member[q->last[to]] = from;
    q->last[to] = q->last[from];
    q->size[from] = 0;
    q->state[from] = DEAD;
}

/* Merges variables of the new front with equal lists; halo vertices only with one another. */
static void merge_equal(quotient *q, int32_t k)
{
    for (int32_t x = 0; x < q->length[k]; x++) {
        const int32_t i = q->list[q->start[k] + x];
        if (q->size[i] == 0)
            continue;
        const int32_t slot = (int32_t)(q->hash[i] % (uint32_t)q->n);
        int32_t candidate = q->hash_head[slot];
        if (candidate >= 0) {
            q->stamp++;
            for (int32_t j = 0; j < q->length[i]; j++)
                q->mark[q->list[q->start[i] + j]] = q->stamp;
        }
        for (; candidate >= 0; candidate = q->hash_next[candidate]) {
            if (q->hash[candidate] != q->hash[i] || q->length[candidate] != q->length[i] ||
                q->elements[candidate] != q->elements[i] || (candidate < q->own) != (i < q->own))
                continue;
            int32_t j = 0;
            while (j < q->length[i] && q->mark[q->list[q->start[candidate] + j]] == q->stamp)
                j++;
            if (j == q->length[i])
                break;
        }
        if (candidate >= 0) {
            q->size[candidate] += q->size[i]; /* both negative */
            append_members(q, candidate, i);
        } else {
            q->hash_next[i] = q->hash_head[slot];
            q->hash_head[slot] = i;
        }
    }
    for (int32_t x = 0; x < q->length[k]; x++)
        q->hash_head[q->hash[q->list[q->start[k] + x]] % (uint32_t)q->n] = -1;
}

/* Eliminates k and updates the variables of its front; returns the weight that is gone. */
static int32_t eliminate(quotient *q, int32_t k, int32_t left)
{
    form_element(q, k);
    measure_elements(q, k);
    int32_t gone = q->size[k];
    for (int32_t x = 0; x < q->length[k]; x++) {
        const int32_t i = q->list[q->start[k] + x], size = -q->size[i];
        const int32_t outside = prune_list(q, i, k);
        /* its front is k's: eliminated with it */
        if (outside == 0 && q->length[i] == 1 && i < q->own) {
            q->degree[k] -= size;
            gone += size;
            append_members(q, k, i);
        } else if (outside < q->degree[i])
            q->degree[i] = outside;
    }
    left -= gone;
    q->stamp += (int64_t)q->total + 1; /* above all marks */
    merge_equal(q, k);
    int64_t to = q->start[k];
    for (int32_t x = 0; x < q->length[k]; x++) {
        const int32_t i = q->list[q->start[k] + x], size = -q->size[i];
        if (size == 0)
            continue;
        q->size[i] = size;
        q->list[to++] = i;
        const int64_t degree = (int64_t)q->degree[i] + q->degree[k] - size,
                      most = (int64_t)left - size;
        q->degree[i] = (int32_t)(degree < most ? degree : most);
        if (i < q->own)
            bucket_add(q, i);
    }
    q->length[k] = (int32_t)(to - q->start[k]);
    q->end = to;
    if (q->length[k] == 0)
        q->state[k] = DEAD;
    q->size[k] = 0;
    return gone;
}

libsolver_status minimum_degree(arena *scratch, const weighted_graph *g, int32_t own,
                                int32_t *order)
{
    const arena_mark mark = arena_here(scratch);
    quotient q = {.n = g->n, .own = own, .total = g->total};
    if (!quotient_allocate(scratch, &q, g->start[g->n]))
        return LIBSOLVER_OUT_OF_MEMORY;
    quotient_start(&q, g);
    int32_t left = g->total;
    for (int32_t done = 0; done < own;) {
        while (q.head[q.lowest] < 0)
            q.lowest++;
        const int32_t k = q.head[q.lowest];
        bucket_remove(&q, k);
        left -= eliminate(&q, k, left);
        for (int32_t i = k; i >= 0; i = q.member[i])
            order[done++] = i;
    }
    arena_back(scratch, mark);
    return LIBSOLVER_OK;
}
