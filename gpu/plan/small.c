/* gpu/plan/small.c: tasks of groups that are small enough to share them
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/plan/planner.h"

/* Sources of x that a task backward adds itself, all inputs of a group together; beyond them it
 * waits for the sums. */
#define BACKWARD_SOURCES 384
/* Fewest products of a lane: a full task's are then about as many slots as are multiplied at
 * once. */
#define LANE_PRODUCTS 11

int plan_lanes(int32_t inner)
{
    return inner < 2 * LANE_PRODUCTS   ? 0
           : inner < 4 * LANE_PRODUCTS ? 1
           : inner < 8 * LANE_PRODUCTS ? 2
                                       : 3;
}

int32_t plan_sources_of(const planner *p, int32_t from, int32_t to, int32_t *rows)
{
    int32_t count = 0;
    *rows = 0;
    for (int32_t a = from; a < to; a++) {
        count += plan_source_count(p, a);
        *rows += plan_source_count(p, a) > 0;
    }
    return count;
}

/* f of group i as inputs of the task; returns the first. */
static int32_t add_f(planner *p, draft *d, int32_t i)
{
    const int32_t in = d->inputs;
    for (int32_t c = 0; c < group_columns(p->g, i); c++)
        draft_input(d, plan_source(p, c), plan_source_count(p, c));
    return in;
}

void plan_below_out(planner *p, int32_t i, int32_t a, draft *d, task_out *out)
{
    out->dst = p->w_at[p->g->row_start[i] + a - group_columns(p->g, i)].slot;
    if (plan_source_count(p, a) > 0)
        out->add = (int16_t)draft_input(d, plan_source(p, a), plan_source_count(p, a));
}

/* z := D^-1 M f, W f of FORM_SMALL in the task at hand. */
static void small_forward(planner *p, int32_t i)
{
    draft *d = &p->ahead;
    if (d->outs % 2)
        draft_out(d); /* 2x2 pivots start at even outs */
    const int32_t k = group_columns(p->g, i), r = group_rows(p->g, i), in = add_f(p, d, i),
                  first = d->outs;
    const plan_tile *tile = (const plan_tile *)p->tiles.data + p->first_tile[i];
    const int64_t at = draft_copy(d, p->value_at16[i], p->value_bytes[i]);
    const int64_t pivots =
        p->plan->pivots_at16[i] < 0 ? 0 : at + 16 * (p->plan->pivots_at16[i] - p->value_at16[i]);
    draft_product(d, at / p->plan->scalar_bytes, k + r, 1, k, tile->ld, in, first, plan_lanes(k),
                  0);
    for (int32_t q = 0; q < k; q++)
        plan_pivot_out(p, i, q, pivots, draft_out(d));
    for (int32_t a = k; a < k + r; a++)
        plan_below_out(p, i, a, d, draft_out(d));
}

int32_t plan_backward_sources(const planner *p, int32_t i, int32_t from, int32_t to)
{
    const int32_t k = group_columns(p->g, i), *row = p->g->row + p->g->row_start[i];
    int32_t sources = 0;
    for (int32_t a = from; a < to; a++)
        sources += a < k ? 1 : p->x_at[row[a - k]].count;
    return sources;
}

void plan_backward_inputs(planner *p, draft *d, int32_t i, int32_t from, int32_t to, int parts)
{
    const int32_t k = group_columns(p->g, i), *row = p->g->row + p->g->row_start[i];
    for (int32_t a = from; a < to; a++)
        if (a < k)
            plan_input_at(d, &(value_place){.slot = p->z_slot[i] + a, .count = 1});
        else
            plan_input_at(d, parts ? &p->x_at[row[a - k]]
                                   : &(value_place){.slot = row[a - k], .count = 1});
}

int plan_in_parts(const planner *p, int32_t i, int32_t from, int32_t *sources)
{
    const int32_t m = group_columns(p->g, i) + group_rows(p->g, i);
    *sources = plan_backward_sources(p, i, from, m);
    if (*sources <= BACKWARD_SOURCES)
        return 1;
    *sources = m - from;
    return 0;
}

/* x := M^T z + W^T x_R of FORM_SMALL. */
static void small_backward(planner *p, int32_t i)
{
    draft *d = &p->back;
    const int32_t k = group_columns(p->g, i), r = group_rows(p->g, i), in = d->inputs,
                  first = d->outs;
    const plan_tile *tile = (const plan_tile *)p->tiles.data + p->first_tile[i];
    int32_t sources;
    const int parts = plan_in_parts(p, i, 0, &sources);
    plan_backward_inputs(p, d, i, 0, k + r, parts);
    const int64_t at = draft_copy(d, p->value_at16[i], p->value_bytes[i]);
    draft_product(d, at / p->plan->scalar_bytes, k, tile->ld, k + r, 1, in, first,
                  plan_lanes(k + r), p->conjugate);
    for (int32_t c = 0; c < k; c++)
        plan_x_out(p, i, c, draft_out(d));
}

/* x := G f of FORM_SMALL_TOP. */
static void small_top(planner *p, int32_t i)
{
    draft *d = &p->ahead;
    const int32_t k = group_columns(p->g, i), in = add_f(p, d, i), first = d->outs;
    const plan_tile *tile = (const plan_tile *)p->tiles.data + p->first_tile[i];
    const int64_t at = draft_copy(d, p->value_at16[i], p->value_bytes[i]);
    draft_product(d, at / p->plan->scalar_bytes, k, 1, k, tile->ld, in, first, plan_lanes(k), 0);
    for (int32_t c = 0; c < k; c++)
        plan_x_out(p, i, c, draft_out(d));
}

/* What group i needs in a task forward; its sources are summed by tasks of their own first if they
 * would not fit. */
static draft_need forward_need(planner *p, int32_t i)
{
    const int32_t k = group_columns(p->g, i), r = group_rows(p->g, i);
    int32_t rows, sources = plan_sources_of(p, 0, k + r, &rows);
    if (sources > TASK_SOURCES) {
        plan_publish(p, 0, k + r, plan_forward_level(p, i, LEVEL_PUBLISH));
        sources = plan_sources_of(p, 0, k + r, &rows);
    }
    return (draft_need){.inputs = rows,
                        .sources = sources,
                        .slots = draft_slots(k + r, plan_lanes(k)),
                        .outs = k + r + 1,
                        .copies = 1,
                        .tile_bytes = p->value_bytes[i]};
}

void plan_end_shared(planner *p, int forward, int32_t height)
{
    draft *d = forward ? &p->ahead : &p->back;
    if (d->outs == 0)
        return;
    plan_task(p, d, 0);
    plan_unit_end(p, (forward ? height : 2 * p->g->heights - height) * LEVELS + LEVEL_PRODUCT);
}

/* A group that is whole in a task of each sweep. */
static void whole_group(planner *p, int32_t i, int32_t height)
{
    const int top = p->form[i] == FORM_SMALL_TOP;
    const int32_t k = group_columns(p->g, i), r = group_rows(p->g, i);
    const draft_need forward = forward_need(p, i);
    draft_need backward = forward;
    plan_in_parts(p, i, 0, &backward.sources);
    backward.inputs = backward.outs = k + r;
    backward.slots = draft_slots(k, plan_lanes(k + r));
    if (!draft_has_room(&p->ahead, &forward))
        plan_end_shared(p, 1, height);
    if (!top && !draft_has_room(&p->back, &backward))
        plan_end_shared(p, 0, height);
    if (top)
        small_top(p, i);
    else {
        small_forward(p, i);
        small_backward(p, i);
    }
}

libsolver_status plan_small_groups(planner *p, int32_t from, int32_t to)
{
    const int32_t height = from < to ? p->g->height[p->order[from]] : 0;
    for (int32_t o = from; o < to; o++) {
        const int32_t i = p->order[o];
        if (!plan_shares_tasks(p, i))
            continue;
        TRY(plan_sources(p, i));
        if (p->form[i] == FORM_MIDDLE)
            plan_middle(p, i);
        else
            whole_group(p, i, height);
        if (p->ahead.tile_bytes >= p->target[height])
            plan_end_shared(p, 1, height);
        if (p->back.tile_bytes >= p->target[height])
            plan_end_shared(p, 0, height);
    }
    plan_end_shared(p, 1, height);
    plan_end_shared(p, 0, height);
    return LIBSOLVER_OK;
}
