/* gpu/plan/planner.h: what the steps of making a program share
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_PLAN_PLANNER_H
#define GPU_PLAN_PLANNER_H

#include "gpu/plan/draft.h"
#include "gpu/plan/plan.h"

/* How a group is cut into tiles and tasks. */
typedef enum group_layout {
    LAYOUT_SHARED,      /* [M; W] whole, beside other groups in one task */
    LAYOUT_SHARED_ROOT, /* G whole, the same */
    LAYOUT_BLOCKS,      /* [M; W] in blocks of rows forward, of columns backward, of which some
                           share a task */
    LAYOUT_STRIPS,      /* G in strips of rows; [M; W] in strips of rows forward, of columns
                           backward */
    LAYOUT_SQUARES      /* [M; W] in square tiles: strips of rows of them forward, of columns
                           backward */
} group_layout;

/* A published value: the sum of `count` packets, `stride` apart. */
typedef struct value_place {
    int32_t packet, stride, count;
} value_place;

/* Levels of one height, in order. */
enum { LEVEL_PRESUM = 0, LEVEL_PUBLISH = 6, LEVEL_PRODUCT = 7, LEVEL_SUM = 8, LEVELS = 16 };

/* Where the tiles and the published values of all groups are: made once, then only read. */
typedef struct plan_layout {
    int32_t *order;               /* groups by height, then number */
    int32_t *height_start;        /* heights + 1, in order */
    int64_t *target;              /* heights: bytes that each block has to read of them */
    int32_t *child_start, *child; /* groups + 1; below each group */
    int64_t longest;              /* most of k + R */
    /* groups: */
    group_layout *layout;
    int32_t *first_tile, *tiles_of; /* first of its tiles, and their number */
    uint32_t *value_at16;
    int64_t *value_bytes;
    int32_t *z_packet; /* first packet of z (k) */
    /* values: */
    value_place *w_at;    /* rows below the groups: what goes up */
    value_place *x_at;    /* n: x, as it can be had first */
    value_place *z_parts; /* n, by columns of groups: parts of z of LAYOUT_SQUARES */
} plan_layout;

/* What flows into the group at hand: for each row, of f (k) and then of those below (R), two
 * numbers in `start`, the place of its first source and their number. */
typedef struct plan_sources {
    int32_t *start;
    int32_t *source;
    int64_t room;   /* of source */
    int32_t *place; /* n: of the rows below, places in the group */
} plan_sources;

/* What one thread writes: a section of the program. */
typedef struct plan_writer {
    buffer descriptions, copies, units;
    draft forward, backward, sum; /* tasks at hand: products of the two sweeps, sums of sources */
    int sums_counted_only; /* another section writes the sums of sources: they only get packets */
    task_list unit;        /* the unit at hand, ... */
    int64_t unit_cost;
    libsolver_task_kind unit_kind;
    int64_t bytes_read; /* ... and what the section has come to */
    int32_t tasks;
} plan_writer;

typedef struct planner {
    memory *m;
    const factor_tree *tree;
    const groups *g;
    const unsigned char *joined;
    const plan_tuning *tuning;
    solve_plan *plan;
    int conjugate; /* of tiles in the backward sweep */
    plan_layout at;
    int32_t packets; /* so far */
    buffer tiles;
    /* each thread's own: */
    int32_t *border; /* of strips of the group at hand */
    plan_sources in;
    plan_writer w;
} planner;

/* layout.c: layout, tiles and place of each group's values.  INTERNAL. */
libsolver_status plan_lay_out(planner *p, message *why);
/* strips.c, middle.c: the tiles of one group, from byte *at of the values on. */
void plan_lay_strips(planner *p, int32_t i, int64_t *at);
void plan_lay_middle(planner *p, int32_t i, int64_t *at);

/* tiles.c */
void plan_add_tile(planner *p, int64_t *at, plan_tile t);
/* border: those of strips of columns of LAYOUT_SQUARES, nb + 1 of them; returns nb.  Strips of
 * rows: the same, then the rows below by SQUARE. */
int32_t plan_borders(const planner *p, int32_t i);
/* z_row of columns [from, to): 2x2 pivots first, so that they start at even numbers after from,
 * then the others.  Returns whether there are any. */
int plan_order_z(planner *p, int32_t i, int32_t from, int32_t to);

/* large.c: decides how strips of LAYOUT_SQUARES are shared, and numbers the packets of the
 * parts. */
void plan_number_large(planner *p, int32_t i);

/* sources.c: what flows into group i.  OUT_OF_MEMORY. */
libsolver_status plan_find_sources(planner *p, int32_t i);
/* A published value as an input of a task. */
int32_t plan_input_at(draft *d, const value_place *at);
/* A new packet with the sum of these sources, by the sums' task at hand; plan_sums_end puts that
 * one out. */
int32_t plan_sum(planner *p, const int32_t *source, int32_t count, int level);
void plan_sums_end(planner *p, int level);
/* Publishes the sums of those rows in [from, to) that have several sources, which then have one. */
void plan_publish(planner *p, int32_t from, int32_t to, int level);
/* Sources of rows [from, to), and how many have some. */
int32_t plan_sources_of(const planner *p, int32_t from, int32_t to, int32_t *rows);
/* Rows [from, to) of group i as inputs backward: z and x, which has several sources where parts of
 * it are added up: how many there are of them. */
int32_t plan_backward_sources(const planner *p, int32_t i, int32_t from, int32_t to);
void plan_backward_inputs(planner *p, draft *d, int32_t i, int32_t from, int32_t to, int parts);
/* Whether rows [from, k + R) are taken in parts by tasks that hold other groups too; how many
 * sources they have then. */
int plan_in_parts(const planner *p, int32_t i, int32_t from, int32_t *sources);
/* What goes up from row a >= k of group i, as an out of the task, with the sources of that row. */
void plan_below_out(planner *p, int32_t i, int32_t a, draft *d, task_out *out);

/* emit.c: finishes a task and starts d anew; ends the unit of tasks written since the last end, if
 * there are any */
void plan_task(planner *p, draft *d, int flags);
void plan_unit_end(planner *p, int level);
/* Ends the task at hand of one sweep over the groups of a height, if there is anything in it. */
void plan_end_shared(planner *p, int forward, int32_t height);
/* How outs of so many products each are shared among lanes. */
int plan_lanes(int32_t inner);
/* Makes an out z number q of group i, whose D^-1 lies `pivots` + q plan_pivot_bytes behind
 * tile_at. */
void plan_pivot_out(const planner *p, int32_t i, int32_t q, int64_t pivots, task_out *out);
/* D^-1 of z number row, ..., to the task at hand; what plan_pivot_out wants. */
int64_t plan_copy_pivots(planner *p, draft *d, int32_t i, int32_t row, int32_t outs);

/* small.c, middle.c: group i, whose sources were found, in tasks that other groups share. */
void plan_small(planner *p, int32_t i);
void plan_middle(planner *p, int32_t i);
/* strips.c, large.c: strips [from, to) of a group, of so many, in so many tasks
 * each.  OUT_OF_MEMORY. */
libsolver_status plan_strips(planner *p, int32_t i, int32_t from, int32_t to);
libsolver_status plan_large(planner *p, int32_t i, int32_t from, int32_t to);
int32_t plan_strips_of(const planner *p, int32_t i, int32_t *tasks);
int32_t plan_large_strips(const planner *p, int32_t i, int32_t *tasks);

/* write.c: all tasks, by so many threads; the same for any number.  OUT_OF_MEMORY. */
libsolver_status plan_write(planner *p, int threads);

static inline int32_t plan_source_count(const planner *p, int32_t row)
{
    return p->in.start[2 * row + 1];
}
static inline const int32_t *plan_source(const planner *p, int32_t row)
{
    return p->in.source + p->in.start[2 * row];
}
static inline int32_t plan_packet_code(int32_t packet)
{
    return (int32_t)((uint32_t)packet << 1 | SOURCE_PACKET);
}
static inline int plan_shares_tasks(const planner *p, int32_t i)
{
    return p->at.layout[i] == LAYOUT_SHARED || p->at.layout[i] == LAYOUT_SHARED_ROOT ||
           p->at.layout[i] == LAYOUT_BLOCKS;
}
/* Whether a tile of a group that is stored twice, or of a root's G, is for the forward sweep. */
static inline int plan_is_forward(const plan_tile *t)
{
    return t->kind == BY_ROWS;
}
static inline int plan_forward_level(const planner *p, int32_t i, int phase)
{
    return p->g->height[i] * LEVELS + phase;
}
static inline int plan_backward_level(const planner *p, int32_t i, int phase)
{
    return (2 * p->g->heights - p->g->height[i]) * LEVELS + phase;
}
static inline int32_t plan_new_packets(planner *p, int64_t count)
{
    p->packets += (int32_t)count;
    return p->packets - (int32_t)count;
}
/* x of column c of group i */
static inline void plan_x_out(const planner *p, int32_t i, int32_t c, task_out *out)
{
    out->dst = p->g->column[p->g->column_start[i] + c];
    out->row = p->tree->user_row[out->dst];
}
/* Whether column c of group i and the next are a 2x2 pivot. */
static inline int plan_joined(const planner *p, int32_t i, int32_t c)
{
    return p->joined && p->joined[p->g->column[p->g->column_start[i] + c]];
}

#endif
