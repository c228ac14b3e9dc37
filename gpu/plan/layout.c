/* gpu/plan/layout.c: how each group is cut into tiles, and where its values lie
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/plan/planner.h"

/* Bytes of values up to which a group can share a task. */
#define SMALL_BYTES (TASK_BYTES - 6144)
/* Most columns and rows of one, so that its inputs fit beside what they are summed from. */
#define SMALL_ROWS 240
/* Most columns and rows of a group of middle size, and least columns: with fewer the zeros of M are
 * not worth cutting it. */
#define MIDDLE_ROWS 256
#define MIDDLE_COLUMNS 24
/* Most columns of a root that shares a task. */
#define SMALL_TOP 40
/* See task_slot. */
static int32_t leading(int32_t rows)
{
    const int32_t even = (rows + 1) / 2 * 2;
    return even % 8 ? even : even + 2;
}

static group_layout layout_of(const planner *p, int32_t i)
{
    const int32_t k = group_columns(p->g, i), r = group_rows(p->g, i);
    const int64_t s = p->plan->scalar_bytes;
    if (group_is_root_with_inverse(p->g, i))
        return k <= SMALL_TOP && leading(k) * k * s <= SMALL_BYTES ? LAYOUT_SHARED_ROOT
                                                                   : LAYOUT_STRIPS;
    const int small = k + r <= SMALL_ROWS &&
                      (int64_t)leading(k + r) * k * s + k * plan_pivot_bytes(s) <= SMALL_BYTES;
    if (p->tuning->twice && k + r <= MIDDLE_ROWS && (!small || k > MIDDLE_COLUMNS))
        return LAYOUT_BLOCKS;
    return small ? LAYOUT_SHARED
           : p->tuning->twice && p->at.target[p->g->height[i]] <= p->tuning->strip_bytes
               ? LAYOUT_STRIPS
               : LAYOUT_SQUARES;
}

/* Tiles of LAYOUT_SQUARES, row by row. */
static void lay_large(planner *p, int32_t i, int64_t *at)
{
    const int32_t k = group_columns(p->g, i), r = group_rows(p->g, i), nb = plan_borders(p, i);
    const int32_t *border = p->border;
    plan_tile t = {.group = i, .kind = IN_SQUARE};
    for (int32_t a = 0; a < nb + (r + SQUARE - 1) / SQUARE; a++) {
        t.row = a < nb ? border[a] : k + SQUARE * (a - nb);
        t.rows = a < nb                   ? border[a + 1] - border[a]
                 : k + r - t.row < SQUARE ? k + r - t.row
                                          : SQUARE;
        for (int32_t b = 0; b <= a && b < nb; b++) {
            t.column = border[b];
            t.columns = border[b + 1] - border[b];
            plan_add_tile(p, at, t);
        }
        if (a < nb)
            plan_order_z(p, i, border[a], border[a + 1]);
    }
}

static void lay_small(planner *p, int32_t i, int64_t *at)
{
    const int32_t k = group_columns(p->g, i), r = group_rows(p->g, i);
    plan_add_tile(
        p, at,
        (plan_tile){
            .group = i, .rows = k + r, .columns = k, .ld = leading(k + r), .kind = BY_COLUMNS});
    if (!group_is_root_with_inverse(p->g, i))
        plan_order_z(p, i, 0, k);
}

libsolver_status plan_lay_out(planner *p, message *why)
{
    const groups *g = p->g;
    int64_t at = COPY_ALIGN; /* draft_copy takes what lies before a tile with it */
    for (int32_t o = 0; o < g->count; o++) {
        const int32_t i = p->at.order[o];
        p->at.layout[i] = layout_of(p, i);
        if (p->at.layout[i] == LAYOUT_SQUARES)
            at = round_up(at, COPY_ALIGN); /* the squares of a task lie one behind the other from
                                              its first byte on */
        const int64_t start = at;
        p->at.first_tile[i] = (int32_t)(p->tiles.length / (int64_t)sizeof(plan_tile));
        switch (p->at.layout[i]) {
        case LAYOUT_SHARED:
        case LAYOUT_SHARED_ROOT:
            lay_small(p, i, &at);
            break;
        case LAYOUT_BLOCKS:
            plan_lay_middle(p, i, &at);
            break;
        case LAYOUT_STRIPS:
            plan_lay_strips(p, i, &at);
            break;
        case LAYOUT_SQUARES:
            lay_large(p, i, &at);
            break;
        }
        p->at.tiles_of[i] =
            (int32_t)(p->tiles.length / (int64_t)sizeof(plan_tile)) - p->at.first_tile[i];
        p->plan->pivots_at16[i] = -1;
        if (!p->tree->cholesky && !group_is_root_with_inverse(g, i)) {
            p->plan->pivots_at16[i] = at / 16;
            at += group_columns(g, i) * plan_pivot_bytes(p->plan->scalar_bytes);
        }
        p->at.value_at16[i] = (uint32_t)(start / 16);
        p->at.value_bytes[i] = at - start;
    }
    at = round_up(at, COPY_ALIGN); /* as descriptions are */
    p->plan->value_bytes = at;
    if (p->tiles.failed)
        return LIBSOLVER_OUT_OF_MEMORY;
    if (at / 16 > UINT32_MAX / 2)
        return FAIL(why, LIBSOLVER_INTERNAL, "the solve's values take %lld bytes", (long long)at);
    return LIBSOLVER_OK;
}
