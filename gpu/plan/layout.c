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

static group_form form_of(const planner *p, int32_t i)
{
    const int32_t k = group_columns(p->g, i), r = group_rows(p->g, i);
    const int64_t s = p->plan->scalar_bytes;
    if (group_is_square(p->g, i))
        return k <= SMALL_TOP && leading(k) * k * s <= SMALL_BYTES ? FORM_SMALL_TOP : FORM_STRIPS;
    const int small = k + r <= SMALL_ROWS &&
                      (int64_t)leading(k + r) * k * s + k * plan_pivot_bytes(s) <= SMALL_BYTES;
    if (p->tuning->twice && k + r <= MIDDLE_ROWS && (!small || k > MIDDLE_COLUMNS))
        return FORM_MIDDLE;
    return small                                                                      ? FORM_SMALL
           : p->tuning->twice && p->target[p->g->height[i]] <= p->tuning->strip_bytes ? FORM_STRIPS
                                                                                      : FORM_LARGE;
}

/* Tiles of FORM_LARGE, row by row. */
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
    if (!group_is_square(p->g, i))
        plan_order_z(p, i, 0, k);
}

libsolver_status plan_layout(planner *p, message *why)
{
    const groups *g = p->g;
    int64_t at = COPY_ALIGN; /* draft_copy takes what lies before a tile with it */
    for (int32_t o = 0; o < g->count; o++) {
        const int32_t i = p->order[o];
        p->form[i] = form_of(p, i);
        if (p->form[i] == FORM_LARGE)
            at = round_up(at, COPY_ALIGN); /* the squares of a task lie one behind the other from
                                              its first byte on */
        const int64_t start = at;
        p->first_tile[i] = (int32_t)(p->tiles.length / (int64_t)sizeof(plan_tile));
        switch (p->form[i]) {
        case FORM_SMALL:
        case FORM_SMALL_TOP:
            lay_small(p, i, &at);
            break;
        case FORM_MIDDLE:
            plan_lay_middle(p, i, &at);
            break;
        case FORM_STRIPS:
            plan_lay_strips(p, i, &at);
            break;
        case FORM_LARGE:
            lay_large(p, i, &at);
            break;
        }
        p->tiles_of[i] = (int32_t)(p->tiles.length / (int64_t)sizeof(plan_tile)) - p->first_tile[i];
        p->plan->pivots_at16[i] = -1;
        if (!p->tree->cholesky && !group_is_square(g, i)) {
            p->plan->pivots_at16[i] = at / 16;
            at += group_columns(g, i) * plan_pivot_bytes(p->plan->scalar_bytes);
        }
        p->value_at16[i] = (uint32_t)(start / 16);
        p->value_bytes[i] = at - start;
    }
    at = round_up(at, COPY_ALIGN); /* as descriptions are */
    p->plan->value_bytes = at;
    if (p->tiles.failed)
        return LIBSOLVER_OUT_OF_MEMORY;
    if (at / 16 > UINT32_MAX / 2)
        return FAIL(why, LIBSOLVER_INTERNAL, "the solve's values take %lld bytes", (long long)at);
    return LIBSOLVER_OK;
}
