/* solver/cpu/solve/workspace_tmpl.c: memory of solves, and the way in and out of it
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dense/cpu/substitute.h"
#include "solver/cpu/solve/fgmres.h"
#include "solver/cpu/solve/workspace.h"

/* Entries of what a factor writes to while it solves. */
static int64_t front_entries(const numeric *f, int64_t columns)
{
    return f->solve_entries * substitution_width(columns);
}

/* Supernodes of the fronts that the factor has, or had before it was one by columns: it may come to
 * them again without a growth. */
static int32_t supernodes_met(const numeric *f)
{
    return (f->node ? cpu_plan_with_fronts(f->first_plan) : f->plan)->part.supernodes;
}

/* The vectors of refinement lie in one block, so that the system clears few pages for those that a
 * plain solve does not touch: | solution | best | rhs | residual | bound | weight |, each aligned.
 */
static int64_t vector_bytes(const numeric *f, int64_t columns, size_t size)
{
    return round_up(f->plan->a.n * columns * (int64_t)size, MEMORY_ALIGNMENT);
}

static int64_t bytes_of_refinement(const numeric *f, int64_t columns)
{
    return 3 * vector_bytes(f, columns, sizeof(scalar)) + vector_bytes(f, columns, sizeof(wide)) +
           vector_bytes(f, columns, sizeof(real)) + vector_bytes(f, 1, sizeof(real));
}

int64_t NAME(cpu_own_workspace_bytes)(const numeric *f, int64_t columns)
{
    const int64_t n = f->plan->a.n;
    int64_t bytes =
        memory_counted(1, sizeof(workspace)) + memory_counted(n * columns, sizeof(scalar));
    if (f->is_inner)
        bytes +=
            memory_counted(columns, sizeof(double)) + memory_counted(n * columns, sizeof(wide));
    else
        bytes += memory_counted(bytes_of_refinement(f, columns), 1) +
                 memory_counted(fgmres_entries(n, f->cycle), sizeof(scalar));
    if (f->zero_pivots > 0 && !f->is_inner)
        bytes += memory_counted(4 * n, sizeof(scalar));
    if (!f->single)
        bytes += memory_counted(front_entries(f, columns), sizeof(scalar)) +
                 memory_counted(2 * (int64_t)supernodes_met(f), sizeof(int32_t));
    return bytes;
}

int64_t NAME(cpu_workspace_bytes)(const void *numeric_, int64_t columns)
{
    const numeric *f = numeric_;
    const int64_t single = f->single ? f->single->backend->workspace_bytes(f->factor, columns) : 0;
    return NAME(cpu_own_workspace_bytes)(f, columns) + single;
}

/* Memory for refinement. */
static int take_refinement(const numeric *f, workspace *w)
{
    char *at = w->vectors =
        memory_new_in(f->pool, &f->plan->env->memory, bytes_of_refinement(f, w->columns), 1);
    if (!at)
        return 0;
    const int64_t bytes = vector_bytes(f, w->columns, sizeof(scalar));
    w->solution = (void *)at;
    w->best = (void *)(at += bytes);
    w->rhs = (void *)(at += bytes);
    w->residual = (void *)(at += bytes);
    w->bound = (void *)(at += vector_bytes(f, w->columns, sizeof(wide)));
    w->weight = (void *)(at += vector_bytes(f, w->columns, sizeof(real)));
    return 1;
}

/* Memory for what a factor in single precision does of solves in double. */
static int take_conversion(const numeric *f, workspace *w)
{
    memory *m = &f->plan->env->memory;
    w->power = memory_new_in(f->pool, m, w->columns, sizeof(double));
    w->left = memory_new_in(f->pool, m, f->plan->a.n * w->columns, sizeof(wide));
    return w->power && w->left;
}

static libsolver_status no_room(memory *m, message *why)
{
    return FAIL(why, LIBSOLVER_OUT_OF_MEMORY, "the workspace wanted %lld more bytes",
                (long long)m->wanted);
}

libsolver_status NAME(cpu_workspace_create)(const void *numeric_, int64_t columns, void **out,
                                            message *why)
{
    const numeric *f = numeric_;
    memory *m = &f->plan->env->memory;
    workspace *w = *out = memory_zeroed(m, 1, sizeof(workspace));
    if (!w)
        return no_room(m, why);
    w->columns = columns;
    w->x = memory_new_in(f->pool, m, f->plan->a.n * columns, sizeof(scalar));
    const int complete = w->x && (f->is_inner ? take_conversion(f, w) : take_refinement(f, w));
    const libsolver_status status = complete ? NAME(cpu_workspace_fit)(f, w, why) : no_room(m, why);
    if (status != LIBSOLVER_OK) {
        NAME(cpu_workspace_free)(m, w);
        *out = NULL;
    }
    return status;
}

void NAME(cpu_workspace_free)(memory *m, void *workspace_)
{
    workspace *w = workspace_;
    if (!w)
        return;
    if (w->single)
        w->single_calls->workspace_free(m, w->single);
    memory_free(m, w->x);
    memory_free(m, w->front);
    memory_free(m, w->pending);
    memory_free(m, w->power);
    memory_free(m, w->left);
    memory_free(m, w->vectors);
    memory_free(m, w->krylov);
    memory_free(m, w->singular);
    memory_free(m, w);
}

void NAME(cpu_workspace_destroy)(const void *numeric_, void *workspace_)
{
    const numeric *f = numeric_;
    NAME(cpu_workspace_free)(&f->plan->env->memory, workspace_);
}

/* Mixed precision: the workspace of the factor in single, as long as there is one. */
static libsolver_status fit_single(const numeric *f, workspace *w, message *why)
{
    if (f->single)
        w->single_calls = f->single;
    if (f->single && !w->single)
        return f->single->backend->workspace_create(f->factor, w->columns, &w->single, why);
    if (f->single)
        return f->single->workspace_fit(f->factor, w->single, why);
    w->single_calls->workspace_free(&f->plan->env->memory, w->single);
    w->single = NULL;
    return LIBSOLVER_OK;
}

libsolver_status NAME(cpu_workspace_fit_solves)(const numeric *f, workspace *w, message *why)
{
    memory *m = &f->plan->env->memory;
    if (f->single || w->single)
        TRY(fit_single(f, w, why));
    if (f->single)
        return LIBSOLVER_OK;
    if (!w->pending || w->nodes < supernodes_met(f)) {
        memory_free(m, w->pending);
        w->nodes = supernodes_met(f);
        w->pending = memory_new_in(f->pool, m, 2 * (int64_t)w->nodes, sizeof(int32_t));
        if (!w->pending)
            return no_room(m, why);
    }
    if (!w->front || w->rows < f->solve_entries) {
        memory_free(m, w->front);
        w->front = memory_new_in(f->pool, m, front_entries(f, w->columns), sizeof(scalar));
        w->rows = f->solve_entries;
    }
    return w->front ? LIBSOLVER_OK : no_room(m, why);
}

libsolver_status NAME(cpu_workspace_fit)(const numeric *f, workspace *w, message *why)
{
    memory *m = &f->plan->env->memory;
    if (w->cycle < f->cycle && !f->is_inner) {
        memory_free(m, w->krylov);
        w->krylov =
            memory_new_in(f->pool, m, fgmres_entries(f->plan->a.n, f->cycle), sizeof(scalar));
        w->cycle = w->krylov ? f->cycle : 0;
        if (!w->krylov)
            return no_room(m, why);
    }
    TRY(NAME(cpu_workspace_fit_solves)(f, w, why));
    if (!w->singular && f->zero_pivots > 0 && !f->is_inner && !f->single) {
        w->singular = memory_new_in(f->pool, m, 4 * (int64_t)f->plan->a.n, sizeof(scalar));
        if (!w->singular)
            return no_room(m, why);
    }
    return LIBSOLVER_OK;
}

/* Entry (i, 0) of a block, and the distances to the next row and the next column. */
static scalar *entry(const libsolver_vectors *v, int64_t first, int64_t *row_step,
                     int64_t *column_step)
{
    const int by_columns = v->layout == LIBSOLVER_COLUMN_MAJOR;
    *row_step = by_columns ? 1 : v->ld;
    *column_step = by_columns ? v->ld : 1;
    return (scalar *)v->values + first * *column_step;
}

/* Scalars from which threads share the copying. */
#define SCALARS_FOR_THREADS 30000

/* Row i of both, c a constant where this is inlined for one column. */
static inline void load_row(int32_t i, int c, const scalar *values, int64_t dr, int64_t dc,
                            const int32_t *row, const real *scale, scalar *to)
{
    for (int q = 0; q < c; q++)
        to[(int64_t)i * c + q] = values[row[i] * dr + q * dc] * (scale ? scale[i] : 1);
}

static inline void store_row(int32_t i, int c, const scalar *from, const real *scale,
                             const int32_t *row, scalar *values, int64_t dr, int64_t dc)
{
    for (int q = 0; q < c; q++)
        values[row[i] * dr + q * dc] = from[(int64_t)i * c + q] * (scale ? scale[i] : 1);
}

void NAME(cpu_load)(int32_t n, int c, const libsolver_vectors *from, int64_t first,
                    const int32_t *row, const real *scale, int threads, scalar *to)
{
    int64_t dr, dc;
    const scalar *values = entry(from, first, &dr, &dc);
    const int alone = threads == 1 || (int64_t)n * c < SCALARS_FOR_THREADS;
    if (alone && c == 1)
        for (int32_t i = 0; i < n; i++)
            load_row(i, 1, values, dr, dc, row, scale, to);
    else if (alone)
        for (int32_t i = 0; i < n; i++)
            load_row(i, c, values, dr, dc, row, scale, to);
    else
#pragma omp parallel for num_threads(threads)
        for (int32_t i = 0; i < n; i++)
            load_row(i, c, values, dr, dc, row, scale, to);
}

void NAME(cpu_store)(int32_t n, int c, const scalar *from, const real *scale, const int32_t *row,
                     int threads, const libsolver_vectors *to, int64_t first)
{
    int64_t dr, dc;
    scalar *values = entry(to, first, &dr, &dc);
    const int alone = threads == 1 || (int64_t)n * c < SCALARS_FOR_THREADS;
    if (alone && c == 1)
        for (int32_t i = 0; i < n; i++)
            store_row(i, 1, from, scale, row, values, dr, dc);
    else if (alone)
        for (int32_t i = 0; i < n; i++)
            store_row(i, c, from, scale, row, values, dr, dc);
    else
#pragma omp parallel for num_threads(threads)
        for (int32_t i = 0; i < n; i++)
            store_row(i, c, from, scale, row, values, dr, dc);
}

void NAME(cpu_load_eliminated)(int32_t n, int c, const libsolver_vectors *from, int64_t first,
                               const int32_t *order, scalar *to)
{
    int64_t dr, dc;
    const scalar *values = entry(from, first, &dr, &dc);
    for (int32_t k = 0; k < n; k++)
        for (int q = 0; q < c; q++)
            to[(int64_t)order[k] * c + q] = values[k * dr + q * dc];
}

void NAME(cpu_store_eliminated)(int32_t n, int c, const scalar *from, const int32_t *order,
                                const libsolver_vectors *to, int64_t first)
{
    int64_t dr, dc;
    scalar *values = entry(to, first, &dr, &dc);
    for (int32_t k = 0; k < n; k++)
        for (int q = 0; q < c; q++)
            values[k * dr + q * dc] = from[(int64_t)order[k] * c + q];
}
