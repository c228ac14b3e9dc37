/* gpu/factor/tasks.c: the tasks of a factorization's program, by level
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/factor/builder.h"
#include "gpu/factor/order.h"

/* Counts a task of this level, or puts it there. */
static void add(builder *b, int32_t level, factor_task task)
{
    factor_program *g = b->program;
    if (g->task)
        g->task[b->cursor[level]++] = task;
    else
        g->level_start[level + 1]++;
}

/* Whether products of a level go to two tiles at once: where they are so many that no block is
 * without work for it. */
static int is_crowded(const builder *b, int32_t level)
{
    return b->is_crowded && b->is_crowded[level];
}

/* Panels whose product is subtracted at once from a tile so many columns behind the last of them:
 * the further behind the more, as a tile is then read and written less often; those near are wanted
 * soon, unless there is other work.  Each is a multiple of the ones before. */
static int32_t panels_at_once(int32_t distance, int crowded)
{
    if (crowded)
        return distance <= 7 ? 4 : distance <= 31 ? 8 : 16;
    return distance <= 3 ? 1 : distance <= 7 ? 2 : distance <= 15 ? 4 : 8;
}

/* Whether tile (i, j) gets a product at a level, as soon as panel q is there.  Panels behind the
 * last q for which this is so are subtracted by the tasks that finish rows. */
static int is_updated(const builder *b, int32_t level, int32_t i, int32_t j, int32_t q)
{
    return q == (i == j ? j - 4 : j - 2) ||
           (q + 1) % panels_at_once(j - q - (i == j), is_crowded(b, level)) == 0;
}

/* What panel q changes of the columns behind it, at a level where all of its rows are done.  The
 * next column and two more diagonal blocks get it by the tasks that finish rows. */
static void add_updates(builder *b, int32_t s, int32_t level, int32_t q)
{
    const factor_front *f = b->program->front + s;
    const int32_t nb = factor_pivot_blocks(f), blocks = factor_row_blocks(f);
    for (int32_t j = q + 2; j < nb; j++)
        for (int32_t i = j <= q + 3 ? j + 1 : j; i < blocks; i++) {
            int32_t from = q;
            if (!is_updated(b, level, i, j, q))
                continue;
            while (from > 0 && !is_updated(b, level - q + from - 1, i, j, from - 1))
                from--;
            const int tall = i > j && i + 1 < blocks && is_crowded(b, level);
            add(b, level,
                (factor_task){.kind = tall ? FACTOR_TALL_UPDATE : FACTOR_UPDATE,
                              .front = s,
                              .i = i,
                              .j = j,
                              .from = from,
                              .to = q + 1});
            i += tall;
        }
}

/* The level of the front's first diagonal block; that of its q-th is q later. */
static int32_t pivot_level(const builder *b, int32_t s)
{
    return level_behind(b, s, s);
}

static void add_pivots(builder *b, int32_t s)
{
    const int32_t nb = factor_pivot_blocks(b->program->front + s), level = pivot_level(b, s);
    for (int32_t q = 0; q < nb; q++)
        add(b, level + q, (factor_task){.kind = FACTOR_PIVOT, .front = s, .i = q});
}

static void add_rows(builder *b, int32_t s)
{
    const factor_front *f = b->program->front + s;
    const int32_t nb = factor_pivot_blocks(f), blocks = factor_row_blocks(f),
                  level = pivot_level(b, s);
    for (int32_t q = 0; q < nb; q++)
        for (int32_t i = q + 1 < nb ? q + 2 : nb; i < blocks; i++)
            add(b, level + q + 1, (factor_task){.kind = FACTOR_ROWS, .front = s, .i = i, .j = q});
}

/* Tiles from (i0, j0) on of the contribution block, a square of them: those at work at a time read
 * few rows of the panels, which may be more than the second-level cache holds. */
static void add_contributions(builder *b, int32_t s, int32_t level, int32_t i0, int32_t j0)
{
    const factor_front *f = b->program->front + s;
    const int32_t blocks = factor_row_blocks(f), nb = factor_pivot_blocks(f),
                  end = i0 + FACTOR_NEIGHBOURS < blocks ? i0 + FACTOR_NEIGHBOURS : blocks;
    for (int32_t j = j0; j < blocks && j < j0 + FACTOR_NEIGHBOURS; j++)
        for (int32_t i = i0 > j ? i0 : j; i < end; i++) {
            const int tall = i + 1 < end && nb > 0 && is_crowded(b, level);
            add(b, level,
                (factor_task){.kind = tall ? FACTOR_TALL_CONTRIBUTION : FACTOR_CONTRIBUTION,
                              .front = s,
                              .i = i,
                              .j = j,
                              .to = nb});
            i += tall;
        }
}

static void add_tiles(builder *b, int32_t s)
{
    const factor_front *f = b->program->front + s;
    const int32_t nb = factor_pivot_blocks(f), blocks = factor_row_blocks(f),
                  level = pivot_level(b, s);
    for (int32_t j = 1; j < nb; j++)
        for (int32_t i = j; i < blocks; i++)
            add(b, level, (factor_task){.kind = FACTOR_ASSEMBLE, .front = s, .i = i, .j = j});
    for (int32_t q = 0; q < nb; q++)
        add_updates(b, s, level + q + 2, q);
    for (int32_t j0 = nb; j0 < blocks; j0 += FACTOR_NEIGHBOURS)
        for (int32_t i0 = j0; i0 < blocks; i0 += FACTOR_NEIGHBOURS)
            add_contributions(b, s, contribution_level(b, s), i0, j0);
    for (int32_t i = 0; i < blocks && is_divided(b, s); i++)
        add(b, b->level[s] + 1, (factor_task){.kind = FACTOR_DIVIDE, .front = s, .i = i});
}

/* Ranges of tiny fronts, level by level, in tasks for as many warps as a block has. */
static void add_tiny(builder *b)
{
    factor_program *g = b->program;
    int32_t at = 0;
    for (int32_t level = 0; level < g->levels; level++) {
        const int32_t end = b->ranges_end[level];
        for (; at < end; at += FACTOR_WARPS)
            add(b, level,
                (factor_task){.kind = FACTOR_TINY,
                              .i = at,
                              .j = end - at < FACTOR_WARPS ? end - at : FACTOR_WARPS});
        at = end;
    }
}

/* In each level what takes long comes first. */
static void add_all(builder *b)
{
    const int32_t fronts = b->tree.fronts;
    for (int32_t s = 0; s < fronts; s++)
        if (!is_small(b, s))
            add_pivots(b, s);
    for (int32_t s = 0; s < fronts; s++)
        if (b->run_end[s] > 0 && !is_tiny(b, s))
            add(b, b->level[s],
                (factor_task){.kind = FACTOR_SMALL,
                              .front = s,
                              .i = s,
                              .j = b->run_end[s],
                              .from = b->program->front[s].child,
                              .to = b->program->front[s].child + b->program->front[s].children});
    add_tiny(b);
    for (int32_t s = 0; s < fronts; s++)
        if (!is_small(b, s))
            add_rows(b, s);
    for (int32_t s = 0; s < fronts; s++)
        if (!is_small(b, s))
            add_tiles(b, s);
}

/* Ranges of a level in windows, in each of them by their time, longest first, so that those which a
 * task has take alike long.  Windows are small, since what is near in the tree is wanted together.
 */
static void even_out_ranges(const builder *b, int32_t first, int32_t end)
{
    enum { WINDOW = 16 * FACTOR_WARPS };
    const factor_program *g = b->program;
    double seconds[WINDOW];
    for (int32_t from = first; from < end; from += WINDOW)
        for (int32_t q = from; q < end && q < from + WINDOW; q++) {
            const factor_range range = g->range[q];
            const double own = factor_range_seconds(g, &range);
            int32_t at = q - from; /* by insertion: those that are equal stay in their order */
            for (; at > 0 && seconds[at - 1] < own; at--) {
                seconds[at] = seconds[at - 1];
                g->range[from + at] = g->range[from + at - 1];
            }
            seconds[at] = own;
            g->range[from + at] = range;
        }
}

/* The ranges of tiny fronts by levels. */
libsolver_status builder_list_ranges(builder *b)
{
    factor_program *g = b->program;
    const int32_t fronts = b->tree.fronts;
    b->ranges_end = memory_zeroed(b->m, (int64_t)g->levels + 1, sizeof(int32_t));
    if (!b->ranges_end)
        return LIBSOLVER_OUT_OF_MEMORY;
    for (int32_t s = 0; s < fronts; s++)
        if (b->run_end[s] > 0 && is_tiny(b, s)) {
            b->ranges_end[b->level[s] + 1]++; /* of the level before, for now */
            g->ranges++;
        }
    for (int32_t q = 0; q < g->levels; q++)
        b->ranges_end[q + 1] += b->ranges_end[q];
    g->range = memory_new(b->m, g->ranges, sizeof(factor_range));
    if (!g->range)
        return LIBSOLVER_OUT_OF_MEMORY;
    for (int32_t s = 0; s < fronts; s++)
        if (b->run_end[s] > 0 && is_tiny(b, s))
            g->range[b->ranges_end[b->level[s]]++] =
                (factor_range){.first = s,
                               .end = b->run_end[s],
                               .leaves = factor_leaves(g, s, b->run_end[s]),
                               .group = group_of_leaves(b, s)};
    for (int32_t q = 0; q < g->levels; q++) /* each end is where it should be now */
        even_out_ranges(b, q > 0 ? b->ranges_end[q - 1] : 0, b->ranges_end[q]);
    return LIBSOLVER_OK;
}

/* The levels that have many tasks, then how many are left when two tiles share one. */
static libsolver_status find_crowds(builder *b)
{
    factor_program *g = b->program;
    uint8_t *is_crowded = memory_zeroed(b->m, g->levels, sizeof *is_crowded);
    if (!is_crowded)
        return LIBSOLVER_OUT_OF_MEMORY;
    for (int32_t q = 0; q < g->levels; q++) {
        is_crowded[q] = g->level_start[q + 1] >= b->tuning.crowded;
        g->level_start[q + 1] = 0;
    }
    b->is_crowded = is_crowded;
    add_all(b);
    return LIBSOLVER_OK;
}

libsolver_status builder_list_tasks(builder *b)
{
    factor_program *g = b->program;
    g->level_start = memory_zeroed(b->m, (int64_t)g->levels + 1, sizeof(int64_t));
    b->cursor = memory_new(b->m, g->levels, sizeof(int64_t));
    if (!g->level_start || !b->cursor)
        return LIBSOLVER_OUT_OF_MEMORY;
    add_all(b);
    if (b->tuning.crowded > 0)
        TRY(find_crowds(b));
    for (int32_t q = 0; q < g->levels; q++) {
        g->level_start[q + 1] += g->level_start[q];
        b->cursor[q] = g->level_start[q];
    }
    g->tasks = g->level_start[g->levels];
    if (g->tasks + g->fronts > INT32_MAX)
        return LIBSOLVER_NOT_BUILT;
    g->task = memory_new(b->m, g->tasks, sizeof(factor_task));
    if (!g->task)
        return LIBSOLVER_OUT_OF_MEMORY;
    add_all(b);
    return factor_order_tasks(b->m, b->tree.above, &b->tuning, g);
}
