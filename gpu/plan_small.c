/* gpu/plan_small.c: tasks of groups that are small enough to share them, and of roots
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/planner.h"

/* Warps of a block that share the products of a task. */
#define WARPS 8
/* Products in one slot of a small group's task. */
#define SMALL_CUT (PIECE / 2)
/* Sources of x that a task backward adds itself, all its inputs together; beyond them it waits for the sums. */
#define BACKWARD_SOURCES 384

static int32_t sources_of(const planner *p, int32_t from, int32_t to, int32_t *rows)
{
    int32_t count = 0;
    *rows = 0;
    for (int32_t a = from; a < to; a++) {
        count += plan_source_count(p, a);
        *rows += plan_source_count(p, a) > 0;
    }
    return count;
}

static int32_t slots_of(int32_t k, int32_t r)
{
    int32_t slots = 0;
    for (int32_t c = 0; c < k; c += PIECE)
        slots += (k + r - c + PIECE - 1) / PIECE * ((k - c < PIECE ? k - c : PIECE) + SMALL_CUT - 1) / SMALL_CUT;
    return slots;
}

static int32_t slots_backward(int32_t k, int32_t r)
{
    int32_t slots = 0;
    for (int32_t c = 0; c < k; c += PIECE)
        slots += (k + r - c + SMALL_CUT - 1) / SMALL_CUT;
    return slots;
}

/* z := D^-1 M f, W f of FORM_SMALL in the task at hand. */
static void small_forward(planner *p, int32_t i)
{
    draft *d = &p->ahead;
    const int32_t k = group_columns(p->g, i), r = group_rows(p->g, i);
    const int64_t s = p->plan->scalar_bytes;
    const plan_tile *tile = (const plan_tile *)p->tiles.data + p->first_tile[i];
    const int32_t in = d->inputs;
    for (int32_t c = 0; c < k; c++)
        draft_input(d, plan_source(p, c), plan_source_count(p, c));
    int32_t add = d->inputs;
    for (int32_t a = k; a < k + r; a++)
        if (plan_source_count(p, a) > 0)
            draft_input(d, plan_source(p, a), plan_source_count(p, a));
    const int64_t at = draft_copy(d, p->value_at16[i], p->value_bytes[i]);
    const int64_t pivots = p->plan->pivots_at16[i] < 0 ? 0 : at + 16 * (p->plan->pivots_at16[i] - p->value_at16[i]);
    for (int32_t a = 0; a < k + r; a += PIECE) {
        const int32_t outs = k + r - a < PIECE ? k + r - a : PIECE;
        int32_t first = 0, parts = 0;
        for (int32_t b = 0; PIECE * b <= a && PIECE * b < k; b++) {
            int32_t slot;
            const int64_t from = at / s + 16 * (int64_t)(tile[b].at16 - p->value_at16[i]) / s + a - PIECE * b;
            parts += draft_product(d, from, outs, 1, tile[b].columns, tile[b].ld, in + PIECE * b, SMALL_CUT, 0, &slot);
            first = b == 0 ? slot : first;
        }
        for (int32_t o = 0; o < outs; o++) {
            task_out *out = draft_out(d);
            out->part = (uint16_t)(PIECE * first + o);
            out->parts = (uint8_t)parts;
            if (a + o < k) {
                out->dst = p->z_slot[i] + a + o;
                plan_pivot_out(p, i, a + o, pivots, out);
            } else {
                out->dst = p->w_at[p->g->row_start[i] + a + o - k].slot;
                out->add = (int16_t)(plan_source_count(p, a + o) > 0 ? add++ : -1);
            }
        }
    }
}

/* Sources of the rows below group i, backward: parts of x, or x alone if the parts are too many. */
static int32_t backward_sources(const planner *p, int32_t i, int *parts)
{
    const int32_t k = group_columns(p->g, i);
    int32_t sources = k;
    for (int64_t q = p->g->row_start[i]; q < p->g->row_start[i + 1]; q++)
        sources += p->x_at[p->g->row[q]].count;
    *parts = sources <= BACKWARD_SOURCES;
    return *parts ? sources : k + group_rows(p->g, i);
}

/* x := M^T z + W^T x_R of FORM_SMALL. */
static void small_backward(planner *p, int32_t i)
{
    draft *d = &p->back;
    const int32_t k = group_columns(p->g, i), r = group_rows(p->g, i);
    const int64_t s = p->plan->scalar_bytes;
    const plan_tile *tile = (const plan_tile *)p->tiles.data + p->first_tile[i];
    const int32_t *column = p->g->column + p->g->column_start[i], *row = p->g->row + p->g->row_start[i];
    const int32_t in = d->inputs;
    int parts_too;
    backward_sources(p, i, &parts_too);
    for (int32_t a = 0; a < k; a++)
        plan_input_at(d, &(value_place){.slot = p->z_slot[i] + a, .count = 1});
    for (int32_t a = 0; a < r; a++)
        plan_input_at(d, parts_too ? &p->x_at[row[a]] : &(value_place){.slot = row[a], .count = 1});
    const int64_t at = draft_copy(d, p->value_at16[i], p->value_bytes[i]);
    for (int32_t b = 0; PIECE * b < k; b++) {
        int32_t first;
        const int64_t from = at / s + 16 * (int64_t)(tile[b].at16 - p->value_at16[i]) / s;
        const int32_t parts = draft_product(d, from, tile[b].columns, tile[b].ld, tile[b].rows, 1, in + PIECE * b,
                                            SMALL_CUT, p->conjugate, &first);
        for (int32_t o = 0; o < tile[b].columns; o++) {
            task_out *out = draft_out(d);
            out->part = (uint16_t)(PIECE * first + o);
            out->parts = (uint8_t)parts;
            out->dst = column[PIECE * b + o];
            out->row = p->tree->user_row[out->dst];
        }
    }
}

/* x := G f of FORM_SMALL_TOP. */
static void small_top(planner *p, int32_t i)
{
    draft *d = &p->ahead;
    const int32_t k = group_columns(p->g, i);
    const int64_t s = p->plan->scalar_bytes;
    const plan_tile *tile = (const plan_tile *)p->tiles.data + p->first_tile[i];
    const int32_t *column = p->g->column + p->g->column_start[i];
    const int32_t in = d->inputs;
    for (int32_t c = 0; c < k; c++)
        draft_input(d, plan_source(p, c), plan_source_count(p, c));
    const int64_t at = draft_copy(d, p->value_at16[i], p->value_bytes[i]);
    for (int32_t a = 0; a < k; a += PIECE) {
        const int32_t outs = k - a < PIECE ? k - a : PIECE;
        int32_t first;
        const int32_t parts = draft_product(d, at / s + a, outs, 1, k, tile->ld, in, SMALL_CUT, 0, &first);
        for (int32_t o = 0; o < outs; o++) {
            task_out *out = draft_out(d);
            out->part = (uint16_t)(PIECE * first + o);
            out->parts = (uint8_t)parts;
            out->dst = column[a + o];
            out->row = p->tree->user_row[out->dst];
        }
    }
}

/* What group i needs in a task forward; its sources are summed by tasks of their own first if they would not fit. */
static draft_need forward_need(planner *p, int32_t i)
{
    const int32_t k = group_columns(p->g, i), r = group_rows(p->g, i);
    int32_t rows, sources = sources_of(p, 0, k + r, &rows);
    if (sources > TASK_SOURCES) {
        plan_publish(p, 0, k + r, plan_forward_level(p, i, LEVEL_PUBLISH));
        sources = sources_of(p, 0, k + r, &rows);
    }
    return (draft_need){.inputs = rows,
                        .extras = sources - rows,
                        .slots = r > 0 ? slots_of(k, r) : (k + PIECE - 1) / PIECE * ((k + SMALL_CUT - 1) / SMALL_CUT),
                        .outs = k + r,
                        .tile_bytes = p->value_bytes[i]};
}

/* The tasks at hand of both sweeps, if there is anything in them. */
static void end_batch(planner *p, int32_t height)
{
    if (p->ahead.outs > 0) {
        plan_task(p, &p->ahead, 0);
        plan_unit_end(p, height * LEVELS + LEVEL_PRODUCT);
    }
    if (p->back.outs > 0) {
        plan_task(p, &p->back, 0);
        plan_unit_end(p, (2 * p->g->heights - height) * LEVELS + LEVEL_PRODUCT);
    }
}

libsolver_status plan_small_groups(planner *p, int32_t height)
{
    for (int32_t o = p->height_start[height]; o < p->height_start[height + 1]; o++) {
        const int32_t i = p->order[o];
        const int top = p->form[i] == FORM_SMALL_TOP;
        if (p->form[i] != FORM_SMALL && !top)
            continue;
        TRY(plan_sources(p, i));
        const draft_need forward = forward_need(p, i);
        draft_need backward = forward;
        int parts;
        backward.inputs = forward.outs;
        backward.extras = backward_sources(p, i, &parts) - forward.outs;
        backward.slots = slots_backward(group_columns(p->g, i), group_rows(p->g, i));
        if (!draft_has_room(&p->ahead, &forward) || (!top && !draft_has_room(&p->back, &backward)))
            end_batch(p, height);
        if (top)
            small_top(p, i);
        else {
            small_forward(p, i);
            small_backward(p, i);
        }
        if (p->ahead.tile_bytes >= p->target[height])
            end_batch(p, height);
    }
    end_batch(p, height);
    return LIBSOLVER_OK;
}

libsolver_status plan_top(planner *p, int32_t i)
{
    const int32_t k = group_columns(p->g, i), rows = p->strip_rows[i], strips = (k + rows - 1) / rows;
    const plan_tile *tile = (const plan_tile *)p->tiles.data + p->first_tile[i];
    const int32_t tiles = p->tiles_of[i] / strips;
    const int32_t *column = p->g->column + p->g->column_start[i];
    TRY(plan_sources(p, i));
    if (strips > 1)
        plan_publish(p, 0, k, plan_forward_level(p, i, LEVEL_PUBLISH));
    draft *d = &p->ahead;
    for (int32_t strip = 0; strip < strips; strip++) {
        for (int32_t t = 0; t < tiles; t++, tile++) {
            const int64_t at = draft_copy(d, tile->at16, plan_tile_bytes(tile, p->plan->scalar_bytes));
            for (int32_t c = tile->column; c < tile->column + tile->columns; c++)
                draft_input(d, plan_source(p, c), plan_source_count(p, c));
            int32_t first;
            const int32_t parts =
                draft_product(d, at / p->plan->scalar_bytes, tile->rows, 1, tile->columns, tile->ld, 0,
                              (tile->columns + WARPS - 1) / WARPS, 0, &first);
            for (int32_t o = 0; o < tile->rows; o++) {
                task_out *out = draft_out(d);
                out->part = (uint16_t)o;
                out->parts = (uint8_t)parts;
                if (t == tiles - 1) {
                    out->dst = column[tile->row + o];
                    out->row = p->tree->user_row[out->dst];
                }
            }
            plan_task(p, d, (t > 0 ? TASK_CARRY_IN : 0) | (t < tiles - 1 ? TASK_CARRY_OUT : 0));
        }
        plan_unit_end(p, plan_forward_level(p, i, LEVEL_PRODUCT));
    }
    return LIBSOLVER_OK;
}
