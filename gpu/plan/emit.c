/* gpu/plan/emit.c: tasks and units of a program as they are finished, and what all their outs need
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/plan/planner.h"

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
    p->w.unit_kind = kind_of(d);
    const int64_t bytes = draft_finish(d, 0, &p->w.descriptions, &p->w.copies);
    p->w.bytes_read += bytes;
    p->w.unit_cost += bytes + p->tuning->task_cost;
    p->w.unit.tasks++;
    p->w.tasks++;
    draft_start(d);
}

void plan_unit_end(planner *p, int level)
{
    if (p->w.unit.tasks == 0)
        return;
    const int32_t end = (int32_t)(p->w.copies.length / (int64_t)sizeof(task_copy));
    p->w.unit.copies = end - p->w.unit.copy;
    const plan_unit u = {.level = level,
                         .order = (int32_t)(p->w.units.length / (int64_t)sizeof(plan_unit)),
                         .list = p->w.unit,
                         .kind = p->w.unit_kind,
                         .cost = p->w.unit_cost};
    buffer_put(&p->w.units, &u, (int64_t)sizeof u);
    p->w.unit = (task_list){.copy = end};
    p->w.unit_cost = 0;
}

void plan_pivot_out(const planner *p, int32_t i, int32_t q, int64_t pivots, task_out *out)
{
    out->dst = p->at.z_packet[i] + q;
    if (p->tree->cholesky)
        return;
    const int32_t c = p->plan->z_row[p->g->column_start[i] + q];
    out->flags = OUT_D;
    out->row =
        (int32_t)((pivots + q * plan_pivot_bytes(p->plan->scalar_bytes)) / p->plan->scalar_bytes);
    if (plan_joined(p, i, c) || (c > 0 && plan_joined(p, i, c - 1)))
        out->flags |= OUT_PAIR;
}

int64_t plan_copy_pivots(planner *p, draft *d, int32_t i, int32_t row, int32_t outs)
{
    if (p->plan->pivots_at16[i] < 0 || row >= group_columns(p->g, i))
        return 0;
    const int64_t bytes = plan_pivot_bytes(p->plan->scalar_bytes);
    return draft_copy(d, (uint32_t)(p->plan->pivots_at16[i] + row * bytes / 16), outs * bytes) -
           row * bytes;
}

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

void plan_end_shared(planner *p, int forward, int32_t height)
{
    draft *d = forward ? &p->w.forward : &p->w.backward;
    if (d->outs == 0)
        return;
    plan_task(p, d, 0);
    plan_unit_end(p, (forward ? height : 2 * p->g->heights - height) * LEVELS + LEVEL_PRODUCT);
}
