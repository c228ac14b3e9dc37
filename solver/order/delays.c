/* solver/order/delays.c: how long rows with nothing on the diagonal wait for a pivot
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The rows of a subtree of the elimination tree that are eliminated there are as many as its
 * principal submatrix has for rank, for almost all values of its entries.  That is the largest
 * number of rows that 1x1 pivots (entries of the diagonal) and 2x2 pivots (any others) cover
 * without overlap, but for odd cycles of rows without the former.  Rows are added one by one in the
 * order of elimination; what they cover grows along alternating paths. */
#include "solver/order/delays.h"

/* Entries looked at for one row, besides its own ones.  With any number kkt_para takes 43 ms
 * instead of 0.9, kkt_3d27 8 instead of 0.5. */
#define MOST_ENTRIES 50

/* In mate: not yet reached, or waiting. */
#define NONE (-1)

typedef struct search {
    const graph *g;
    const unsigned char *has_pivot;
    int32_t *rank; /* of each row */
    int32_t *mate; /* the other row of its 2x2 pivot; itself: a 1x1 pivot */
    int32_t *seen; /* rank of the last row whose search has met this one */
    int32_t *from; /* of a row that this search has met: from which one */
    int32_t *list; /* rows whose entries are to be looked at */
} search;

/* The end of an alternating path from row i: one that waits, if some do, otherwise one with a 1x1
 * pivot or half of a 2x2 pivot that could have one; NONE if none is found. */
static int32_t find_end(search *k, int32_t i, int some_wait)
{
    const graph *g = k->g;
    const int32_t now = k->rank[i];
    int32_t length = 0, other = NONE, left = MOST_ENTRIES;
    k->seen[i] = now;
    k->list[length++] = i;
    for (int32_t at = 0; at < length && left > 0; at++) {
        const int32_t row = k->list[at];
        for (int64_t p = g->start[row]; p < g->start[row + 1] && (left-- > 0 || row == i); p++) {
            const int32_t next = g->neighbor[p], mate = k->mate[next];
            if (k->rank[next] >= now || k->seen[next] == now)
                continue;
            k->seen[next] = now;
            k->from[next] = row;
            if (mate == NONE)
                return next;
            if (k->has_pivot[mate] && !some_wait)
                return mate;
            if (k->has_pivot[mate] && other == NONE)
                other = mate;
            if (mate != next) {
                k->seen[mate] = now;
                k->list[length++] = mate;
            }
        }
    }
    return other;
}

/* The rows of the path from i to its end become 2x2 pivots.  A half of one there becomes 1x1. */
static void pair_along(search *k, int32_t i, int32_t end)
{
    int32_t row = end, before = NONE;
    if (k->mate[end] != NONE && k->mate[end] != end) {
        row = k->mate[end];
        k->mate[end] = end;
    }
    while (before != i) {
        before = k->from[row];
        const int32_t next = k->mate[before];
        k->mate[row] = before;
        k->mate[before] = row;
        row = next;
    }
}

/* Row i comes next; `waiting` rows of its subtree have not been eliminated.  Returns by how many
 * they become more. */
static int add_row(search *k, int32_t i, int32_t waiting)
{
    const int is_pivot = k->has_pivot[i];
    int32_t end = NONE;
    if (waiting > 0 || !is_pivot)
        end = find_end(k, i, waiting > 0);
    const int frees = end != NONE && k->mate[end] == NONE;
    if (end != NONE)
        pair_along(k, i, end);
    else if (is_pivot)
        k->mate[i] = i;
    return frees ? -1 : k->mate[i] == NONE;
}

static void add_rows(search *k, int32_t n, const int32_t *class_of, const elimination_tree *e,
                     const int32_t *row_by_rank, int32_t *waits, waiting_rows *waiting)
{
    for (int32_t r = 0, place = 0; place < e->n; place++) {
        const int32_t vertex = e->perm[place];
        for (; r < n && (class_of ? class_of[row_by_rank[r]] : row_by_rank[r]) == vertex; r++) {
            const int more = add_row(k, row_by_rank[r], waits[place]);
            waiting->from[vertex] += more > 0;
            waiting->to[vertex] += more < 0;
            waits[place] += more;
        }
        if (e->parent[place] >= 0)
            waits[e->parent[place]] += waits[place];
    }
}

libsolver_status delays_find(memory *m, const graph *g, const unsigned char *has_pivot,
                             const int32_t *class_of, const elimination_tree *e,
                             waiting_rows *waiting)
{
    const int64_t n = g->n;
    int32_t *work = memory_new(m, 6 * n, sizeof(int32_t)),
            *waits = memory_zeroed(m, e->n, sizeof(int32_t));
    *waiting = (waiting_rows){memory_zeroed(m, 2 * (int64_t)e->n, sizeof(int32_t)), NULL, 1};
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    if (work && waits && waiting->from)
        status = order_expand(m, g->n, class_of, e->n, e->perm, work);
    if (status == LIBSOLVER_OK) {
        search k = {g, has_pivot, work + n, work + 2 * n, work + 3 * n, work + 4 * n, work + 5 * n};
        waiting->to = waiting->from + e->n;
        for (int32_t r = 0; r < g->n; r++) {
            k.rank[work[r]] = r;
            k.mate[r] = k.seen[r] = NONE;
        }
        add_rows(&k, g->n, class_of, e, work, waits, waiting);
    } else {
        memory_free(m, waiting->from);
        waiting->from = NULL;
    }
    memory_free(m, work);
    memory_free(m, waits);
    return status;
}
