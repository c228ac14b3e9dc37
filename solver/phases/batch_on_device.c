/* solver/phases/batch_on_device.c: the items of a batch on a device: what is copied there and back,
 * and what their outcomes mean
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/least_progress.h"
#include "gpu/batch/device_batch.h"
#include "gpu/batch/tree_plan.h"
#include "gpu/substitute/substitution_plan.h"
#include "solver/phases/batch.h"
#include <math.h>
#include <string.h>

struct batch_on_device {
    device_batch on;
    double doubt_level;
    const int32_t *row_of;
    int64_t negative; /* expected signs */
    char *packed;     /* on the host: values or vectors on their way, of all items */
    int32_t *list;
    int *unsound;
    cholesky_outcome *outcome;
    double *error;
};

/* ---- Objects --------------------------------------------------------------------------------- */

/* What is made from the pattern, while a device copies it. */
typedef struct tables {
    backend_device_view device;
    backend_plan_view plan;
    batch_tables batch;
    full_matrix full;
    value_sums sums;
    substitution solves;
    batch_shape shape;
} tables;

static void free_tables(memory *m, tables *g)
{
    batch_tables_free(m, &g->batch);
    substitution_free(m, &g->solves);
    full_matrix_free(m, &g->full);
    value_sums_free(m, &g->sums);
}

/* OUT_OF_MEMORY */
static libsolver_status make_tables(const libsolver_analysis *s, int64_t count, tables *g)
{
    memory *m = &s->context->env.memory;
    const pattern *a = &s->input.a;
    memset(g, 0, sizeof *g);
    s->backend->view_device(s->plan, &g->device);
    g->device.cpu->view_plan(g->device.cpu_plan, &g->plan);
    g->sums = (value_sums){.entries = a->start[a->n],
                           .n = a->n,
                           .conjugates = s->values.conjugates,
                           .is_hermitian = s->values.is_hermitian};
    TRY(batch_tables_build(m, g->device.program, &g->plan.fronts, &g->batch));
    TRY(full_matrix_build(m, a, g->plan.hermitian, &g->full));
    TRY(value_sums_build(m, &s->values, a->start, &g->sums));
    g->shape = (batch_shape){.type = s->type,
                             .count = count,
                             .given = s->input.entries,
                             .program = g->device.program,
                             .fronts = &g->plan.fronts,
                             .tables = &g->batch,
                             .full = &g->full,
                             .sums = &g->sums};
    if (!batch_solves_by_tree(&g->plan.fronts))
        return LIBSOLVER_OK;
    g->shape.solves = &g->solves;
    return batch_tree_plan(m, g->device.program, &g->plan.fronts, s->type, &g->solves);
}

int batch_fits_device(const libsolver_analysis *s, int64_t count, libsolver_cpu_reason *reason)
{
    backend_device_view view;
    *reason = LIBSOLVER_CPU_AS_CHOSEN;
    if (!s->backend->view_device)
        return 0;
    s->backend->view_device(s->plan, &view);
    const libsolver_kind kind = s->options.kind;
    *reason = kind == LIBSOLVER_KIND_SPD || kind == LIBSOLVER_KIND_QUASI_DEFINITE
                  ? view.cpu_reason
                  : LIBSOLVER_CPU_LDLT;
    if (*reason != LIBSOLVER_CPU_AS_CHOSEN || !view.program)
        return 0;
    *reason = LIBSOLVER_CPU_SIZE;
    if (view.program->tasks * count > INT32_MAX || s->input.entries > INT32_MAX ||
        s->input.a.start[s->input.a.n] > INT32_MAX || s->input.scattered)
        return 0;
    *reason = LIBSOLVER_CPU_AS_CHOSEN;
    return 1;
}

/* Scalars of an item that are packed at a time. */
static int64_t packed_each(const libsolver_analysis *s)
{
    const int64_t n = 2 * (int64_t)s->input.a.n;
    return s->input.entries > n ? s->input.entries : n;
}

static int parts_of(batch_on_device *d, const libsolver_analysis *s, int64_t count,
                    memory_part part[5])
{
    part[0] = (memory_part){&d->packed, count * packed_each(s), s->typed->bytes, 0};
    part[1] = (memory_part){&d->list, count, sizeof(int32_t), 0};
    part[2] = (memory_part){&d->unsound, count, sizeof(int), 0};
    part[3] = (memory_part){&d->outcome, count, sizeof(cholesky_outcome), 0};
    part[4] = (memory_part){&d->error, count, sizeof(double), 0};
    return 5;
}

libsolver_status batch_open_on_device(libsolver_batch *t, message *why)
{
    const libsolver_analysis *s = t->analysis;
    environment *env = &t->context->env;
    memory_part part[5];
    tables g;
    batch_on_device *d = t->device = memory_zeroed(&env->memory, 1, sizeof(batch_on_device));
    if (!d || !memory_take(&env->memory, part, parts_of(d, s, t->count, part)))
        return NO_MEMORY(env, "the batch", why);
    d->on.device = env->device;
    d->on.stream = env->stream;
    libsolver_status status = make_tables(s, t->count, &g);
    if (status == LIBSOLVER_OK)
        status = device_batch_open(&d->on, &g.shape, why);
    else
        status = NO_MEMORY(env, "the tables of the batch", why);
    d->doubt_level = g.plan.doubt_level;
    d->row_of = g.plan.row_of;
    for (int32_t k = 0; g.plan.fronts.signs && k < s->input.a.n; k++)
        d->negative += g.plan.fronts.signs[k] < 0;
    free_tables(&env->memory, &g);
    return status;
}

void batch_close_on_device(libsolver_batch *t)
{
    memory *m = &t->context->env.memory;
    memory_part part[5];
    if (!t->device)
        return;
    device_batch_close(&t->device->on);
    memory_release(m, part, parts_of(t->device, t->analysis, t->count, part));
    memory_free(m, t->device);
}

void batch_bytes_on_device(const libsolver_analysis *s, int64_t count, int64_t *host,
                           int64_t *device)
{
    batch_on_device d;
    memory_part part[5];
    tables g;
    if (make_tables(s, count, &g) == LIBSOLVER_OK)
        *device = device_batch_bytes(&g.shape);
    free_tables(&s->context->env.memory, &g);
    *host = memory_counted(1, sizeof d) + memory_sum(part, parts_of(&d, s, count, part));
}

int64_t batch_held_on_device(const libsolver_batch *t)
{
    const device_batch *on = &t->device->on;
    return on->tables.bytes + on->items.bytes + on->staged.bytes + on->factorizer.tables.bytes +
           on->factorizer.workspace.bytes;
}

libsolver_status batch_copy_on_device(const libsolver_batch *t, void *to, const void *from,
                                      int64_t bytes, message *why)
{
    return device_batch_copy(&t->device->on, to, from, bytes, why);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static void list_chosen(libsolver_batch *t, int64_t number)
{
    for (int64_t k = 0; k < number; k++)
        t->device->list[k] = (int32_t)t->chosen[k];
}

/* All chosen items have failed with the call.  Returns the first. */
static int64_t all_failed(libsolver_batch *t, int64_t number, libsolver_status status,
                          int loses_factor)
{
    for (int64_t k = 0; k < number; k++) {
        libsolver_batch_item *item = &t->item[t->chosen[k]];
        item->status = status;
        if (loses_factor)
            item->kind = LIBSOLVER_KIND_AUTO;
    }
    return number > 0 ? t->chosen[0] : -1;
}

/* Values of the host: one copy where they lie as they will on the device, otherwise packed. */
static libsolver_status stage_values(libsolver_batch *t, int64_t number,
                                     const libsolver_batch_values *a, message *why)
{
    const int64_t bytes = (int64_t)t->analysis->typed->bytes, each = t->analysis->input.entries;
    const device_batch *on = &t->device->on;
    const char *from = a->values;
    if (a->items || a->stride != each || number < t->count) {
        from = t->device->packed;
        for (int64_t k = 0; k < number; k++) {
            const int64_t i = t->chosen[k];
            memcpy(t->device->packed + i * each * bytes,
                   a->items ? a->items[i] : (const char *)a->values + i * a->stride * bytes,
                   (size_t)(each * bytes));
        }
    }
    const int64_t first = number > 0 ? t->chosen[0] : 0,
                  end = number > 0 ? t->chosen[number - 1] + 1 : 0, at = first * each * bytes;
    return device_batch_copy(on, (char *)on->staged.at + at, from + at,
                             (end - first) * each * bytes, why);
}

/* What the outcome of one item means. */
static void judge(libsolver_batch *t, int64_t i, int unsound, const cholesky_outcome *o)
{
    libsolver_batch_item *item = &t->item[i];
    const int32_t n = t->device->on.n, bad = o->nonpositive < n ? o->nonpositive : o->failed;
    *item = (libsolver_batch_item){.failed_row = -1, .backward_error = NAN};
    if (unsound)
        item->status = unsound & BATCH_NOT_FINITE ? LIBSOLVER_NONFINITE : LIBSOLVER_INVALID;
    else if (bad < n) {
        item->status = LIBSOLVER_NOT_POSITIVE_DEFINITE;
        item->failed_row = t->device->row_of[bad];
    } else {
        item->kind = t->analysis->options.kind;
        if (!is_complex_symmetric(t->analysis->type, t->analysis->symmetry))
            item->inertia = (libsolver_inertia_counts){.positive = n - t->device->negative,
                                                       .negative = t->device->negative,
                                                       .certain = o->uncertain == 0,
                                                       .smallest_pivot = o->smallest};
    }
}

/* What is said of the first that has failed. */
static int64_t say(const libsolver_batch *t, int64_t number, message *why)
{
    for (int64_t k = 0; k < number; k++) {
        const libsolver_batch_item *item = &t->item[t->chosen[k]];
        if (item->status >= 0)
            continue;
        if (item->status == LIBSOLVER_NONFINITE)
            FAIL(why, item->status, "a value is not finite");
        else if (item->status == LIBSOLVER_INVALID)
            FAIL(why, item->status, "entries are not symmetric, or the diagonal is not real");
        else
            FAIL(why, item->status,
                 t->analysis->options.kind == LIBSOLVER_KIND_QUASI_DEFINITE
                     ? "the pivot of row %lld is rounding error or has not the expected sign"
                     : "the pivot of row %lld is not positive",
                 (long long)item->failed_row);
        return t->chosen[k];
    }
    return -1;
}

int64_t batch_refactorize_on_device(libsolver_batch *t, int64_t number,
                                    const libsolver_batch_values *a, message *why)
{
    batch_on_device *d = t->device;
    const libsolver_options *o = &t->analysis->options;
    batch_places values = {.values = (void *)a->values, /* only read */
                           .items = (void *const *)a->items,
                           .stride = a->stride};
    libsolver_status status = LIBSOLVER_OK;
    list_chosen(t, number);
    if (number == 0)
        return -1;
    if (environment_cancelled(&t->context->env))
        status = FAIL(why, LIBSOLVER_CANCELLED, "the factorizations were cancelled");
    if (status == LIBSOLVER_OK && a->place == LIBSOLVER_HOST) {
        status = stage_values(t, number, a, why);
        values = (batch_places){.values = d->on.staged.at, .stride = t->analysis->input.entries};
    }
    if (status == LIBSOLVER_OK)
        status = device_batch_factorize(&d->on, d->list, number, &values,
                                        o->scaling == LIBSOLVER_OFF && o->matching != LIBSOLVER_ON,
                                        d->doubt_level, d->unsound, d->outcome, why);
    if (status != LIBSOLVER_OK)
        return all_failed(t, number, status, 1);
    for (int64_t k = 0; k < number; k++)
        judge(t, t->chosen[k], d->unsound[k], &d->outcome[k]);
    return say(t, number, why);
}

/* ---- Vectors --------------------------------------------------------------------------------- */

static batch_places places_of(const libsolver_batch_vectors *v)
{
    const int by_rows = v->layout == LIBSOLVER_ROW_MAJOR;
    return (batch_places){.values = v->values,
                          .items = v->items,
                          .stride = v->stride,
                          .row = by_rows ? v->ld : 1,
                          .column = by_rows ? 1 : v->ld};
}

/* One column of the chosen items, between their blocks on the host and `packed`, n scalars for each
 * item. */
static void pack_column(libsolver_batch *t, int64_t number, const libsolver_batch_vectors *v,
                        int64_t column, char *packed, int unpacks)
{
    const size_t bytes = t->analysis->typed->bytes;
    const batch_places p = places_of(v);
    const int64_t n = t->analysis->input.a.n;
    for (int64_t k = 0; k < number; k++) {
        const int64_t i = t->chosen[k];
        char *block = v->items ? v->items[i] : (char *)v->values + i * v->stride * (int64_t)bytes;
        char *there = block + column * p.column * (int64_t)bytes,
             *here = packed + i * n * (int64_t)bytes;
        if (p.row == 1)
            memcpy(unpacks ? there : here, unpacks ? here : there, (size_t)n * bytes);
        else
            for (int64_t r = 0; r < n; r++) {
                char *one = there + r * p.row * (int64_t)bytes, *own = here + r * (int64_t)bytes;
                memcpy(unpacks ? one : own, unpacks ? own : one, bytes);
            }
    }
}

/* From the host to blocks of the device, or back. */
static libsolver_status move_column(libsolver_batch *t, int64_t number,
                                    const libsolver_batch_vectors *v, int64_t column, int which,
                                    int to_host, message *why)
{
    batch_on_device *d = t->device;
    const int64_t each = t->analysis->input.a.n * (int64_t)t->analysis->typed->bytes,
                  first = t->chosen[0], end = t->chosen[number - 1] + 1;
    char *packed = d->packed, *there = d->on.block[which];
    if (!to_host)
        pack_column(t, number, v, column, packed, 0);
    TRY(device_batch_copy(&d->on, (to_host ? packed : there) + first * each,
                          (to_host ? there : packed) + first * each, (end - first) * each, why));
    if (to_host)
        pack_column(t, number, v, column, packed, 1);
    return LIBSOLVER_OK;
}

static batch_places block_on_device(const libsolver_batch *t, int which)
{
    const int64_t n = t->analysis->input.a.n;
    return (batch_places){.values = t->device->on.block[which], .stride = n, .row = 1, .column = n};
}

static libsolver_status solve_from_host(libsolver_batch *t, int64_t number,
                                        const libsolver_batch_vectors *b,
                                        const libsolver_batch_vectors *x, message *why)
{
    const batch_places block = block_on_device(t, 0);
    for (int64_t q = 0; q < b->columns; q++) {
        TRY(move_column(t, number, b, q, 0, 0, why));
        TRY(device_batch_solve(&t->device->on, t->device->list, number, 1, &block, &block, why));
        TRY(move_column(t, number, x, q, 0, 1, why));
    }
    return LIBSOLVER_OK;
}

int64_t batch_solve_on_device(libsolver_batch *t, int64_t number, const libsolver_batch_vectors *b,
                              const libsolver_batch_vectors *x, message *why)
{
    const batch_places from = places_of(b), to = places_of(x);
    if (number == 0)
        return -1;
    list_chosen(t, number);
    const libsolver_status status = b->place == LIBSOLVER_HOST
                                        ? solve_from_host(t, number, b, x, why)
                                        : device_batch_solve(&t->device->on, t->device->list,
                                                             number, b->columns, &from, &to, why);
    if (status != LIBSOLVER_OK)
        return all_failed(t, number, status, 0);
    for (int64_t k = 0; k < number; k++)
        t->item[t->chosen[k]].status = LIBSOLVER_OK;
    return -1;
}

/* What a refinement is told. */
typedef struct refinement {
    int steps;
    double tolerance;
} refinement;

/* One column of blocks on the device. */
static libsolver_status refine_there(libsolver_batch *t, int64_t number, const refinement *r,
                                     const batch_places *b, const batch_places *x, message *why)
{
    batch_on_device *d = t->device;
    return device_batch_refine(&d->on, d->list, number, b, x, r->steps, r->tolerance,
                               LEAST_PROGRESS, d->error, why);
}

static libsolver_status refine_column(libsolver_batch *t, int64_t number, const refinement *r,
                                      int64_t column, const libsolver_batch_vectors *b,
                                      const libsolver_batch_vectors *x, message *why)
{
    batch_places from = places_of(b), to = places_of(x);
    if (b->place == LIBSOLVER_DEVICE) {
        from.offset = column * from.column;
        to.offset = column * to.column;
        return refine_there(t, number, r, &from, &to, why);
    }
    from = block_on_device(t, 0);
    to = block_on_device(t, 1);
    TRY(move_column(t, number, b, column, 0, 0, why));
    TRY(move_column(t, number, x, column, 1, 0, why));
    TRY(refine_there(t, number, r, &from, &to, why));
    return move_column(t, number, x, column, 1, 1, why);
}

/* Errors of one column of the chosen items. */
static void take_errors(libsolver_batch *t, int64_t number, int64_t columns, int64_t column,
                        double *backward_error)
{
    for (int64_t k = 0; k < number; k++) {
        const int64_t i = t->chosen[k];
        libsolver_batch_item *item = &t->item[i];
        const double error = t->device->error[i];
        item->backward_error = column == 0 ? error : fmax(item->backward_error, error);
        if (backward_error)
            backward_error[i * columns + column] = error;
    }
}

int64_t batch_refine_on_device(libsolver_batch *t, int64_t number, const libsolver_limits *limits,
                               const libsolver_batch_vectors *b, const libsolver_batch_vectors *x,
                               double *backward_error, message *why)
{
    const libsolver_analysis *s = t->analysis;
    const libsolver_factor asked = {.analysis = s};
    const double tolerance =
        limits ? factor_tolerance_asked(&asked, limits->tolerance) : factor_tolerance(&asked);
    const refinement r = {.steps = limits ? limits->steps : s->options.refine_steps,
                          .tolerance = limits && limits->until_stalled ? 0 : tolerance};
    if (number == 0)
        return -1;
    list_chosen(t, number);
    for (int64_t q = 0; q < b->columns; q++) {
        const libsolver_status status = refine_column(t, number, &r, q, b, x, why);
        if (status != LIBSOLVER_OK)
            return all_failed(t, number, status, 0);
        take_errors(t, number, b->columns, q, backward_error);
    }
    for (int64_t k = 0; k < number; k++) {
        libsolver_batch_item *item = &t->item[t->chosen[k]];
        item->backward_error = b->columns == 0 ? 0 : item->backward_error;
        item->status = item->backward_error <= tolerance ? LIBSOLVER_OK : LIBSOLVER_INACCURATE;
    }
    return -1;
}
