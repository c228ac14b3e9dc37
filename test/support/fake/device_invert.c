/* test/support/fake/device_invert.c: the values of a program, on the host:
 * gpu/invert/device_invert.cu
 * SPDX-License-Identifier: BSD-3-Clause */
#include "device.h"
#include "base/memory.h"
#include <string.h>

/* The pattern with its arrays at their places, which they are copied to if `copies`; returns their
 * bytes. */
static int64_t place_pattern(invert_pattern *p, char *base, int copies)
{
    int64_t at = 0;
#define PUT(member, count) \
    do { \
        const int64_t bytes_ = (count) * (int64_t)sizeof *p->member; \
        void *to_ = fake_place(base, &at, bytes_); \
        if (copies) \
            fake_copy(to_, p->member, bytes_); \
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
    PUT(root, p->root_tiles);
    PUT(item, p->items);
    PUT(part, p->parts);
    PUT(task, p->tasks);
    PUT(wait, p->waits);
    PUT(column_wait, p->waits > 0 ? p->n : 0);
#undef PUT
    return at;
}

libsolver_status device_inverter_load(device_inverter *f, const invert_pattern *pattern,
                                      message *why)
{
    MAY_FAIL("copying the tables for the inverses to the device", why);
    invert_pattern measured = *pattern, there = *pattern;
    fake_wait(f->stream);
    const int64_t bytes = place_pattern(&measured, NULL, 0) + 1;
    if (!fake_grow_buffer(&f->pattern, &f->allocations, bytes))
        return fake_no_memory("the tables for the inverses", bytes, why);
    place_pattern(&there, f->pattern.at, 1);
    return LIBSOLVER_OK;
}

/* What is put on a stream. */
typedef struct inversion {
    emulated_inversion e;
    char *pattern;
    libsolver_type type;
} inversion;

/* The largest growths, behind all of them. */
static void gather_growth(const inversion *v)
{
    const invert_pattern *p = &v->e.pattern;
    const int64_t grown = p->smalls + p->strips;
    double largest[2] = {0, 0};
    for (int64_t q = 0; q < grown; q++)
        largest[0] = worse_growth(v->e.growth[q], largest[0]);
    for (int32_t q = p->smalls - p->small_roots.count; q < p->smalls; q++)
        largest[1] = worse_growth(v->e.root_growth[q], largest[1]);
    for (int32_t s = 0; s < p->strips; s++)
        if (p->tiled[p->strip[s].group].root >= 0)
            largest[1] = worse_growth(v->e.root_growth[p->smalls + s], largest[1]);
    gathered_growth *g = (gathered_growth *)(v->e.root_growth + grown);
    memset(g, 0, sizeof *g);
    memcpy(&g->of_group, largest, sizeof g->of_group);
    memcpy(&g->of_root, largest + 1, sizeof g->of_root);
}

static void invert(void *arguments)
{
    inversion *v = arguments;
    const int64_t sums = 3 * SQUARE * (int64_t)v->e.pattern.strips * type_real_bytes(v->type);
    /* what it held before does not matter */
    memset(v->e.workspace, 0xff, (size_t)(v->e.workspace_bytes + sums));
    place_pattern(&v->e.pattern, v->pattern, 0);
    v->e.seed = fake.seed++;
    const char *wrong = OF_TYPE(v->type, emulate_inversion, &v->e);
    fake_insist(!wrong, wrong);
    gather_growth(v);
}

libsolver_status device_inverter_words(device_inverter *f, const device_factor *factor,
                                       const invert_pattern *pattern, invert_words *words,
                                       message *why)
{
    (void)factor, (void)pattern;
    MAY_FAIL("taking memory for the inverses", why);
    fake_insist(fake_room(f->workspace.at) >= (int64_t)sizeof(gathered_growth),
                "words are asked for before there are any");
    *words = (invert_words){0};
    return LIBSOLVER_OK;
}

libsolver_status device_inverter_launch(device_inverter *f, const device_factor *factor,
                                        const invert_pattern *pattern, void *values,
                                        const unsigned *words, int is_timed, message *why)
{
    (void)words; /* a stream is worked on in order */
    MAY_FAIL("launching the kernels that invert groups of columns", why);
    const libsolver_type type = factor->shape.type;
    const int64_t grown = pattern->smalls + pattern->strips,
                  tiles = round_up(pattern->workspace * type_bytes(type), 256),
                  sums =
                      round_up(3 * SQUARE * (int64_t)pattern->strips * type_real_bytes(type), 256),
                  bytes = tiles + sums + 2 * grown * (int64_t)sizeof(double) +
                          (int64_t)sizeof(gathered_growth) + 1;
    if (!fake_grow_buffer(&f->workspace, &f->allocations, bytes))
        return fake_no_memory("the workspace for the inverses", bytes, why);
    double *growth = (double *)((char *)f->workspace.at + tiles + sums);
    f->is_timed = is_timed;
    f->growths = grown;
    f->growth = growth;
    f->gathered = (const gathered_growth *)(growth + 2 * grown);
    const inversion work = {.e = {.pattern = *pattern,
                                  .panel = factor->values.at,
                                  .panel_scalars = factor->shape.panel_scalars,
                                  .hermitian = factor->shape.hermitian,
                                  .cholesky = factor->shape.cholesky,
                                  .values = values,
                                  .value_bytes = fake_room(values),
                                  .workspace = f->workspace.at,
                                  .workspace_bytes = tiles,
                                  .sums = (char *)f->workspace.at + tiles,
                                  .growth = growth,
                                  .root_growth = growth + grown},
                            .pattern = f->pattern.at,
                            .type = type};
    fake_launch(f->stream, invert, &work, sizeof work);
    return LIBSOLVER_OK;
}

libsolver_status device_inverter_finish(const device_inverter *f, largest_growth *growth,
                                        double *seconds, message *why)
{
    MAY_FAIL("inverting groups of columns", why);
    fake_wait(f->stream);
    memcpy(&growth->of_group, &f->gathered->of_group, sizeof(double));
    memcpy(&growth->of_root, &f->gathered->of_root, sizeof(double));
    *seconds = f->is_timed ? 1e-3 : 0;
    return LIBSOLVER_OK;
}

libsolver_status device_inverter_growths(const device_inverter *f, double *growth, message *why)
{
    MAY_FAIL("inverting groups of columns", why);
    fake_wait(f->stream);
    fake_copy(growth, f->growth, 2 * f->growths * (int64_t)sizeof(double));
    return LIBSOLVER_OK;
}

void device_inverter_drop(device_inverter *f)
{
    fake_free_buffer(&f->pattern);
    fake_free_buffer(&f->workspace);
}
