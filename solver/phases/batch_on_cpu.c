/* solver/phases/batch_on_cpu.c: the items of a batch as factors of the CPU backend, which threads
 * share
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/phases/batch.h"
#include "solver/phases/workspace.h"
#include <math.h>

libsolver_status batch_open_on_cpu(libsolver_batch *t, message *why)
{
    memory *m = &t->context->env.memory;
    t->factor = memory_zeroed(m, t->count, sizeof(libsolver_factor *));
    if (!t->factor)
        return NO_MEMORY(&t->context->env, "the batch", why);
    for (int64_t i = 0; i < t->count; i++)
        TRY(factor_open(&t->on_cpu, &t->factor[i], why));
    return LIBSOLVER_OK;
}

void batch_close_on_cpu(libsolver_batch *t)
{
    for (int64_t i = 0; t->factor && i < t->count; i++)
        libsolver_factor_free(t->factor[i]);
    memory_free(&t->context->env.memory, t->factor);
}

/* What a call does with one item; by whichever thread. */
typedef struct work {
    libsolver_batch *t;
    void (*on)(const struct work *w, int64_t item);
    const libsolver_batch_values *values;
    const libsolver_limits *limits;
    const libsolver_batch_vectors *b, *x;
    double *backward_error;
} work;

/* Threads share the items, and an item that is alone has all threads.  Returns the first that has
 * failed. */
static int64_t share(const work *w, int64_t number, message *why)
{
    libsolver_batch *t = w->t;
    const int64_t threads = t->context->env.threads;
#pragma omp parallel for schedule(dynamic, 1) if (number > 1) \
    num_threads((int)(threads < number ? threads : number))
    for (int64_t k = 0; k < number; k++)
        w->on(w, t->chosen[k]);
    for (int64_t k = 0; k < number; k++)
        if (t->item[t->chosen[k]].status < 0) {
            *why = t->factor[t->chosen[k]]->last;
            return t->chosen[k];
        }
    return -1;
}

/* ---- Values ---------------------------------------------------------------------------------- */

static const void *values_of(const work *w, int64_t i)
{
    const libsolver_batch_values *a = w->values;
    const int64_t bytes = (int64_t)w->t->analysis->typed->bytes;
    return a->items ? a->items[i] : (const char *)a->values + i * a->stride * bytes;
}

/* What is known of the factor that an item has now. */
static void describe(libsolver_batch *t, int64_t i)
{
    libsolver_batch_item *item = &t->item[i];
    const libsolver_factor *f = t->factor[i];
    libsolver_factor_info info;
    libsolver_info(f, &info);
    item->failed_row = info.failed_row;
    item->kind = item->status >= 0 ? info.kind : LIBSOLVER_KIND_AUTO;
    item->inertia = (libsolver_inertia_counts){0};
    item->backward_error = NAN;
    if (item->status >= 0 && !is_complex_symmetric(t->analysis->type, t->analysis->symmetry))
        libsolver_inertia(f, &item->inertia);
}

static void refactorize_item(const work *w, int64_t i)
{
    libsolver_batch *t = w->t;
    const libsolver_matrix a = {.n = t->analysis->input.a.n,
                                .values = values_of(w, i),
                                .type = t->analysis->type,
                                .symmetry = t->analysis->symmetry};
    t->item[i].status =
        environment_cancelled(&t->context->env)
            ? FAIL(&t->factor[i]->last, LIBSOLVER_CANCELLED, "the factorization was cancelled")
            : libsolver_refactorize(t->factor[i], &a);
    describe(t, i);
}

int64_t batch_refactorize_on_cpu(libsolver_batch *t, int64_t number,
                                 const libsolver_batch_values *a, message *why)
{
    const work w = {.t = t, .on = refactorize_item, .values = a};
    return share(&w, number, why);
}

/* ---- Solves ---------------------------------------------------------------------------------- */

static libsolver_vectors vectors_of(const work *w, const libsolver_batch_vectors *v, int64_t i)
{
    const libsolver_analysis *s = w->t->analysis;
    char *values = v->values;
    return (libsolver_vectors){.values = v->items
                                             ? v->items[i]
                                             : values + i * v->stride * (int64_t)s->typed->bytes,
                               .rows = s->input.a.n,
                               .columns = v->columns,
                               .ld = v->ld,
                               .type = s->type,
                               .layout = v->layout};
}

static void solve_item(const work *w, int64_t i)
{
    libsolver_factor *f = w->t->factor[i];
    const libsolver_vectors b = vectors_of(w, w->b, i), x = vectors_of(w, w->x, i);
    message why = {0};
    const libsolver_status status = workspace_widen(f, b.columns, &why);
    w->t->item[i].status = status == LIBSOLVER_OK
                               ? libsolver_solve_plain(f, LIBSOLVER_PART_ALL, NULL, &b, &x)
                               : factor_outcome(f, status, &why);
}

int64_t batch_solve_on_cpu(libsolver_batch *t, int64_t number, const libsolver_batch_vectors *b,
                           const libsolver_batch_vectors *x, message *why)
{
    const work w = {.t = t, .on = solve_item, .b = b, .x = x};
    return share(&w, number, why);
}

static void refine_item(const work *w, int64_t i)
{
    libsolver_factor *f = w->t->factor[i];
    const libsolver_vectors b = vectors_of(w, w->b, i), x = vectors_of(w, w->x, i);
    libsolver_batch_item *item = &w->t->item[i];
    libsolver_solve_info info;
    message why = {0};
    item->status = workspace_widen(f, b.columns, &why);
    item->backward_error = NAN;
    if (item->status != LIBSOLVER_OK) {
        factor_message(f, &why);
        return;
    }
    item->status =
        libsolver_refine_within(f, NULL, w->limits, &b, &x,
                                w->backward_error ? w->backward_error + i * b.columns : NULL);
    libsolver_solve_query(f, NULL, &info);
    item->backward_error = info.backward_error;
}

int64_t batch_refine_on_cpu(libsolver_batch *t, int64_t number, const libsolver_limits *limits,
                            const libsolver_batch_vectors *b, const libsolver_batch_vectors *x,
                            double *backward_error, message *why)
{
    const work w = {.t = t,
                    .on = refine_item,
                    .limits = limits,
                    .b = b,
                    .x = x,
                    .backward_error = backward_error};
    return share(&w, number, why);
}
