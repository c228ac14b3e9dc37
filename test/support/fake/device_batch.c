/* test/support/fake/device_batch.c: batches on the host: gpu/batch/device_batch.cu
 * SPDX-License-Identifier: BSD-3-Clause */
#include "device.h"
#include "gpu/batch/device_batch.h"

/* What is on the device for all items: tables, copied if `copies`.  Returns bytes. */
static int64_t place_tables(device_batch *t, const batch_shape *s, char *base, int copies)
{
    const batch_tables *g = s->tables;
    const int64_t entries = s->full->start[g->n];
    int64_t at = 0;
    t->sums = *s->sums;
    t->front = g->front;
    t->row = g->row;
    t->shared = g->shared;
    t->top_row = g->top_row;
    t->share = g->share;
    t->fronts = g->fronts;
    t->row_of = s->fronts->row_of;
    t->has_signs = s->fronts->signs != NULL;
    t->index = s->fronts->index;
    t->signs = s->fronts->signs;
    t->start = s->full->start;
    t->column = s->full->column;
    t->source = s->full->source;
#define PUT(pointer, count) \
    do { \
        const int64_t bytes_ = (count) * (int64_t)sizeof *(pointer); \
        void *to_ = fake_place(base, &at, bytes_); \
        if (copies) \
            fake_copy(to_, pointer, bytes_); \
        (pointer) = to_; \
    } while (0)
    PUT(t->front, g->fronts);
    PUT(t->row, g->rows);
    PUT(t->shared, g->rows);
    PUT(t->top_row, g->share.top);
    PUT(t->row_of, g->n);
    if (t->has_signs) {
        PUT(t->index, s->fronts->row_start[g->fronts]);
        PUT(t->signs, g->n);
    }
    PUT(t->start, (int64_t)g->n + 1);
    PUT(t->column, entries);
    PUT(t->source, entries);
    PUT(t->sums.diagonal, g->n);
    if (t->sums.start) {
        PUT(t->sums.start, t->entries + 1);
        PUT(t->sums.source, s->given);
    }
#undef PUT
    return at;
}

static int64_t place_items(device_batch *t, const batch_shape *s, char *base)
{
    const int64_t count = s->count, n = s->tables->n, size = type_bytes(s->type);
    int64_t at = 0;
    t->panel_bytes = (s->program->panel_scalars + (s->fronts->signs ? 2 * n : 0)) * size;
    t->value_bytes = s->sums->entries * size;
    t->panel = fake_place(base, &at, count * t->panel_bytes);
    t->value = fake_place(base, &at, count * t->value_bytes);
    t->work = fake_place(base, &at, count * (n + BATCH_PARTS * (int64_t)t->share.top) * size);
    t->before = fake_place(base, &at, count * n * size);
    t->block[0] = fake_place(base, &at, count * n * size);
    t->block[1] = fake_place(base, &at, count * n * size);
    t->factorizer.scale = fake_place(base, &at, count * n * type_real_bytes(s->type));
    return at;
}

static int64_t staged_bytes(const batch_shape *s)
{
    return s->count * s->given * type_bytes(s->type) + 16;
}

int64_t device_batch_bytes(const batch_shape *s)
{
    device_batch t = {.entries = s->sums->entries};
    return place_tables(&t, s, NULL, 0) + place_items(&t, s, NULL) + 32 + staged_bytes(s);
}

libsolver_status device_batch_open(device_batch *t, const batch_shape *s, message *why)
{
    MAY_FAIL("copying the tables of the batch to the device", why);
    int64_t allocations = 0;
    t->type = s->type;
    t->count = s->count;
    t->given = s->given;
    t->entries = s->sums->entries;
    t->n = s->tables->n;
    t->program = s->program;
    const int64_t tables = place_tables(t, s, NULL, 0) + 16, items = place_items(t, s, NULL) + 16;
    if (!fake_grow_buffer(&t->tables, &allocations, tables))
        return fake_no_memory("the tables of the batch", tables, why);
    if (!fake_grow_buffer(&t->items, &allocations, items))
        return fake_no_memory("the items of the batch", items, why);
    if (!fake_grow_buffer(&t->staged, &allocations, staged_bytes(s)))
        return fake_no_memory("the values of the batch", staged_bytes(s), why);
    place_tables(t, s, t->tables.at, 1);
    place_items(t, s, t->items.at);
    return LIBSOLVER_OK;
}

void device_batch_close(device_batch *t)
{
    fake_free_buffer(&t->tables);
    fake_free_buffer(&t->items);
    fake_free_buffer(&t->staged);
}

libsolver_status device_batch_copy(const device_batch *t, void *to, const void *from, int64_t bytes,
                                   message *why)
{
    MAY_FAIL("copying between the batch and its caller", why);
    fake_wait(t->stream);
    fake_copy(to, from, bytes);
    return LIBSOLVER_OK;
}

static void factorize_item(const device_batch *t, int64_t i, int is_unscaled, double doubt_level,
                           cholesky_outcome *outcome)
{
    const int64_t reals = t->n * type_real_bytes(t->type);
    const emulated_factorization e = {.program = t->program,
                                      .row_of = t->row_of,
                                      .index = t->index,
                                      .signs = t->signs,
                                      .values = (char *)t->value + i * t->value_bytes,
                                      .is_unscaled = is_unscaled,
                                      .doubt_level = doubt_level,
                                      .panel = (char *)t->panel + i * t->panel_bytes,
                                      .scale = (char *)(void *)(uintptr_t)t->factorizer.scale +
                                               i * reals,
                                      .outcome = outcome,
                                      .seed = fake.seed++};
    const char *wrong = OF_TYPE(t->type, emulate_factorization, &e);
    fake_insist(!wrong, wrong);
}

libsolver_status device_batch_factorize(device_batch *t, const int32_t *list, int64_t number,
                                        const batch_places *values, int is_unscaled,
                                        double doubt_level, int *unsound, cholesky_outcome *outcome,
                                        message *why)
{
    MAY_FAIL("the factorizations of the batch", why);
    fake_wait(t->stream);
    for (int64_t k = 0; k < number; k++) {
        const int64_t i = list[k];
        const char *given = values->items
                                ? values->items[i]
                                : (char *)values->values + i * values->stride * type_bytes(t->type);
        char *sums = (char *)t->value + i * t->value_bytes;
        fake_insist(t->entries == 0 || fake_room(given) > 0, "values are not on the device");
        value_flaws flaws = {0};
        OF_TYPE(t->type, emulate_sums, &t->sums, given, NULL, sums, &flaws);
        unsound[k] =
            (flaws.nonfinite ? BATCH_NOT_FINITE : 0) | (flaws.asymmetric ? BATCH_NOT_MIRRORED : 0);
        factorize_item(t, i, is_unscaled, doubt_level, &outcome[k]);
    }
    return LIBSOLVER_OK;
}

static void check_blocks(const batch_places *p, const int32_t *list, int64_t number)
{
    for (int64_t k = 0; k < number; k++)
        fake_insist(fake_room(p->items ? p->items[list[k]] : p->values) > 0,
                    "a block is not on the device");
}

static void run(const emulated_batch *e)
{
    fake_wait(e->t->stream);
    if (e->t->n > 0 && e->columns > 0) {
        check_blocks(e->b, e->list, e->number);
        check_blocks(e->x, e->list, e->number);
    }
    OF_TYPE(e->t->type, emulate_batch, e);
}

libsolver_status device_batch_solve(device_batch *t, const int32_t *list, int64_t number,
                                    int64_t columns, const batch_places *b, const batch_places *x,
                                    message *why)
{
    MAY_FAIL("solving with the batch", why);
    const emulated_batch e = {
        .t = t, .list = list, .number = number, .columns = columns, .b = b, .x = x};
    run(&e);
    return LIBSOLVER_OK;
}

libsolver_status device_batch_refine(device_batch *t, const int32_t *list, int64_t number,
                                     const batch_places *b, const batch_places *x, int steps,
                                     double tolerance, double least_progress, double *error,
                                     message *why)
{
    MAY_FAIL("refining with the batch", why);
    const emulated_batch e = {.t = t,
                              .list = list,
                              .number = number,
                              .columns = 1,
                              .b = b,
                              .x = x,
                              .steps = steps,
                              .tolerance = tolerance,
                              .least_progress = least_progress,
                              .error = error};
    run(&e);
    return LIBSOLVER_OK;
}
