/* gpu/plan/large.c: tasks of a group whose tiles many blocks share
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Forward a strip of rows of [M; W] is one unit, or a few that publish parts of its sums; backward
 * the same with a strip of columns.  Readers add up the parts, so that a sum is not on the way of a
 * chain of groups. */
#include "gpu/plan/planner.h"

/* Bytes that each block of the device reads of a height up to which it is soon done, and how many
 * times as many sources are direct there: on an H200 four are 2 to 3 % better than one on
 * elas_armadillo and lap3d:30, and as much worse on lap3d:50 (bench_tree_solve -t). */
#define SHORT_BYTES 100000
#define SHORT_DIRECT 4

static int32_t strips_below(const planner *p, int32_t i)
{
    return (group_rows(p->g, i) + SQUARE - 1) / SQUARE;
}

/* Tile (a, b) of group i with nb strips of columns. */
static const plan_tile *tile_at(const planner *p, int32_t i, int32_t nb, int32_t a, int32_t b)
{
    const plan_tile *tile = (const plan_tile *)p->tiles.data + p->at.first_tile[i];
    return tile + (a < nb ? (int64_t)a * (a + 1) / 2 + b
                          : (int64_t)nb * (nb + 1) / 2 + (int64_t)(a - nb) * nb + b);
}

static int64_t square_bytes(const planner *p)
{
    return SQUARE * SQUARE * p->plan->scalar_bytes;
}

static int32_t tiles_in_task(const planner *p)
{
    const int64_t room = (TASK_BYTES - 2048) / square_bytes(p);
    return room < 1 ? 1 : room > TASK_SQUARES ? TASK_SQUARES : (int32_t)room;
}

/* How many units share a strip of so many tiles: few enough that a block of the level has one. */
static int32_t parts_of(const planner *p, int32_t i, int32_t tiles)
{
    const int32_t most = tiles_in_task(p);
    const int64_t chain = p->at.target[p->g->height[i]] / (most * square_bytes(p));
    const int64_t each = most * (chain > 1 ? chain : 1);
    const int64_t parts = (tiles + each - 1) / each;
    return (int32_t)(parts > p->tuning->most_parts ? p->tuning->most_parts : parts);
}

/* z (forward) or x of columns [column, column + outs) as the sums of `parts` packets each, which
 * start at `packet` and are outs apart. */
static void sum_parts(planner *p, int32_t i, int forward, int32_t column, int32_t outs,
                      int32_t packet, int32_t parts)
{
    draft *d = &p->w.sum;
    const int64_t pivots = forward ? plan_copy_pivots(p, d, i, column, outs) : 0;
    for (int32_t o = 0; o < outs; o++) {
        const value_place at = {.packet = packet + o, .stride = outs, .count = parts};
        const int32_t in = plan_input_at(d, &at);
        task_out *out = draft_out(d);
        out->add = (int16_t)in;
        if (forward)
            plan_pivot_out(p, i, column + o, pivots, out);
        else
            plan_x_out(p, i, column + o, out);
    }
    plan_sums_end(p, forward ? plan_forward_level(p, i, LEVEL_SUM)
                             : plan_backward_level(p, i, LEVEL_SUM));
}

static void add_tile_inputs(planner *p, draft *d, int32_t i, int forward, const plan_tile *tile)
{
    static const int32_t nothing = SOURCE_ZERO;
    const int32_t k = group_columns(p->g, i), inputs = forward ? tile->columns : tile->rows;
    const int64_t below = p->g->row_start[i] + tile->row - k;
    for (int32_t c = 0; c < inputs && forward; c++)
        draft_input(d, plan_source(p, tile->column + c), plan_source_count(p, tile->column + c));
    for (int32_t c = 0; c < inputs && !forward; c++)
        if (tile->row < k) {
            const int32_t code = plan_packet_code(p->at.z_packet[i] + tile->row + c);
            draft_input(d, &code, 1);
        } else
            plan_input_at(d, &p->at.x_at[p->g->row[below + c]]);
    for (int32_t c = inputs; c < SQUARE; c++)
        draft_input(d, &nothing, 1);
}

/* Where the parts of a strip go: of row or column `row` of the group. */
static const value_place *strip_place(const planner *p, int32_t i, int forward, int32_t row)
{
    const int32_t k = group_columns(p->g, i);
    if (forward && row >= k)
        return &p->at.w_at[p->g->row_start[i] + row - k];
    return forward ? &p->at.z_parts[p->g->column_start[i] + row]
                   : &p->at.x_at[p->g->column[p->g->column_start[i] + row]];
}

/* The outs of a strip's last task.  part: number of the unit among those that share the strip. */
static void strip_outs(planner *p, draft *d, int32_t i, int forward, int32_t row, int32_t outs,
                       int32_t part)
{
    const int32_t k = group_columns(p->g, i);
    const value_place *at = strip_place(p, i, forward, row);
    const int64_t pivots = at->count == 1 && forward ? plan_copy_pivots(p, d, i, row, outs) : 0;
    for (int32_t o = 0; o < outs; o++) {
        task_out *out = draft_out(d);
        if (at->count > 1 || (forward && row >= k))
            out->dst = at->packet + part * at->stride + o;
        else if (forward)
            plan_pivot_out(p, i, row + o, pivots, out);
        else
            plan_x_out(p, i, row + o, out);
        if (forward && row >= k && part == 0 && plan_source_count(p, row + o) > 0)
            out->add =
                (int16_t)draft_input(d, plan_source(p, row + o), plan_source_count(p, row + o));
    }
}

/* Ends the task at hand in the middle of a strip: its sums are carried to the next. */
static void carry(planner *p, draft *d, int32_t outs, int carried)
{
    for (int32_t o = 0; o < outs; o++)
        draft_out(d);
    plan_task(p, d, (carried ? TASK_CARRY_IN : 0) | TASK_CARRY_OUT);
}

/* What a tile's product and its inputs take of a task. */
static draft_need tile_need(const planner *p, int32_t i, int forward, const plan_tile *tile)
{
    const int32_t k = group_columns(p->g, i), inputs = forward ? tile->columns : tile->rows;
    draft_need need = {.inputs = SQUARE,
                       .sources = SQUARE - inputs,
                       .slots = 1,
                       .outs = SQUARE,
                       .copies = 2,
                       .tile_bytes =
                           square_bytes(p) + SQUARE * plan_pivot_bytes(p->plan->scalar_bytes)};
    for (int32_t c = 0; c < inputs; c++)
        need.sources += forward ? plan_source_count(p, tile->column + c)
                        : tile->row + c < k
                            ? 1
                            : p->at.x_at[p->g->row[p->g->row_start[i] + tile->row + c - k]].count;
    return need;
}

/* What the outs of a strip of rows add to their products. */
static draft_need outs_need(const planner *p, int32_t i, int forward, int32_t row, int32_t outs)
{
    draft_need need = {.outs = outs,
                       .copies = 1,
                       .tile_bytes = outs * plan_pivot_bytes(p->plan->scalar_bytes)};
    for (int32_t o = 0; o < outs && forward && row >= group_columns(p->g, i); o++) {
        need.inputs += plan_source_count(p, row + o) > 0;
        need.sources += plan_source_count(p, row + o);
    }
    return need;
}

/* Strip `a` of rows (forward) or columns (backward): tiles [from, to) of the other index, as a
 * chain of tasks. */
static void write_chain(planner *p, int32_t i, int forward, int32_t nb, int32_t a, int32_t from,
                        int32_t to, int32_t part)
{
    draft *d = forward ? &p->w.forward : &p->w.backward;
    const int32_t most = tiles_in_task(p);
    const plan_tile *tile = forward ? tile_at(p, i, nb, a, from) : tile_at(p, i, nb, from, a);
    const int32_t outs = forward ? tile->rows : tile->columns,
                  row = forward ? tile->row : tile->column;
    const int kind =
        TASK_TILES | (forward ? 0 : TASK_BACKWARD | (p->conjugate ? TASK_CONJUGATE : 0));
    int carried = 0;
    d->flags = kind;
    for (int32_t b = from; b < to; b++) {
        tile = forward ? tile_at(p, i, nb, a, b) : tile_at(p, i, nb, b, a);
        const draft_need need = tile_need(p, i, forward, tile);
        if (d->slots == most || (d->slots > 0 && !draft_has_room(d, &need))) {
            carry(p, d, outs, carried);
            carried = 1;
            d->flags = kind;
        }
        add_tile_inputs(p, d, i, forward, tile);
        draft_copy(d, tile->at16, square_bytes(p));
        d->slots++;
        /* with nothing before them or between */
        assert(d->tile_bytes == d->slots * square_bytes(p));
    }
    const draft_need last = outs_need(p, i, forward, row, outs);
    if (!draft_has_room(d, &last)) {
        carry(p, d, outs, carried);
        carried = 1;
        d->flags = kind;
    }
    strip_outs(p, d, i, forward, row, outs, part);
    plan_task(p, d, carried ? TASK_CARRY_IN : 0);
    plan_unit_end(p, forward ? plan_forward_level(p, i, LEVEL_PRODUCT)
                             : plan_backward_level(p, i, LEVEL_PRODUCT));
}

/* All of a strip. */
static void write_strip(planner *p, int32_t i, int forward, int32_t nb, int32_t a, int32_t from,
                        int32_t to)
{
    const plan_tile *tile = forward ? tile_at(p, i, nb, a, from) : tile_at(p, i, nb, from, a);
    const int32_t outs = forward ? tile->rows : tile->columns,
                  row = forward ? tile->row : tile->column;
    const value_place at = *strip_place(p, i, forward, row);
    for (int32_t part = 0; part < at.count; part++)
        write_chain(p, i, forward, nb, a, from + (int32_t)((int64_t)(to - from) * part / at.count),
                    from + (int32_t)((int64_t)(to - from) * (part + 1) / at.count), part);
    if (at.count > 1 && !(forward && row >= group_columns(p->g, i)))
        sum_parts(p, i, forward, row, outs, at.packet, at.count);
}

/* Packets for `parts` parts of `outs` values at place[0], place[1], ... */
static void number_parts(planner *p, value_place *place, const int32_t *index, int32_t outs,
                         int32_t parts)
{
    const int32_t packet = plan_new_packets(p, (int64_t)parts * outs);
    for (int32_t o = 0; o < outs; o++)
        place[index ? index[o] : o] =
            (value_place){.packet = packet + o, .stride = outs, .count = parts};
}

void plan_number_large(planner *p, int32_t i)
{
    const groups *g = p->g;
    const int32_t nb = plan_borders(p, i), below = strips_below(p, i), r = group_rows(g, i);
    const int32_t *border = p->border;
    for (int32_t a = 0; a < nb; a++) {
        const int32_t columns = border[a + 1] - border[a], at = g->column_start[i] + border[a];
        const int32_t forward = parts_of(p, i, a + 1), backward = parts_of(p, i, nb - a + below);
        if (forward > 1)
            number_parts(p, p->at.z_parts + at, NULL, columns, forward);
        else
            for (int32_t c = 0; c < columns; c++)
                p->at.z_parts[at + c] = (value_place){.count = 1};
        if (backward > 1)
            number_parts(p, p->at.x_at, g->column + at, columns, backward);
    }
    for (int32_t a = 0; a < r; a += SQUARE)
        number_parts(p, p->at.w_at + g->row_start[i] + a, NULL, r - a < SQUARE ? r - a : SQUARE,
                     parts_of(p, i, nb));
}

/* Whether tasks can sum the sources of f themselves: more of them where a step counts more than
 * what is gathered. */
static int few_sources(const planner *p, int32_t i)
{
    const int32_t k = group_columns(p->g, i);
    const int64_t each = (p->at.target[p->g->height[i]] <= SHORT_BYTES ? SHORT_DIRECT : 1) *
                         (int64_t)p->tuning->direct_sources;
    int32_t rows;
    return plan_sources_of(p, 0, k, &rows) <= each * k;
}

int32_t plan_large_strips(const planner *p, int32_t i, int32_t *tasks)
{
    const int32_t nb = plan_borders(p, i);
    *tasks = p->at.tiles_of[i] / (nb + strips_below(p, i)) / tiles_in_task(p) + 1;
    return 2 * nb + strips_below(p, i);
}

libsolver_status plan_large(planner *p, int32_t i, int32_t from, int32_t to)
{
    const int32_t nb = plan_borders(p, i), strips = nb + strips_below(p, i);
    TRY(plan_find_sources(p, i));
    if (!few_sources(p, i))
        plan_publish(p, 0, group_columns(p->g, i), plan_forward_level(p, i, LEVEL_PUBLISH));
    for (int32_t a = from; a < to && a < strips; a++)
        write_strip(p, i, 1, nb, a, 0, a < nb ? a + 1 : nb);
    for (int32_t b = from > strips ? from - strips : 0; b < to - strips; b++)
        write_strip(p, i, 0, nb, b, b, strips);
    return LIBSOLVER_OK;
}
