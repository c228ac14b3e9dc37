/* test/support/fake/device_factorizer.c: factorizations on the host:
 * gpu/factor/device_factorizer.cu
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/memory.h"
#include "device.h"
#include "gpu/device/device_values.h"
#include "gpu/factor/device_factorizer.h"
#include <string.h>

/* The program with its arrays and the pattern's at their places, which they are copied to if
 * `copies`; returns their bytes. */
static int64_t place_program(factor_program *g, factor_pattern *p, char *base, int copies)
{
    int64_t at = 0, rows = 0;
#define PUT(pointer, count) \
    do { \
        const int64_t bytes_ = (count) * (int64_t)sizeof *(pointer); \
        void *to_ = fake_place(base, &at, bytes_); \
        if (copies) \
            fake_copy(to_, pointer, bytes_); \
        (pointer) = to_; \
    } while (0)
    for (int32_t s = 0; s < g->nodes; s++)
        rows += g->front[s].m;
    PUT(g->front, g->fronts);
    PUT(g->child, g->children);
    PUT(g->begin, g->begins);
    PUT(g->tile_end, g->tiles);
    PUT(g->entry, g->entries);
    PUT(g->source, g->entries);
    PUT(g->diagonal, g->n);
    PUT(g->level_start, (int64_t)g->levels + 1);
    PUT(g->range, g->ranges);
    PUT(g->task, g->tasks);
    PUT(g->by_level, g->tasks);
    PUT(p->row_of, g->n);
    PUT(g->position, g->positions);
    PUT(g->schur, g->schur_entries);
    if (p->signs) {
        PUT(p->index, rows);
        PUT(p->signs, g->n);
    }
#undef PUT
    return at;
}

static int64_t table_bytes(const factor_program *program, const factor_pattern *pattern)
{
    factor_program g = *program;
    factor_pattern p = *pattern;
    return place_program(&g, &p, NULL, 0) + 1;
}

/* Outcome and scale, the arena, then room for the rest. */
static int64_t scale_at(void)
{
    return (int64_t)sizeof(cholesky_outcome);
}

static int64_t arena_at(const factor_program *g)
{
    return round_up(scale_at() + g->n * (int64_t)sizeof(double), 16);
}

static int64_t workspace_bytes(const factor_program *g, libsolver_type type)
{
    return arena_at(g) +
           type_bytes(type) *
               (g->entries + g->arena_scalars + g->inverses * FACTOR_TILE * FACTOR_TILE) +
           1;
}

int64_t device_factorizer_bytes(const factor_program *program, const factor_pattern *pattern,
                                libsolver_type type)
{
    return table_bytes(program, pattern) + workspace_bytes(program, type);
}

libsolver_status device_factorizer_load(device_factorizer *f, const factor_program *program,
                                        const factor_pattern *pattern, libsolver_type type,
                                        message *why)
{
    MAY_FAIL("copying the program of the factorization to the device", why);
    factor_program g = *program;
    factor_pattern p = *pattern;
    const int64_t tables = table_bytes(program, pattern), workspace = workspace_bytes(&g, type);
    fake_wait(f->stream);
    f->type = type;
    f->signs.has_signs = pattern->signs != NULL;
    if (!fake_grow_buffer(&f->tables, &f->allocations, tables))
        return fake_no_memory("the program of the factorization", tables, why);
    if (!fake_grow_buffer(&f->workspace, &f->allocations, workspace))
        return fake_no_memory("the workspace of the factorization", workspace, why);
    place_program(&g, &p, f->tables.at, 1);
    f->outcome = f->workspace.at;
    f->scale = (char *)f->workspace.at + scale_at();
    return LIBSOLVER_OK;
}

/* What is put on a stream. */
typedef struct factorization {
    factor_program program;
    int has_signs;
    char *tables;
    libsolver_type type;
    const void *fresh; /* of that many bytes */
    int64_t value_bytes;
    void *values;
    const value_flaws *flaws;
    emulated_factorization e;
} factorization;

static void factorize(void *arguments)
{
    factorization *f = arguments;
    factor_pattern p = {.signs = f->has_signs ? (const int8_t *)f->tables : NULL};
    place_program(&f->program, &p, f->tables, 0);
    f->e.index = p.index;
    f->e.signs = p.signs;
    f->e.row_of = p.row_of;
    f->e.program = &f->program;
    f->e.seed = fake.seed++;
    if (f->fresh && !f->flaws->nonfinite && !f->flaws->asymmetric)
        fake_copy(f->values, f->fresh, f->value_bytes);
    const char *wrong = OF_TYPE(f->type, emulate_factorization, &f->e);
    fake_insist(!wrong, wrong);
}

static int64_t trace_bytes(const factor_program *program)
{
    return 2 * program->tasks * (int64_t)sizeof(uint64_t);
}

libsolver_status device_factorizer_launch(device_factorizer *f, const factor_program *program,
                                          const factorizer_arguments *a, message *why)
{
    MAY_FAIL("launching the factorization", why);
    const int64_t value_bytes = program->entries * type_bytes(f->type) * (f->is_mixed ? 2 : 1);
    const factorization work = {.program = *program,
                                .has_signs = f->signs.has_signs,
                                .tables = f->tables.at,
                                .type = f->type,
                                .fresh = a->fresh,
                                .value_bytes = value_bytes,
                                .values = a->values,
                                .flaws = a->flaws,
                                .e = {.values = a->values,
                                      .is_mixed = f->is_mixed,
                                      .is_unscaled = a->is_unscaled,
                                      .shift = a->shift,
                                      .by_levels = a->by_levels,
                                      .doubt_level = a->doubt_level,
                                      .panel = a->panel,
                                      .arena = (char *)f->workspace.at + arena_at(program),
                                      .trace = a->trace,
                                      .scale = (void *)f->scale,
                                      .outcome = f->workspace.at}};
    fake_insist(fake_room(a->panel) >=
                    (program->panel_scalars + (f->signs.has_signs ? 2 * (int64_t)program->n : 0)) *
                        type_bytes(f->type),
                "panels need more room");
    fake_insist(!f->is_mixed ||
                    (f->type != LIBSOLVER_D && f->type != LIBSOLVER_Z && !f->signs.has_signs),
                "a factor in mixed precision is in single, and one by Cholesky");
    fake_insist(fake_room(a->values) >= value_bytes, "values need more room");
    fake_insist(!a->fresh || fake_room(a->fresh) >= value_bytes, "fresh values need more room");
    fake_insist(!a->fresh || fake_room(a->flaws) >= (int64_t)sizeof *a->flaws,
                "flaws are not on the device");
    if (a->trace)
        fake_insist(fake_room(a->trace) >= trace_bytes(program), "the trace needs more room");
    fake_launch(f->stream, factorize, &work, sizeof work);
    return LIBSOLVER_OK;
}

libsolver_status device_factorizer_timed(device_factorizer *f, const factor_program *program,
                                         const factorizer_arguments *a, uint64_t *times,
                                         message *why)
{
    MAY_FAIL("the traced factorization", why);
    const int64_t bytes = trace_bytes(program);
    factorizer_arguments traced = *a;
    traced.trace = fake_allocate(bytes, 1);
    if (!traced.trace)
        return fake_no_memory("the trace", bytes, why);
    const libsolver_status status = device_factorizer_launch(f, program, &traced, why);
    fake_wait(f->stream);
    fake_copy(times, traced.trace, bytes);
    fake_free(traced.trace);
    return status;
}

/* Which the emulator has done. */
libsolver_status device_factorizer_judge(device_factorizer *f, const factor_program *program,
                                         message *why)
{
    (void)program;
    if (f->signs.has_signs)
        MAY_FAIL("launching the look at pivots", why);
    return LIBSOLVER_OK;
}

libsolver_status device_factorizer_finish(device_factorizer *f, const factor_program *program,
                                          cholesky_outcome *outcome, message *why)
{
    (void)program;
    MAY_FAIL("the factorization on the device", why);
    fake_wait(f->stream);
    memcpy(outcome, f->outcome, sizeof *outcome);
    return LIBSOLVER_OK;
}

/* By columns on the device, then to its place. */
libsolver_status device_factorizer_complement(device_factorizer *f, const factor_program *program,
                                              const void *values, const complement_place *to,
                                              message *why)
{
    MAY_FAIL("forming the Schur complement", why);
    const int64_t size = program->schur_size, scalar = type_bytes(f->type),
                  bytes = size * size * scalar;
    factor_program g = *program;
    factor_pattern p = {0};
    if (!fake_grow_buffer(&f->complement, &f->allocations, bytes))
        return fake_no_memory("the Schur complement", bytes, why);
    fake_wait(f->stream);
    place_program(&g, &p, f->tables.at, 0);
    const emulated_complement c = {.program = &g,
                                   .row_of = p.row_of,
                                   .values = values,
                                   .scale = f->scale,
                                   .arena = (char *)f->workspace.at + arena_at(program),
                                   .out = f->complement.at};
    OF_TYPE(f->type, emulate_complement, &c);
    const int64_t row = to->are_rows ? to->ld : 1, column = to->are_rows ? 1 : to->ld;
    for (int64_t j = 0; j < size; j++)
        for (int64_t i = 0; i < size; i++)
            fake_copy((char *)to->at + (i * row + j * column) * scalar,
                      (const char *)f->complement.at + (i + j * size) * scalar, scalar);
    return LIBSOLVER_OK;
}

void device_factorizer_drop(device_factorizer *f)
{
    fake_wait(f->stream);
    fake_free_buffer(&f->tables);
    fake_free_buffer(&f->workspace);
    fake_free_buffer(&f->complement);
}
