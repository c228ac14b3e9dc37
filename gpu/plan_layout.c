/* gpu/plan_layout.c: how each group is cut into tiles, and where its values lie
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/planner.h"

/* Bytes of values up to which a group can share a task. */
#define SMALL_BYTES (TASK_STAGE - 4096)
/* Most columns and rows of one, so that its inputs fit beside what they are summed from. */
#define SMALL_ROWS 256
/* Most columns of a root that shares a task. */
#define SMALL_TOP 40
/* Least bytes of a root's strip: below that a task is all latency. */
#define STRIP_BYTES 4096
/* Most columns in one task of a root's strip. */
#define STRIP_COLUMNS 480

static int64_t round16(int64_t bytes)
{
    return (bytes + 15) / 16 * 16;
}

/* Odd, so that rows and columns of a tile in shared memory both run through all banks. */
static int32_t leading(int32_t rows)
{
    return rows | 1;
}

static void add_tile(planner *p, int64_t *at, int32_t i, int32_t row, int32_t rows, int32_t column, int32_t columns, int32_t ld)
{
    const plan_tile t = {.at16 = (uint32_t)(*at / 16), .group = i, .row = row, .rows = rows, .column = column,
                         .columns = columns, .ld = ld};
    buffer_put(&p->tiles, &t, (int64_t)sizeof t);
    *at += plan_tile_bytes(&t, p->plan->scalar_bytes);
}

int32_t plan_borders(const planner *p, int32_t i, int32_t *border)
{
    const int32_t k = group_columns(p->g, i);
    const int32_t *column = p->g->column + p->g->column_start[i];
    int32_t count = 0;
    for (int32_t c = 0; c < k;) {
        border[count++] = c;
        int32_t next = c + PIECE < k ? c + PIECE : k;
        if (next < k && p->joined && p->joined[column[next - 1]])
            next--; /* a 2x2 pivot stays in one strip */
        c = next;
    }
    border[count] = k;
    return count;
}

static int64_t small_bytes(int64_t k, int64_t r, int64_t scalar_bytes, int32_t *tiles)
{
    int64_t bytes = 0;
    *tiles = 0;
    for (int64_t c = 0; c < k; c += PIECE) {
        const int64_t columns = k - c < PIECE ? k - c : PIECE;
        bytes += round16(leading((int32_t)(k + r - c)) * columns * scalar_bytes);
        *tiles += (int32_t)((k + r - c + PIECE - 1) / PIECE) * 2;
    }
    return bytes;
}

static group_form form_of(const planner *p, int32_t i)
{
    const int32_t k = group_columns(p->g, i), r = group_rows(p->g, i);
    const int64_t s = p->plan->scalar_bytes;
    if (r == 0)
        return k <= SMALL_TOP && leading(k) * k * s <= SMALL_BYTES ? FORM_SMALL_TOP : FORM_TOP;
    int32_t tiles;
    const int64_t bytes = k + r <= SMALL_ROWS ? small_bytes(k, r, s, &tiles) + k * plan_pivot_bytes(s) + 16 * (k + r) : INT64_MAX;
    return bytes <= SMALL_BYTES && tiles <= TASK_SLOTS ? FORM_SMALL : FORM_LARGE;
}

/* Tiles of FORM_TOP: strips as high as gives every block its share.  They are read by rows only: no padding. */
static void lay_top(planner *p, int32_t i, int64_t *at)
{
    const int32_t k = group_columns(p->g, i);
    const int64_t s = p->plan->scalar_bytes, target = p->target[p->g->height[i]];
    const int64_t share = target > STRIP_BYTES ? target : STRIP_BYTES;
    int32_t rows = (int32_t)((share + k * s - 1) / (k * s));
    rows = rows > PIECE ? PIECE : rows;
    p->strip_rows[i] = rows;
    int32_t columns = (int32_t)((TASK_STAGE - 4096) / (s * rows));
    columns = columns > STRIP_COLUMNS ? STRIP_COLUMNS : columns;
    const int32_t blocks = (k + columns - 1) / columns;
    for (int32_t r = 0; r < k; r += rows)
        for (int32_t b = 0; b < blocks; b++) {
            const int32_t from = (int32_t)((int64_t)k * b / blocks), to = (int32_t)((int64_t)k * (b + 1) / blocks);
            add_tile(p, at, i, r, k - r < rows ? k - r : rows, from, to - from, k - r < rows ? k - r : rows);
        }
}

/* Tiles of FORM_LARGE, row by row. */
static void lay_large(planner *p, int32_t i, int64_t *at, int32_t *border)
{
    const int32_t k = group_columns(p->g, i), r = group_rows(p->g, i), nb = plan_borders(p, i, border);
    for (int32_t a = 0; a < nb; a++)
        for (int32_t b = 0; b <= a; b++)
            add_tile(p, at, i, border[a], border[a + 1] - border[a], border[b], border[b + 1] - border[b],
                     leading(border[a + 1] - border[a]));
    for (int32_t a = 0; a < r; a += PIECE)
        for (int32_t b = 0; b < nb; b++)
            add_tile(p, at, i, k + a, r - a < PIECE ? r - a : PIECE, border[b], border[b + 1] - border[b],
                     leading(r - a < PIECE ? r - a : PIECE));
}

static void lay_small(planner *p, int32_t i, int64_t *at)
{
    const int32_t k = group_columns(p->g, i), r = group_rows(p->g, i);
    for (int32_t c = 0; c < k; c += PIECE)
        add_tile(p, at, i, c, k + r - c, c, k - c < PIECE ? k - c : PIECE, leading(k + r - c));
}

libsolver_status plan_layout(planner *p, message *why)
{
    const groups *g = p->g;
    int64_t at = 0;
    int32_t *border = memory_new(p->m, p->tree->n / (PIECE - 1) + 3, sizeof(int32_t));
    if (!border)
        return LIBSOLVER_OUT_OF_MEMORY;
    for (int32_t o = 0; o < g->count; o++) {
        const int32_t i = p->order[o];
        const int64_t start = at;
        p->form[i] = form_of(p, i);
        p->first_tile[i] = (int32_t)(p->tiles.length / (int64_t)sizeof(plan_tile));
        switch (p->form[i]) {
        case FORM_SMALL:
            lay_small(p, i, &at);
            break;
        case FORM_SMALL_TOP:
            add_tile(p, &at, i, 0, group_columns(g, i), 0, group_columns(g, i), leading(group_columns(g, i)));
            break;
        case FORM_TOP:
            lay_top(p, i, &at);
            break;
        case FORM_LARGE:
            lay_large(p, i, &at, border);
            break;
        }
        p->tiles_of[i] = (int32_t)(p->tiles.length / (int64_t)sizeof(plan_tile)) - p->first_tile[i];
        p->plan->pivots_at16[i] = -1;
        if (!p->tree->cholesky && group_rows(g, i) > 0) {
            p->plan->pivots_at16[i] = at / 16;
            at += group_columns(g, i) * plan_pivot_bytes(p->plan->scalar_bytes);
        }
        p->value_at16[i] = (uint32_t)(start / 16);
        p->value_bytes[i] = at - start;
    }
    memory_free(p->m, border);
    p->plan->value_bytes = at;
    if (p->tiles.failed)
        return LIBSOLVER_OUT_OF_MEMORY;
    if (at / 16 > UINT32_MAX / 2)
        return FAIL(why, LIBSOLVER_INTERNAL, "the solve's values take %lld bytes", (long long)at);
    return LIBSOLVER_OK;
}
