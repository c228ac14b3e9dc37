/* ordering/amd_weighted.c: approximate minimum degree where vertices stand for different numbers of
 * rows
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * By the routine that orders the leaves of nested dissection, which knows weights.  Vertices with
 * very many neighbours would cost it quadratic time: they are left out and come last, as in AMD. */
#include "ordering/analysis.h"
#include "ordering/minimum_degree.h"
#include <math.h>

/* Rows next to a vertex that make it dense, as AMD has it. */
static double dense_degree(int32_t rows)
{
    return fmax(16, 10 * sqrt(rows));
}

static int32_t count_rows(const graph *g)
{
    int32_t rows = 0;
    for (int32_t v = 0; v < g->n; v++)
        rows += g->weight[v];
    return rows;
}

/* number(v): of a vertex that stays, counted from 0; of the others -1.  Returns how many stay. */
static int32_t number_sparse(const graph *g, int32_t *number)
{
    const double most = dense_degree(count_rows(g));
    int32_t count = 0;
    for (int32_t v = 0; v < g->n; v++) {
        int32_t degree = 0;
        for (int64_t p = g->start[v]; p < g->start[v + 1]; p++)
            degree += g->weight[g->neighbor[p]];
        number[v] = degree > most ? -1 : count++;
    }
    return count;
}

/* s := g without the dense vertices.  0 for lack of memory. */
static int take_sparse(arena *scratch, const graph *g, const int32_t *number, int32_t count,
                       weighted_graph *s)
{
    *s = (weighted_graph){.n = count,
                          .start = arena_new(scratch, (int64_t)count + 1, sizeof(int64_t)),
                          .neighbor = arena_new(scratch, g->start[g->n], sizeof(int32_t)),
                          .weight = arena_new(scratch, count, sizeof(int32_t))};
    if (!s->start || !s->neighbor || !s->weight)
        return 0;
    int64_t end = 0;
    for (int32_t v = 0; v < g->n; v++) {
        if (number[v] < 0)
            continue;
        s->start[number[v]] = end;
        s->weight[number[v]] = g->weight[v];
        s->total += g->weight[v];
        for (int64_t p = g->start[v]; p < g->start[v + 1]; p++)
            if (number[g->neighbor[p]] >= 0)
                s->neighbor[end++] = number[g->neighbor[p]];
    }
    s->start[count] = end;
    return 1;
}

libsolver_status amd_order_weighted(memory *m, const graph *g, int32_t *perm)
{
    arena scratch;
    arena_init(&scratch, m, sizeof(int32_t) * (size_t)g->n * 4 + (64 << 10));
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    int32_t *number = arena_new(&scratch, g->n, sizeof(int32_t)),
            *vertex = arena_new(&scratch, g->n, sizeof(int32_t));
    weighted_graph s = {.n = g->n,
                        .total = count_rows(g),
                        .start = g->start,
                        .neighbor = g->neighbor,
                        .weight = g->weight};
    if (!number || !vertex)
        goto done;
    const int32_t count = number_sparse(g, number);
    if (count < g->n && !take_sparse(&scratch, g, number, count, &s))
        goto done;
    TRY_DONE(minimum_degree(&scratch, &s, count, perm));
    for (int32_t v = 0, last = count; v < g->n; v++)
        if (number[v] >= 0)
            vertex[number[v]] = v;
        else
            vertex[last++] = v;
    for (int32_t k = 0; k < g->n; k++)
        perm[k] = vertex[k < count ? perm[k] : k];
    status = LIBSOLVER_OK;
done:
    arena_free(&scratch);
    return status;
}
