/* test/support/fake/residual.c: A and the steps of a refinement, on the host:
 * gpu/refine/residual.cu
 * SPDX-License-Identifier: BSD-3-Clause */
#include "device.h"
#include <string.h>

static int64_t place_matrix(device_matrix *a, char *base)
{
    int64_t at = 0;
    a->start = fake_place(base, &at, (a->n + 1) * (int64_t)sizeof(int64_t));
    a->column = fake_place(base, &at, a->entries * (int64_t)sizeof(int32_t));
    a->source = fake_place(base, &at, a->entries * (int64_t)sizeof(uint32_t));
    a->value = fake_place(base, &at, a->entries * type_bytes(a->type));
    a->row_sum = fake_place(base, &at, a->n * (int64_t)sizeof(double));
    return at;
}

libsolver_status device_matrix_open(device_matrix *a, const full_matrix *pattern,
                                    libsolver_type type, message *why)
{
    MAY_FAIL("copying the matrix to the device", why);
    a->type = type;
    a->n = pattern->n;
    a->entries = pattern->start[pattern->n];
    const int64_t bytes = place_matrix(a, NULL);
    a->memory = fake_allocate(bytes, 1);
    a->bytes = a->memory ? bytes : 0;
    if (!a->memory)
        return fake_no_memory("the matrix by rows", bytes, why);
    place_matrix(a, a->memory);
    fake_copy(a->start, pattern->start, (a->n + 1) * (int64_t)sizeof(int64_t));
    fake_copy(a->column, pattern->column, a->entries * (int64_t)sizeof(int32_t));
    fake_copy(a->source, pattern->source, a->entries * (int64_t)sizeof(uint32_t));
    return LIBSOLVER_OK;
}

typedef struct spread_work {
    device_matrix a;
    const void *lower;
} spread_work;

static void run_spread(void *arguments)
{
    const spread_work *k = arguments;
    OF_TYPE(k->a.type, emulate_matrix, &k->a, k->lower);
}

libsolver_status device_matrix_set(const device_matrix *a, const void *lower, int follows,
                                   message *why)
{
    (void)follows; /* launches run one after the other here */
    MAY_FAIL("launching the kernel that spreads the values of the matrix", why);
    const spread_work work = {*a, lower};
    fake_launch(a->stream, run_spread, &work, sizeof work);
    return LIBSOLVER_OK;
}

void device_matrix_close(device_matrix *a)
{
    fake_free(a->memory);
    a->memory = NULL;
    a->bytes = 0;
}

static int64_t place_refinement(const device_matrix *a, device_refinement *w, char *base)
{
    const int64_t block = (int64_t)a->n * w->columns * type_bytes(a->type);
    int64_t at = 0;
    w->state = fake_place(base, &at, sizeof(refine_state));
    w->residual = fake_place(base, &at, block);
    w->correction = fake_place(base, &at, block);
    w->before = fake_place(base, &at, block);
    w->spare = fake_place(base, &at, block);
    return at;
}

libsolver_status device_refinement_open(const device_matrix *a, int32_t columns,
                                        device_refinement *w, message *why)
{
    *w = (device_refinement){.device = a->device,
                             .columns = columns < REFINE_COLUMNS ? columns : REFINE_COLUMNS};
    MAY_FAIL("clearing the workspace of refinement", why);
    const int64_t bytes = place_refinement(a, w, NULL);
    w->memory = fake_allocate(bytes, 1);
    w->host_state = fake_allocate(sizeof(refine_state), 0);
    if (!w->memory || !w->host_state) {
        device_refinement_close(w);
        return fake_no_memory("the workspace of refinement", bytes, why);
    }
    place_refinement(a, w, w->memory);
    memset(w->state, 0, sizeof(refine_state));
    return LIBSOLVER_OK;
}

void device_refinement_close(device_refinement *w)
{
    fake_free(w->memory);
    fake_free(w->host_state);
    w->memory = NULL;
    w->host_state = NULL;
}

static void run_step(void *arguments)
{
    const emulated_refinement *r = arguments;
    const char *wrong = OF_TYPE(r->a.type, emulate_refine_step, r);
    fake_insist(!wrong, wrong);
}

static void run_finish(void *arguments)
{
    const emulated_refinement *r = arguments;
    const char *wrong = OF_TYPE(r->a.type, emulate_refine_finish, r);
    fake_insist(!wrong, wrong);
}

libsolver_status device_refine_step(const device_matrix *a, const device_refinement *w,
                                    void *stream, const refine_step *s, message *why)
{
    TRY(device_refine_fits(a, w, &s->b, &s->x, why));
    MAY_FAIL("launching a step of refinement", why);
    fake_check_block(&s->b);
    fake_check_block(&s->x);
    const emulated_refinement work = {.a = *a, .w = *w, .step = *s};
    if (s->b.columns > 0)
        fake_launch(stream ? stream : a->stream, run_step, &work, sizeof work);
    return LIBSOLVER_OK;
}

libsolver_status device_refine_finish(const device_matrix *a, const device_refinement *w,
                                      void *stream, const refine_step *s,
                                      const refine_outcome *outcome, message *why)
{
    TRY(device_refine_fits(a, w, &s->b, &s->x, why));
    MAY_FAIL("launching the end of refinement", why);
    const emulated_refinement work = {*a, *w, *s, *outcome};
    fake_launch(stream ? stream : a->stream, run_finish, &work, sizeof work);
    return LIBSOLVER_OK;
}

typedef struct spare_work {
    libsolver_vectors from, to;
} spare_work;

static void run_spare(void *arguments)
{
    const spare_work *k = arguments;
    for (int64_t j = 0; j < k->from.columns; j++)
        for (int64_t i = 0; i < k->from.rows; i++)
            fake_copy(fake_entry(&k->to, i, j), fake_entry(&k->from, i, j),
                      type_bytes(k->from.type));
}

libsolver_status device_refine_spare(const device_matrix *a, const device_refinement *w,
                                     void *stream, const libsolver_vectors *b,
                                     libsolver_vectors *view, message *why)
{
    TRY(device_refine_fits(a, w, b, b, why));
    MAY_FAIL("copying the right-hand side on the device", why);
    fake_check_block(b);
    *view = *b;
    view->values = w->spare;
    view->ld = b->layout == LIBSOLVER_ROW_MAJOR ? b->columns : b->rows;
    const spare_work work = {*b, *view};
    fake_launch(stream ? stream : a->stream, run_spare, &work, sizeof work);
    return LIBSOLVER_OK;
}

libsolver_status device_refine_wait(const device_matrix *a, void *stream, message *why)
{
    MAY_FAIL("refinement on the device", why);
    fake_wait(stream ? stream : a->stream);
    return LIBSOLVER_OK;
}
