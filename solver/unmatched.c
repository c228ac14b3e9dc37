/* solver/unmatched.c: how far the rows of a structurally singular matrix wait that have no partner  [paths: Dulmage, Mendelsohn,
 * Canad. J. Math. 10 (1958)]
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/unmatched.h"
#include <math.h>

typedef struct walk {
    const matching *w;
    int32_t *rank;  /* of each row's vertex in the elimination */
    int32_t *path;  /* of each column: the number of the path it was met on, -1: none */
    int32_t *into;  /* of each path: one that it has met, or its own number */
    int32_t *last;  /* of each path: the largest rank on it, in the end of all it has met */
    int32_t *stack; /* columns */
} walk;

static int32_t find(int32_t *into, int32_t path)
{
    for (; into[path] != path; path = into[path])
        into[path] = into[into[path]];
    return path;
}

static int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* Everything that alternating paths reach from `start`. */
static void follow(walk *k, int32_t start, int32_t path)
{
    const matching *w = k->w;
    int32_t depth = 0;
    k->into[path] = path;
    k->last[path] = k->rank[start];
    k->path[start] = path;
    k->stack[depth++] = start;
    while (depth > 0) {
        const int32_t j = k->stack[--depth];
        for (int64_t p = w->start[j]; p < w->start[j + 1]; p++) {
            const int32_t row = w->row[p], next = w->column_of[row];
            if (!isfinite(w->cost[p])) /* a zero */
                continue;
            k->last[path] = larger(k->last[path], k->rank[row]);
            if (next < 0 || next == j)
                continue;
            if (k->path[next] < 0) {
                k->path[next] = path;
                k->last[path] = larger(k->last[path], k->rank[next]);
                k->stack[depth++] = next;
            } else {
                const int32_t other = find(k->into, k->path[next]);
                k->last[path] = larger(k->last[path], k->last[other]);
                k->into[other] = path;
            }
        }
    }
}

libsolver_status unmatched_find(memory *m, const matching *w, const int32_t *class_of, const elimination_tree *e, waiting_rows *waiting)
{
    const int32_t n = w->n;
    int32_t *work = memory_new(m, 5 * (int64_t)n + e->n, sizeof(int32_t));
    *waiting = (waiting_rows){memory_zeroed(m, 2 * (int64_t)e->n, sizeof(int32_t)), NULL};
    if (!work || !waiting->from) {
        memory_free(m, work);
        memory_free(m, waiting->from);
        waiting->from = NULL;
        return LIBSOLVER_OUT_OF_MEMORY;
    }
    waiting->to = waiting->from + e->n;
    walk k = {w, work, work + n, work + 2 * (int64_t)n, work + 3 * (int64_t)n, work + 4 * (int64_t)n};
    int32_t *rank_of = work + 5 * (int64_t)n, paths = 0;
    for (int32_t v = 0; v < e->n; v++)
        rank_of[e->perm[v]] = v;
    for (int32_t i = 0; i < n; i++) {
        k.rank[i] = rank_of[class_of ? class_of[i] : i];
        k.path[i] = -1;
    }
    for (int32_t j = 0; j < n; j++)
        if (w->row_of[j] < 0)
            follow(&k, j, paths++);
    for (int32_t j = 0, path = 0; j < n; j++)
        if (w->row_of[j] < 0) {
            waiting->from[class_of ? class_of[j] : j]++;
            waiting->to[e->perm[k.last[find(k.into, path++)]]]++;
        }
    memory_free(m, work);
    return LIBSOLVER_OK;
}
