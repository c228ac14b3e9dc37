/* gpu/plan/middle.c: tiles and tasks of groups of middle size
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * [M; W] lies in blocks of some rows for the forward sweep, and once more in blocks of some columns
 * for the backward one.  A block has all products of its outs, so that no sum is in parts, and
 * little of M's zeros.  A task takes as many blocks as it holds, of several groups too. */
#include "gpu/plan/planner.h"

/* Bytes of a block up to which it fits a task beside what describes it. */
#define BLOCK_BYTES (TASK_BYTES - 8192)
/* Sources of f that every task adds up; more are summed once and published. */
#define DIRECT_SOURCES 240

/* Outs of a block with so many products each. */
static int32_t outs_of(const planner *p, int32_t inner)
{
    int32_t outs = SLOT_ROWS;
    while (outs > 2 && outs * inner * p->plan->scalar_bytes > BLOCK_BYTES)
        outs /= 2;
    return outs;
}

/* Odd: lanes with an out each read from different banks. */
static int32_t leading(int32_t inner)
{
    return inner | 1;
}

/* Forward: rows [row, end) with columns [0, columns). */
static void add_rows(planner *p, int32_t i, int32_t row, int32_t end, int32_t columns, int64_t *at)
{
    plan_add_tile(p, at,
                  (plan_tile){.group = i,
                              .row = row,
                              .rows = end - row,
                              .columns = columns,
                              .ld = leading(columns),
                              .kind = BY_ROWS});
}

/* Strip [from, to) of columns.  pairs: its rows of M are not in their order. */
static void add_strip(planner *p, int32_t i, int32_t from, int32_t to, int pairs, int forward,
                      int64_t *at)
{
    const int32_t m = group_columns(p->g, i) + group_rows(p->g, i),
                  step = outs_of(p, forward ? group_columns(p->g, i) : m);
    for (int32_t c = from; c < to; c += step) {
        const int32_t end = c + step < to ? c + step : to, row = pairs ? from : c;
        if (forward)
            add_rows(p, i, c, end, pairs ? to : end, at);
        else
            plan_add_tile(p, at,
                          (plan_tile){.group = i,
                                      .row = row,
                                      .rows = m - row,
                                      .column = c,
                                      .columns = end - c,
                                      .ld = leading(m - row),
                                      .kind = BY_COLUMNS});
    }
}

void plan_lay_middle(planner *p, int32_t i, int64_t *at)
{
    const int32_t k = group_columns(p->g, i), m = k + group_rows(p->g, i), nb = plan_borders(p, i),
                  step = outs_of(p, k);
    const int32_t *border = p->border;
    for (int32_t a = 0; a < nb; a++)
        add_strip(p, i, border[a], border[a + 1], plan_order_z(p, i, border[a], border[a + 1]), 1,
                  at);
    for (int32_t a = k; a < m; a += step)
        add_rows(p, i, a, a + step < m ? a + step : m, k, at);
    for (int32_t a = 0; a < nb; a++)
        add_strip(p, i, border[a], border[a + 1], plan_order_z(p, i, border[a], border[a + 1]), 0,
                  at);
}

/* ---- Forward --------------------------------------------------------------------------------- */

/* Lanes of a block of rows: a pair of outs is in one slot. */
static int forward_lanes(const planner *p, const plan_tile *t)
{
    const int lanes = plan_lanes(t->columns);
    return lanes > 2 && !p->tree->cholesky ? 2 : lanes;
}

/* What block t needs beside those before it in the task, which have `columns` entries of f. */
static void add_need(const planner *p, int32_t i, const plan_tile *t, int32_t columns,
                     draft_need *need)
{
    const int32_t k = group_columns(p->g, i), below = t->row > k ? t->row : k,
                  end = t->row + t->rows;
    int32_t rows = 0;
    if (t->columns > columns) {
        need->inputs += t->columns - columns;
        need->sources += plan_sources_of(p, columns, t->columns, &rows);
    }
    if (end > below)
        need->sources += plan_sources_of(p, below, end, &rows);
    need->inputs += end > below ? rows : 0;
    need->slots += draft_slots(t->rows, forward_lanes(p, t));
    need->outs += t->rows + 1;
    need->tile_bytes += plan_tile_bytes(t, p->plan->scalar_bytes);
    need->copies++;
    if (t->row < k) {
        need->tile_bytes += t->rows * plan_pivot_bytes(p->plan->scalar_bytes);
        need->copies++;
    }
}

/* Products and outs of a block; `in`: of f. */
static void forward_block(planner *p, int32_t i, const plan_tile *t, int32_t in, int64_t pivots)
{
    draft *d = &p->w.forward;
    const int32_t k = group_columns(p->g, i);
    const int64_t at = draft_copy(d, t->at16, plan_tile_bytes(t, p->plan->scalar_bytes));
    if (t->row < k && d->outs % 2)
        draft_out(d); /* 2x2 pivots start at even outs */
    draft_product(d, at / p->plan->scalar_bytes, t->rows, t->ld, t->columns, 1, in, d->outs,
                  forward_lanes(p, t), 0);
    for (int32_t a = t->row; a < t->row + t->rows; a++) {
        task_out *out = draft_out(d);
        if (a < k)
            plan_pivot_out(p, i, a, pivots, out);
        else
            plan_below_out(p, i, a, d, out);
    }
}

/* Blocks [t, end). */
static void forward_blocks(planner *p, int32_t i, const plan_tile *t, const plan_tile *end,
                           int32_t columns)
{
    const int32_t in = p->w.forward.inputs, k = group_columns(p->g, i),
                  last = end[-1].row + end[-1].rows;
    const int64_t pivots =
        plan_copy_pivots(p, &p->w.forward, i, t->row, (last < k ? last : k) - t->row);
    for (int32_t c = 0; c < columns; c++)
        draft_input(&p->w.forward, plan_source(p, c), plan_source_count(p, c));
    for (; t < end; t++)
        forward_block(p, i, t, in, pivots);
}

/* ---- Backward -------------------------------------------------------------------------------- */

/* Blocks [t, end), the first of which has all inputs of the others. */
static void backward_blocks(planner *p, int32_t i, const plan_tile *t, const plan_tile *end,
                            int parts)
{
    draft *d = &p->w.backward;
    const int32_t in = d->inputs - t->row;
    plan_backward_inputs(p, d, i, t->row, group_columns(p->g, i) + group_rows(p->g, i), parts);
    for (; t < end; t++) {
        const int64_t at = draft_copy(d, t->at16, plan_tile_bytes(t, p->plan->scalar_bytes));
        draft_product(d, at / p->plan->scalar_bytes, t->columns, t->ld, t->rows, 1, in + t->row,
                      d->outs, plan_lanes(t->rows), p->conjugate);
        for (int32_t c = t->column; c < t->column + t->columns; c++)
            plan_x_out(p, i, c, draft_out(d));
    }
}

static void backward_need(const planner *p, const plan_tile *t, draft_need *need)
{
    need->slots += draft_slots(t->columns, plan_lanes(t->rows));
    need->outs += t->columns;
    need->tile_bytes += plan_tile_bytes(t, p->plan->scalar_bytes);
    need->copies++;
}

/* ---- Both ------------------------------------------------------------------------------------ */

/* The tasks of one sweep: of the blocks from t on as many as the task at hand holds, up to what
 * each block of the device is to have of a height. */
static void share_blocks(planner *p, int32_t i, const plan_tile *t, const plan_tile *end)
{
    const int forward = plan_is_forward(t);
    const int32_t height = p->g->height[i], m = group_columns(p->g, i) + group_rows(p->g, i);
    draft *d = forward ? &p->w.forward : &p->w.backward;
    while (t < end) {
        draft_need need = {0};
        const plan_tile *next = t;
        int32_t columns = 0;
        int parts = 0;
        if (!forward) {
            need.inputs = m - t->row;
            parts = plan_in_parts(p, i, t->row, &need.sources);
        }
        for (; next < end && (next == t || d->tile_bytes + need.tile_bytes < p->at.target[height]);
             next++) {
            draft_need with = need;
            if (forward)
                add_need(p, i, next, columns, &with);
            else
                backward_need(p, next, &with);
            if (!draft_has_room(d, &with))
                break;
            need = with;
            columns = next->columns > columns ? next->columns : columns;
        }
        if (next == t) {
            assert(d->outs > 0);
            plan_end_shared(p, forward, height);
            continue;
        }
        if (forward)
            forward_blocks(p, i, t, next, columns);
        else
            backward_blocks(p, i, t, next, parts);
        t = next;
        if (t < end)
            plan_end_shared(p, forward, height);
    }
}

void plan_middle(planner *p, int32_t i)
{
    const plan_tile *tile = (const plan_tile *)p->tiles.data + p->at.first_tile[i],
                    *end = tile + p->at.tiles_of[i], *middle = tile;
    int32_t rows;
    if (plan_sources_of(p, 0, group_columns(p->g, i), &rows) > DIRECT_SOURCES)
        plan_publish(p, 0, group_columns(p->g, i), plan_forward_level(p, i, LEVEL_PUBLISH));
    while (middle < end && plan_is_forward(middle))
        middle++;
    share_blocks(p, i, tile, middle);
    share_blocks(p, i, middle, end);
}
