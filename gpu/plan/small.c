/* gpu/plan/small.c: tasks of groups that are small enough to share them
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/plan/planner.h"

/* f of group i as inputs of the task; returns the first. */
static int32_t add_f(planner *p, draft *d, int32_t i)
{
    const int32_t in = d->inputs;
    for (int32_t c = 0; c < group_columns(p->g, i); c++)
        draft_input(d, plan_source(p, c), plan_source_count(p, c));
    return in;
}

/* z := D^-1 M f, W f of LAYOUT_SHARED in the task at hand. */
static void small_forward(planner *p, int32_t i)
{
    draft *d = &p->w.forward;
    if (d->outs % 2)
        draft_out(d); /* 2x2 pivots start at even outs */
    const int32_t k = group_columns(p->g, i), r = group_rows(p->g, i), in = add_f(p, d, i),
                  first = d->outs;
    const plan_tile *tile = (const plan_tile *)p->tiles.data + p->at.first_tile[i];
    const int64_t at = draft_copy(d, p->at.value_at16[i], p->at.value_bytes[i]);
    const int64_t pivots =
        p->plan->pivots_at16[i] < 0 ? 0 : at + 16 * (p->plan->pivots_at16[i] - p->at.value_at16[i]);
    draft_product(d, at / p->plan->scalar_bytes, k + r, 1, k, tile->ld, in, first, plan_lanes(k),
                  0);
    for (int32_t q = 0; q < k; q++)
        plan_pivot_out(p, i, q, pivots, draft_out(d));
    for (int32_t a = k; a < k + r; a++)
        plan_below_out(p, i, a, d, draft_out(d));
}

/* x := M^T z + W^T x_R of LAYOUT_SHARED. */
static void small_backward(planner *p, int32_t i)
{
    draft *d = &p->w.backward;
    const int32_t k = group_columns(p->g, i), r = group_rows(p->g, i), in = d->inputs,
                  first = d->outs;
    const plan_tile *tile = (const plan_tile *)p->tiles.data + p->at.first_tile[i];
    int32_t sources;
    const int parts = plan_in_parts(p, i, 0, &sources);
    plan_backward_inputs(p, d, i, 0, k + r, parts);
    const int64_t at = draft_copy(d, p->at.value_at16[i], p->at.value_bytes[i]);
    draft_product(d, at / p->plan->scalar_bytes, k, tile->ld, k + r, 1, in, first,
                  plan_lanes(k + r), p->conjugate);
    for (int32_t c = 0; c < k; c++)
        plan_x_out(p, i, c, draft_out(d));
}

/* x := G f of LAYOUT_SHARED_ROOT. */
static void small_top(planner *p, int32_t i)
{
    draft *d = &p->w.forward;
    const int32_t k = group_columns(p->g, i), in = add_f(p, d, i), first = d->outs;
    const plan_tile *tile = (const plan_tile *)p->tiles.data + p->at.first_tile[i];
    const int64_t at = draft_copy(d, p->at.value_at16[i], p->at.value_bytes[i]);
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
                        .tile_bytes = p->at.value_bytes[i]};
}

/* A group that is whole in a task of each sweep. */
void plan_small(planner *p, int32_t i)
{
    const int32_t height = p->g->height[i];
    const int top = p->at.layout[i] == LAYOUT_SHARED_ROOT;
    const int32_t k = group_columns(p->g, i), r = group_rows(p->g, i);
    const draft_need forward = forward_need(p, i);
    draft_need backward = forward;
    plan_in_parts(p, i, 0, &backward.sources);
    backward.inputs = backward.outs = k + r;
    backward.slots = draft_slots(k, plan_lanes(k + r));
    if (!draft_has_room(&p->w.forward, &forward))
        plan_end_shared(p, 1, height);
    if (!top && !draft_has_room(&p->w.backward, &backward))
        plan_end_shared(p, 0, height);
    if (top)
        small_top(p, i);
    else {
        small_forward(p, i);
        small_backward(p, i);
    }
}
