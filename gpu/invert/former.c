/* gpu/invert/former.c: the values of a program formed on a device from a factor on the host
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/invert/former.h"
#include "base/type.h"
#include <stdio.h>
#include <time.h>

/* Of the workspace, and what a thread copies at a time. */
#define WORKSPACE_BYTES ((int64_t)1 << 30)
#define COPIED_BYTES ((int64_t)1 << 17)

static double seconds(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void former_open(former *f, environment *env, void *stream)
{
    memset(f, 0, sizeof *f);
    f->env = env;
    f->device.device = env->device;
    f->device.stream = stream;
    f->workspace_limit = WORKSPACE_BYTES;
}

void former_drop(former *f)
{
    device_form_drop(&f->device);
    form_tables_free(&f->env->memory, &f->tables);
    memory_free(&f->env->memory, f->growth);
    f->growth = NULL;
}

void former_close(former *f)
{
    if (f->env) {
        former_drop(f);
        memory_free(&f->env->memory, f->panel_at);
    }
    device_form_close(&f->device);
    memset(f, 0, sizeof *f);
}

int64_t former_bytes(const former *f)
{
    return f->device.factor.bytes + f->device.pattern.bytes + f->device.workspace.bytes;
}

static libsolver_status memory_failed(const former *f, char *error, int room)
{
    snprintf(error, (size_t)room, "wanted %lld more bytes", (long long)f->env->memory.wanted);
    return LIBSOLVER_OUT_OF_MEMORY;
}

/* ---- The factor's bytes in one row: panels, d, e --------------------------------------------- */

enum { PANELS, DIAGONAL, OFF_DIAGONAL, REGIONS };

/* Byte at which node s begins. */
static int64_t begin_of(const former *f, int region, int32_t s)
{
    const int64_t size = type_bytes(f->tree->type), panels = f->panel_at[f->tree->nodes];
    return size * (region == PANELS
                       ? f->panel_at[s]
                       : panels + (region - DIAGONAL) * (int64_t)f->tree->n + f->tree->first[s]);
}

static const char *source_of(const former *f, int region, int32_t s)
{
    return region == PANELS     ? f->tree->panel[s]
           : region == DIAGONAL ? f->tree->d[s]
                                : f->tree->e[s];
}

/* What a region has of bytes [from, to). */
static void copy_region(const former *f, int region, int64_t from, int64_t to, char *out)
{
    int32_t low = 0, high = f->tree->nodes; /* the last node that begins at from or before */
    while (high - low > 1) {
        const int32_t middle = low + (high - low) / 2;
        if (begin_of(f, region, middle) <= from)
            low = middle;
        else
            high = middle;
    }
    for (int32_t s = low; s < f->tree->nodes && begin_of(f, region, s) < to; s++) {
        const int64_t begin = begin_of(f, region, s), end = begin_of(f, region, s + 1);
        const int64_t a = begin > from ? begin : from, b = end < to ? end : to;
        if (b > a)
            memcpy(out + (a - from), source_of(f, region, s) + (a - begin), (size_t)(b - a));
    }
}

static void fill(void *user, int64_t from, int64_t bytes, void *to)
{
    const former *f = user;
    const int64_t parts = (bytes + COPIED_BYTES - 1) / COPIED_BYTES;
    const int regions = f->tree->cholesky ? 1 : REGIONS;
#pragma omp parallel for num_threads(f->env->threads) schedule(dynamic, 1)
    for (int64_t q = 0; q < parts; q++) {
        const int64_t a = q * COPIED_BYTES, b = a + COPIED_BYTES < bytes ? a + COPIED_BYTES : bytes;
        for (int region = PANELS; region < regions; region++)
            copy_region(f, region, from + a, from + b, (char *)to + a);
    }
}

libsolver_status former_load(former *f, const factor_tree *tree, char *error, int room)
{
    const double start = seconds();
    memory *m = &f->env->memory;
    if (!f->panel_at || f->nodes != tree->nodes) {
        memory_free(m, f->panel_at);
        f->panel_at = memory_new(m, tree->nodes + 1, sizeof(int64_t));
        f->nodes = tree->nodes;
    }
    if (!f->panel_at)
        return memory_failed(f, error, room);
    f->tree = tree;
    f->panel_at[0] = 0;
    for (int32_t s = 0; s < tree->nodes; s++) {
        const int64_t p = tree->first[s + 1] - tree->first[s],
                      rows = tree->row_start[s + 1] - tree->row_start[s];
        f->panel_at[s + 1] = f->panel_at[s] + (p > 0 ? (p - 1) * tree->ld[s] + p + rows : 0);
    }
    const form_factor factor = {.type = tree->type,
                                .hermitian = tree->hermitian,
                                .cholesky = tree->cholesky,
                                .n = tree->n,
                                .panel_scalars = f->panel_at[tree->nodes]};
    const libsolver_status status = device_form_load(&f->device, &factor, fill, f, error, room);
    f->info = (former_info){.load = seconds() - start, .factor_bytes = f->device.factor.bytes};
    return status;
}

/* growth of groups from that of small ones and of strips; square: only of roots with G, 0 of
 * others */
static void collect_growth(const form_tables *t, int square, const double *part, double *growth)
{
    const form_pattern *p = &t->pattern;
    if (square)
        for (int32_t q = 0; q < p->smalls + p->tiled_groups; q++)
            growth[q] = 0;
    for (int32_t q = square ? p->smalls - p->small_tops : 0; q < p->smalls; q++)
        growth[t->of_small[q]] = part[q];
    for (int32_t q = 0; q < p->tiled_groups; q++) {
        if (square && p->tiled[q].top < 0)
            continue;
        const double *of = part + p->smalls + p->tiled[q].first_strip;
        double worst = 0;
        for (int32_t a = 0; a < p->tiled[q].nb; a++)
            worst = worst != worst || worst >= of[a] ? worst : of[a]; /* NaN stays */
        growth[t->of_tiled[q]] = worst;
    }
}

libsolver_status former_plan(former *f, const unsigned char *joined, const pieces *p,
                             const groups *g, const solve_plan *plan, char *error, int room)
{
    const double start = seconds();
    memory *m = &f->env->memory;
    form_tables *t = &f->tables;
    form_tables_free(m, t);
    memory_free(m, f->growth);
    f->growth = NULL;
    if (form_tables_build(m, f->tree, joined, p, g, plan, f->panel_at, f->workspace_limit, t) ==
        LIBSOLVER_OK)
        f->growth =
            memory_new(m, 2 * ((int64_t)t->pattern.smalls + t->pattern.strips), sizeof(double));
    if (!f->growth)
        return memory_failed(f, error, room);
    const libsolver_status status = device_form_pattern(&f->device, &t->pattern, error, room);
    form_tables_trim(m, t);
    f->info.tables += seconds() - start;
    f->info.pattern_bytes = f->device.pattern.bytes;
    return status;
}

libsolver_status former_values(former *f, void *values, double *growth, double *square_growth,
                               char *error, int room)
{
    const form_tables *t = &f->tables;
    const int64_t parts = (int64_t)t->pattern.smalls + t->pattern.strips;
    double kernels = 0;
    TRY(device_form_values(&f->device, &t->pattern, values, f->growth, &kernels, error, room));
    collect_growth(t, 0, f->growth, growth);
    collect_growth(t, 1, f->growth + parts, square_growth);
    f->info.kernels += kernels;
    f->info.workspace_bytes = f->device.workspace.bytes;
    return LIBSOLVER_OK;
}
