/* ordering/partition.c: relaxed supernodes of one backend, with their row lists
 * SPDX-License-Identifier: BSD-3-Clause */
#include "ordering/analysis.h"
#include <assert.h>
#include <string.h>

/* The merged fronts, numbered in the order of the last supernode of each. */
typedef struct fronts {
    int32_t number;
    int32_t *of;      /* front of each fundamental supernode */
    int32_t *above;   /* parent of each front */
    int32_t *place;   /* of each front in the final order */
    front_size *size; /* of each front */
} fronts;

static void fronts_free(memory *m, fronts *t)
{
    memory_free(m, t->of);
    memory_free(m, t->above);
    memory_free(m, t->place);
    memory_free(m, t->size);
}

static libsolver_status fronts_find(memory *m, int threads, const forest *f, front_cost cost,
                                    fronts *t)
{
    const int32_t n = f->supernodes;
    *t = (fronts){0, memory_new(m, n, sizeof(int32_t)), memory_new(m, n, sizeof(int32_t)),
                  memory_new(m, n, sizeof(int32_t)), memory_new(m, n, sizeof(front_size))};
    unsigned char *merged = memory_new(m, n, 1);
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    if (!t->of || !t->above || !t->place || !t->size || !merged)
        goto done;
    for (int32_t s = 0; s < n; s++)
        t->size[s] = (front_size){f->first[s + 1] - f->first[s], f->rows[s]};
    const int team = threads_for_fronts(threads, n);
#pragma omp parallel num_threads(team) if (team > 1)
#pragma omp master /* whose allocator has the memory that earlier calls have freed */
    status = relax_fronts(m, threads, n, f->above, cost, t->size, merged);
    if (status != LIBSOLVER_OK)
        goto done;
    for (int32_t s = 0; s < n; s++)
        if (!merged[s]) {
            t->size[t->number] = t->size[s];
            t->of[s] = t->number++;
        }
    for (int32_t s = n - 1; s >= 0; s--) /* parents before children: merged ones follow their
                                            parents */
        if (merged[s])
            t->of[s] = t->of[f->above[s]];
    for (int32_t s = 0; s < n; s++)
        if (!merged[s])
            t->above[t->of[s]] = f->above[s] == -1 ? -1 : t->of[f->above[s]];
    status = stack_postorder(m, t->number, t->above, t->size, t->place);
done:
    memory_free(m, merged);
    if (status != LIBSOLVER_OK)
        fronts_free(m, t);
    return status;
}

/* Everything of p but its rows.  Inside a front the columns keep the forest's order, so that each
 * still comes before its parent in the elimination tree.  leads(j): nonzero when column j begins a
 * fundamental supernode; zero before. */
static void number_columns(const forest *f, const fronts *t, partition *p, unsigned char *leads)
{
    p->first[0] = 0;
    p->row_start[0] = 0;
    for (int32_t s = 0; s < t->number; s++) {
        const int64_t k = t->size[s].k, m = t->size[s].m;
        p->first[t->place[s] + 1] = t->size[s].k;
        p->row_start[t->place[s] + 1] = m;
        p->above[t->place[s]] = t->above[s] == -1 ? -1 : t->place[t->above[s]];
        p->stored_nnz += k * (k + 1) / 2 + k * (m - k);
    }
    for (int32_t s = 0; s < t->number; s++) {
        p->first[s + 1] += p->first[s];
        p->row_start[s + 1] += p->row_start[s];
    }
    /* first(s) is where the next column of front s goes, in the end where those of s + 1 begin */
    for (int32_t s = 0; s < f->supernodes; s++) {
        int32_t *next = &p->first[t->place[t->of[s]]];
        leads[*next] = 1;
        for (int32_t j = f->first[s]; j < f->first[s + 1]; j++)
            p->perm[(*next)++] = f->perm[j];
    }
    memmove(p->first + 1, p->first, (size_t)t->number * sizeof(int32_t));
    p->first[0] = 0;
}

/* O(nnz + rows log(rows)), rows the sum of the fronts' orders. */
libsolver_status partition_build(memory *m, int threads, const pattern *a, const forest *f,
                                 front_cost cost, partition *p, pattern *permuted, int64_t *place)
{
    fronts t;
    pattern own = {0};
    *p = (partition){.n = f->n};
    TRY(fronts_find(m, threads, f, cost, &t));
    int64_t rows = 0;
    for (int32_t s = 0; s < t.number; s++)
        rows += t.size[s].m;
    p->supernodes = t.number;
    p->perm = memory_new(m, f->n, sizeof(int32_t));
    p->first = memory_new(m, (int64_t)t.number + 1, sizeof(int32_t));
    p->above = memory_new(m, t.number, sizeof(int32_t));
    p->row_start = memory_new(m, (int64_t)t.number + 1, sizeof(int64_t));
    p->row = memory_new(m, rows, sizeof(int32_t));
    unsigned char *leads = memory_zeroed(m, f->n, 1);
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    if (!p->perm || !p->first || !p->above || !p->row_start || !p->row || !leads)
        goto done;
    if (!permuted) {
        own.start = memory_new(m, (int64_t)a->n + 1, sizeof(int64_t));
        own.row = memory_new(m, a->start[a->n], sizeof(int32_t));
        if (!own.start || !own.row)
            goto done;
        permuted = &own;
    }
    number_columns(f, &t, p, leads);
    status = pattern_permute(m, threads, a, p->perm, permuted, place);
    if (status == LIBSOLVER_OK)
        status = front_rows(m, threads, permuted, leads, p);
    assert(status != LIBSOLVER_OK || partition_check(p) == NULL);
done:
    memory_free(m, own.start);
    memory_free(m, own.row);
    memory_free(m, leads);
    fronts_free(m, &t);
    if (status != LIBSOLVER_OK)
        partition_free(m, p);
    return status;
}

void partition_free(memory *m, partition *p)
{
    memory_free(m, p->perm);
    memory_free(m, p->first);
    memory_free(m, p->above);
    memory_free(m, p->row_start);
    memory_free(m, p->row);
    *p = (partition){0};
}
