/* gpu/packed/prepare.c: from a factor to the program of its solve, groups cut finer where their
 * inverses are not good enough
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/packed/prepare.h"
#include "base/type.h"

/* A step from group to group, and the rate at which a solve reads: `bench_tree_solve -s -w` on
 * eight problems, H200. */
#define STEP 2.5e-6
#define BYTES_PER_SECOND 2e12
/* Inverses are formed at this rate, real ones, but in no less than this for a column of the
 * largest: what `libsolver_refactorize` gains by parts of nodes, lap3d:50 to lap3d:80 and vec3d:36,
 * and the whole root of lap3d:30, H100. */
#define OPERATIONS_PER_SECOND 45e12
#define COLUMN_SECONDS .25e-6
/* Most columns of a group of several nodes: its inverse is k^3 / 3 operations. */
#define LARGEST_GROUP 6000
/* Most columns of a root whose G is formed where entries are limited: G is k^3 / 3 operations more,
 * and saves each solve one step. */
#define LARGEST_SQUARE 1024
/* Into how many a single piece is cut when its inverse is not good enough. */
#define CUT_INTO 4

static libsolver_status invert_tree(environment *env, const factor_tree *tree, prepared_solve *s,
                                    double *growth, double *root_growth)
{
    switch (tree->type) {
    case LIBSOLVER_S:
        return invert_values_s(env, tree, &s->cut, &s->grouped, &s->plan, s->values, growth,
                               root_growth);
    case LIBSOLVER_D:
        return invert_values_d(env, tree, &s->cut, &s->grouped, &s->plan, s->values, growth,
                               root_growth);
    case LIBSOLVER_C:
        return invert_values_c(env, tree, &s->cut, &s->grouped, &s->plan, s->values, growth,
                               root_growth);
    case LIBSOLVER_Z:
        return invert_values_z(env, tree, &s->cut, &s->grouped, &s->plan, s->values, growth,
                               root_growth);
    }
    return LIBSOLVER_INTERNAL;
}

static void find_largest(prepared_solve *s)
{
    const double *growth = s->growths, *root_growth = growth + s->grouped.count;
    s->largest = (largest_growth){0};
    for (int32_t i = 0; i < s->grouped.count; i++)
        s->largest = (largest_growth){worse_growth(growth[i], s->largest.of_group),
                                      worse_growth(root_growth[i], s->largest.of_root)};
}

/* The values of the program at hand, and how its inverses grow. */
static libsolver_status fill_values(environment *env, const factor_tree *tree,
                                    const prepare_options *o, double limit, prepared_solve *s,
                                    message *why)
{
    if (o->invert)
        return o->invert(o->invert_user, s, limit, why);
    /* with what lies between groups */
    if (!s->values)
        s->values = memory_zeroed(&env->memory, s->plan.value_bytes, 1);
    if (!s->values)
        return LIBSOLVER_OUT_OF_MEMORY;
    TRY(invert_tree(env, tree, s, s->growths, s->growths + s->grouped.count));
    find_largest(s);
    return LIBSOLVER_OK;
}

static layer_costs costs_of(const factor_tree *tree, const prepare_options *o,
                            const prepared_solve *s)
{
    const int is_complex = type_bytes(tree->type) > type_real_bytes(tree->type);
    return (layer_costs){.step = o->step > 0 ? o->step : STEP,
                         .bytes_per_second =
                             o->bytes_per_second > 0 ? o->bytes_per_second : BYTES_PER_SECOND,
                         .solves = (double)o->solves,
                         .operations_per_second = OPERATIONS_PER_SECOND / (is_complex ? 4 : 1),
                         .column_seconds = COLUMN_SECONDS,
                         .scalar_bytes = type_bytes(tree->type),
                         .largest = o->largest_group > 0 ? o->largest_group : LARGEST_GROUP,
                         .entries_limit = (int64_t)(o->entries_factor * (double)s->factor_entries)};
}

/* Groups of the pieces at hand, their program and values. */
static libsolver_status attempt(environment *env, const factor_tree *tree, const prepare_options *o,
                                double limit, prepared_solve *s, message *why)
{
    memory *m = &env->memory;
    const layer_costs costs = costs_of(tree, o, s);
    int32_t *layer = memory_new(m, s->cut.count, sizeof(int32_t));
    libsolver_status status =
        layer ? layers_choose(m, tree, &s->cut, &costs, layer) : LIBSOLVER_OUT_OF_MEMORY;
    if (status == LIBSOLVER_OK)
        status = groups_build(m, tree, &s->cut, layer, &s->grouped);
    memory_free(m, layer);
    TRY(status);
    for (int32_t i = 0; i < s->grouped.count && costs.entries_limit > 0; i++)
        s->grouped.without_inverse[i] |= group_columns(&s->grouped, i) > LARGEST_SQUARE;
    plan_tuning tuning = o->tuning ? *o->tuning : plan_tuned;
    tuning.twice = tuning.twice && costs.entries_limit <= 0;
    TRY(plan_build(env, tree, &s->grouped, s->shape.joined, o->blocks, &tuning, &s->plan, why));
    s->growths = memory_new(m, 2 * (int64_t)s->grouped.count, sizeof(double));
    return s->growths ? fill_values(env, tree, o, limit, s, why) : LIBSOLVER_OUT_OF_MEMORY;
}

static void drop_attempt(memory *m, prepared_solve *s)
{
    groups_free(m, &s->grouped);
    plan_free(m, &s->plan);
    memory_free(m, s->values);
    memory_free(m, s->growths);
    s->values = NULL;
    s->growths = NULL;
}

/* From whole nodes, or their parts. */
static libsolver_status begin(environment *env, const factor_tree *tree, const prepare_options *o,
                              double limit, prepared_solve *s, message *why)
{
    memory *m = &env->memory;
    prepared_free(m, s);
    s->factor_entries = tree_entries(tree);
    TRY(tree_shape_copy(m, tree, &s->shape));
    TRY(pieces_build(m, tree, &s->cut));
    const layer_costs costs = costs_of(tree, o, s);
    if (o->largest_part > 0)
        TRY(parts_cut(m, tree, s->shape.joined, o->largest_part, &s->cut));
    else if (costs.solves > 0)
        TRY(parts_choose(m, tree, s->shape.joined, &costs, &s->cut));
    return attempt(env, tree, o, limit, s, why);
}

/* ---- The guard ------------------------------------------------------------------------------- */

/* Whether the inverse of group i is not good enough, and it can be cut. */
static int is_bad(const prepared_solve *s, int32_t i, double limit)
{
    const groups *g = &s->grouped;
    const int32_t k = group_columns(g, i);
    const int wide = k > 2 || (k == 2 && !s->shape.joined[g->column[g->column_start[i]]]);
    return !(s->growths[i] <= limit) && wide;
}

/* Whether root i is to lose its G. */
static int loses_square(const prepared_solve *s, int32_t i, double limit)
{
    return !(s->growths[s->grouped.count + i] <= limit);
}

/* Groups that have to change. */
static int32_t count_bad(const prepared_solve *s, double limit)
{
    int32_t bad = 0;
    if (s->largest.of_group <= limit && s->largest.of_root <= limit)
        return 0;
    for (int32_t i = 0; i < s->grouped.count; i++)
        bad += is_bad(s, i, limit) || loses_square(s, i, limit);
    return bad;
}

/* cut(i), pieces: what pieces_split does with each. */
static void find_cuts(prepared_solve *s, double limit, int32_t *cut)
{
    for (int32_t i = 0; i < s->grouped.count; i++) {
        const int32_t from = s->grouped.piece_start[i], to = s->grouped.piece_start[i + 1];
        const int bad = is_bad(s, i, limit), loses = loses_square(s, i, limit);
        for (int32_t q = from; q < to; q++) {
            cut[s->grouped.piece[q]] = !bad ? 0 : to - from == 1 ? CUT_INTO : 1;
            s->cut.without_inverse[s->grouped.piece[q]] |= (unsigned char)loses;
        }
    }
}

static libsolver_status cut_finer(environment *env, const factor_tree *tree, double limit,
                                  prepared_solve *s)
{
    memory *m = &env->memory;
    int32_t *cut = memory_new(m, s->cut.count, sizeof(int32_t));
    if (!cut)
        return LIBSOLVER_OUT_OF_MEMORY;
    find_cuts(s, limit, cut);
    const libsolver_status status = pieces_split(m, tree, cut, s->shape.joined, &s->cut);
    memory_free(m, cut);
    drop_attempt(m, s);
    return status;
}

static libsolver_status prepare(environment *env, const factor_tree *tree, const prepare_options *o,
                                prepared_solve *s, message *why)
{
    const double limit = o->growth_limit > 0 ? o->growth_limit : INVERSE_GROWTH_LIMIT;
    s->kept = (o->is_same_shape && s->shape.first) || tree_shape_is(&s->shape, tree);
    TRY(s->kept ? fill_values(env, tree, o, limit, s, why) : begin(env, tree, o, limit, s, why));
    if (s->kept && s->guarded > 0 && count_bad(s, limit) > 0) /* what was cut may be whole again */
        TRY(begin(env, tree, o, limit, s, why));
    for (int32_t bad; (bad = count_bad(s, limit)) > 0; s->guarded += bad, s->rounds++) {
        s->kept = 0;
        TRY(cut_finer(env, tree, limit, s));
        TRY(attempt(env, tree, o, limit, s, why));
    }
    s->entries = groups_entries(&s->grouped);
    return LIBSOLVER_OK;
}

libsolver_status prepare_solve(environment *env, const factor_tree *tree,
                               const prepare_options *options, prepared_solve *s, message *why)
{
    const libsolver_status status = prepare(env, tree, options, s, why);
    if (status != LIBSOLVER_OK)
        prepared_free(&env->memory, s);
    return status;
}

void prepared_free(memory *m, prepared_solve *s)
{
    tree_shape_free(m, &s->shape);
    pieces_free(m, &s->cut);
    drop_attempt(m, s);
    memset(s, 0, sizeof *s);
}
