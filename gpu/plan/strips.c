/* gpu/plan/strips.c: tiles and tasks of groups in strips that run over all products of their outs
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A root's G lies in strips of rows.  [M; W] of other groups lies in strips of rows for the forward
 * sweep and once more in strips of columns for the backward one: no sum is in parts, which would
 * take a step to add, but every strip gathers all inputs.  A strip is cut into tiles of as many
 * products as a task holds; its tasks pass their sums on. */
#include "gpu/plan/planner.h"

/* Least bytes of a strip: below that a task is all latency. */
#define STRIP_BYTES 4096
/* Most rows of one, two for each warp; more would carry more sums than there is room for. */
#define STRIP_ROWS (2 * SOLVE_WARPS)
/* Bytes of a tile beside which a task holds what describes it. */
#define TILE_BYTES (TASK_BYTES - 4096)
/* Most inputs of a tile: rows below may have something to add. */
#define TILE_INPUTS (TASK_INPUTS - STRIP_ROWS)
/* Sources of f that every strip adds up; more are summed once and published. */
#define DIRECT_SOURCES 280

/* ---- Tiles ----------------------------------------------------------------------------------- */

/* Outs of a strip of so many products: as many as give every block of the device its share. */
static int32_t outs_of(const planner *p, int32_t i, int32_t inner)
{
    const int64_t s = p->plan->scalar_bytes, target = p->at.target[p->g->height[i]];
    const int64_t share = target > STRIP_BYTES ? target : STRIP_BYTES;
    const int64_t wanted = (share + inner * s - 1) / (inner * s);
    return wanted > STRIP_ROWS ? STRIP_ROWS : (int32_t)wanted;
}

/* Outs [out, end), products [from, to) of a strip, which holds most_outs at most. */
static void add_strip(planner *p, plan_tile t, int32_t out, int32_t end, int32_t from, int32_t to,
                      int32_t most_outs, int64_t *at)
{
    const int by_rows = t.kind == BY_ROWS;
    int32_t most = (int32_t)(TILE_BYTES / (p->plan->scalar_bytes * most_outs));
    most = most > TILE_INPUTS ? TILE_INPUTS : most;
    const int32_t tiles = (to - from + most - 1) / most;
    for (int32_t b = 0; b < tiles; b++) {
        const int32_t first = from + (int32_t)((int64_t)(to - from) * b / tiles),
                      last = from + (int32_t)((int64_t)(to - from) * (b + 1) / tiles);
        t.row = by_rows ? out : first;
        t.rows = by_rows ? end - out : last - first;
        t.column = by_rows ? first : out;
        t.columns = by_rows ? last - first : end - out;
        t.ld = last - first;
        plan_add_tile(p, at, t);
    }
}

/* Strips of the rows or columns of a strip of plan_borders, [from, to).  pairs: rows of M are not
 * in their order. */
static void add_border(planner *p, plan_tile t, int32_t from, int32_t to, int pairs, int32_t step,
                       int64_t *at)
{
    const int32_t m = group_columns(p->g, t.group) + group_rows(p->g, t.group);
    for (int32_t c = from; c < to; c += step) {
        const int32_t end = c + step < to ? c + step : to;
        if (t.kind == BY_ROWS)
            add_strip(p, t, c, end, 0, pairs ? to : end, step, at);
        else
            add_strip(p, t, c, end, pairs ? from : c, m, step, at);
    }
}

static void lay_sweep(planner *p, int32_t i, int kind, int64_t *at)
{
    const int32_t k = group_columns(p->g, i), m = k + group_rows(p->g, i), nb = plan_borders(p, i);
    /* a pair is in one strip */
    const int32_t *border = p->border, step = (outs_of(p, i, kind == BY_ROWS ? k : m) + 1) / 2 * 2;
    const plan_tile t = {.group = i, .kind = kind};
    for (int32_t a = 0; a < nb; a++)
        add_border(p, t, border[a], border[a + 1], plan_order_z(p, i, border[a], border[a + 1]),
                   step, at);
    for (int32_t a = k; a < m && kind == BY_ROWS; a += step)
        add_strip(p, t, a, a + step < m ? a + step : m, 0, k, step, at);
}

void plan_lay_strips(planner *p, int32_t i, int64_t *at)
{
    const int32_t k = group_columns(p->g, i), step = outs_of(p, i, k);
    if (!group_is_root_with_inverse(p->g, i)) {
        lay_sweep(p, i, BY_ROWS, at);
        lay_sweep(p, i, BY_COLUMNS, at);
        return;
    }
    for (int32_t a = 0; a < k; a += step)
        add_strip(p, (plan_tile){.group = i, .kind = BY_ROWS}, a, a + step < k ? a + step : k, 0, k,
                  step, at);
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

/* The tile after the last of t's strip. */
static const plan_tile *strip_end(const plan_tile *t, const plan_tile *end)
{
    const plan_tile *next = t + 1;
    while (next < end && next->kind == t->kind &&
           (plan_is_forward(t) ? next->row == t->row : next->column == t->column))
        next++;
    return next;
}

static const plan_tile *tiles_of(const planner *p, int32_t i, const plan_tile **end)
{
    const plan_tile *tile = (const plan_tile *)p->tiles.data + p->at.first_tile[i];
    *end = tile + p->at.tiles_of[i];
    return tile;
}

int32_t plan_strips_of(const planner *p, int32_t i, int32_t *tasks)
{
    const plan_tile *end, *t = tiles_of(p, i, &end);
    int32_t strips = 0;
    for (; t < end; t = strip_end(t, end))
        strips++;
    *tasks = p->at.tiles_of[i] / strips + 1;
    return strips;
}

static void add_inputs(planner *p, int32_t i, const plan_tile *t)
{
    draft *d = &p->w.forward;
    for (int32_t c = t->column; c < t->column + t->columns && plan_is_forward(t); c++)
        draft_input(d, plan_source(p, c), plan_source_count(p, c));
    if (!plan_is_forward(t))
        plan_backward_inputs(p, d, i, t->row, t->row + t->rows,
                             plan_backward_sources(p, i, t->row, t->row + t->rows) <= TASK_SOURCES);
}

/* The outs of a strip's last task. */
static void strip_outs(planner *p, int32_t i, const plan_tile *t)
{
    draft *d = &p->w.forward;
    const int32_t k = group_columns(p->g, i), outs = plan_is_forward(t) ? t->rows : t->columns,
                  first = plan_is_forward(t) ? t->row : t->column;
    const int publishes = plan_is_forward(t) && !group_is_root_with_inverse(p->g, i);
    const int64_t pivots = publishes && first < k ? plan_copy_pivots(p, d, i, first, outs) : 0;
    for (int32_t a = first; a < first + outs; a++) {
        task_out *out = draft_out(d);
        if (!publishes)
            plan_x_out(p, i, a, out);
        else if (a < k)
            plan_pivot_out(p, i, a, pivots, out);
        else
            plan_below_out(p, i, a, d, out);
    }
}

static void write_strip(planner *p, int32_t i, const plan_tile *t, const plan_tile *end)
{
    draft *d = &p->w.forward;
    const int forward = plan_is_forward(t);
    const int32_t outs = forward ? t->rows : t->columns;
    for (int first = 1; t < end; t++, first = 0) {
        const int64_t at = draft_copy(d, t->at16, plan_tile_bytes(t, p->plan->scalar_bytes));
        add_inputs(p, i, t);
        d->flags |= TASK_WIDE;
        draft_product(d, at / p->plan->scalar_bytes, outs, t->ld, forward ? t->columns : t->rows, 1,
                      0, 0, outs > SOLVE_WARPS || p->joined ? 2 : 3, forward ? 0 : p->conjugate);
        if (t + 1 == end)
            strip_outs(p, i, t);
        for (int32_t o = 0; o < outs && t + 1 < end; o++)
            draft_out(d);
        plan_task(p, d, (first ? 0 : TASK_CARRY_IN) | (t + 1 < end ? TASK_CARRY_OUT : 0));
    }
    plan_unit_end(p, forward ? plan_forward_level(p, i, LEVEL_PRODUCT)
                             : plan_backward_level(p, i, LEVEL_PRODUCT));
}

libsolver_status plan_strips(planner *p, int32_t i, int32_t from, int32_t to)
{
    const plan_tile *end, *t = tiles_of(p, i, &end), *next;
    int32_t rows;
    const int32_t k = group_columns(p->g, i);
    TRY(plan_find_sources(p, i));
    if (strip_end(t, end) < end && plan_sources_of(p, 0, k, &rows) >
                                       (group_is_root_with_inverse(p->g, i) ? k : DIRECT_SOURCES))
        plan_publish(p, 0, k, plan_forward_level(p, i, LEVEL_PUBLISH));
    for (int32_t strip = 0; t < end; t = next, strip++) {
        next = strip_end(t, end);
        if (strip >= from && strip < to)
            write_strip(p, i, t, next);
    }
    return LIBSOLVER_OK;
}
