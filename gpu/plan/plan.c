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

static libsolver_task_kind kind_of(const draft *d)
{
    if (d->flags & TASK_TILES)
        return LIBSOLVER_TASK_LARGE;
    if (d->slots == 0)
        return LIBSOLVER_TASK_SUM;
    return d->flags & TASK_WIDE ? LIBSOLVER_TASK_TOP : LIBSOLVER_TASK_SMALL;
}

void plan_task(planner *p, draft *d, int flags)
{
    d->flags |= flags;
    p->unit_kind = kind_of(d);
    const int64_t bytes = draft_finish(d, 0, &p->descriptions, &p->copies);
    p->bytes_read += bytes;
    p->unit_cost += bytes + p->tuning->task_cost;
    p->unit.tasks++;
    p->tasks++;
    draft_start(d);
}

void plan_unit_end(planner *p, int level)
{
    if (p->unit.tasks == 0)
        return;
    const int32_t end = (int32_t)(p->copies.length / (int64_t)sizeof(task_copy));
    p->unit.copies = end - p->unit.copy;
    const plan_unit u = {.level = level,
                         .order = (int32_t)(p->units.length / (int64_t)sizeof(plan_unit)),
                         .list = p->unit,
                         .kind = p->unit_kind,
                         .cost = p->unit_cost};
    buffer_put(&p->units, &u, (int64_t)sizeof u);
    p->unit = (task_list){.copy = end};
    p->unit_cost = 0;
}

void plan_pivot_out(const planner *p, int32_t i, int32_t q, int64_t pivots, task_out *out)
{
    out->dst = p->z_slot[i] + q;
    if (p->tree->cholesky)
        return;
    const int32_t c = p->plan->z_row[p->g->column_start[i] + q];
    out->flags = OUT_D;
    out->row =
        (int32_t)((pivots + q * plan_pivot_bytes(p->plan->scalar_bytes)) / p->plan->scalar_bytes);
    if (plan_joined(p, i, c) || (c > 0 && plan_joined(p, i, c - 1)))
        out->flags |= OUT_PAIR;
}

/* Groups by height, children of groups, bytes of heights. */
static void list_groups(planner *p)
{
    const groups *g = p->g;
    for (int32_t i = 0; i < g->count; i++) {
        const int32_t length = group_columns(g, i) + group_rows(g, i);
        p->height_start[g->height[i] + 1]++;
        p->target[g->height[i]] += group_entries(g, i) * p->plan->scalar_bytes;
        if (g->above[i] >= 0)
            p->child_start[g->above[i] + 1]++;
        p->longest = length > p->longest ? length : p->longest;
    }
    for (int32_t h = 0; h < g->heights; h++) {
        p->height_start[h + 1] += p->height_start[h];
        p->target[h] /= p->plan->blocks;
    }
    for (int32_t i = 0; i < g->count; i++)
        p->child_start[i + 1] += p->child_start[i];
    for (int32_t i = 0; i < g->count; i++) {
        p->order[p->height_start[g->height[i]]++] = i;
        if (g->above[i] >= 0)
            p->child[p->child_start[g->above[i]]++] = i;
    }
    for (int32_t h = g->heights; h > 0; h--)
        p->height_start[h] = p->height_start[h - 1];
    for (int32_t i = g->count; i > 0; i--)
        p->child_start[i] = p->child_start[i - 1];
    p->height_start[0] = p->child_start[0] = 0;
}

static libsolver_status planner_create(planner *p)
{
    memory *m = p->m;
    const int32_t count = p->g->count;
    p->order = memory_new(m, count, sizeof(int32_t));
    p->height_start = memory_zeroed(m, p->g->heights + 1, sizeof(int32_t));
    p->target = memory_zeroed(m, p->g->heights, sizeof(int64_t));
    p->form = memory_new(m, count, sizeof(group_form));
    p->first_tile = memory_new(m, count, sizeof(int32_t));
    p->tiles_of = memory_new(m, count, sizeof(int32_t));
    p->value_at16 = memory_new(m, count, sizeof(uint32_t));
    p->value_bytes = memory_new(m, count, sizeof(int64_t));
    p->z_slot = memory_new(m, count, sizeof(int32_t));
    p->w_at = memory_new(m, p->g->row_start[count], sizeof(value_place));
    p->x_at = memory_new(m, p->tree->n, sizeof(value_place));
    p->z_parts = memory_new(m, p->tree->n, sizeof(value_place));
    p->child_start = memory_zeroed(m, count + 1, sizeof(int32_t));
    p->child = memory_new(m, count, sizeof(int32_t));
    p->border = memory_new(m, p->tree->n / (SQUARE - 1) + 3, sizeof(int32_t));
    p->plan->pivots_at16 = memory_new(m, count, sizeof(int64_t));
    p->plan->z_row = memory_new(m, p->tree->n, sizeof(int32_t));
    if (!p->order || !p->height_start || !p->target || !p->form || !p->first_tile || !p->tiles_of ||
        !p->value_at16 || !p->value_bytes || !p->z_slot || !p->w_at || !p->x_at || !p->z_parts ||
        !p->child_start || !p->child || !p->border || !p->plan->pivots_at16 || !p->plan->z_row)
        return LIBSOLVER_OUT_OF_MEMORY;
    list_groups(p);
    p->tiles.m = m;
    return LIBSOLVER_OK;
}

/* Everything but the tiles, which are the plan's in the end. */
static void planner_free(planner *p)
{
    memory *m = p->m;
    memory_free(m, p->order);
    memory_free(m, p->height_start);
    memory_free(m, p->target);
    memory_free(m, p->form);
    memory_free(m, p->first_tile);
    memory_free(m, p->tiles_of);
    memory_free(m, p->value_at16);
    memory_free(m, p->value_bytes);
    memory_free(m, p->z_slot);
    memory_free(m, p->w_at);
    memory_free(m, p->x_at);
    memory_free(m, p->z_parts);
    memory_free(m, p->child_start);
    memory_free(m, p->child);
    memory_free(m, p->border);
    memory_free(m, p);
}

/* Packets of x by position, of z and what goes up from every group, and of the parts of large
 * ones. */
static libsolver_status number_slots(planner *p, message *why)
{
    const groups *g = p->g;
    int64_t slots = p->tree->n;
    for (int32_t i = 0; i < g->count; i++)
        slots +=
            group_columns(g, i) + group_rows(g, i) * (int64_t)(p->form[i] == FORM_LARGE ? 8 : 1);
    if (slots > INT32_MAX / 4)
        return FAIL(why, LIBSOLVER_INTERNAL, "the solve passes on more than %lld values",
                    (long long)slots);
    p->slots = p->tree->n;
    for (int32_t q = 0; q < p->tree->n; q++)
        p->x_at[q] = (value_place){.slot = q, .count = 1};
    for (int32_t i = 0; i < g->count; i++) {
        if (!group_is_square(g, i))
            p->z_slot[i] = plan_new_slots(p, group_columns(g, i));
        if (p->form[i] == FORM_LARGE)
            plan_number_large(p, i);
        else
            for (int64_t q = g->row_start[i]; q < g->row_start[i + 1]; q++)
                p->w_at[q] = (value_place){.slot = plan_new_slots(p, 1), .count = 1};
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
                            message *why, solve_plan *plan)
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
        status = plan_layout(p, why);
    if (status == LIBSOLVER_OK)
        status = number_slots(p, why);
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
