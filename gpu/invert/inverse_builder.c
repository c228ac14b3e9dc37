/* gpu/invert/inverse_builder.c: the values of a program, computed on a device from a factor there
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/invert/inverse_builder.h"
#include <string.h>
#include <time.h>

/* Of the workspace on the device. */
#define WORKSPACE_BYTES ((int64_t)1 << 30)

static double seconds(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void inverse_builder_open(inverse_builder *b, environment *env, void *stream)
{
    *b = (inverse_builder){.env = env,
                           .device = {.device = env->device, .stream = stream},
                           .workspace_limit = WORKSPACE_BYTES};
}

void inverse_builder_drop(inverse_builder *b)
{
    device_inverter_drop(&b->device);
    invert_tables_free(&b->env->memory, &b->tables);
    memory_free(&b->env->memory, b->growth);
    b->growth = NULL;
}

void inverse_builder_close(inverse_builder *b)
{
    if (b->env)
        inverse_builder_drop(b);
    *b = (inverse_builder){0};
}

int64_t inverse_builder_bytes(const inverse_builder *b)
{
    return b->device.pattern.bytes + b->device.workspace.bytes;
}

void inverse_builder_begin(inverse_builder *b, const device_factor *factor, const factor_tree *tree,
                           const column_progress *progress)
{
    b->factor = factor;
    b->tree = tree;
    b->progress = progress;
    b->info = (inverse_info){0};
}

/* growth of groups from that of small ones and of strips; of_roots: only of roots with G, 0 of
 * others */
static void collect_growth(const invert_tables *t, int of_roots, const double *part, double *growth)
{
    const invert_pattern *p = &t->pattern;
    if (of_roots)
        for (int32_t q = 0; q < p->smalls + p->tiled_groups; q++)
            growth[q] = 0;
    for (int32_t q = of_roots ? p->smalls - p->small_roots.count : 0; q < p->smalls; q++)
        growth[t->of_small[q]] = part[q];
    for (int32_t q = 0; q < p->tiled_groups; q++) {
        if (of_roots && p->tiled[q].root < 0)
            continue;
        const double *of = part + p->smalls + p->tiled[q].first_strip;
        double worst = 0;
        for (int32_t a = 0; a < p->tiled[q].nb; a++)
            worst = worse_growth(worst, of[a]);
        growth[t->of_tiled[q]] = worst;
    }
}

libsolver_status inverse_builder_plan(inverse_builder *b, const unsigned char *joined,
                                      const pieces *p, const groups *g, const solve_plan *plan,
                                      message *why)
{
    const double start = seconds();
    memory *m = &b->env->memory;
    invert_tables *t = &b->tables;
    invert_tables_free(m, t);
    memory_free(m, b->growth);
    b->growth = NULL;
    const invert_input input = {.tree = b->tree,
                                .joined = joined,
                                .p = p,
                                .g = g,
                                .plan = plan,
                                .panel_at = b->factor->panel_at,
                                .progress = b->progress};
    b->made_by = b->progress ? b->progress->made_by : NULL;
    b->is_expected = 0;
    if (invert_tables_build(m, &input, b->workspace_limit, t) == LIBSOLVER_OK)
        b->growth =
            memory_new(m, 2 * ((int64_t)t->pattern.smalls + t->pattern.strips), sizeof(double));
    if (!b->growth)
        return NO_MEMORY(b->env, "the tables for the inverses", why);
    const libsolver_status status = device_inverter_load(&b->device, &t->pattern, why);
    invert_tables_trim(m, t);
    b->info.tables += seconds() - start;
    b->info.pattern_bytes = b->device.pattern.bytes;
    return status;
}

libsolver_status inverse_builder_expect(inverse_builder *b, const void *made_by,
                                        invert_words *words, message *why)
{
    *words = (invert_words){0};
    b->is_expected = 0;
    if (!b->made_by || made_by != b->made_by)
        return LIBSOLVER_OK;
    TRY(device_inverter_words(&b->device, b->factor, &b->tables.pattern, words, why));
    b->is_expected = 1;
    return LIBSOLVER_OK;
}

libsolver_status inverse_builder_launch(inverse_builder *b, void *values, const unsigned *words,
                                        message *why)
{
    const unsigned *follows = b->is_expected ? words : NULL;
    b->is_expected = 0;
    return device_inverter_launch(&b->device, b->factor, &b->tables.pattern, values, follows, 0,
                                  why);
}

libsolver_status inverse_builder_values(inverse_builder *b, void *values, double limit,
                                        double *growth, double *root_growth,
                                        largest_growth *largest, message *why)
{
    const invert_tables *t = &b->tables;
    const int64_t parts = (int64_t)t->pattern.smalls + t->pattern.strips;
    double kernels = 0;
    TRY(device_inverter_launch(&b->device, b->factor, &t->pattern, values, NULL, 1, why));
    TRY(device_inverter_finish(&b->device, largest, &kernels, why));
    if (!(largest->of_group <= limit && largest->of_root <= limit)) {
        TRY(device_inverter_growths(&b->device, b->growth, why));
        collect_growth(t, 0, b->growth, growth);
        collect_growth(t, 1, b->growth + parts, root_growth);
    }
    b->info.kernels += kernels;
    b->info.workspace_bytes = b->device.workspace.bytes;
    return LIBSOLVER_OK;
}
