/* ordering/elimination.c: the elimination tree of a graph in an order, with what it costs
 * SPDX-License-Identifier: BSD-3-Clause */
#include "ordering/analysis.h"

void elimination_free(memory *m, elimination_tree *e)
{
    memory_free(m, e->perm);
    memory_free(m, e->parent);
    memory_free(m, e->count);
    supernodes_free(m, &e->s);
    *e = (elimination_tree){0};
}

/* Vertices from which threads share the work: fewer take one a millisecond or two. */
#define LEAST_FOR_THREADS 65536
/* That many are worked on in so many parts. */
#define PARTS 64

static int parts_of(int32_t n)
{
    return n < LEAST_FOR_THREADS ? 1 : PARTS;
}

static int32_t part_begin(int32_t n, int q)
{
    return equal_cut(n, parts_of(n), q);
}

/* factor_nnz and factor_flops: the k columns of a supernode have m, m - 1, ..., m - k + 1 entries.
 */
static void sum_counts(elimination_tree *e)
{
    e->factor_nnz = 0;
    e->factor_flops = 0;
    for (int32_t t = 0; t < e->s.number; t++) {
        const int64_t columns = e->s.size[t].k, rows = e->s.size[t].m;
        const double k = (double)columns, m = (double)rows;
        e->factor_nnz += columns * rows - columns * (columns - 1) / 2;
        e->factor_flops += k * m * m - k * (k - 1) * m + (k - 1) * k * (2 * k - 1) / 6;
    }
}

/* What is known of part q of an order, in the order that `number` makes of that. */
static void renumber_part(const int32_t *perm, const int32_t *parent, const int32_t *number, int q,
                          const elimination_tree *e, int32_t *rank)
{
    for (int32_t j = part_begin(e->n, q); j < part_begin(e->n, q + 1); j++) {
        e->perm[number[j]] = perm[j];
        e->parent[number[j]] = parent[j] == -1 ? -1 : number[parent[j]];
        rank[perm[j]] = number[j];
    }
}

static void renumber(const int32_t *perm, const int32_t *parent, const int32_t *number,
                     const elimination_tree *e, int32_t *rank)
{
    const int parts = parts_of(e->n);
#pragma omp taskgroup
    for (int q = 0; q < parts; q++) {
#pragma omp task firstprivate(q) if (parts > 1)
        renumber_part(perm, parent, number, q, e, rank);
    }
}

/* O(nnz alpha). */
libsolver_status elimination_build(memory *m, int threads, const graph *g, const int32_t *perm,
                                   elimination_tree *e)
{
    const int32_t n = g->n;
    *e = (elimination_tree){.n = n,
                            .perm = memory_new(m, n, sizeof(int32_t)),
                            .parent = memory_new(m, n, sizeof(int32_t)),
                            .count = memory_new(m, n, sizeof(int32_t))};
    int32_t *work = memory_new(m, 6 * (int64_t)n + 1, sizeof(int32_t));
    if (!e->perm || !e->parent || !e->count || !work) {
        memory_free(m, work);
        elimination_free(m, e);
        return LIBSOLVER_OUT_OF_MEMORY;
    }
    int32_t *rank = work, *parent = rank + n, *number = parent + n;
    int32_t *work1 = number + n, *work2 = work1 + n, *work3 = work2 + n + 1;
    permutation_invert(n, perm, rank);
    const int team = n < LEAST_FOR_THREADS ? 1 : threads;
    libsolver_status status = etree_build(m, team, g, perm, rank, parent, work1, work2);
    if (status != LIBSOLVER_OK)
        goto done;
    etree_postorder(n, parent, number, work1, work2);
    renumber(perm, parent, number, e, rank);
    status = column_counts(m, team, g, e->perm, rank, e->parent, e->count,
                           (int32_t *[]){work1, work2, work3, number});
    if (status == LIBSOLVER_OK)
        status = supernodes_find(m, g, e, &e->s);
    if (status == LIBSOLVER_OK)
        sum_counts(e);
done:
    memory_free(m, work);
    if (status != LIBSOLVER_OK)
        elimination_free(m, e);
    return status;
}
