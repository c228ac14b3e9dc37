/* solver/cpu/factor/assemble_tmpl.c: the front of a supernode from entries of A and its children's
 * contribution blocks
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The candidates of a front are its own k0 columns, then those that its children delayed; a row at
 * place t of the planned front is at t, or, if t >= k0, behind the delayed columns. */
#include "solver/cpu/factor/numeric.h"
#include <string.h>

/* Entries of a large front that one task assembles. */
#define TASK_ENTRIES 16384

/* Scaled entries of A in the columns [t0, t1) of s; shift: delayed columns, a constant where this
 * is inlined for none. */
static inline void assemble_matrix(const numeric *f, int32_t s, int shift, int t0, int t1)
{
    const cpu_plan *plan = f->plan;
    const int32_t first = plan->part.first[s], k0 = plan->part.first[s + 1] - first,
                  last = first + (t1 < k0 ? t1 : k0);
    const node *v = &f->node[s];
    for (int32_t j = first + t0; j < last; j++) {
        scalar *column = v->panel + (int64_t)(j - first) * v->m;
        const real sj = f->scale[j];
        for (int64_t p = plan->a.start[j]; p < plan->a.start[j + 1]; p++) {
            const int32_t t = plan->local[p];
            column[shift == 0 || t < k0 ? t : t + shift] =
                f->value[p] * (sj * f->scale[plan->a.row[p]]);
        }
    }
}

/* Where the last run of consecutive places in up(from:r) begins. */
static int last_run(const int32_t *up, int from, int r)
{
    int i = r - 1;
    while (i > from && up[i - 1] + 1 == up[i])
        i--;
    return i;
}

/* to(up(i)) += from(i) for i in [j, r), run = last_run */
static void add_column(const int32_t *up, int j, int run, int r, const scalar *restrict from,
                       scalar *restrict to)
{
    for (; j < run; j++)
        to[up[j]] += from[j];
    scalar *at = to + (up[j] - j);
    for (; j < r; j++)
        at[j] += from[j];
}

/* The first of the columns [j, r) whose place is at least t; up(j:r) is ascending. */
static int first_from(const int32_t *up, int j, int r, int32_t t)
{
    while (j < r) {
        const int middle = j + (r - j) / 2;
        if (up[middle] < t)
            j = middle + 1;
        else
            r = middle;
    }
    return j;
}

/* Adds the columns of child c's contribution block that are candidates here, at places [t0, t1).
 * Where columns have been delayed these are all. */
static void add_candidates(const numeric *f, const node *v, int32_t c, int t0, int t1)
{
    const node *child = &f->node[c];
    const int32_t *up = node_up(f, c);
    const int r = child->m - child->p, delayed = child->k - child->p,
              run = last_run(up, delayed, r);
    for (int j = t0 > 0 ? first_from(up, 0, r, t0) : 0; j < r; j++) {
        const int32_t tj = up[j];
        if (tj >= t1)
            break; /* ascending behind the delayed ones, which are all candidates */
        const scalar *from = child->cb + cb_column(r, j);
        int i = j;
        if (j < delayed) /* a delayed column stands behind the front's own columns, so these pairs
                            may change sides */
            for (; i < r; i++) {
                const int32_t ti = up[i];
                if (ti >= tj)
                    v->panel[ti + (int64_t)tj * v->m] += from[i];
                else
                    v->panel[tj + (int64_t)ti * v->m] += scalar_mirror(from[i], f->plan->hermitian);
            }
        else
            add_column(up, j, run, r, from, v->panel + (int64_t)tj * v->m);
    }
}

/* For LDL^T: variables of the front's rows, and the children's `up` for this front. */
static void index_rows(numeric *f, int32_t s, int shift)
{
    const cpu_plan *plan = f->plan;
    node *v = &f->node[s];
    const int32_t *planned = plan->part.row + plan->part.row_start[s];
    const int k0 = v->k - shift, m0 = v->m - shift;
    int32_t *index = (int32_t *)v->index;
    memcpy(index, planned, sizeof(int32_t) * (size_t)k0);
    memcpy(index + v->k, planned + k0, sizeof(int32_t) * (size_t)(m0 - k0));
    int32_t next = k0; /* place of the next delayed column */
    for (int32_t c = plan->child[s]; c >= 0; c = plan->sibling[c]) {
        node *child = &f->node[c];
        const int delayed = child->k - child->p, r = child->m - child->p;
        const int32_t *position = plan->position + plan->part.row_start[c] + plan_pivots(plan, c);
        for (int i = 0; i < delayed; i++) {
            index[next] = child->index[child->p + i];
            child->up[i] = next++;
        }
        for (int i = delayed; i < r; i++) {
            const int32_t t = position[i - delayed];
            child->up[i] = t < k0 ? t : t + shift;
        }
    }
}

/* magnitude := largest entries of the front's own rows of A, and what the children pass on. */
static void assemble_magnitudes(const numeric *f, int32_t s, int shift, real *magnitude)
{
    const cpu_plan *plan = f->plan;
    const node *v = &f->node[s];
    memset(magnitude, 0, sizeof(real) * (size_t)v->m);
    memcpy(magnitude, f->largest + plan->part.first[s], sizeof(real) * (size_t)(v->k - shift));
    for (int32_t c = plan->child[s]; c >= 0; c = plan->sibling[c]) {
        const node *child = &f->node[c];
        for (int i = 0; i < child->m - child->p; i++)
            magnitude[child->up[i]] += child->cb_magnitude[i];
    }
}

/* Asks for the place to which the panel will be packed. */
static void prefetch_place(const node *v)
{
    const char *place = (const char *)v->panel;
    const int64_t bytes = node_place(v, v->m, v->k - 1) * (int64_t)sizeof(scalar);
    for (int64_t k = 0; k < bytes; k += 64)
        __builtin_prefetch(place + k, 1, 2);
}

/* Columns [t0, t1) of the panel. */
static void assemble_columns(const numeric *f, int32_t s, int shift, int t0, int t1)
{
    const cpu_plan *plan = f->plan;
    const node *v = &f->node[s];
    memset(v->panel + (int64_t)t0 * v->m, 0, sizeof(scalar) * (size_t)v->m * (size_t)(t1 - t0));
    if (shift == 0)
        assemble_matrix(f, s, 0, t0, t1);
    else
        assemble_matrix(f, s, shift, t0, t1);
    for (int32_t c = plan->child[s]; c >= 0; c = plan->sibling[c])
        add_candidates(f, v, c, t0, t1);
}

/* Columns that are a task where a block of so many rows and columns is large, else all.  What a
 * task adds to an entry comes in the same order as without tasks. */
static int columns_of_task(int rows, int columns)
{
    const int each = TASK_ENTRIES / (rows + 1) + 1;
    return (int64_t)rows * columns < 4 * TASK_ENTRIES ? columns : each;
}

libsolver_status NAME(cpu_assemble)(numeric *f, int32_t s, const scratch *t)
{
    const cpu_plan *plan = f->plan;
    int shift = 0;
    for (int32_t c = plan->child[s]; c >= 0; c = plan->sibling[c])
        shift += f->node[c].k - f->node[c].p;
    TRY(NAME(cpu_place_node)(f, s, plan_rows(plan, s) + shift, plan_pivots(plan, s) + shift));
    node *v = &f->node[s];
    if (v->packed) {
        prefetch_place(v);
        v->panel = t->panel;
    }
    if (!f->cholesky) {
        index_rows(f, s, shift);
        assemble_magnitudes(f, s, shift, t->magnitude);
    }
    const int each = shift == 0 ? columns_of_task(v->m, v->k) : v->k;
    if (each >= v->k) {
        assemble_columns(f, s, shift, 0, v->k);
        return LIBSOLVER_OK;
    }
    for (int t0 = 0; t0 < v->k; t0 += each) {
#pragma omp task firstprivate(t0)
        assemble_columns(f, s, 0, t0, t0 + each < v->k ? t0 + each : v->k);
    }
#pragma omp taskwait
    return LIBSOLVER_OK;
}

/* Adds to the columns of the contribution block that have places [t0, t1) in the front. */
static void add_contributions(const numeric *f, int32_t s, int t0, int t1)
{
    const cpu_plan *plan = f->plan;
    const node *v = &f->node[s];
    const int r = v->m - v->p;
    for (int32_t c = plan->child[s]; c >= 0; c = plan->sibling[c]) {
        const node *child = &f->node[c];
        const int32_t *up = node_up(f, c);
        const int rc = child->m - child->p;
        int j = first_from(up, child->k - child->p, rc, t0);
        const int run = last_run(up, j, rc);
        for (; j < rc && up[j] < t1; j++)
            add_column(up, j, run, rc, child->cb + cb_column(rc, j),
                       v->cb + cb_column(r, up[j] - v->p) - v->p);
    }
}

void NAME(cpu_assemble_contribution)(numeric *f, int32_t s)
{
    const cpu_plan *plan = f->plan;
    const node *v = &f->node[s];
    const int rows = v->m - v->k, each = columns_of_task(rows, rows);
    if (each >= rows)
        add_contributions(f, s, v->k, v->m);
    else {
        for (int t0 = v->k; t0 < v->m; t0 += each) {
#pragma omp task firstprivate(t0)
            add_contributions(f, s, t0, t0 + each < v->m ? t0 + each : v->m);
        }
#pragma omp taskwait
    }
    for (int32_t c = plan->child[s]; c >= 0; c = plan->sibling[c]) {
        node *child = &f->node[c];
        memory_free(&plan->env->memory, child->own_cb);
        child->own_cb = NULL;
        child->cb = NULL;
    }
}
