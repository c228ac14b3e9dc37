/* gpu/plan/planner.h: what the steps of writing a program share
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_PLAN_PLANNER_H
#define GPU_PLAN_PLANNER_H

#include "gpu/plan/draft.h"
#include "gpu/plan/plan.h"

/* How a group is cut into tiles and tasks. */
typedef enum group_form {
    FORM_SMALL,     /* [M; W] whole, beside other groups in one task */
    FORM_SMALL_TOP, /* G whole, the same */
    FORM_MIDDLE,    /* [M; W] in blocks of rows forward, of columns backward, of which some share a
                       task */
    FORM_STRIPS,    /* G in strips of rows; [M; W] in strips of rows forward, of columns backward */
    FORM_LARGE /* [M; W] in square tiles: strips of rows of them forward, of columns backward */
} group_form;

/* Where a value is published: as the sum of `count` packets, `stride` apart. */
typedef struct value_place {
    int32_t slot, stride, count;
} value_place;

/* Levels of one height, in order. */
enum { LEVEL_PRESUM = 0, LEVEL_PUBLISH = 6, LEVEL_PRODUCT = 7, LEVEL_SUM = 8, LEVELS = 16 };

typedef struct planner {
    memory *m;
    const factor_tree *tree;
    const groups *g;
    const unsigned char *joined;
    const plan_tuning *tuning;
    solve_plan *plan;
    int conjugate;                  /* of tiles in the backward sweep */
    int32_t *order;                 /* groups by height, then number */
    int32_t *height_start;          /* heights + 1, in order */
    int64_t *target;                /* heights: bytes that each block has to read of them */
    group_form *form;               /* groups */
    int32_t *first_tile, *tiles_of; /* groups: first of its tiles, and their number */
    uint32_t *value_at16;           /* groups */
    int64_t *value_bytes;           /* groups */
    int32_t *z_slot;                /* groups: first packet of z (k) */
    value_place *w_at, *x_at; /* rows below the groups: what goes up; n: x, as it can be had first
                               */
    value_place *z_parts;     /* n, by columns of groups: parts of z of large ones */
    int32_t *child_start, *child; /* groups + 1; below each group */
    buffer tiles;
    int64_t longest; /* most of k + R */
    int32_t slots;   /* packets so far */
    int32_t *border; /* of strips of the group at hand; one for each thread, while tasks are
                        written, like all that follows */
    int32_t *mark;   /* n */
    /* sources of the group at hand: of f (k), then of the rows below (R) */
    int32_t *source_start; /* for each row the place of its first source, and their number */
    int32_t *source;
    int64_t sources_room;
    buffer descriptions, copies, units;
    draft ahead, back, sum; /* tasks at hand: products of the two sweeps, sums */
    int dry;                /* sums of sources are numbered, and written elsewhere */
    task_list unit;         /* the unit at hand */
    int64_t unit_cost, bytes_read;
    int32_t tasks;
    libsolver_task_kind unit_kind;
} planner;

/* plan_layout.c: form, tiles and place of each group's values.  INTERNAL. */
libsolver_status plan_layout(planner *p, message *why);
/* border: those of FORM_LARGE's strips of columns, nb + 1 of them; returns nb.  Strips of rows: the
 * same, then the rows below by SQUARE. */
int32_t plan_borders(const planner *p, int32_t i);

/* plan_sources.c: what flows into group i.  OUT_OF_MEMORY. */
libsolver_status plan_sources(planner *p, int32_t i);
/* A published value as an input of a task. */
int32_t plan_input_at(draft *d, const value_place *at);
/* A new packet with the sum of these sources, by the sums' task at hand; plan_sums_end puts that
 * one out. */
int32_t plan_sum(planner *p, const int32_t *source, int32_t count, int level);
void plan_sums_end(planner *p, int level);
/* Publishes the sums of those rows in [from, to) that have several sources, which then have one. */
void plan_publish(planner *p, int32_t from, int32_t to, int level);
static inline int32_t plan_source_count(const planner *p, int32_t row)
{
    return p->source_start[2 * row + 1];
}
static inline const int32_t *plan_source(const planner *p, int32_t row)
{
    return p->source + p->source_start[2 * row];
}
static inline int32_t plan_slot_code(int32_t slot)
{
    return (int32_t)((uint32_t)slot << 1 | SOURCE_SLOT);
}

static inline int plan_shares_tasks(const planner *p, int32_t i)
{
    return p->form[i] == FORM_SMALL || p->form[i] == FORM_SMALL_TOP || p->form[i] == FORM_MIDDLE;
}

/* plan_small.c and plan_large.c: tasks of the groups that share them among order[from], ...,
 * order[to - 1], which are of one height; those of strips [from, to) of a root or a large group, of
 * so many, in so many tasks each.  OUT_OF_MEMORY. */
libsolver_status plan_small_groups(planner *p, int32_t from, int32_t to);
/* Ends the task at hand of one sweep, if there is anything in it. */
void plan_end_shared(planner *p, int forward, int32_t height);
/* How outs of so many products each are shared among lanes. */
int plan_lanes(int32_t inner);
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

/* Of a group that is stored twice, or of a root's G. */
static inline int plan_is_forward(const plan_tile *t)
{
    return t->kind == BY_ROWS;
}

/* plan_strips.c */
void plan_lay_strips(planner *p, int32_t i, int64_t *at);

/* plan_middle.c: layout and tasks of a group of middle size. */
void plan_lay_middle(planner *p, int32_t i, int64_t *at);
void plan_middle(planner *p, int32_t i);
/* plan_layout.c */
void plan_add_tile(planner *p, int64_t *at, plan_tile t);
/* z_row of columns [from, to): 2x2 pivots first, so that they start at even numbers after from,
 * then the others.  Returns whether there are any. */
int plan_order_z(planner *p, int32_t i, int32_t from, int32_t to);
/* plan_large.c: D^-1 of z number row, ..., to the task at hand; what plan_pivot_out wants. */
int64_t plan_copy_pivots(planner *p, draft *d, int32_t i, int32_t row, int32_t outs);
libsolver_status plan_strips(planner *p, int32_t i, int32_t from, int32_t to);
libsolver_status plan_large(planner *p, int32_t i, int32_t from, int32_t to);
int32_t plan_strips_of(const planner *p, int32_t i, int32_t *tasks);
int32_t plan_large_strips(const planner *p, int32_t i, int32_t *tasks);

/* plan_large.c: decides how strips are shared, and numbers the packets of the parts. */
void plan_number_large(planner *p, int32_t i);

/* plan_write.c: all tasks, by so many threads; the same for any number.  OUT_OF_MEMORY. */
libsolver_status plan_write(planner *p, int threads);

/* plan.c: finishes a task and starts d anew; ends the unit of tasks written since the last end, if
 * there are any */
void plan_task(planner *p, draft *d, int flags);
void plan_unit_end(planner *p, int level);
static inline int plan_forward_level(const planner *p, int32_t i, int phase)
{
    return p->g->height[i] * LEVELS + phase;
}
static inline int plan_backward_level(const planner *p, int32_t i, int phase)
{
    return (2 * p->g->heights - p->g->height[i]) * LEVELS + phase;
}
static inline int32_t plan_new_slots(planner *p, int64_t count)
{
    p->slots += (int32_t)count;
    return p->slots - (int32_t)count;
}
/* Makes an out z number q of group i, whose D^-1 lies `pivots` + q plan_pivot_bytes behind
 * tile_at. */
void plan_pivot_out(const planner *p, int32_t i, int32_t q, int64_t pivots, task_out *out);
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
