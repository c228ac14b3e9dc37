/* gpu/factor/build.c: the program of a factorization: its parts, and the levels of fronts
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/factor/builder.h"
#include "gpu/factor/order.h"
#include "gpu/factor/waits.h"
#include <string.h>

/* ---- Levels ---------------------------------------------------------------------------------- */

/* Cuts the small fronts into runs and gives every front its level.  A run goes on while it is short
 * and its fronts could not begin earlier elsewhere: with the parent of its last front, which would
 * have to wait elsewhere, but with another subtree only where there are more of them than warps.
 * One of tiny fronts is for a warp and has no others, and groups, whose numbers are elsewhere, have
 * runs of their own, short ones: what waits for them is nearer to the end.  A group of leaves
 * belongs to their run. */
static void find_levels(builder *b)
{
    factor_program *g = b->program;
    int32_t begin = -1, level = 0; /* of the run at hand, -1: none */
    int32_t leaves = 0;            /* that it begins with; -1: and others */
    double seconds = 0;
    for (int32_t q = 0; q < b->tree.fronts; q++) {
        const int32_t s = b->tree.visit[q];
        const factor_front *f = g->front + s;
        const int32_t group = group_of_leaves(b, s);
        b->run_end[s] = 0;
        if (group >= 0) { /* a run of these leaves alone */
            begin = -1;
            b->level[s] = 0;
            if (s == first_leaf(b, group))
                b->run_end[s] = s + g->front[group].children;
        } else if (!is_small(b, s)) {
            begin = -1;
            b->level[s] = f->m > f->k ? contribution_level(b, s)
                                      : level_behind(b, s, s) + factor_pivot_blocks(f) - 1;
        } else {
            const int is_next =
                begin >= 0 && b->tree.visit[q - 1] == s - 1 && is_group(b, begin) == is_group(b, s);
            double own = factor_small_seconds(f, leaves);
            const int32_t outside = is_next ? level_behind(b, s, begin) : 0;
            const int is_led_here = is_next && b->last_child[s] >= begin && b->last_child[s] < s;
            const double most = is_group(b, s) ? b->tuning.run_seconds
                                : is_led_here  ? b->run_seconds
                                               : b->apart_seconds;
            if (!is_next || seconds + own > most || outside > level ||
                (outside < level && !is_led_here) || is_tiny(b, begin) != is_tiny(b, s)) {
                begin = s;
                level = level_behind(b, s, s);
                seconds = leaves = 0;
                own = factor_small_seconds(f, leaves);
            }
            seconds += own;
            leaves = leaves >= 0 && factor_is_leaf(f) ? leaves + 1 : -1;
            b->level[s] = level;
            b->run_end[begin] = s + 1;
        }
        const int32_t last = b->level[s] + is_divided(b, s);
        if (last >= g->levels)
            g->levels = last + 1;
    }
}

/* What says that a child's block is there, and the children that small fronts wait for. */
static libsolver_status name_words(builder *b)
{
    const int32_t fronts = b->tree.fronts;
    factor_program *g = b->program;
    int32_t *run = memory_new(b->m, fronts, sizeof(int32_t)),
            *next = memory_new(b->m, fronts, sizeof(int32_t));
    const int has_memory = run && next;
    for (int32_t s = 0; s < fronts && has_memory; s++)
        next[s] = g->front[s].child;
    for (int32_t q = 0; q < fronts && has_memory; q++) {
        const int32_t s = b->tree.visit[q], parent = above(b, s);
        factor_front *f = g->front + s;
        if (is_group(b, s) && group_of_leaves(b, s) >= 0)
            run[s] = first_leaf(b, s);
        else
            run[s] = is_small(b, s) && b->run_end[s] == 0 ? run[s - 1] : s;
        for (int32_t c = 0; c < f->children && is_small(b, s); c++) {
            factor_child *child = g->child + f->child + c;
            if (child->word == g->tiles + run[s])
                child->word = -1;
            f->outside += child->word >= 0;
        }
        if (parent >= 0) {
            factor_child *child = g->child + next[parent]++;
            child->word = (int32_t)g->tiles + run[s];
            child->tells = is_small(b, s) ? 1 : factor_contributions(f);
        }
    }
    memory_free(b->m, run);
    memory_free(b->m, next);
    return has_memory ? LIBSOLVER_OK : LIBSOLVER_OUT_OF_MEMORY;
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* Of 10 to 80 us and a 500th to a 2000th, one H200, seven systems: within 3 % of each one's best
 * but for 494_bus, where 20 us are 30 % slower than 15.  crowded: of 264 to 2112 on an H100, which
 * lap3d:50 tells apart. */
static const factor_tuning tuned = {.small_rows = INT32_MAX,
                                    .blocks = 264, /* two for each of an H100's multiprocessors */
                                    .bucket_part = .02,
                                    .run_seconds = 15e-6,
                                    .run_part = 1.0 / 2000,
                                    .apart = 1,
                                    .wide = 24,
                                    .together = 16,
                                    .crowded = 528};

static libsolver_status take_arrays(builder *b)
{
    const int64_t fronts = b->tree.fronts;
    b->level = memory_new(b->m, fronts, sizeof(int32_t));
    b->run_end = memory_new(b->m, fronts, sizeof(int32_t));
    b->last_child = memory_new(b->m, fronts, sizeof(int32_t));
    b->sibling = memory_new(b->m, fronts, sizeof(int32_t));
    b->own = memory_new(b->m, fronts, sizeof(int64_t));
    b->other = memory_new(b->m, fronts, sizeof(int64_t));
    b->program->front = memory_new(b->m, fronts, sizeof(factor_front));
    return b->level && b->run_end && b->last_child && b->sibling && b->own && b->other &&
                   b->program->front
               ? LIBSOLVER_OK
               : LIBSOLVER_OUT_OF_MEMORY;
}

static void link_children(builder *b)
{
    for (int32_t s = 0; s < b->tree.fronts; s++)
        b->last_child[s] = -1;
    for (int32_t q = 0; q < b->tree.fronts; q++) {
        const int32_t s = b->tree.visit[q], parent = above(b, s);
        b->sibling[s] = -1;
        if (parent >= 0) {
            b->sibling[s] = b->last_child[parent];
            b->last_child[parent] = s;
        }
    }
}

static void limit_runs(builder *b)
{
    double seconds = 0;
    for (int32_t s = 0; s < b->tree.fronts; s++)
        if (is_small(b, s) && group_of_leaves(b, s) < 0)
            seconds += factor_small_seconds(b->program->front + s, 1 /* a leaf: among others */);
    b->apart_seconds = b->run_seconds = b->tuning.run_part * seconds;
    if (b->run_seconds < b->tuning.run_seconds) {
        b->run_seconds = b->tuning.run_seconds;
        b->apart_seconds = b->tuning.apart ? b->apart_seconds : b->run_seconds;
    }
}

/* The tree with its groups, whose positions the program keeps. */
static libsolver_status find_tree(builder *b)
{
    const factor_pattern *p = b->pattern;
    factor_program *g = b->program;
    const int32_t leaf_rows =
        b->tuning.small_rows < FACTOR_TINY_ROWS ? b->tuning.small_rows : FACTOR_TINY_ROWS;
    TRY(factor_groups_find(b->m, p, b->tuning.wide, b->tuning.together, leaf_rows, &b->tree));
    g->fronts = b->tree.fronts;
    g->positions = b->tree.positions;
    g->own_position = b->tree.position;
    b->tree.position = NULL;
    g->position = g->own_position ? g->own_position : p->position;
    return LIBSOLVER_OK;
}

static libsolver_status build(builder *b, message *why)
{
    const factor_pattern *p = b->pattern;
    if (p->start[p->n] > INT32_MAX)
        return FAIL(why, LIBSOLVER_NOT_BUILT, "2^31 entries or more on the GPU");
    libsolver_status status = find_tree(b);
    if (status == LIBSOLVER_NOT_BUILT)
        return FAIL(why, status, "2^31 fronts or more on the GPU");
    TRY(status);
    TRY(take_arrays(b));
    link_children(b);
    builder_describe_fronts(b);
    b->program->words = b->program->tiles + b->program->fronts + FACTOR_END_WORDS;
    if (b->program->words > INT32_MAX || b->program->inverses > INT32_MAX)
        return FAIL(why, LIBSOLVER_NOT_BUILT, "2^31 tiles or more on the GPU");
    builder_place_blocks(b);
    status = builder_describe_children(b);
    if (status == LIBSOLVER_NOT_BUILT)
        return FAIL(why, status, "2^31 tiles or more on the GPU");
    TRY(status);
    TRY(builder_describe_entries(b));
    limit_runs(b);
    find_levels(b);
    TRY(name_words(b));
    TRY(builder_list_ranges(b));
    status = builder_list_tasks(b);
    return status == LIBSOLVER_NOT_BUILT ? FAIL(why, status, "2^31 tasks or more on the GPU")
                                         : status;
}

libsolver_status factor_program_build(environment *env, const factor_pattern *pattern,
                                      libsolver_type type, const factor_tuning *tuning,
                                      factor_program *program, message *why)
{
    memory *m = &env->memory;
    memset(program, 0, sizeof *program);
    program->n = pattern->n;
    program->nodes = pattern->nodes;
    program->schur_size = pattern->schur_size;
    program->has_signs = pattern->signs != NULL;
    program->hermitian = pattern->hermitian;
    builder b = {
        .m = m, .pattern = pattern, .program = program, .tuning = tuning ? *tuning : tuned};
    if (b.tuning.small_rows > factor_small_rows(type))
        b.tuning.small_rows = factor_small_rows(type);
    if (type != LIBSOLVER_D || pattern->signs)
        b.tuning.crowded = 0;
    const libsolver_status status = build(&b, why);
    memory_free(m, b.level);
    memory_free(m, b.run_end);
    memory_free(m, b.last_child);
    memory_free(m, b.sibling);
    memory_free(m, b.ranges_end);
    memory_free(m, b.is_crowded);
    memory_free(m, b.own);
    memory_free(m, b.other);
    memory_free(m, b.cursor);
    memory_free(m, b.given);
    factor_groups_free(m, &b.tree);
    if (status != LIBSOLVER_OK)
        factor_program_free(m, program);
    return status == LIBSOLVER_OUT_OF_MEMORY
               ? NO_MEMORY(env, "the program of the factorization", why)
               : status;
}

void factor_program_free(memory *m, factor_program *g)
{
    memory_free(m, g->front);
    memory_free(m, g->own_position);
    memory_free(m, g->child);
    memory_free(m, g->begin);
    memory_free(m, g->tile_end);
    memory_free(m, g->entry);
    memory_free(m, g->source);
    memory_free(m, g->schur);
    memory_free(m, g->diagonal);
    memory_free(m, g->level_start);
    memory_free(m, g->range);
    memory_free(m, g->task);
    memory_free(m, g->by_level);
    memset(g, 0, sizeof *g);
}
