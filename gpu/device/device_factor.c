/* gpu/device/device_factor.c: the way of a factor from its tree on the host to a device, and back
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/device/device_factor.h"
#include "base/environment.h"
#include "base/type.h"
#include <string.h>
#include <time.h>

/* What a thread copies at a time. */
#define COPIED_BYTES ((int64_t)1 << 17)

static double seconds(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void device_factor_open(device_factor *f, environment *env, void *stream)
{
    *f = (device_factor){.env = env, .device = env->device, .stream = stream};
}

void device_factor_close(device_factor *f)
{
    device_factor_release(f);
    if (f->env)
        memory_free(&f->env->memory, f->panel_at);
    *f = (device_factor){0};
}

/* The factor's values as one row of bytes, in three regions. */
enum { PANELS, DIAGONAL, OFF_DIAGONAL, REGIONS };

typedef struct factor_bytes {
    const device_factor *factor;
    const factor_tree *tree;
    void *const *panel, *const *d, *const *e; /* where they go to, NULL: they come from the tree */
} factor_bytes;

/* Byte at which node s begins. */
static int64_t begin_of(const factor_bytes *t, int region, int32_t s)
{
    const factor_tree *tree = t->tree;
    const int64_t *panel_at = t->factor->panel_at;
    const int64_t scalars =
        region == PANELS
            ? panel_at[s]
            : panel_at[tree->nodes] + (region - DIAGONAL) * (int64_t)tree->n + tree->first[s];
    return type_bytes(tree->type) * scalars;
}

static const char *source_of(const factor_tree *tree, int region, int32_t s)
{
    return region == PANELS ? tree->panel[s] : region == DIAGONAL ? tree->d[s] : tree->e[s];
}

/* Of the panel of node s, from its first entry to its last. */
static int64_t panel_scalars(const factor_tree *tree, int32_t s)
{
    const int64_t p = tree->first[s + 1] - tree->first[s],
                  rows = tree->row_start[s + 1] - tree->row_start[s];
    return p > 0 ? (p - 1) * tree->ld[s] + p + rows : 0;
}

static int64_t end_of(const factor_bytes *t, int region, int32_t s)
{
    return region == PANELS
               ? begin_of(t, PANELS, s) + type_bytes(t->tree->type) * panel_scalars(t->tree, s)
               : begin_of(t, region, s + 1);
}

/* Bytes [from, to) of the panel of node s, which are at `part`, to its columns on the host. */
static void copy_columns(const factor_bytes *t, int32_t s, int64_t from, int64_t to,
                         const char *part)
{
    const factor_tree *tree = t->tree;
    const int64_t scalar = type_bytes(tree->type), pitch = scalar * tree->ld[s],
                  column = scalar * (tree->first[s + 1] - tree->first[s] + tree->row_start[s + 1] -
                                     tree->row_start[s]);
    for (int64_t at = from; at < to;) {
        const int64_t c = at / pitch, row = at % pitch,
                      end = (c + 1) * pitch < to ? (c + 1) * pitch : to,
                      bytes = (end - at < column - row ? end - at : column - row);
        if (bytes > 0)
            memcpy((char *)t->panel[s] + c * column + row, part + (at - from), (size_t)bytes);
        at = end;
    }
}

/* Copies what a region has of bytes [from, to), which are at `part`. */
static void copy_region(const factor_bytes *t, int region, int64_t from, int64_t to, char *part)
{
    int32_t low = 0, high = t->tree->nodes; /* the last node that begins at from or before */
    while (high - low > 1) {
        const int32_t middle = low + (high - low) / 2;
        if (begin_of(t, region, middle) <= from)
            low = middle;
        else
            high = middle;
    }
    for (int32_t s = low; s < t->tree->nodes && begin_of(t, region, s) < to; s++) {
        const int64_t begin = begin_of(t, region, s), end = end_of(t, region, s);
        const int64_t a = begin > from ? begin : from, b = end < to ? end : to;
        if (b <= a)
            continue;
        if (t->panel && region == PANELS)
            copy_columns(t, s, a - begin, b - begin, part + (a - from));
        else if (t->panel)
            memcpy((char *)(region == DIAGONAL ? t->d : t->e)[s] + (a - begin), part + (a - from),
                   (size_t)(b - a));
        else
            memcpy(part + (a - from), source_of(t->tree, region, s) + (a - begin), (size_t)(b - a));
    }
}

static void copy(void *user, int64_t from, int64_t bytes, void *part)
{
    const factor_bytes *t = user;
    const int64_t parts = (bytes + COPIED_BYTES - 1) / COPIED_BYTES;
    const int regions = t->tree->cholesky ? 1 : REGIONS;
#pragma omp parallel for num_threads(t->factor->env->threads) schedule(dynamic, 1)
    for (int64_t q = 0; q < parts; q++) {
        const int64_t a = q * COPIED_BYTES, b = a + COPIED_BYTES < bytes ? a + COPIED_BYTES : bytes;
        for (int region = PANELS; region < regions; region++)
            copy_region(t, region, from + a, from + b, (char *)part + a);
    }
}

/* Where the panel of each node begins.  OUT_OF_MEMORY. */
static libsolver_status place_panels(device_factor *f, const factor_tree *tree)
{
    memory *m = &f->env->memory;
    if (!f->panel_at || f->nodes != tree->nodes) {
        memory_free(m, f->panel_at);
        f->panel_at = memory_new(m, tree->nodes + 1, sizeof(int64_t));
        f->nodes = tree->nodes;
    }
    if (!f->panel_at)
        return LIBSOLVER_OUT_OF_MEMORY;
    f->panel_at[0] = 0;
    for (int32_t s = 0; s < tree->nodes; s++)
        f->panel_at[s + 1] = f->panel_at[s] + round_up(panel_scalars(tree, s), 2);
    return LIBSOLVER_OK;
}

static libsolver_status take(device_factor *f, const factor_tree *tree, message *why)
{
    if (place_panels(f, tree) != LIBSOLVER_OK)
        return NO_MEMORY(f->env, "the factor on the device", why);
    const device_factor_shape shape = {.type = tree->type,
                                       .hermitian = tree->hermitian,
                                       .cholesky = tree->cholesky,
                                       .n = tree->n,
                                       .panel_scalars = f->panel_at[tree->nodes]};
    return device_factor_take(f, &shape, why);
}

libsolver_status device_factor_reserve(device_factor *f, const factor_tree *tree, message *why)
{
    f->seconds = 0;
    return take(f, tree, why);
}

libsolver_status device_factor_load(device_factor *f, const factor_tree *tree, message *why)
{
    const double start = seconds();
    factor_bytes bytes = {.factor = f, .tree = tree};
    TRY(take(f, tree, why));
    const libsolver_status status = device_factor_upload(f, copy, &bytes, why);
    f->seconds = seconds() - start;
    return status;
}

libsolver_status device_factor_fetch(device_factor *f, const factor_tree *tree, void *const *panel,
                                     void *const *d, void *const *e, message *why)
{
    factor_bytes bytes = {.factor = f, .tree = tree, .panel = panel, .d = d, .e = e};
    return device_factor_download(f, copy, &bytes, why);
}
