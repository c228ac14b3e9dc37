/* gpu/plan/plan.c: the program of a solve, written group by group
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/plan/planner.h"
#include "base/type.h"

const plan_tuning plan_tuned = {.task_cost = 24576,
                                .most_parts = 4,
                                .direct_sources = 1,
                                .sum_outs = 16,
                                .twice = 1,
                                .strip_bytes = 8192};

/* Groups by height, children of groups, bytes of heights. */
static void list_groups(planner *p)
{
    const groups *g = p->g;
    for (int32_t i = 0; i < g->count; i++) {
        const int32_t length = group_columns(g, i) + group_rows(g, i);
        p->at.height_start[g->height[i] + 1]++;
        p->at.target[g->height[i]] += group_entries(g, i) * p->plan->scalar_bytes;
        if (g->above[i] >= 0)
            p->at.child_start[g->above[i] + 1]++;
        p->at.longest = length > p->at.longest ? length : p->at.longest;
    }
    for (int32_t h = 0; h < g->heights; h++) {
        p->at.height_start[h + 1] += p->at.height_start[h];
        p->at.target[h] /= p->plan->blocks;
    }
    for (int32_t i = 0; i < g->count; i++)
        p->at.child_start[i + 1] += p->at.child_start[i];
    for (int32_t i = 0; i < g->count; i++) {
        p->at.order[p->at.height_start[g->height[i]]++] = i;
        if (g->above[i] >= 0)
            p->at.child[p->at.child_start[g->above[i]]++] = i;
    }
    for (int32_t h = g->heights; h > 0; h--)
        p->at.height_start[h] = p->at.height_start[h - 1];
    for (int32_t i = g->count; i > 0; i--)
        p->at.child_start[i] = p->at.child_start[i - 1];
    p->at.height_start[0] = p->at.child_start[0] = 0;
}

static libsolver_status planner_create(planner *p)
{
    memory *m = p->m;
    const int32_t count = p->g->count;
    p->at.order = memory_new(m, count, sizeof(int32_t));
    p->at.height_start = memory_zeroed(m, p->g->heights + 1, sizeof(int32_t));
    p->at.target = memory_zeroed(m, p->g->heights, sizeof(int64_t));
    p->at.layout = memory_new(m, count, sizeof(group_layout));
    p->at.first_tile = memory_new(m, count, sizeof(int32_t));
    p->at.tiles_of = memory_new(m, count, sizeof(int32_t));
    p->at.value_at16 = memory_new(m, count, sizeof(uint32_t));
    p->at.value_bytes = memory_new(m, count, sizeof(int64_t));
    p->at.z_packet = memory_new(m, count, sizeof(int32_t));
    p->at.w_at = memory_new(m, p->g->row_start[count], sizeof(value_place));
    p->at.x_at = memory_new(m, p->tree->n, sizeof(value_place));
    p->at.z_parts = memory_new(m, p->tree->n, sizeof(value_place));
    p->at.child_start = memory_zeroed(m, count + 1, sizeof(int32_t));
    p->at.child = memory_new(m, count, sizeof(int32_t));
    p->border = memory_new(m, p->tree->n / (SQUARE - 1) + 3, sizeof(int32_t));
    p->plan->pivots_at16 = memory_new(m, count, sizeof(int64_t));
    p->plan->z_row = memory_new(m, p->tree->n, sizeof(int32_t));
    if (!p->at.order || !p->at.height_start || !p->at.target || !p->at.layout ||
        !p->at.first_tile || !p->at.tiles_of || !p->at.value_at16 || !p->at.value_bytes ||
        !p->at.z_packet || !p->at.w_at || !p->at.x_at || !p->at.z_parts || !p->at.child_start ||
        !p->at.child || !p->border || !p->plan->pivots_at16 || !p->plan->z_row)
        return LIBSOLVER_OUT_OF_MEMORY;
    list_groups(p);
    p->tiles.m = m;
    return LIBSOLVER_OK;
}

/* Everything but the tiles, which are the plan's in the end. */
static void planner_free(planner *p)
{
    memory *m = p->m;
    memory_free(m, p->at.order);
    memory_free(m, p->at.height_start);
    memory_free(m, p->at.target);
    memory_free(m, p->at.layout);
    memory_free(m, p->at.first_tile);
    memory_free(m, p->at.tiles_of);
    memory_free(m, p->at.value_at16);
    memory_free(m, p->at.value_bytes);
    memory_free(m, p->at.z_packet);
    memory_free(m, p->at.w_at);
    memory_free(m, p->at.x_at);
    memory_free(m, p->at.z_parts);
    memory_free(m, p->at.child_start);
    memory_free(m, p->at.child);
    memory_free(m, p->border);
    memory_free(m, p);
}

/* Packets of x by position, of z and what goes up from every group, and of the parts of large
 * ones. */
static libsolver_status number_packets(planner *p, message *why)
{
    const groups *g = p->g;
    int64_t packets = p->tree->n;
    for (int32_t i = 0; i < g->count; i++)
        packets += group_columns(g, i) +
                   group_rows(g, i) * (int64_t)(p->at.layout[i] == LAYOUT_SQUARES ? 8 : 1);
    if (packets > INT32_MAX / 4)
        return FAIL(why, LIBSOLVER_INTERNAL, "the solve passes on more than %lld values",
                    (long long)packets);
    p->packets = p->tree->n;
    for (int32_t q = 0; q < p->tree->n; q++)
        p->at.x_at[q] = (value_place){.packet = q, .count = 1};
    for (int32_t i = 0; i < g->count; i++) {
        if (!group_is_root_with_inverse(g, i))
            p->at.z_packet[i] = plan_new_packets(p, group_columns(g, i));
        if (p->at.layout[i] == LAYOUT_SQUARES)
            plan_number_large(p, i);
        else
            for (int64_t q = g->row_start[i]; q < g->row_start[i + 1]; q++)
                p->at.w_at[q] = (value_place){.packet = plan_new_packets(p, 1), .count = 1};
    }
    return LIBSOLVER_OK;
}

/* Units in ascending levels, in the order in which they were written. */
static libsolver_status sort_units(memory *m, solve_plan *plan, int32_t levels)
{
    int32_t *start = memory_zeroed(m, levels + 1, sizeof(int32_t));
    plan_unit *sorted = memory_new(m, plan->unit_count, sizeof(plan_unit));
    if (!start || !sorted) {
        memory_free(m, start);
        memory_free(m, sorted);
        return LIBSOLVER_OUT_OF_MEMORY;
    }
    for (int32_t u = 0; u < plan->unit_count; u++)
        start[plan->unit[u].level + 1]++;
    for (int32_t l = 0; l < levels; l++) {
        plan->level_count += start[l + 1] > 0;
        start[l + 1] += start[l];
    }
    for (int32_t u = 0; u < plan->unit_count; u++)
        sorted[start[plan->unit[u].level]++] = plan->unit[u];
    memory_free(m, start);
    memory_free(m, plan->unit);
    plan->unit = sorted;
    return LIBSOLVER_OK;
}

libsolver_status plan_build(environment *env, const factor_tree *tree, const groups *g,
                            const unsigned char *joined, int32_t blocks, const plan_tuning *tuning,
                            solve_plan *plan, message *why)
{
    memory *m = &env->memory;
    memset(plan, 0, sizeof *plan);
    plan->blocks = blocks;
    plan->scalar_bytes = type_bytes(tree->type);
    planner *p = memory_zeroed(m, 1, sizeof(planner));
    if (!p)
        return LIBSOLVER_OUT_OF_MEMORY;
    p->m = m;
    p->tree = tree;
    p->g = g;
    p->joined = joined;
    p->tuning = tuning ? tuning : &plan_tuned;
    p->plan = plan;
    p->conjugate = tree->hermitian;
    libsolver_status status = planner_create(p);
    if (status == LIBSOLVER_OK)
        status = plan_lay_out(p, why);
    if (status == LIBSOLVER_OK)
        status = number_packets(p, why);
    if (status == LIBSOLVER_OK)
        status = plan_write(p, env->threads);
    plan->tile = (plan_tile *)p->tiles.data;
    plan->tile_count = (int32_t)(p->tiles.length / (int64_t)sizeof(plan_tile));
    planner_free(p);
    if (status == LIBSOLVER_OK)
        status = sort_units(m, plan, (2 * g->heights + 1) * LEVELS);
    if (status == LIBSOLVER_OK)
        status = plan_assign(m, plan, env->threads);
    if (status != LIBSOLVER_OK)
        plan_free(m, plan);
    return status;
}

void plan_trim(memory *m, solve_plan *plan)
{
    memory_free(m, plan->unit);
    memory_free(m, plan->copy);
    memory_free(m, plan->description);
    memory_free(m, plan->block);
    memory_free(m, plan->block_copy);
    memory_free(m, plan->label);
    plan->unit = NULL;
    plan->copy = plan->block_copy = NULL;
    plan->description = NULL;
    plan->block = NULL;
    plan->label = NULL;
}

void plan_free(memory *m, solve_plan *plan)
{
    plan_trim(m, plan);
    memory_free(m, plan->pivots_at16);
    memory_free(m, plan->z_row);
    memory_free(m, plan->tile);
    memset(plan, 0, sizeof *plan);
}
