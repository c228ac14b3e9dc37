/* gpu/plan_large.c: tasks of a group whose tiles many blocks share
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Forward a strip of rows of [M; W] is one unit, or a few that publish parts of its sums; backward the same
 * with a strip of columns.  Sums of parts are tasks of their own. */
#include "gpu/planner.h"

/* Tiles of one task: what a stage holds of the widest scalars, and of others no more than that many. */
#define TASK_TILES 3
/* Products in one slot: a tile is shared by four warps. */
#define LARGE_CUT 8
/* Most parts of a strip: their sum is one task. */
#define MOST_PARTS 7


static int32_t strips_below(const planner *p, int32_t i)
{
    return (group_rows(p->g, i) + PIECE - 1) / PIECE;
}

/* Tile (a, b) of group i with nb strips of columns. */
static const plan_tile *tile_at(const planner *p, int32_t i, int32_t nb, int32_t a, int32_t b)
{
    const plan_tile *tile = (const plan_tile *)p->tiles.data + p->first_tile[i];
    return tile + (a < nb ? (int64_t)a * (a + 1) / 2 + b : (int64_t)nb * (nb + 1) / 2 + (int64_t)(a - nb) * nb + b);
}

/* How many units share a strip of so many bytes. */
static int32_t parts_of(const planner *p, int32_t i, int64_t bytes, int32_t tiles)
{
    const int64_t target = p->target[p->g->height[i]] > TASK_STAGE ? p->target[p->g->height[i]] : TASK_STAGE;
    int64_t parts = (bytes + target - 1) / target;
    parts = parts > MOST_PARTS ? MOST_PARTS : parts;
    return (int32_t)(parts > tiles ? tiles : parts);
}

static int32_t tiles_in_task(const planner *p)
{
    const int64_t room = (TASK_STAGE - 2560) / (PIECE * (PIECE + 1) * p->plan->scalar_bytes);
    return room < 1 ? 1 : room > TASK_TILES ? TASK_TILES : (int32_t)room;
}

/* Outs of a strip forward: z for its columns, rows of W f. */
static void forward_out(const planner *p, int32_t i, int32_t row, int64_t pivots, task_out *out)
{
    const int32_t k = group_columns(p->g, i);
    if (row < k) {
        out->dst = p->z_slot[i] + row;
        plan_pivot_out(p, i, row, pivots, out);
    } else
        out->dst = p->w_slot[i] + row - k;
}

static int64_t copy_pivots(planner *p, draft *d, int32_t i, int32_t row, int32_t outs)
{
    if (p->plan->pivots_at16[i] < 0 || row >= group_columns(p->g, i))
        return 0;
    const int64_t bytes = plan_pivot_bytes(p->plan->scalar_bytes);
    return draft_copy(d, (uint32_t)(p->plan->pivots_at16[i] + row * bytes / 16), outs * bytes) - row * bytes;
}

static void backward_out(const planner *p, int32_t i, int32_t column, task_out *out)
{
    out->dst = p->g->column[p->g->column_start[i] + column];
    out->row = p->tree->user_row[out->dst];
}

/* Rows [row, row + outs) of the group as the sums of `parts` packets each, which start at `slot` and are outs apart. */
static void sum_parts(planner *p, int32_t i, int forward, int32_t row, int32_t outs, int32_t slot, int32_t parts)
{
    draft *d = &p->sum;
    int32_t code[MOST_PARTS + 16];
    const int64_t pivots = forward ? copy_pivots(p, d, i, row, outs) : 0;
    for (int32_t o = 0; o < outs; o++) {
        int32_t count = 0;
        for (int32_t part = 0; part < parts; part++)
            code[count++] = plan_slot_code(slot + part * outs + o);
        if (forward && row >= group_columns(p->g, i))
            for (int32_t q = 0; q < plan_source_count(p, row + o); q++)
                code[count++] = plan_source(p, row + o)[q];
        task_out *out = draft_out(d);
        out->add = (int16_t)draft_input(d, code, count);
        if (forward)
            forward_out(p, i, row + o, pivots, out);
        else
            backward_out(p, i, row + o, out);
    }
    plan_sums_end(p, forward ? plan_forward_level(p, i, LEVEL_SUM) : plan_backward_level(p, i, LEVEL_SUM));
}

static void add_tile_inputs(planner *p, draft *d, int32_t i, int forward, const plan_tile *tile)
{
    const int32_t k = group_columns(p->g, i);
    if (forward)
        for (int32_t c = tile->column; c < tile->column + tile->columns; c++)
            draft_input(d, plan_source(p, c), plan_source_count(p, c));
    else
        for (int32_t a = tile->row; a < tile->row + tile->rows; a++) {
            const int32_t code =
                plan_slot_code(a < k ? p->z_slot[i] + a : p->g->row[p->g->row_start[i] + a - k]);
            draft_input(d, &code, 1);
        }
}

/* Strip `a` of rows (forward) or columns (backward): tiles [from, to) of the other index, as a chain of tasks.  slot: first packet of this
 * part's sums, -1 if it has all of them. */
static void write_chain(planner *p, int32_t i, int forward, int32_t nb, int32_t a, int32_t from, int32_t to, int32_t slot)
{
    draft *d = forward ? &p->ahead : &p->back;
    const int64_t s = p->plan->scalar_bytes;
    const int32_t k = group_columns(p->g, i), most = tiles_in_task(p);
    for (int32_t b = from; b < to;) {
        const plan_tile *tile = NULL;
        const int32_t start = b;
        for (; b < to && b < start + most; b++) {
            tile = forward ? tile_at(p, i, nb, a, b) : tile_at(p, i, nb, b, a);
            const int32_t in = d->inputs;
            add_tile_inputs(p, d, i, forward, tile);
            const int64_t at = draft_copy(d, tile->at16, plan_tile_bytes(tile, s)) / s;
            int32_t first;
            if (forward)
                draft_product(d, at, tile->rows, 1, tile->columns, tile->ld, in, LARGE_CUT, 0, &first);
            else
                draft_product(d, at, tile->columns, tile->ld, tile->rows, 1, in, LARGE_CUT, p->conjugate, &first);
        }
        const int32_t outs = forward ? tile->rows : tile->columns, row = forward ? tile->row : tile->column;
        const int last = b == to;
        const int64_t pivots = last && forward && slot < 0 ? copy_pivots(p, d, i, row, outs) : 0;
        for (int32_t o = 0; o < outs; o++) {
            task_out *out = draft_out(d);
            out->part = (uint16_t)o;
            out->parts = (uint8_t)d->slots;
            if (!last)
                continue;
            if (slot >= 0)
                out->dst = slot + o;
            else if (!forward)
                backward_out(p, i, row + o, out);
            else {
                forward_out(p, i, row + o, pivots, out);
                if (row + o >= k && plan_source_count(p, row + o) > 0)
                    out->add = (int16_t)draft_input(d, plan_source(p, row + o), plan_source_count(p, row + o));
            }
        }
        plan_task(p, d, (start > from ? TASK_CARRY_IN : 0) | (last ? 0 : TASK_CARRY_OUT));
    }
    plan_unit_end(p, forward ? plan_forward_level(p, i, LEVEL_PRODUCT) : plan_backward_level(p, i, LEVEL_PRODUCT));
}

/* All of a strip. */
static void write_strip(planner *p, int32_t i, int forward, int32_t nb, int32_t a, int32_t from, int32_t to)
{
    int64_t bytes = 0;
    for (int32_t b = from; b < to; b++)
        bytes += plan_tile_bytes(forward ? tile_at(p, i, nb, a, b) : tile_at(p, i, nb, b, a), p->plan->scalar_bytes);
    const int32_t parts = parts_of(p, i, bytes, to - from);
    if (parts == 1) {
        write_chain(p, i, forward, nb, a, from, to, -1);
        return;
    }
    const plan_tile *tile = forward ? tile_at(p, i, nb, a, from) : tile_at(p, i, nb, from, a);
    const int32_t outs = forward ? tile->rows : tile->columns, row = forward ? tile->row : tile->column;
    const int32_t slot = plan_new_slots(p, (int64_t)parts * outs);
    for (int32_t part = 0; part < parts; part++)
        write_chain(p, i, forward, nb, a, from + (int32_t)((int64_t)(to - from) * part / parts),
                    from + (int32_t)((int64_t)(to - from) * (part + 1) / parts), slot + part * outs);
    sum_parts(p, i, forward, row, outs, slot, parts);
}

libsolver_status plan_large(planner *p, int32_t i, int32_t *border)
{
    const int32_t nb = plan_borders(p, i, border), strips = nb + strips_below(p, i);
    TRY(plan_sources(p, i));
    plan_publish(p, 0, group_columns(p->g, i), plan_forward_level(p, i, LEVEL_PUBLISH));
    for (int32_t a = 0; a < strips; a++)
        write_strip(p, i, 1, nb, a, 0, a < nb ? a + 1 : nb);
    for (int32_t b = 0; b < nb; b++)
        write_strip(p, i, 0, nb, b, b, strips);
    return LIBSOLVER_OK;
}
