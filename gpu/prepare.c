/* gpu/prepare.c: from a factor to the program of its solve, groups cut finer where their inverses are not good enough
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/prepare.h"
#include <math.h>

/* A step from group to group, and the rate at which a solve reads: `bench_tree_solve -s -w` on eight problems, H200. */
#define STEP 2.5e-6
#define BYTES_PER_SECOND 2e12
/* Most columns of a group: its inverse is k^3 / 3 operations. */
#define LARGEST_GROUP 6000
/* Into how many a single piece is cut when its inverse is not good enough. */
#define CUT_INTO 4

static libsolver_status form_values(environment *env, const factor_tree *tree, prepared_solve *s, double *growth, double *square)
{
    switch (tree->type) {
    case LIBSOLVER_S:
        return form_values_s(env, tree, &s->cut, &s->grouped, &s->plan, s->values, growth, square);
    case LIBSOLVER_D:
        return form_values_d(env, tree, &s->cut, &s->grouped, &s->plan, s->values, growth, square);
    case LIBSOLVER_C:
        return form_values_c(env, tree, &s->cut, &s->grouped, &s->plan, s->values, growth, square);
    case LIBSOLVER_Z:
        return form_values_z(env, tree, &s->cut, &s->grouped, &s->plan, s->values, growth, square);
    }
    return LIBSOLVER_INTERNAL;
}

static void find_joined(const factor_tree *tree, unsigned char *joined)
{
    switch (tree->type) {
    case LIBSOLVER_S:
        form_joined_s(tree, joined);
        break;
    case LIBSOLVER_D:
        form_joined_d(tree, joined);
        break;
    case LIBSOLVER_C:
        form_joined_c(tree, joined);
        break;
    case LIBSOLVER_Z:
        form_joined_z(tree, joined);
        break;
    }
}

static int64_t tree_entries(const factor_tree *tree)
{
    int64_t entries = 0;
    for (int32_t s = 0; s < tree->nodes; s++) {
        const int64_t p = tree->first[s + 1] - tree->first[s], r = tree->row_start[s + 1] - tree->row_start[s];
        entries += p * (p + 1) / 2 + p * r;
    }
    return entries;
}

/* Groups of the pieces at hand, their program and values. */
static libsolver_status attempt(environment *env, const factor_tree *tree, const prepare_options *o, const layer_costs *costs,
                                message *why, prepared_solve *s, double **growth)
{
    memory *m = &env->memory;
    int32_t *layer = memory_new(m, s->cut.count, sizeof(int32_t));
    libsolver_status status = layer ? layers_choose(m, tree, &s->cut, costs, layer) : LIBSOLVER_OUT_OF_MEMORY;
    if (status == LIBSOLVER_OK)
        status = groups_build(m, tree, &s->cut, layer, &s->grouped);
    memory_free(m, layer);
    TRY(status);
    TRY(plan_build(m, tree, &s->grouped, s->joined, o->blocks, o->tuning, why, &s->plan));
    *growth = memory_new(m, 2 * (int64_t)s->grouped.count, sizeof(double));
    if (!*growth)
        return LIBSOLVER_OUT_OF_MEMORY;
    if (o->form)
        return o->form(o->form_user, s, *growth, *growth + s->grouped.count, why);
    s->values = memory_new(m, s->plan.value_bytes, 1);
    return s->values ? form_values(env, tree, s, *growth, *growth + s->grouped.count) : LIBSOLVER_OUT_OF_MEMORY;
}

static void drop_attempt(memory *m, prepared_solve *s, double *growth)
{
    groups_free(m, &s->grouped);
    plan_free(m, &s->plan);
    memory_free(m, s->values);
    memory_free(m, growth);
    s->values = NULL;
}

/* cut(i), pieces: what pieces_split does with each; roots whose G is not good enough lose it.  growth: of the groups' inverses, then of
 * their G.  Returns the number of groups that change. */
static int32_t find_cuts(prepared_solve *s, const double *growth, double limit, int32_t *cut)
{
    int32_t bad = 0;
    for (int32_t i = 0; i < s->grouped.count; i++) {
        const int loses = !(growth[s->grouped.count + i] <= limit);
        const int32_t from = s->grouped.piece_start[i], to = s->grouped.piece_start[i + 1];
        const int single = to - from == 1, wide = group_columns(&s->grouped, i) > 2 ||
                           (group_columns(&s->grouped, i) == 2 && !s->joined[s->grouped.column[s->grouped.column_start[i]]]);
        const int worse = !(growth[i] <= limit) && wide;
        bad += worse || loses;
        for (int32_t q = from; q < to; q++) {
            cut[s->grouped.piece[q]] = !worse ? 0 : single ? CUT_INTO : 1;
            s->cut.plain[s->grouped.piece[q]] |= (unsigned char)loses;
        }
    }
    return bad;
}

static libsolver_status prepare(environment *env, const factor_tree *tree, const prepare_options *o, message *why, prepared_solve *s)
{
    memory *m = &env->memory;
    const double limit = o->growth_limit > 0 ? o->growth_limit : FORM_GROWTH_LIMIT;
    s->factor_entries = tree_entries(tree);
    const layer_costs costs = {.step = o->step > 0 ? o->step : STEP,
                               .bytes_per_second = o->bytes_per_second > 0 ? o->bytes_per_second : BYTES_PER_SECOND,
                               .scalar_bytes = tree->type == LIBSOLVER_S ? 4 : tree->type == LIBSOLVER_Z ? 16 : 8,
                               .largest = o->largest_group > 0 ? o->largest_group : LARGEST_GROUP,
                               .entries_limit = (int64_t)(o->entries_factor * (double)s->factor_entries)};
    s->joined = memory_zeroed(m, tree->n, 1);
    if (!s->joined)
        return LIBSOLVER_OUT_OF_MEMORY;
    find_joined(tree, s->joined);
    TRY(pieces_build(m, tree, &s->cut));
    for (;;) {
        double *growth = NULL;
        libsolver_status status = attempt(env, tree, o, &costs, why, s, &growth);
        int32_t *cut = NULL, bad = 0;
        if (status == LIBSOLVER_OK && !(cut = memory_new(m, s->cut.count, sizeof(int32_t))))
            status = LIBSOLVER_OUT_OF_MEMORY;
        if (status == LIBSOLVER_OK)
            bad = find_cuts(s, growth, limit, cut);
        if (status == LIBSOLVER_OK && bad > 0)
            status = pieces_split(m, tree, cut, s->joined, &s->cut);
        memory_free(m, cut);
        if (status != LIBSOLVER_OK || bad > 0) {
            drop_attempt(m, s, growth);
            TRY(status);
            s->guarded += bad;
            s->rounds++;
            continue;
        }
        s->growth = 1;
        for (int32_t i = 0; i < s->grouped.count; i++)
            s->growth = fmax(s->growth, growth[i]);
        memory_free(m, growth);
        s->entries = groups_entries(&s->grouped);
        return LIBSOLVER_OK;
    }
}

libsolver_status prepare_solve(environment *env, const factor_tree *tree, const prepare_options *options, message *why,
                               prepared_solve *out)
{
    memset(out, 0, sizeof *out);
    const libsolver_status status = prepare(env, tree, options, why, out);
    if (status != LIBSOLVER_OK)
        prepared_free(&env->memory, out);
    return status;
}

void prepared_free(memory *m, prepared_solve *s)
{
    pieces_free(m, &s->cut);
    groups_free(m, &s->grouped);
    plan_free(m, &s->plan);
    memory_free(m, s->joined);
    memory_free(m, s->values);
    memset(s, 0, sizeof *s);
}
