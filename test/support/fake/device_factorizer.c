/* test/support/fake/device_factorizer.c: factorizations on the host:
 * gpu/factor/device_factorizer.cu
 * SPDX-License-Identifier: BSD-3-Clause */
#include "device.h"
#include "gpu/factor/device_factorizer.h"
#include <string.h>

/* The program with its arrays at their places, which they are copied to if `copies`, then the
 * positions; returns their bytes. */
static int64_t place_program(factor_program *g, const int32_t **position, int64_t positions,
                             char *base, int copies)
{
    int64_t at = 0;
#define PUT(pointer, count) \
    do { \
        const int64_t bytes_ = (count) * (int64_t)sizeof *(pointer); \
        void *to_ = fake_place(base, &at, bytes_); \
        if (copies) \
            fake_copy(to_, pointer, bytes_); \
        (pointer) = to_; \
    } while (0)
    PUT(g->front, g->nodes);
    PUT(g->child, g->children);
    PUT(g->begin, g->begins);
    PUT(g->tile_end, g->tiles);
    PUT(g->entry, g->entries);
    PUT(g->level_start, (int64_t)g->levels + 1);
    PUT(g->range, g->ranges);
    PUT(g->task, g->tasks);
    PUT(*position, positions);
#undef PUT
    return at;
}

int64_t device_factorizer_bytes(const factor_program *program, int64_t positions,
                                libsolver_type type)
{
    factor_program measured = *program;
    const int32_t *position = NULL;
    return place_program(&measured, &position, positions, NULL, 0) +
           type_bytes(type) *
               (program->arena_scalars + program->inverses * FACTOR_TILE * FACTOR_TILE) +
           (int64_t)sizeof(cholesky_outcome) + 2;
}

libsolver_status device_factorizer_load(device_factorizer *f, const factor_program *program,
                                        const int32_t *position, int64_t positions,
                                        libsolver_type type, message *why)
{
    MAY_FAIL("copying the program of the factorization to the device", why);
    factor_program measured = *program, there = *program;
    const int32_t *at = position;
    const int64_t tables = place_program(&measured, &at, positions, NULL, 0) + 1,
                  workspace = device_factorizer_bytes(program, positions, type) - tables;
    fake_wait(f->stream);
    f->type = type;
    f->positions = positions;
    if (!fake_grow_buffer(&f->tables, &f->allocations, tables))
        return fake_no_memory("the program of the factorization", tables, why);
    if (!fake_grow_buffer(&f->workspace, &f->allocations, workspace))
        return fake_no_memory("the workspace of the factorization", workspace, why);
    at = position;
    place_program(&there, &at, positions, f->tables.at, 1);
    return LIBSOLVER_OK;
}

/* What is put on a stream. */
typedef struct factorization {
    factor_program program;
    int64_t positions;
    char *tables;
    libsolver_type type;
    emulated_factorization e;
} factorization;

static void factorize(void *arguments)
{
    factorization *f = arguments;
    place_program(&f->program, &f->e.position, f->positions, f->tables, 0);
    f->e.program = &f->program;
    f->e.seed = fake.seed++;
    const char *wrong = OF_TYPE(f->type, emulate_factorization, &f->e);
    fake_insist(!wrong, wrong);
}

libsolver_status device_factorizer_launch(device_factorizer *f, const factor_program *program,
                                          const factorizer_arguments *a, message *why)
{
    MAY_FAIL("launching the factorization", why);
    const factorization work = {.program = *program,
                                .positions = f->positions,
                                .tables = f->tables.at,
                                .type = f->type,
                                .e = {.values = a->values,
                                      .diagonal = a->diagonal,
                                      .doubt_level = a->doubt_level,
                                      .panel = a->panel,
                                      .outcome = f->workspace.at}};
    fake_insist(fake_room(a->panel) >= program->panel_scalars * type_bytes(f->type),
                "panels need more room");
    fake_launch(f->stream, factorize, &work, sizeof work);
    return LIBSOLVER_OK;
}

libsolver_status device_factorizer_finish(device_factorizer *f, cholesky_outcome *outcome,
                                          message *why)
{
    MAY_FAIL("the factorization on the device", why);
    fake_wait(f->stream);
    memcpy(outcome, f->workspace.at, sizeof *outcome);
    return LIBSOLVER_OK;
}

void device_factorizer_drop(device_factorizer *f)
{
    fake_wait(f->stream);
    fake_free_buffer(&f->tables);
    fake_free_buffer(&f->workspace);
}
