/* solver/matching/unmatched.c: how long rows without a partner wait to be eliminated
 * in a structurally singular matrix [paths: Dulmage, Mendelsohn, Canad. J. Math. 10 (1958)]
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/matching/unmatched.h"
#include <math.h>

typedef struct search {
    const matching *w;
    int32_t *last;  /* of each column: the row of largest rank that alternating paths from it lead
                       to, -1: not known */
    int32_t *stack; /* columns */
} search;

static int is_entry(const matching *w, int64_t p)
{
    return isfinite(w->cost[p]);
}

/* Alternating paths from column j lead to `row`; so do those from all columns with an entry in the
 * row that is matched with j, and those from which they ... */
static void reach(search *k, int32_t j, int32_t row)
{
    const matching *w = k->w;
    int32_t depth = 0;
    if (k->last[j] >= 0)
        return;
    k->last[j] = row;
    k->stack[depth++] = j;
    while (depth > 0) {
        const int32_t matched = w->row_of[k->stack[--depth]];
        for (int64_t p = matched < 0 ? 0 : w->start[matched];
             matched >= 0 && p < w->start[matched + 1]; p++) {
            const int32_t before = w->row[p]; /* the pattern is symmetric: a column with an entry in
                                                 this row */
            if (k->last[before] >= 0 || !is_entry(w, p))
                continue;
            k->last[before] = row;
            k->stack[depth++] = before;
        }
    }
}

/* Rows by descending rank: the first to be reached is the last to be waited for. */
static void find_last(search *k, const int32_t *row_by_rank)
{
    const matching *w = k->w;
    for (int32_t i = w->n - 1; i >= 0; i--) {
        const int32_t row = row_by_rank[i];
        reach(k, row, row);
        for (int64_t p = w->start[row]; p < w->start[row + 1]; p++)
            if (is_entry(w, p))
                reach(k, w->row[p], row);
    }
}

libsolver_status unmatched_find(memory *m, const matching *w, const int32_t *class_of,
                                const elimination_tree *e, waiting_rows *waiting)
{
    const int32_t n = w->n;
    int32_t *work = memory_new(m, 3 * (int64_t)n, sizeof(int32_t));
    *waiting = (waiting_rows){memory_zeroed(m, 2 * (int64_t)e->n, sizeof(int32_t)), NULL, 0};
    int32_t *row_by_rank = work ? work + 2 * (int64_t)n : NULL;
    if (!work || !waiting->from ||
        order_expand(m, n, class_of, e->n, e->perm, row_by_rank) != LIBSOLVER_OK) {
        memory_free(m, work);
        memory_free(m, waiting->from);
        waiting->from = NULL;
        return LIBSOLVER_OUT_OF_MEMORY;
    }
    waiting->to = waiting->from + e->n;
    search k = {w, work, work + n};
    for (int32_t j = 0; j < n; j++)
        k.last[j] = -1;
    find_last(&k, row_by_rank);
    for (int32_t j = 0; j < n; j++)
        if (w->row_of[j] < 0) {
            waiting->from[class_of ? class_of[j] : j]++;
            waiting->to[class_of ? class_of[k.last[j]] : k.last[j]]++;
        }
    memory_free(m, work);
    return LIBSOLVER_OK;
}
