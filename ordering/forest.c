/* ordering/forest.c: postordered elimination forest with its fundamental supernodes  [Liu, Ng, Peyton, On
 * finding supernodes for sparse matrix computations, SIAM J. Matrix Anal. Appl. 14 (1993)]
 * SPDX-License-Identifier: BSD-3-Clause */
#include "ordering/analysis.h"
#include <assert.h>

/* The columns of L in the plain postorder of the elimination tree, before supernodes are reordered. */
typedef struct columns {
    int32_t *perm, *parent, *count; /* n each */
} columns;

static void columns_free(memory *m, columns *c)
{
    memory_free(m, c->perm);
    memory_free(m, c->parent);
    memory_free(m, c->count);
    *c = (columns){0};
}

static libsolver_status columns_build(memory *m, const pattern *a, const int32_t *perm, columns *c)
{
    const int32_t n = a->n;
    graph g = {.n = -1};
    *c = (columns){memory_new(m, n, sizeof(int32_t)), memory_new(m, n, sizeof(int32_t)),
                   memory_new(m, n, sizeof(int32_t))};
    int32_t *work = memory_new(m, 6 * (int64_t)n + 1, sizeof(int32_t));
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    if (!c->perm || !c->parent || !c->count || !work)
        goto done;
    status = graph_build(m, a, &g);
    if (status != LIBSOLVER_OK)
        goto done;

    int32_t *rank = work, *parent = rank + n, *number = parent + n;
    int32_t *work1 = number + n, *work2 = work1 + n, *work3 = work2 + n;
    permutation_invert(n, perm, rank);
    etree_build(&g, perm, rank, parent, work1);
    etree_postorder(n, parent, number, work1, work2);
    for (int32_t j = 0; j < n; j++) {
        c->perm[number[j]] = perm[j];
        c->parent[number[j]] = parent[j] == -1 ? -1 : number[parent[j]];
    }
    permutation_invert(n, c->perm, rank);
    column_counts(&g, c->perm, rank, c->parent, c->count, work1, work2, work3);
done:
    graph_free(m, &g);
    memory_free(m, work);
    if (status != LIBSOLVER_OK)
        columns_free(m, c);
    return status;
}

/* nnz(L) and the sum of squared counts */
static int64_t sum_counts(int32_t n, const int32_t *count, double *flops)
{
    int64_t nnz = 0;
    *flops = 0;
    for (int32_t j = 0; j < n; j++) {
        nnz += count[j];
        *flops += (double)count[j] * count[j];
    }
    return nnz;
}

/* O(nnz alpha). */
libsolver_status forest_cost(memory *m, const pattern *a, const int32_t *perm, int64_t *factor_nnz,
                             double *factor_flops)
{
    columns c;
    const libsolver_status status = columns_build(m, a, perm, &c);
    if (status == LIBSOLVER_OK) {
        *factor_nnz = sum_counts(a->n, c.count, factor_flops);
        columns_free(m, &c);
    }
    return status;
}

/* The fundamental supernodes in the plain postorder. */
typedef struct supernodes {
    int32_t number;
    int32_t *of;      /* n: supernode of a column */
    int32_t *first;   /* number: its first column */
    int32_t *above;   /* number: its parent */
    front_size *size; /* number */
} supernodes;

static void supernodes_free(memory *m, supernodes *s)
{
    memory_free(m, s->of);
    memory_free(m, s->first);
    memory_free(m, s->above);
    memory_free(m, s->size);
    *s = (supernodes){0};
}

/* Column j continues the supernode of j - 1 if j - 1 is its only child and L(:,j) is L(:,j-1) without row
 * j - 1. */
static libsolver_status supernodes_find(memory *m, int32_t n, const columns *c, supernodes *s)
{
    *s = (supernodes){.of = memory_zeroed(m, n, sizeof(int32_t))};
    if (!s->of)
        return LIBSOLVER_OUT_OF_MEMORY;
    int32_t *children = s->of; /* of column j, until j's supernode is known */
    for (int32_t j = 0; j < n; j++)
        if (c->parent[j] != -1)
            children[c->parent[j]]++;
    for (int32_t j = 0; j < n; j++) {
        const int continues =
            j > 0 && c->parent[j - 1] == j && children[j] == 1 && c->count[j] == c->count[j - 1] - 1;
        s->number += !continues;
        s->of[j] = s->number - 1;
    }
    s->first = memory_new(m, s->number, sizeof(int32_t));
    s->above = memory_new(m, s->number, sizeof(int32_t));
    s->size = memory_zeroed(m, s->number, sizeof(front_size));
    if (!s->first || !s->above || !s->size) {
        supernodes_free(m, s);
        return LIBSOLVER_OUT_OF_MEMORY;
    }
    for (int32_t j = 0; j < n; j++) {
        const int32_t t = s->of[j];
        if (s->size[t].k++ == 0) {
            s->first[t] = j;
            s->size[t].m = c->count[j];
        }
        s->above[t] = c->parent[j] == -1 ? -1 : s->of[c->parent[j]]; /* that of the last column stays */
    }
    return LIBSOLVER_OK;
}

/* f from its supernodes, each moved to its place.  The parent of a supernode's last column is the first
 * column of the supernode above, because a column with two children or more begins a supernode. */
static void number_columns(const columns *c, const supernodes *s, const int32_t *place, forest *f)
{
    f->first[0] = 0;
    for (int32_t t = 0; t < s->number; t++) {
        f->first[place[t] + 1] = s->size[t].k;
        f->rows[place[t]] = s->size[t].m;
        f->above[place[t]] = s->above[t] == -1 ? -1 : place[s->above[t]];
    }
    for (int32_t t = 0; t < s->number; t++)
        f->first[t + 1] += f->first[t];
    for (int32_t t = 0; t < s->number; t++) {
        const int32_t new = f->first[place[t]], k = s->size[t].k, above = f->above[place[t]];
        for (int32_t i = 0; i < k; i++) {
            f->perm[new + i] = c->perm[s->first[t] + i];
            f->parent[new + i] = new + i + 1;
            f->count[new + i] = s->size[t].m - i;
        }
        f->parent[new + k - 1] = above == -1 ? -1 : f->first[above];
    }
}

/* Supernodes on the longest path.  height: workspace, one for each. */
static int32_t tree_levels(int32_t n, const int32_t *above, int32_t *height)
{
    int32_t levels = 0;
    for (int32_t s = 0; s < n; s++)
        height[s] = 1;
    for (int32_t s = 0; s < n; s++) {
        if (height[s] > levels)
            levels = height[s];
        if (above[s] != -1 && height[above[s]] <= height[s])
            height[above[s]] = height[s] + 1;
    }
    return levels;
}

/* O(nnz alpha + supernodes log(supernodes)). */
libsolver_status forest_build(memory *m, const pattern *a, const int32_t *perm, forest *f)
{
    const int32_t n = a->n;
    columns c;
    supernodes s = {0};
    int32_t *place = NULL;
    *f = (forest){.n = n};
    TRY(columns_build(m, a, perm, &c));
    libsolver_status status = supernodes_find(m, n, &c, &s);
    if (status != LIBSOLVER_OK)
        goto done;
    place = memory_new(m, s.number, sizeof(int32_t));
    status = place ? stack_postorder(m, s.number, s.above, s.size, place) : LIBSOLVER_OUT_OF_MEMORY;
    if (status != LIBSOLVER_OK)
        goto done;
    f->supernodes = s.number;
    f->perm = memory_new(m, n, sizeof(int32_t));
    f->parent = memory_new(m, n, sizeof(int32_t));
    f->count = memory_new(m, n, sizeof(int32_t));
    f->first = memory_new(m, (int64_t)s.number + 1, sizeof(int32_t));
    f->rows = memory_new(m, s.number, sizeof(int32_t));
    f->above = memory_new(m, s.number, sizeof(int32_t));
    status = LIBSOLVER_OUT_OF_MEMORY;
    if (!f->perm || !f->parent || !f->count || !f->first || !f->rows || !f->above)
        goto done;
    number_columns(&c, &s, place, f);
    f->factor_nnz = sum_counts(n, f->count, &f->factor_flops);
    f->levels = tree_levels(s.number, f->above, place);
    status = LIBSOLVER_OK;
    assert(forest_check(f) == NULL);
done:
    memory_free(m, place);
    supernodes_free(m, &s);
    columns_free(m, &c);
    if (status != LIBSOLVER_OK)
        forest_free(m, f);
    return status;
}

void forest_free(memory *m, forest *f)
{
    memory_free(m, f->perm);
    memory_free(m, f->parent);
    memory_free(m, f->count);
    memory_free(m, f->first);
    memory_free(m, f->rows);
    memory_free(m, f->above);
    *f = (forest){0};
}
