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

libsolver_status device_inverter_run(device_inverter *f, const device_factor *factor,
                                     const invert_pattern *pattern, void *values, double *growth,
                                     double *seconds, message *why)
{
    MAY_FAIL("inverting groups of columns", why);
    const int64_t grown = pattern->smalls + pattern->strips,
                  tiles = round_up(pattern->workspace * type_bytes(factor->shape.type), 256);
    const int64_t sums =
        3 * SQUARE * (int64_t)pattern->strips * type_real_bytes(factor->shape.type);
    fake_wait(f->stream);
    if (!fake_grow_buffer(&f->workspace, &f->allocations, tiles + sums + 256))
        return fake_no_memory("the workspace for the inverses", tiles + sums + 256, why);
    memset(f->workspace.at, 0xff, (size_t)(tiles + sums)); /* what it held before does not matter */
    emulated_inversion e = {.pattern = *pattern,
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
                            .root_growth = growth + grown,
                            .seed = fake.seed++};
    place_pattern(&e.pattern, f->pattern.at, 0);
    const char *wrong = OF_TYPE(factor->shape.type, emulate_inversion, &e);
    fake_insist(!wrong, wrong);
    *seconds = 1e-3;
    return LIBSOLVER_OK;
}

void device_inverter_drop(device_inverter *f)
{
    fake_free_buffer(&f->pattern);
    fake_free_buffer(&f->workspace);
}
