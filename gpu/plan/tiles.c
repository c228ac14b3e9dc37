/* gpu/plan/tiles.c: tiles of a group: where they lie, where strips end, in which order z comes
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/plan/planner.h"

void plan_add_tile(planner *p, int64_t *at, plan_tile t)
{
    t.at16 = (uint32_t)(*at / 16);
    buffer_put(&p->tiles, &t, (int64_t)sizeof t);
    *at += plan_tile_bytes(&t, p->plan->scalar_bytes);
}

int32_t plan_borders(const planner *p, int32_t i)
{
    const int32_t k = group_columns(p->g, i);
    int32_t *border = p->border, count = 0;
    for (int32_t c = 0; c < k;) {
        border[count++] = c;
        int32_t next = c + SQUARE < k ? c + SQUARE : k;
        if (next < k && plan_joined(p, i, next - 1))
            next--; /* a 2x2 pivot stays in one strip */
        c = next;
    }
    border[count] = k;
    return count;
}

int plan_order_z(planner *p, int32_t i, int32_t from, int32_t to)
{
    int32_t *row = p->plan->z_row + p->g->column_start[i] + from;
    int pairs = 0;
    for (int32_t c = from; c + 1 < to; c++)
        if (plan_joined(p, i, c)) {
            pairs = 1;
            *row++ = c++;
            *row++ = c;
        }
    for (int32_t c = from; c < to; c++)
        if (plan_joined(p, i, c))
            c++;
        else
            *row++ = c;
    return pairs;
}
