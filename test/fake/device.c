/* test/fake/device.c: the functions of gpu/device_solver.h, form_device.h and residual.h on the host
 * SPDX-License-Identifier: BSD-3-Clause */
#include "fake.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/type.h"
#include "emulators.h"
#include "solve_emulator.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What must not happen ends the test. */
static void insist(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "on the fake device: %s\n", what);
    abort();
}

/* call_s(...) or another of the four */
#define OF_TYPE(type, call, ...) \
    ((type) == LIBSOLVER_S   ? call##_s(__VA_ARGS__) \
     : (type) == LIBSOLVER_D ? call##_d(__VA_ARGS__) \
     : (type) == LIBSOLVER_C ? call##_c(__VA_ARGS__) \
                             : call##_z(__VA_ARGS__))

static libsolver_status no_room(char *sentence, int room)
{
    snprintf(sentence, (size_t)room, "out of memory");
    return LIBSOLVER_OUT_OF_DEVICE_MEMORY;
}

/* Parts of one allocation, one behind the other. */
static void *place(char *base, int64_t *at, int64_t bytes)
{
    char *here = base ? base + *at : NULL;
    *at += round_up(bytes, 256);
    return here;
}

static void copy(void *to, const void *from, int64_t bytes)
{
    if (from && bytes > 0)
        memcpy(to, from, (size_t)bytes);
}

/* A buffer of at least so many bytes, the same as before if that is enough. */
static int grow(void **block, int64_t *held, int64_t *allocations, int64_t bytes)
{
    if (bytes <= *held)
        return 1;
    fake_free(*block);
    ++*allocations;
    *block = fake_allocate(bytes, 1);
    *held = *block ? bytes : 0;
    return *block != NULL;
}

/* ---- Blocks of vectors ---------------------------------------------------------------------------------- */

static char *entry_of(const libsolver_vectors *v, int64_t i, int64_t j)
{
    return (char *)v->values + type_bytes(v->type) * (v->layout == LIBSOLVER_ROW_MAJOR ? i * v->ld + j : i + j * v->ld);
}

static void check_block(const libsolver_vectors *v)
{
    if (v->rows > 0 && v->columns > 0)
        insist(fake_room(entry_of(v, v->rows - 1, v->columns - 1)) >= type_bytes(v->type) && fake_room(v->values) > 0,
               "a block of vectors is not in its memory");
}

/* Column j packed, or from there. */
static void copy_column(const libsolver_vectors *v, int64_t j, char *packed, int to_packed)
{
    const int64_t size = type_bytes(v->type);
    for (int64_t i = 0; i < v->rows; i++)
        memcpy(to_packed ? packed + i * size : entry_of(v, i, j), to_packed ? entry_of(v, i, j) : packed + i * size, (size_t)size);
}

/* ---- A solver and its program --------------------------------------------------------------------------- */

libsolver_status device_solver_open(device_solver *s, char *sentence, int room)
{
    MAY_FAIL(sentence, room);
    if (s->device < 0 || s->device >= fake.devices) {
        snprintf(sentence, (size_t)room, "there is no such device");
        return LIBSOLVER_CUDA;
    }
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
    place(base, &at, p->value_bytes + p->description_bytes);
    s->head = place(base, &at, p->heads * (int64_t)sizeof(list_head));
    s->copy = place(base, &at, p->copies * (int64_t)sizeof(task_copy));
    s->scale = place(base, &at, p->n * type_real_bytes(p->type));
    s->user_row = place(base, &at, p->n * (int64_t)sizeof(int32_t));
    return at;
}

libsolver_status device_solver_reserve(device_solver *s, const device_upload *p, char *sentence, int room)
{
    MAY_FAIL(sentence, room);
    fake_wait(s->stream);
    if (!grow(&s->memory, &s->bytes, &s->allocations, place_program(p, NULL, s) + 1))
        return no_room(sentence, room);
    place_program(p, s->memory, s);
    s->type = p->type;
    s->n = p->n;
    s->slots = p->slots;
    s->levels = p->levels;
    s->substitutes = 0;
    return LIBSOLVER_OK;
}

libsolver_status device_solver_upload(device_solver *s, const device_upload *p, char *sentence, int room)
{
    MAY_FAIL(sentence, room);
    fake_wait(s->stream);
    copy(s->memory, p->values, p->value_bytes);
    copy((char *)s->memory + p->value_bytes, p->description, p->description_bytes);
    copy((void *)s->head, p->head, p->heads * (int64_t)sizeof(list_head));
    copy((void *)s->copy, p->copy, p->copies * (int64_t)sizeof(task_copy));
    copy((void *)s->scale, p->scale, p->n * type_real_bytes(p->type));
    copy((void *)s->user_row, p->user_row, p->n * (int64_t)sizeof(int32_t));
    if (p->level_blocks)
        s->level_blocks = p->level_blocks;
    return LIBSOLVER_OK;
}

/* The plan's arrays, given places or copied to them; returns their bytes. */
static int64_t place_plan(const substitution *plan, const int32_t *user_row, int64_t real_bytes, char *base, device_solver *s)
{
    device_substitution *to = &s->substitution;
    const int64_t fronts = plan->n + plan->rows;
    int64_t at = 0;
    s->scale = place(base, &at, plan->n * real_bytes);
#define PUT(member, from, count) \
    do { \
        member = place(base, &at, (count) * (int64_t)sizeof *(from)); \
        if (base) \
            copy((void *)(member), from, (count) * (int64_t)sizeof *(from)); \
    } while (0)
    PUT(s->user_row, user_row, plan->n);
    PUT(to->node, plan->node, plan->nodes);
    PUT(to->row, plan->row, plan->rows);
    PUT(to->source_start, plan->source_start, fronts + 1);
    PUT(to->source, plan->source, plan->source_start[fronts]);
    PUT(to->small, plan->small, plan->smalls);
    PUT(to->task, plan->task, plan->tasks);
#undef PUT
    to->letters = substitution_letters(plan);
    to->forward_tasks = plan->forward_tasks;
    to->tasks = plan->tasks;
    s->n = plan->n;
    s->slots = (int32_t)to->letters;
    return at;
}

libsolver_status device_solver_substitute(device_solver *s, const form_factor *is, const void *factor, const substitution *plan,
                                          const int32_t *user_row, const void *scale, char *sentence, int room)
{
    MAY_FAIL(sentence, room);
    const int64_t real_bytes = type_real_bytes(is->type);
    fake_wait(s->stream);
    if (plan && !grow(&s->memory, &s->bytes, &s->allocations, place_plan(plan, user_row, real_bytes, NULL, s) + 1))
        return no_room(sentence, room);
    if (plan)
        place_plan(plan, user_row, real_bytes, s->memory, s);
    s->substitutes = 1;
    s->type = is->type;
    s->substitution.hermitian = is->hermitian;
    s->substitution.cholesky = is->cholesky;
    s->substitution.panel_scalars = is->panel_scalars;
    s->substitution.factor = factor;
    copy((void *)s->scale, scale, s->n * real_bytes);
    return LIBSOLVER_OK;
}

/* ---- Solves --------------------------------------------------------------------------------------------- */

enum { PANEL_COLUMNS = 8 };

/* In a workspace: whether a solve gave up; then the letters of each column. */
static int64_t letters_at(void)
{
    return 256;
}

static int32_t columns_together(int64_t columns)
{
    return columns < 1 ? 1 : columns > PANEL_COLUMNS ? PANEL_COLUMNS : (int32_t)columns;
}

int64_t device_workspace_bytes(const device_solver *s, int64_t columns)
{
    return letters_at() + columns_together(columns) * (int64_t)s->slots * type_bytes(s->type);
}

libsolver_status device_workspace_open(const device_solver *s, int64_t columns, device_workspace *w, char *sentence, int room)
{
    *w = (device_workspace){.device = s->device, .columns = columns_together(columns)};
    MAY_FAIL(sentence, room);
    w->memory = fake_allocate(device_workspace_bytes(s, columns), 1);
    if (!w->memory)
        return no_room(sentence, room);
    memset(w->memory, 0, (size_t)device_workspace_bytes(s, columns));
    w->state = w->memory;
    w->letter = (char *)w->memory + letters_at();
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

typedef struct solve_work {
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
    insist(list != NULL, "no memory");
    for (int32_t q = 0; q < lists; q++)
        list[q] = s->head[q].list;
    const emulated_program p = {.n = s->n,
                                .slots = s->slots,
                                .lists = lists,
                                .levels = s->by_levels ? s->levels : 0,
                                .description = s->memory,
                                .description_bytes = (const char *)s->head - (const char *)s->memory,
                                .list = list,
                                .level_lists = s->level_blocks,
                                .copy = s->copy,
                                .user_row = s->user_row,
                                .scale = s->scale};
    for (int32_t q = 0; q < lists; q++)
        insist(memcmp(s->head[q].copy, s->copy + list[q].copy,
                      sizeof(task_copy) * (size_t)(list[q].copies < HEAD_COPIES ? list[q].copies : HEAD_COPIES)) == 0,
               "the head of a list has other copies than the list");
    const char *wrong = OF_TYPE(s->type, emulate, &p, b, x, fake.seed++, k->times);
    free(list);
    return wrong;
}

static const char *run_substitution(const solve_work *k, int64_t column, const void *b, void *x)
{
    const device_solver *s = &k->s;
    char *letters = (char *)k->w.letter + column * s->slots * type_bytes(s->type);
    const emulated_substitution e = {.plan = &s->substitution, .scale = s->scale, .user_row = s->user_row, .n = s->n, .b = b, .x = x, .letter = letters};
    insist(fake_room(letters) >= s->slots * type_bytes(s->type), "a workspace is too small");
    return OF_TYPE(s->type, emulate_substitution, &e);
}

static void run_solve(void *arguments)
{
    const solve_work *k = arguments;
    const size_t bytes = (size_t)(k->s.n * type_bytes(k->s.type)) + 1;
    char *b = malloc(bytes), *x = malloc(bytes);
    insist(b && x, "no memory");
    for (int64_t j = 0; j < k->b.columns; j++) {
        copy_column(&k->b, j, b, 1);
        const char *wrong = k->s.substitutes ? run_substitution(k, j % k->w.columns, b, x) : run_program(k, b, x);
        wrong = fake.gives_up ? EMULATOR_IS_STUCK : wrong;
        fake.gives_up = 0;
        insist(!wrong || !strcmp(wrong, EMULATOR_IS_STUCK), wrong);
        if (wrong)
            *device_solve_failed(&k->w) = 1;
        else
            copy_column(&k->x, j, x, 0);
    }
    free(b);
    free(x);
}

libsolver_status device_solve(const device_solver *s, const device_workspace *w, void *stream, const libsolver_vectors *b,
                              const libsolver_vectors *x, task_times *times)
{
    if (!s->memory || b->rows != s->n || x->rows != s->n || b->columns != x->columns || b->type != s->type || x->type != s->type)
        return LIBSOLVER_INVALID;
    MAY_FAIL(NULL, 0);
    const solve_work work = {*s, *w, *b, *x, times};
    insist(fake_room(w->memory) >= device_workspace_bytes(s, w->columns), "a workspace does not fit the solver");
    check_block(b);
    check_block(x);
    fake_launch(stream ? stream : s->stream, run_solve, &work, sizeof work);
    return LIBSOLVER_OK;
}

libsolver_status device_solve_timed(const device_solver *s, const device_workspace *w, const libsolver_vectors *b,
                                    const libsolver_vectors *x, int64_t tasks, task_times *times, char *sentence, int room)
{
    MAY_FAIL(sentence, room);
    TRY(device_solve(s, w, NULL, b, x, times));
    fake_wait(s->stream);
    for (int64_t t = 0; t < tasks; t++)
        insist(times[t].come > 0, "a task was not run");
    return LIBSOLVER_OK;
}

libsolver_status device_solve_check(const device_solver *s, const device_workspace *w, void *stream, int *gave_up, char *sentence, int room)
{
    *gave_up = 0;
    MAY_FAIL(sentence, room);
    fake_wait(stream ? stream : s->stream);
    *gave_up = *device_solve_failed(w) != 0;
    *device_solve_failed(w) = 0;
    return LIBSOLVER_OK;
}

/* ---- Between host and device ---------------------------------------------------------------------------- */

libsolver_status device_staging_open(const device_solver *s, int64_t bytes, device_staging *g, char *sentence, int room)
{
    *g = (device_staging){.device = s->device};
    MAY_FAIL(sentence, room);
    *g = (device_staging){s->device, bytes, fake_allocate(bytes + 1, 0), fake_allocate(bytes + 1, 1)};
    if (g->host && g->on_device)
        return LIBSOLVER_OK;
    device_staging_close(g);
    return no_room(sentence, room);
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
    copy(k->to, k->from, k->bytes);
}

libsolver_status device_staging_in(const device_solver *s, const device_staging *g, int64_t bytes, char *sentence, int room)
{
    MAY_FAIL(sentence, room);
    const copy_work work = {g->on_device, g->host, bytes};
    insist(fake_room(g->on_device) >= bytes, "what comes in has no room");
    fake_launch(s->stream, run_copy, &work, sizeof work);
    return LIBSOLVER_OK;
}

libsolver_status device_staging_out(const device_solver *s, const device_staging *g, int64_t bytes, char *sentence, int room)
{
    MAY_FAIL(sentence, room);
    const copy_work work = {g->host, g->on_device, bytes};
    insist(fake_room(g->on_device) >= bytes, "more comes out than there is");
    fake_launch(s->stream, run_copy, &work, sizeof work);
    fake_wait(s->stream);
    return LIBSOLVER_OK;
}

/* The other side has the same layout and no padding. */
static void copy_block(const device_solver *s, const libsolver_vectors *v, char *packed, int to_packed)
{
    const int by_rows = v->layout == LIBSOLVER_ROW_MAJOR;
    const int64_t size = type_bytes(v->type), lines = by_rows ? v->rows : v->columns, line = size * (by_rows ? v->columns : v->rows);
    fake_wait(s->stream);
    check_block(v);
    for (int64_t q = 0; q < lines; q++) {
        char *at = (char *)v->values + q * v->ld * size;
        copy(to_packed ? packed + q * line : at, to_packed ? at : packed + q * line, line);
    }
}

libsolver_status device_block_get(const device_solver *s, const libsolver_vectors *from, void *to, char *sentence, int room)
{
    MAY_FAIL(sentence, room);
    copy_block(s, from, to, 1);
    return LIBSOLVER_OK;
}

libsolver_status device_block_put(const device_solver *s, const void *from, const libsolver_vectors *to, char *sentence, int room)
{
    MAY_FAIL(sentence, room);
    copy_block(s, to, (char *)from, 0);
    return LIBSOLVER_OK;
}

/* ---- The values of a program ---------------------------------------------------------------------------- */

static int grow_buffer(device_form *f, form_buffer *b, int64_t bytes)
{
    return grow(&b->at, &b->bytes, &f->allocations, bytes);
}

libsolver_status device_form_load(device_form *f, const form_factor *factor, form_fill *fill, void *user, char *sentence, int room)
{
    MAY_FAIL(sentence, room);
    const int64_t bytes = (factor->panel_scalars + (factor->cholesky ? 0 : 2 * (int64_t)factor->n)) * type_bytes(factor->type);
    fake_wait(f->stream);
    if (!f->staging)
        f->staging = fake_allocate(2 * fake.half, 0);
    if (!f->staging || !grow_buffer(f, &f->factor, bytes + 16))
        return no_room(sentence, room);
    f->half = fake.half;
    f->is = *factor;
    for (int64_t from = 0, k = 0; from < bytes; from += f->half, k ^= 1) {
        const int64_t part = bytes - from < f->half ? bytes - from : f->half;
        char *half = (char *)f->staging + k * f->half;
        fill(user, from, part, half);
        copy((char *)f->factor.at + from, half, part);
    }
    return LIBSOLVER_OK;
}

/* The pattern with its arrays at their places, which they are copied to if `copies`; returns their bytes. */
static int64_t place_pattern(form_pattern *p, char *base, int copies)
{
    int64_t at = 0;
#define PUT(member, count) \
    do { \
        const int64_t bytes_ = (count) * (int64_t)sizeof *p->member; \
        void *to_ = place(base, &at, bytes_); \
        if (copies) \
            copy(to_, p->member, bytes_); \
        p->member = to_; \
    } while (0)
    PUT(piece, p->pieces);
    PUT(map, p->maps);
    PUT(column_piece, p->n);
    PUT(column, p->n);
    PUT(z_row, p->n);
    PUT(pivot_at16, p->n);
    PUT(pivot_position, p->n);
    PUT(small, p->smalls);
    PUT(tiled, p->tiled_groups);
    PUT(strip, p->strips);
    PUT(top, p->top_tiles);
    PUT(item, p->items);
    PUT(part, p->parts);
#undef PUT
    return at;
}

libsolver_status device_form_pattern(device_form *f, const form_pattern *pattern, char *sentence, int room)
{
    MAY_FAIL(sentence, room);
    form_pattern measured = *pattern, there = *pattern;
    fake_wait(f->stream);
    if (!grow_buffer(f, &f->pattern, place_pattern(&measured, NULL, 0) + 1))
        return no_room(sentence, room);
    place_pattern(&there, f->pattern.at, 1);
    return LIBSOLVER_OK;
}

libsolver_status device_form_values(device_form *f, const form_pattern *pattern, void *values, double *growth, double *seconds, char *sentence,
                                    int room)
{
    MAY_FAIL(sentence, room);
    const int64_t grown = pattern->smalls + pattern->strips, tiles = round_up(pattern->workspace * type_bytes(f->is.type), 256);
    const int64_t sums = 2 * SQUARE * (int64_t)pattern->strips * type_real_bytes(f->is.type);
    fake_wait(f->stream);
    if (!grow_buffer(f, &f->workspace, tiles + sums + 256))
        return no_room(sentence, room);
    memset(f->workspace.at, 0xff, (size_t)(tiles + sums)); /* what it held before does not matter */
    emulated_form e = {.pattern = *pattern,
                       .panel = f->factor.at,
                       .panel_scalars = f->is.panel_scalars,
                       .hermitian = f->is.hermitian,
                       .cholesky = f->is.cholesky,
                       .values = values,
                       .value_bytes = fake_room(values),
                       .workspace = f->workspace.at,
                       .workspace_bytes = tiles,
                       .sums = (char *)f->workspace.at + tiles,
                       .growth = growth,
                       .square_growth = growth + grown,
                       .seed = fake.seed++};
    place_pattern(&e.pattern, f->pattern.at, 0);
    const char *wrong = OF_TYPE(f->is.type, emulate_form, &e);
    insist(!wrong, wrong);
    *seconds = 1e-3;
    return LIBSOLVER_OK;
}

void device_form_drop(device_form *f)
{
    form_buffer *all[] = {&f->factor, &f->pattern, &f->workspace};
    for (int k = 0; k < 3; k++) {
        fake_free(all[k]->at);
        *all[k] = (form_buffer){0};
    }
}

void device_form_close(device_form *f)
{
    device_form_drop(f);
    fake_free(f->staging);
    *f = (device_form){0};
}

/* ---- Refinement ----------------------------------------------------------------------------------------- */

static int64_t place_matrix(device_matrix *a, char *base)
{
    int64_t at = 0;
    a->start = place(base, &at, (a->n + 1) * (int64_t)sizeof(int64_t));
    a->column = place(base, &at, a->entries * (int64_t)sizeof(int32_t));
    a->row_of = place(base, &at, a->n * (int64_t)sizeof(int32_t));
    a->source = place(base, &at, a->entries * (int64_t)sizeof(uint32_t));
    a->value = place(base, &at, a->entries * type_bytes(a->type));
    a->row_sum = place(base, &at, a->n * type_real_bytes(a->type));
    return at;
}

libsolver_status device_matrix_open(device_matrix *a, const full_matrix *pattern, int64_t lower_entries, const int32_t *row_of,
                                    libsolver_type type, char *sentence, int room)
{
    MAY_FAIL(sentence, room);
    a->type = type;
    a->n = pattern->n;
    a->entries = pattern->start[pattern->n];
    a->lower_entries = lower_entries;
    const int64_t bytes = place_matrix(a, NULL);
    a->memory = fake_allocate(bytes, 1);
    a->bytes = a->memory ? bytes : 0;
    if (!a->memory)
        return no_room(sentence, room);
    place_matrix(a, a->memory);
    copy(a->start, pattern->start, (a->n + 1) * (int64_t)sizeof(int64_t));
    copy(a->column, pattern->column, a->entries * (int64_t)sizeof(int32_t));
    copy(a->source, pattern->source, a->entries * (int64_t)sizeof(uint32_t));
    copy(a->row_of, row_of, a->n * (int64_t)sizeof(int32_t));
    return LIBSOLVER_OK;
}

libsolver_status device_matrix_set(const device_matrix *a, const void *lower, const void *row_sum, char *sentence, int room)
{
    MAY_FAIL(sentence, room);
    fake_wait(a->stream);
    OF_TYPE(a->type, emulate_matrix, a, lower, row_sum);
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
    w->state = place(base, &at, sizeof(refine_state));
    w->residual = place(base, &at, block);
    w->correction = place(base, &at, block);
    w->before = place(base, &at, block);
    w->spare = place(base, &at, block);
    return at;
}

libsolver_status device_refinement_open(const device_matrix *a, int32_t columns, device_refinement *w, char *sentence, int room)
{
    *w = (device_refinement){.device = a->device, .columns = columns < REFINE_COLUMNS ? columns : REFINE_COLUMNS};
    MAY_FAIL(sentence, room);
    w->memory = fake_allocate(place_refinement(a, w, NULL), 1);
    w->told = fake_allocate(sizeof(refine_state), 0);
    if (!w->memory || !w->told) {
        device_refinement_close(w);
        return no_room(sentence, room);
    }
    place_refinement(a, w, w->memory);
    memset(w->state, 0, sizeof(refine_state));
    return LIBSOLVER_OK;
}

void device_refinement_close(device_refinement *w)
{
    fake_free(w->memory);
    fake_free(w->told);
    w->memory = NULL;
    w->told = NULL;
}

static int fits(const device_matrix *a, const device_refinement *w, const refine_step *s)
{
    return s->b.columns == s->x.columns && s->b.columns <= w->columns && s->b.rows == a->n && s->x.rows == a->n && s->b.type == a->type &&
           s->x.type == a->type;
}

static void run_step(void *arguments)
{
    const emulated_refinement *r = arguments;
    const char *wrong = OF_TYPE(r->a.type, emulate_refine_step, r);
    insist(!wrong, wrong);
}

static void run_finish(void *arguments)
{
    const emulated_refinement *r = arguments;
    const char *wrong = OF_TYPE(r->a.type, emulate_refine_finish, r);
    insist(!wrong, wrong);
}

libsolver_status device_refine_step(const device_matrix *a, const device_refinement *w, void *stream, const refine_step *s)
{
    if (!fits(a, w, s))
        return LIBSOLVER_INVALID;
    MAY_FAIL(NULL, 0);
    check_block(&s->b);
    check_block(&s->x);
    const emulated_refinement work = {.a = *a, .w = *w, .step = *s};
    if (s->b.columns > 0)
        fake_launch(stream ? stream : a->stream, run_step, &work, sizeof work);
    return LIBSOLVER_OK;
}

libsolver_status device_refine_finish(const device_matrix *a, const device_refinement *w, void *stream, const refine_step *s,
                                      const refine_outcome *outcome)
{
    if (!fits(a, w, s))
        return LIBSOLVER_INVALID;
    MAY_FAIL(NULL, 0);
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
            copy(entry_of(&k->to, i, j), entry_of(&k->from, i, j), type_bytes(k->from.type));
}

libsolver_status device_refine_spare(const device_matrix *a, const device_refinement *w, void *stream, const libsolver_vectors *b,
                                     libsolver_vectors *view)
{
    if (b->columns > w->columns || b->rows != a->n)
        return LIBSOLVER_INVALID;
    MAY_FAIL(NULL, 0);
    check_block(b);
    *view = *b;
    view->values = w->spare;
    view->ld = b->layout == LIBSOLVER_ROW_MAJOR ? b->columns : b->rows;
    const spare_work work = {*b, *view};
    fake_launch(stream ? stream : a->stream, run_spare, &work, sizeof work);
    return LIBSOLVER_OK;
}

libsolver_status device_refine_wait(const device_matrix *a, void *stream)
{
    MAY_FAIL(NULL, 0);
    fake_wait(stream ? stream : a->stream);
    return LIBSOLVER_OK;
}
