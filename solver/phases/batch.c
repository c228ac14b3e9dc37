/* solver/phases/batch.c: calls for many systems of one pattern
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/phases/batch.h"
#include "solver/phases/options.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Objects --------------------------------------------------------------------------------- */

/* The analysis as the CPU sees it. */
static libsolver_analysis seen_by_cpu(const libsolver_analysis *s)
{
    libsolver_analysis on_cpu = *s;
    if (s->backend->view_device) {
        backend_device_view view;
        s->backend->view_device(s->plan, &view);
        on_cpu.backend = view.cpu;
        on_cpu.plan = view.cpu_plan;
    }
    return on_cpu;
}

static int64_t parts_of(libsolver_batch *t, int64_t count, memory_part part[4])
{
    part[0] = (memory_part){&t->active, count, sizeof(uint8_t), 0};
    part[1] = (memory_part){&t->item, count, sizeof(libsolver_batch_item), 1};
    part[2] = (memory_part){&t->chosen, count, sizeof(int64_t), 0};
    part[3] = (memory_part){&t->status, count, sizeof(libsolver_status), 0};
    return memory_sum(part, 4);
}

/* On the device, where that can be; where AUTO chose it and it fails, on the CPU too. */
static libsolver_status open_items(libsolver_batch *t, message *why)
{
    const environment *env = &t->context->env;
    if (!batch_fits_device(t->analysis, t->count, &t->cpu_reason)) {
        if (t->cpu_reason != LIBSOLVER_CPU_AS_CHOSEN)
            environment_log(env, "the batch is on the CPU: %s",
                            t->cpu_reason == LIBSOLVER_CPU_LDLT
                                ? "the GPU has kinds SPD and QUASI_DEFINITE alone"
                            : t->cpu_reason == LIBSOLVER_CPU_MIXED
                                ? "the GPU has none in mixed precision"
                                : "too large, or triangles of a Hermitian matrix are mixed");
        return batch_open_on_cpu(t, why);
    }
    const libsolver_status status = batch_open_on_device(t, why);
    if (status == LIBSOLVER_OK || status == LIBSOLVER_OUT_OF_MEMORY ||
        t->context->backend == LIBSOLVER_BACKEND_GPU)
        return status;
    environment_log(env, "the batch is on the CPU: %s", why->text);
    message_clear(why);
    batch_close_on_device(t);
    t->device = NULL;
    t->cpu_reason = LIBSOLVER_CPU_DEVICE;
    return batch_open_on_cpu(t, why);
}

static libsolver_status open_batch(libsolver_batch *t, const libsolver_analysis *s, int64_t count,
                                   message *why)
{
    memory *m = &s->context->env.memory;
    memory_part part[4];
    t->context = s->context;
    t->analysis = s;
    t->on_cpu = seen_by_cpu(s);
    t->count = count;
    parts_of(t, count, part);
    if (!memory_take(m, part, 4))
        return NO_MEMORY(&s->context->env, "the batch", why);
    memset(t->active, 1, (size_t)count);
    for (int64_t i = 0; i < count; i++) {
        t->item[i].status = LIBSOLVER_INVALID;
        t->item[i].failed_row = -1;
        t->item[i].backward_error = NAN;
    }
    return open_items(t, why);
}

void libsolver_batch_free(libsolver_batch *t)
{
    if (!t)
        return;
    memory *m = &t->context->env.memory;
    memory_part part[4];
    batch_close_on_cpu(t);
    batch_close_on_device(t);
    parts_of(t, t->count, part);
    memory_release(m, part, 4);
    memory_free(m, t);
}

static libsolver_status check_create(const libsolver_analysis *s, int64_t count,
                                     libsolver_batch **batch, message *why)
{
    if (!batch)
        return FAIL(why, LIBSOLVER_INVALID, "where the batch is to go is NULL");
    if (count < 1 || count > INT32_MAX)
        return FAIL(why, LIBSOLVER_INVALID, "a batch of %lld items", (long long)count);
    if (s->schur_size > 0)
        return FAIL(why, LIBSOLVER_NOT_BUILT, "a batch with Schur complements");
    return LIBSOLVER_OK;
}

libsolver_status libsolver_batch_create(const libsolver_analysis *s, int64_t count,
                                        libsolver_batch **batch)
{
    if (batch)
        *batch = NULL;
    if (!s)
        return LIBSOLVER_INVALID;
    message why = {0};
    libsolver_status status = check_create(s, count, batch, &why);
    if (status == LIBSOLVER_OK) {
        libsolver_batch *t = memory_zeroed(&s->context->env.memory, 1, sizeof(libsolver_batch));
        status = t ? open_batch(t, s, count, &why) : NO_MEMORY(&s->context->env, "the batch", &why);
        if (status == LIBSOLVER_OK)
            *batch = t;
        else
            libsolver_batch_free(t);
    }
    if (status != LIBSOLVER_OK)
        context_message(s->context, &why);
    return status;
}

void libsolver_batch_bytes(const libsolver_analysis *s, int64_t count, int64_t *host_bytes,
                           int64_t *device_bytes)
{
    *host_bytes = *device_bytes = 0;
    if (!s || count < 1)
        return;
    libsolver_batch t;
    memory_part part[4];
    libsolver_cpu_reason reason;
    const libsolver_analysis on_cpu = seen_by_cpu(s);
    if (batch_fits_device(s, count, &reason))
        batch_bytes_on_device(s, count, host_bytes, device_bytes);
    else {
        backend_plan_view view;
        on_cpu.backend->view_plan(on_cpu.plan, &view);
        *host_bytes = memory_counted(count, sizeof(libsolver_factor *)) +
                      count * (view.host_bytes + factor_bytes(&on_cpu));
    }
    *host_bytes += memory_counted(1, sizeof(libsolver_batch)) + parts_of(&t, count, part);
}

/* ---- Checks ---------------------------------------------------------------------------------- */

static libsolver_status check_reserved(const int64_t reserved[4], message *why)
{
    for (int q = 0; q < 4; q++)
        if (reserved[q] != 0)
            return FAIL(why, LIBSOLVER_INVALID, "reserved fields must be zero");
    return LIBSOLVER_OK;
}

static libsolver_status check_place(const libsolver_batch *t, libsolver_place place,
                                    const char *what, message *why)
{
    if ((unsigned)place > LIBSOLVER_DEVICE)
        return FAIL(why, LIBSOLVER_INVALID, "the place of %s has no legal value", what);
    if (place == LIBSOLVER_DEVICE && !t->device)
        return FAIL(why, LIBSOLVER_NOT_BUILT, "%s in device memory: the batch is on the CPU", what);
    return LIBSOLVER_OK;
}

/* Whether items that are `wanted` have pointers, where those can be seen. */
static libsolver_status check_items(const libsolver_batch *t, const void *values,
                                    const void *const *items, libsolver_place place,
                                    const char *what, message *why)
{
    if (!items && !values)
        return FAIL(why, LIBSOLVER_INVALID, "%s has no values", what);
    if (!items || place == LIBSOLVER_DEVICE)
        return LIBSOLVER_OK;
    for (int64_t i = 0; i < t->count; i++)
        if (t->active[i] && !items[i])
            return FAIL(why, LIBSOLVER_INVALID, "%s of item %lld is NULL", what, (long long)i);
    return LIBSOLVER_OK;
}

static libsolver_status check_values(const libsolver_batch *t, const libsolver_batch_values *a,
                                     message *why)
{
    const int64_t entries = t->analysis->input.entries;
    if (!a)
        return FAIL(why, LIBSOLVER_INVALID, "the values are NULL");
    TRY(check_reserved(a->reserved, why));
    TRY(check_place(t, a->place, "values", why));
    if (entries == 0)
        return LIBSOLVER_OK;
    if (!a->items && a->stride < entries)
        return FAIL(why, LIBSOLVER_INVALID, "a stride of %lld, an item has %lld values",
                    (long long)a->stride, (long long)entries);
    return check_items(t, a->values, a->items, a->place, "the matrix", why);
}

/* Scalars from the begin of a block to its end. */
static int64_t span(const libsolver_batch_vectors *v, int64_t n)
{
    return v->layout == LIBSOLVER_COLUMN_MAJOR ? (v->columns - 1) * v->ld + n
                                               : (n - 1) * v->ld + v->columns;
}

static libsolver_status check_block(const libsolver_batch *t, const libsolver_batch_vectors *v,
                                    const char *what, message *why)
{
    const int64_t n = t->analysis->input.a.n;
    if (!v)
        return FAIL(why, LIBSOLVER_INVALID, "%s is NULL", what);
    TRY(check_reserved(v->reserved, why));
    TRY(check_place(t, v->place, what, why));
    if ((unsigned)v->layout > LIBSOLVER_ROW_MAJOR || v->columns < 0)
        return FAIL(why, LIBSOLVER_INVALID, "a field of %s has no legal value", what);
    if (v->ld < (v->layout == LIBSOLVER_COLUMN_MAJOR ? n : v->columns))
        return FAIL(why, LIBSOLVER_INVALID, "the leading dimension %lld of %s is too small",
                    (long long)v->ld, what);
    if (n == 0 || v->columns == 0)
        return LIBSOLVER_OK;
    if (!v->items && t->count > 1 && v->stride < span(v, n))
        return FAIL(why, LIBSOLVER_INVALID, "the stride %lld of %s is too small",
                    (long long)v->stride, what);
    return check_items(t, v->values, (const void *const *)v->items, v->place, what, why);
}

static libsolver_status check_blocks(const libsolver_batch *t, const libsolver_batch_vectors *b,
                                     const libsolver_batch_vectors *x, message *why)
{
    TRY(check_block(t, b, "b", why));
    TRY(check_block(t, x, "x", why));
    if (b->columns != x->columns)
        return FAIL(why, LIBSOLVER_INVALID, "b has %lld columns, x has %lld", (long long)b->columns,
                    (long long)x->columns);
    if (b->place != x->place)
        return FAIL(why, LIBSOLVER_INVALID, "b and x do not lie in the same memory");
    return LIBSOLVER_OK;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

/* Items that a call is about: active, and, if it wants them, with a factor.  Returns how many. */
static int64_t choose(libsolver_batch *t, int with_factor)
{
    int64_t number = 0;
    for (int64_t i = 0; i < t->count; i++)
        if (t->active[i] && (!with_factor || t->item[i].kind != LIBSOLVER_KIND_AUTO))
            t->chosen[number++] = i;
    return number;
}

/* The answer of a call whose arguments were good. */
static libsolver_status answer(libsolver_batch *t, int64_t failed, const message *why)
{
    libsolver_status worst = LIBSOLVER_OK;
    for (int64_t i = 0; i < t->count; i++) {
        const libsolver_status status = t->item[i].status;
        if (!t->active[i])
            continue;
        if (status < 0) {
            if (failed == i)
                snprintf(t->last.text, sizeof t->last.text, "item %lld: %.200s", (long long)i,
                         why->text);
            else
                FAIL(&t->last, status, "item %lld has no factor", (long long)i);
            if (failed == i)
                memcpy(t->last.place, why->place, sizeof why->place);
            return status;
        }
        worst = status > worst ? status : worst;
    }
    return worst;
}

/* What a call that is refused says. */
static libsolver_status refuse(libsolver_batch *t, libsolver_status status, const message *why)
{
    t->last = *why;
    return status;
}

libsolver_status libsolver_batch_set_active(libsolver_batch *t, const uint8_t *active,
                                            libsolver_place place)
{
    if (!t)
        return LIBSOLVER_INVALID;
    message why = {0};
    const libsolver_status status = active ? check_place(t, place, "the mask", &why) : LIBSOLVER_OK;
    if (status != LIBSOLVER_OK)
        return refuse(t, status, &why);
    if (!active)
        memset(t->active, 1, (size_t)t->count);
    else if (place == LIBSOLVER_HOST)
        memcpy(t->active, active, (size_t)t->count);
    else {
        const libsolver_status copied = batch_copy_on_device(t, t->active, active, t->count, &why);
        return copied == LIBSOLVER_OK ? copied : refuse(t, copied, &why);
    }
    return LIBSOLVER_OK;
}

libsolver_status libsolver_batch_refactorize(libsolver_batch *t, const libsolver_batch_values *a)
{
    if (!t)
        return LIBSOLVER_INVALID;
    message why = {0};
    const libsolver_status status = check_values(t, a, &why);
    if (status != LIBSOLVER_OK)
        return refuse(t, status, &why);
    const int64_t number = choose(t, 0);
    return answer(
        t, (t->device ? batch_refactorize_on_device : batch_refactorize_on_cpu)(t, number, a, &why),
        &why);
}

libsolver_status libsolver_batch_solve(libsolver_batch *t, const libsolver_batch_vectors *b,
                                       const libsolver_batch_vectors *x)
{
    if (!t)
        return LIBSOLVER_INVALID;
    message why = {0};
    const libsolver_status status = check_blocks(t, b, x, &why);
    if (status != LIBSOLVER_OK)
        return refuse(t, status, &why);
    const int64_t number = choose(t, 1);
    return answer(t,
                  (t->device ? batch_solve_on_device : batch_solve_on_cpu)(t, number, b, x, &why),
                  &why);
}

/* Whether the blocks of an item are one. */
static int is_in_place(const libsolver_batch *t, const libsolver_batch_vectors *b,
                       const libsolver_batch_vectors *x)
{
    if (!b->items && !x->items)
        return b->values == x->values;
    if (b->place == LIBSOLVER_DEVICE)
        return b->items == x->items;
    for (int64_t i = 0; b->items && x->items && i < t->count; i++)
        if (t->active[i] && b->items[i] == x->items[i])
            return 1;
    return 0;
}

static libsolver_status check_refine(const libsolver_batch *t, const libsolver_limits *limits,
                                     const libsolver_batch_vectors *b,
                                     const libsolver_batch_vectors *x, message *why)
{
    TRY(check_blocks(t, b, x, why));
    if (is_in_place(t, b, x) && b->columns > 0 && t->analysis->input.a.n > 0)
        return FAIL(why, LIBSOLVER_INVALID, "x is b, which is still wanted");
    if (!limits)
        return LIBSOLVER_OK;
    TRY(limits_check(limits, why));
    if (limits->history) /* items are refined side by side */
        return FAIL(why, LIBSOLVER_INVALID, "a history is of one system, not of a batch");
    if (t->device && limits->method == LIBSOLVER_METHOD_FGMRES)
        return FAIL(why, LIBSOLVER_NOT_BUILT, "FGMRES for a batch on the GPU");
    return LIBSOLVER_OK;
}

libsolver_status libsolver_batch_refine(libsolver_batch *t, const libsolver_limits *limits,
                                        const libsolver_batch_vectors *b,
                                        const libsolver_batch_vectors *x, double *backward_error)
{
    if (!t)
        return LIBSOLVER_INVALID;
    message why = {0};
    const libsolver_status status = check_refine(t, limits, b, x, &why);
    if (status != LIBSOLVER_OK)
        return refuse(t, status, &why);
    const int64_t number = choose(t, 1);
    return answer(t,
                  (t->device ? batch_refine_on_device
                             : batch_refine_on_cpu)(t, number, limits, b, x, backward_error, &why),
                  &why);
}

/* ---- What is known --------------------------------------------------------------------------- */

libsolver_status libsolver_batch_status(libsolver_batch *t, libsolver_status *status,
                                        libsolver_place place)
{
    if (!t)
        return LIBSOLVER_INVALID;
    message why = {0};
    const libsolver_status wrong =
        status ? check_place(t, place, "the array of statuses", &why)
               : FAIL(&why, LIBSOLVER_INVALID, "where the statuses are to go is NULL");
    if (wrong != LIBSOLVER_OK)
        return refuse(t, wrong, &why);
    libsolver_status *to = place == LIBSOLVER_HOST ? status : t->status;
    for (int64_t i = 0; i < t->count; i++)
        to[i] = t->item[i].status;
    if (place == LIBSOLVER_HOST)
        return LIBSOLVER_OK;
    const libsolver_status copied =
        batch_copy_on_device(t, status, t->status, t->count * (int64_t)sizeof *status, &why);
    return copied == LIBSOLVER_OK ? copied : refuse(t, copied, &why);
}

void libsolver_batch_items(const libsolver_batch *t, libsolver_batch_item *items)
{
    if (t && items)
        memcpy(items, t->item, sizeof *items * (size_t)t->count);
}

void libsolver_batch_query(const libsolver_batch *t, libsolver_batch_info *info)
{
    memset(info, 0, sizeof *info);
    if (!t)
        return;
    info->count = t->count;
    for (int64_t i = 0; i < t->count; i++)
        info->active += t->active[i] != 0;
    info->backend = t->device ? LIBSOLVER_BACKEND_GPU : LIBSOLVER_BACKEND_CPU;
    info->device_bytes = t->device ? batch_held_on_device(t) : 0;
    info->cpu_reason = t->cpu_reason;
    info->allocations = t->context->env.memory.calls;
}

const char *libsolver_batch_message(const libsolver_batch *t)
{
    return t ? t->last.text : "";
}

const char *libsolver_batch_place(const libsolver_batch *t)
{
    return t ? t->last.place : "";
}
