/* solver/cpu/factor/numeric_tmpl.c: a factorization's memory and values
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/cpu/factor/numeric.h"
#include <string.h>

/* ---- What an object takes ---- */

#define MOST_PARTS 5

/* What holds the values of A. */
static int list_values(numeric *f, memory_part part[MOST_PARTS])
{
    const int64_t n = f->plan->a.n;
    part[0] = (memory_part){&f->value, numeric_nnz(f), sizeof(scalar), 0};
    part[1] = (memory_part){&f->scale, n, sizeof(real), 0};
    part[2] = (memory_part){&f->largest, n, sizeof(real), 0};
    part[3] = (memory_part){&f->row_sum, n, sizeof(real), 0};
    part[4] = (memory_part){&f->order, n, sizeof(int32_t), 0};
    return 5;
}

/* A factor by columns. */
static int list_columns(numeric *f, memory_part part[MOST_PARTS])
{
    const simplicial *s = f->plan->simplicial;
    part[0] = (memory_part){&f->columns, (int64_t)s->n + s->start[s->n], sizeof(scalar), 0};
    part[1] = (memory_part){&f->root, s->n, sizeof(real), 0};
    return 2;
}

/* The books of fronts. */
static int list_fronts(numeric *f, memory_part part[MOST_PARTS])
{
    const int64_t supernodes = f->plan->part.supernodes;
    part[0] = (memory_part){&f->node, supernodes, sizeof(node), 1};
    part[1] = (memory_part){&f->scratch, f->threads, sizeof(scratch), 1};
    part[2] = (memory_part){&f->pending, supernodes, sizeof(int32_t), 0};
    part[3] = (memory_part){&f->solve_slot, supernodes, sizeof(int64_t), 0};
    part[4] = (memory_part){&f->tiny, f->plan->a.n, 1, 0};
    return 5;
}

void NAME(cpu_release_tree)(numeric *f)
{
    memory *m = &f->plan->env->memory;
    if (f->node)
        NAME(cpu_release_own)(f);
    for (int t = 0; t < f->threads && f->scratch; t++) {
        memory_free(m, f->scratch[t].work);
        memory_free(m, f->scratch[t].magnitude);
        memory_free(m, f->scratch[t].permutation);
    }
    memory_free(m, f->node);
    memory_free(m, f->layout.blocks);
    memory_free(m, f->layout.slots);
    memory_free(m, f->layout.unpacked);
    memory_free(m, f->scratch);
    memory_free(m, f->tile_scratch);
    memory_free(m, f->pending);
    memory_free(m, f->tiny);
    memory_free(m, f->solve_slot);
    memory_free(m, f->columns);
    memory_free(m, f->root);
    f->node = NULL;
    f->layout.blocks = f->layout.unpacked = NULL;
    f->layout.slots = f->tile_scratch = NULL;
    f->scratch = NULL;
    f->pending = NULL;
    f->tiny = NULL;
    f->solve_slot = NULL;
    f->columns = NULL;
    f->root = NULL;
    f->layout.is_planned = f->layout.lacks_room = 0;
    f->layout.blocks_bytes = f->layout.slots_bytes = f->layout.unpacked_bytes = 0;
    f->solve_entries = 0;
}

/* Of L, with padding, as planned. */
static int64_t plan_entries(const cpu_plan *plan)
{
    int64_t entries = plan_has_fronts(plan) ? 0 : plan->given_forest->factor_nnz;
    for (int32_t s = 0; s < plan->part.supernodes; s++)
        entries += (int64_t)plan_rows(plan, s) * plan_pivots(plan, s);
    return entries;
}

/* Vectors are in the way where they outweigh what a factor in single precision saves, unless they
 * are small. */
int NAME(cpu_cycle_length)(const cpu_plan *plan, int far)
{
    if (!far)
        return 4;
    /* 4 bytes of an entry, 16 of the two vectors */
    const int64_t n = plan->a.n, room = plan_entries(plan) / 4;
    return n <= 20000 || room > 20 * n ? 20 : room < 8 * n ? 8 : (int)(room / n);
}

/* Column j of A to its places in P A P^T; returns the sum of its sizes.  sum: of rows, to which
 * they are added, or NULL. */
static inline real load_column(numeric *f, int32_t j, real *sum)
{
    const cpu_plan *plan = f->plan;
    const pattern *a = plan->given;
    const scalar *values = f->given;
    int64_t p = a->start[j]; /* each column begins with its diagonal */
    real own = scalar_abs(values[p]);
    f->value[plan->place[p]] = values[p];
    for (p++; p < a->start[j + 1]; p++) {
        const int64_t q = plan->place[p];
        const real size = scalar_abs(values[p]);
        f->value[q >= 0 ? q : -1 - q] =
            q >= 0 ? values[p] : scalar_mirror(values[p], plan->hermitian);
        own += size;
        if (sum)
            sum[a->row[p]] += size;
    }
    return own;
}

/* P A P^T and the sums of its rows.  Threads share the columns, as each entry has a place of its
 * own; one of them sums rows, column after column, so that bits do not depend on how many there
 * are. */
static void load_values(numeric *f)
{
    const pattern *a = f->plan->given;
    const scalar *values = f->given;
    const int threads = numeric_threads(f);
    /* in the caller's order, which is likely to have neighbours near each other */
    real *sum = f->largest, *own = f->row_sum;
    memset(sum, 0, sizeof(real) * (size_t)a->n);
    if (threads <= 1) {
        for (int32_t j = 0; j < a->n; j++)
            sum[j] += load_column(f, j, sum);
        for (int32_t k = 0; k < a->n; k++)
            f->row_sum[k] = sum[f->plan->part.perm[k]];
        return;
    }
#pragma omp parallel for num_threads(threads)
    for (int32_t j = 0; j < a->n; j++)
        own[j] = load_column(f, j, NULL);
    for (int32_t j = 0; j < a->n; j++) {
        for (int64_t p = a->start[j] + 1; p < a->start[j + 1]; p++)
            sum[a->row[p]] += scalar_abs(values[p]);
        sum[j] += own[j];
    }
#pragma omp parallel for num_threads(threads)
    for (int32_t k = 0; k < a->n; k++)
        f->row_sum[k] = sum[f->plan->part.perm[k]];
}

void NAME(cpu_set_values)(void *numeric_, const void *values)
{
    numeric *f = numeric_;
    if (f->plan != f->first_plan && !f->history.last_kind.begins_with_ldlt) {
        NAME(cpu_release_own)(f);
        f->plan = f->first_plan;
    }
    f->given = values;
    load_values(f);
}

int NAME(cpu_take_fronts)(numeric *f)
{
    memory *m = &f->plan->env->memory;
    if (!plan_has_fronts(f->plan)) {
        const cpu_plan *plan = cpu_plan_with_fronts(f->plan);
        if (!plan)
            return 0;
        f->plan = plan;
        load_values(f);
    }
    if (f->node)
        return 1;
    f->threads = f->plan->tasks.threads;
    memory_part part[MOST_PARTS];
    const int parts = list_fronts(f, part), complete = memory_take_in(f->pool, m, part, parts);
    if (!complete)
        memory_release(m, part, parts);
    return complete;
}

int NAME(cpu_take_tree)(numeric *f)
{
    if (!f->plan->simplicial)
        return NAME(cpu_take_fronts)(f);
    memory_part part[MOST_PARTS];
    return memory_take_in(f->pool, &f->plan->env->memory, part, list_columns(f, part));
}

int NAME(cpu_take_values)(numeric *f)
{
    memory_part part[MOST_PARTS];
    return memory_take_in(f->pool, &f->plan->env->memory, part, list_values(f, part));
}

int64_t NAME(cpu_values_bytes)(numeric *f)
{
    memory_part part[MOST_PARTS];
    return memory_sum(part, list_values(f, part));
}

void NAME(cpu_release_values)(numeric *f)
{
    memory *m = &f->plan->env->memory;
    memory_free(m, f->value);
    memory_free(m, f->scale);
    memory_free(m, f->largest);
    memory_free(m, f->row_sum);
    memory_free(m, f->order);
    matching_free(m, f->matching);
    memory_free(m, f->magnitude);
}

libsolver_status NAME(cpu_predict_tree)(numeric *f, int elsewhere, cpu_places *places,
                                        int64_t *bytes)
{
    memory_part part[MOST_PARTS];
    *bytes = f->plan->simplicial ? memory_sum(part, list_columns(f, part)) : 0;
    if (is_simplicial(f))
        return LIBSOLVER_OK;
    f->threads = f->plan->tasks.threads;
    int64_t layout;
    TRY(NAME(cpu_predict_layout)(f, places, &layout));
    *bytes += memory_sum(part, list_fronts(f, part)) + (elsewhere ? 0 : layout);
    return LIBSOLVER_OK;
}
