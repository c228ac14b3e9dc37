/* ordering/forest.c: postordered elimination forest with its fundamental supernodes
 * SPDX-License-Identifier: BSD-3-Clause */
#include "ordering/analysis.h"
#include <assert.h>

/* Only factor_nnz and factor_flops. */
libsolver_status forest_cost(memory *m, const pattern *a, const int32_t *perm, int64_t *factor_nnz,
                             double *factor_flops)
{
    graph g;
    elimination_tree e;
    TRY(graph_build(m, 1, a, &g));
    const libsolver_status status = elimination_build(m, 1, &g, perm, &e);
    if (status == LIBSOLVER_OK) {
        *factor_nnz = e.factor_nnz;
        *factor_flops = e.factor_flops;
        elimination_free(m, &e);
    }
    graph_free(m, &g);
    return status;
}

/* f from its supernodes, each moved to its place.  perm: rows of A in the plain postorder.  The
 * parent of a supernode's last column is the first column of the supernode above, because a column
 * with two children or more begins a supernode. */
static void number_columns(const int32_t *perm, const supernode_set *s, const int32_t *place,
                           forest *f)
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
            f->perm[new + i] = perm[s->first[t] + i];
            f->parent[new + i] = new + i + 1;
            f->count[new + i] = s->size[t].m - i;
        }
        f->parent[new + k - 1] = above == -1 ? -1 : f->first[above];
    }
}

/* The longest path of the tree: in columns, supernode s having first[s + 1] - first[s] of them, or,
 * first NULL, in supernodes.  length: workspace, one for each. */
static int32_t longest_path(int32_t n, const int32_t *above, const int32_t *first, int32_t *length)
{
    int32_t longest = 0;
    for (int32_t s = 0; s < n; s++)
        length[s] = 0;
    for (int32_t s = 0; s < n; s++) {
        length[s] += first ? first[s + 1] - first[s] : 1;
        longest = longest > length[s] ? longest : length[s];
        if (above[s] != -1 && length[above[s]] < length[s])
            length[above[s]] = length[s];
    }
    return longest;
}

libsolver_status forest_of_elimination(memory *m, const elimination_tree *e, int32_t n,
                                       const int32_t *class_of, forest *f)
{
    const supernode_set s = e->s;
    int32_t *place = NULL, *expanded = NULL;
    *f = (forest){.n = n, .factor_nnz = e->factor_nnz, .factor_flops = e->factor_flops};
    place = memory_new(m, s.number, sizeof(int32_t));
    libsolver_status status =
        place ? stack_postorder(m, s.number, s.above, s.size, place) : LIBSOLVER_OUT_OF_MEMORY;
    if (status != LIBSOLVER_OK)
        goto done;
    status = LIBSOLVER_OUT_OF_MEMORY;
    if (class_of) {
        expanded = memory_new(m, n, sizeof(int32_t));
        if (!expanded || order_expand(m, n, class_of, e->n, e->perm, expanded) != LIBSOLVER_OK)
            goto done;
    }
    f->supernodes = s.number;
    f->perm = memory_new(m, n, sizeof(int32_t));
    f->parent = memory_new(m, n, sizeof(int32_t));
    f->count = memory_new(m, n, sizeof(int32_t));
    f->first = memory_new(m, (int64_t)s.number + 1, sizeof(int32_t));
    f->rows = memory_new(m, s.number, sizeof(int32_t));
    f->above = memory_new(m, s.number, sizeof(int32_t));
    if (!f->perm || !f->parent || !f->count || !f->first || !f->rows || !f->above)
        goto done;
    number_columns(class_of ? expanded : e->perm, &s, place, f);
    f->levels = longest_path(s.number, f->above, NULL, place);
    f->chain = longest_path(s.number, f->above, f->first, place);
    status = LIBSOLVER_OK;
    assert(forest_check(f) == NULL);
done:
    memory_free(m, place);
    memory_free(m, expanded);
    if (status != LIBSOLVER_OK)
        forest_free(m, f);
    return status;
}

libsolver_status forest_build(memory *m, const pattern *a, const int32_t *perm, forest *f)
{
    graph g;
    elimination_tree e;
    *f = (forest){.n = -1};
    TRY(graph_build(m, 1, a, &g));
    libsolver_status status = elimination_build(m, 1, &g, perm, &e);
    if (status == LIBSOLVER_OK) {
        status = forest_of_elimination(m, &e, a->n, NULL, f);
        elimination_free(m, &e);
    }
    graph_free(m, &g);
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
