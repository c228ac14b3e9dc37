/* test/support/fake/device_solver.c: programs of solves and solves with them, on the host:
 * gpu/solve/device_solver.cu
 * SPDX-License-Identifier: BSD-3-Clause */
#include "device.h"
#include "test/support/solve_emulator.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

libsolver_status device_solver_open(device_solver *s, message *why)
{
    if (fake_fails(__func__))
        return FAIL(why, fake.failure, "device %d cannot be used: %s failed on demand", s->device,
                    __func__);
    if (s->device < 0 || s->device >= fake.devices)
        return FAIL(why, LIBSOLVER_CUDA, "device %d cannot be used: there is no such device",
                    s->device);
    s->multiprocessors = fake.multiprocessors;
    s->blocks = fake.blocks;
    s->by_levels |= fake.by_levels;
    s->own_stream = !s->stream;
    s->stream = s->stream ? s->stream : fake_stream_open();
    return LIBSOLVER_OK;
}

void device_solver_drop(device_solver *s)
{
    fake_free(s->memory);
    s->memory = NULL;
    s->bytes = 0;
}

void device_solver_close(device_solver *s)
{
    device_solver_drop(s);
    if (s->own_stream)
        fake_stream_close(s->stream);
}

/* Values and description, heads, copies, scale, user_row; returns their bytes. */
static int64_t place_program(const device_upload *p, char *base, device_solver *s)
{
    int64_t at = 0;
    fake_place(base, &at, p->value_bytes + p->description_bytes);
    s->head = fake_place(base, &at, p->heads * (int64_t)sizeof(list_head));
    s->copy = fake_place(base, &at, p->copies * (int64_t)sizeof(task_copy));
    s->scale = fake_place(base, &at, p->n * type_real_bytes(p->type));
    s->user_row = fake_place(base, &at, p->n * (int64_t)sizeof(int32_t));
    return at;
}

libsolver_status device_solver_reserve(device_solver *s, const device_upload *p, message *why)
{
    MAY_FAIL("taking memory for the program of the solve", why);
    const int64_t bytes = place_program(p, NULL, s) + 1;
    fake_wait(s->stream);
    if (!fake_grow(&s->memory, &s->bytes, &s->allocations, bytes))
        return fake_no_memory("the program of the solve", bytes, why);
    place_program(p, s->memory, s);
    s->type = p->type;
    s->n = p->n;
    s->packets = p->packets;
    s->levels = p->levels;
    s->packet_columns = 0;
    return LIBSOLVER_OK;
}

libsolver_status device_solver_upload(device_solver *s, const device_upload *p, message *why)
{
    MAY_FAIL("copying the program of the solve to the device", why);
    fake_wait(s->stream);
    fake_copy(s->memory, p->values, p->value_bytes);
    fake_copy((char *)s->memory + p->value_bytes, p->description, p->description_bytes);
    fake_copy((void *)s->head, p->head, p->heads * (int64_t)sizeof(list_head));
    fake_copy((void *)s->copy, p->copy, p->copies * (int64_t)sizeof(task_copy));
    fake_copy((void *)s->scale, p->scale, p->n * type_real_bytes(p->type));
    fake_copy((void *)s->user_row, p->user_row, p->n * (int64_t)sizeof(int32_t));
    if (p->level_blocks)
        s->level_blocks = p->level_blocks;
    return LIBSOLVER_OK;
}

/* ---- Solves ---------------------------------------------------------------------------------- */

enum { PANEL_COLUMNS = 8 };

/* In a workspace: whether a solve gave up; then the packets of each column. */
static int64_t packets_at(void)
{
    return 256;
}

static int32_t columns_together(int64_t columns)
{
    return columns < 1 ? 1 : columns > PANEL_COLUMNS ? PANEL_COLUMNS : (int32_t)columns;
}

int64_t device_workspace_bytes(const device_solver *s, int64_t columns)
{
    return packets_at() + columns_together(columns) * (int64_t)s->packets * type_bytes(s->type);
}

libsolver_status device_workspace_open(const device_solver *s, int64_t columns, device_workspace *w,
                                       message *why)
{
    *w = (device_workspace){.device = s->device, .columns = columns_together(columns)};
    MAY_FAIL("clearing the workspace of the solve", why);
    const int64_t bytes = device_workspace_bytes(s, columns);
    w->memory = fake_allocate(bytes, 1);
    if (!w->memory)
        return fake_no_memory("the workspace of the solve", bytes, why);
    memset(w->memory, 0, (size_t)bytes);
    w->state = w->memory;
    w->packets = (char *)w->memory + packets_at();
    return LIBSOLVER_OK;
}

void device_workspace_close(device_workspace *w)
{
    fake_free(w->memory);
    w->memory = NULL;
}

unsigned *device_solve_failed(const device_workspace *w)
{
    return w->state;
}

/* Column j packed, or from there. */
static void copy_column(const libsolver_vectors *v, int64_t j, char *packed, int to_packed)
{
    const int64_t size = type_bytes(v->type);
    for (int64_t i = 0; i < v->rows; i++)
        memcpy(to_packed ? packed + i * size : fake_entry(v, i, j),
               to_packed ? fake_entry(v, i, j) : packed + i * size, (size_t)size);
}

typedef struct solve_work {
    int substitutes; /* with t; otherwise the program of s runs */
    device_substitution t;
    device_solver s;
    device_workspace w;
    libsolver_vectors b, x;
    task_times *times;
} solve_work;

/* Lists of a program as it lies on the device. */
static const char *run_program(const solve_work *k, const void *b, void *x)
{
    const device_solver *s = &k->s;
    int32_t lists = s->by_levels ? 0 : s->blocks;
    for (int32_t level = 0; level < s->levels && s->by_levels; level++)
        lists += s->level_blocks[level];
    task_list *list = calloc((size_t)lists + 1, sizeof *list);
    fake_insist(list != NULL, "no memory");
    for (int32_t q = 0; q < lists; q++)
        list[q] = s->head[q].list;
    const emulated_program p = {.n = s->n,
                                .packets = s->packets,
                                .lists = lists,
                                .levels = s->by_levels ? s->levels : 0,
                                .description = s->memory,
                                .description_bytes =
                                    (const char *)s->head - (const char *)s->memory,
                                .list = list,
                                .level_lists = s->level_blocks,
                                .copy = s->copy,
                                .user_row = s->user_row,
                                .scale = s->scale};
    for (int32_t q = 0; q < lists; q++)
        fake_insist(memcmp(s->head[q].copy, s->copy + list[q].copy,
                           sizeof(task_copy) * (size_t)(list[q].copies < HEAD_COPIES
                                                            ? list[q].copies
                                                            : HEAD_COPIES)) == 0,
                    "the head of a list has other copies than the list");
    const char *wrong = OF_TYPE(s->type, emulate, &p, b, x, fake.seed++, k->times);
    free(list);
    return wrong;
}

static void run_solve(void *arguments)
{
    const solve_work *k = arguments;
    const size_t bytes = (size_t)(k->s.n * type_bytes(k->s.type)) + 1;
    char *b = malloc(bytes), *x = malloc(bytes);
    fake_insist(b && x, "no memory");
    for (int64_t j = 0; j < k->b.columns; j++) {
        copy_column(&k->b, j, b, 1);
        const char *wrong = k->substitutes
                                ? fake_substitution(&k->t, &k->s, &k->w, j % k->w.columns, b, x)
                                : run_program(k, b, x);
        wrong = fake.gives_up ? EMULATOR_IS_STUCK : wrong;
        fake.gives_up = 0;
        fake_insist(!wrong || !strcmp(wrong, EMULATOR_IS_STUCK), wrong);
        if (wrong)
            *device_solve_failed(&k->w) = 1;
        else
            copy_column(&k->x, j, x, 0);
    }
    free(b);
    free(x);
}

void fake_solve(const device_substitution *t, const device_solver *s, const device_workspace *w,
                void *stream, const libsolver_vectors *b, const libsolver_vectors *x,
                task_times *times)
{
    solve_work work = {
        .substitutes = t != NULL, .s = *s, .w = *w, .b = *b, .x = *x, .times = times};
    if (t)
        work.t = *t;
    fake_insist(fake_room(w->memory) >= device_workspace_bytes(s, w->columns),
                "a workspace does not fit the solver");
    fake_check_block(b);
    fake_check_block(x);
    fake_launch(stream ? stream : s->stream, run_solve, &work, sizeof work);
}

libsolver_status device_solve(const device_solver *s, const device_workspace *w, void *stream,
                              const libsolver_vectors *b, const libsolver_vectors *x,
                              task_times *times, message *why)
{
    TRY(device_solve_fits(s, b, x, why));
    MAY_FAIL("launching the solve", why);
    fake_solve(NULL, s, w, stream, b, x, times);
    return LIBSOLVER_OK;
}

libsolver_status device_solve_timed(const device_solver *s, const device_workspace *w,
                                    const libsolver_vectors *b, const libsolver_vectors *x,
                                    int64_t tasks, task_times *times, message *why)
{
    MAY_FAIL("the traced solve", why);
    TRY(device_solve(s, w, NULL, b, x, times, why));
    fake_wait(s->stream);
    for (int64_t t = 0; t < tasks; t++)
        fake_insist(times[t].come > 0, "a task was not run");
    return LIBSOLVER_OK;
}

libsolver_status device_solve_check(const device_solver *s, const device_workspace *w, void *stream,
                                    int *gave_up, message *why)
{
    *gave_up = 0;
    MAY_FAIL("the solve on the device", why);
    fake_wait(stream ? stream : s->stream);
    *gave_up = *device_solve_failed(w) != 0;
    *device_solve_failed(w) = 0;
    return LIBSOLVER_OK;
}

/* ---- Between host and device ----------------------------------------------------------------- */

libsolver_status device_staging_open(const device_solver *s, int64_t bytes, device_staging *g,
                                     message *why)
{
    *g = (device_staging){.device = s->device};
    MAY_FAIL("taking memory for copies of vectors", why);
    *g = (device_staging){s->device, bytes, fake_allocate(bytes + 1, 0),
                          fake_allocate(bytes + 1, 1)};
    if (g->host && g->on_device)
        return LIBSOLVER_OK;
    device_staging_close(g);
    return fake_no_memory("the buffer for vectors of the host", bytes, why);
}

void device_staging_close(device_staging *g)
{
    fake_free(g->on_device);
    fake_free(g->host);
    *g = (device_staging){0};
}

typedef struct copy_work {
    void *to;
    const void *from;
    int64_t bytes;
} copy_work;

static void run_copy(void *arguments)
{
    const copy_work *k = arguments;
    fake_copy(k->to, k->from, k->bytes);
}

libsolver_status device_staging_in(const device_solver *s, const device_staging *g, int64_t bytes,
                                   message *why)
{
    MAY_FAIL("copying vectors to the device", why);
    const copy_work work = {g->on_device, g->host, bytes};
    fake_insist(fake_room(g->on_device) >= bytes, "what comes in has no room");
    fake_launch(s->stream, run_copy, &work, sizeof work);
    return LIBSOLVER_OK;
}

libsolver_status device_staging_out(const device_solver *s, const device_staging *g, int64_t bytes,
                                    message *why)
{
    MAY_FAIL("copying vectors from the device", why);
    const copy_work work = {g->host, g->on_device, bytes};
    fake_insist(fake_room(g->on_device) >= bytes, "more comes out than there is");
    fake_launch(s->stream, run_copy, &work, sizeof work);
    fake_wait(s->stream);
    return LIBSOLVER_OK;
}

/* The other side has the same layout and no padding. */
static void copy_block(const device_solver *s, const libsolver_vectors *v, char *packed,
                       int to_packed)
{
    const int by_rows = v->layout == LIBSOLVER_ROW_MAJOR;
    const int64_t size = type_bytes(v->type), lines = by_rows ? v->rows : v->columns,
                  line = size * (by_rows ? v->columns : v->rows);
    fake_wait(s->stream);
    fake_check_block(v);
    for (int64_t q = 0; q < lines; q++) {
        char *at = (char *)v->values + q * v->ld * size;
        fake_copy(to_packed ? packed + q * line : at, to_packed ? at : packed + q * line, line);
    }
}

libsolver_status device_block_get(const device_solver *s, const libsolver_vectors *from, void *to,
                                  message *why)
{
    MAY_FAIL("copying vectors from the device", why);
    copy_block(s, from, to, 1);
    return LIBSOLVER_OK;
}

libsolver_status device_block_put(const device_solver *s, const void *from,
                                  const libsolver_vectors *to, message *why)
{
    MAY_FAIL("copying vectors to the device", why);
    copy_block(s, to, (char *)from, 0);
    return LIBSOLVER_OK;
}
