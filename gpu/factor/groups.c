/* gpu/factor/groups.c: which children of a front are summed together
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/factor/groups.h"
#include "base/message.h"
#include <string.h>

enum {
    MOST_ROWS = 64,   /* of a group: it fits in shared memory in every precision */
    MOST_MEMBER = 32, /* rows of a child that goes into one */
    LEAST = 4         /* children of a group */
};

typedef struct grouping {
    memory *m;
    const factor_pattern *pattern;
    factor_groups *g;
    int32_t wide, together, leaf_rows;
    int64_t room;             /* of positions */
    int32_t *children, *last; /* nodes: how many, the last one, -1: none */
    int32_t *before;          /* nodes: the sibling before, -1: none */
    int32_t *list, *member;   /* as many as a front has children: those left, of a group */
    int32_t *place;           /* n: of rows of the front at hand, where the last group has them */
} grouping;

/* The rows that front s hands to its parent, and their positions there. */
static int32_t rows_of(const grouping *b, int32_t s)
{
    return b->g->rows[s] - (s < b->g->nodes ? factor_pattern_pivots(b->pattern, s) : 0);
}

static int32_t *positions_of(const grouping *b, int32_t s)
{
    return b->g->position + b->g->row_start[s] + b->g->rows[s] - rows_of(b, s);
}

/* Room for so many positions more. */
static libsolver_status reserve(grouping *b, int64_t more)
{
    factor_groups *g = b->g;
    if (g->position && g->positions + more <= b->room)
        return LIBSOLVER_OK;
    const int64_t room = g->positions + g->positions / 2 + more;
    int32_t *position = memory_new(b->m, room, sizeof(int32_t));
    if (!position)
        return LIBSOLVER_OUT_OF_MEMORY;
    memcpy(position, g->position ? g->position : b->pattern->position,
           sizeof(int32_t) * (size_t)g->positions);
    memory_free(b->m, g->position);
    g->position = position;
    b->room = room;
    return LIBSOLVER_OK;
}

/* Rows of the front at hand that some of its children have, ascending, and what is known of these
 * children. */
typedef struct rows_together {
    int32_t most_rows; /* of a group */
    int has_leaves;    /* the children are leaves, numbered consecutively */
    int32_t row[MOST_ROWS], rows, members;
    int64_t entries; /* of the members' blocks */
} rows_together;

/* The same limits, and no members yet. */
static rows_together begin_like(const rows_together *t)
{
    return (rows_together){.most_rows = t->most_rows, .has_leaves = t->has_leaves};
}

/* b->member becomes a group of front s. */
static libsolver_status make_group(grouping *b, int32_t s, const rows_together *t)
{
    factor_groups *g = b->g;
    TRY(reserve(b, t->rows));
    const int32_t group = g->fronts++;
    g->above[group] = s;
    g->rows[group] = t->rows;
    g->row_start[group] = g->positions;
    g->first_leaf[group - g->nodes] = t->has_leaves ? b->member[0] : -1;
    for (int32_t i = 0; i < t->rows; i++) {
        g->position[g->positions + i] = t->row[i];
        b->place[t->row[i]] = i;
    }
    g->positions += t->rows;
    for (int32_t q = 0; q < t->members; q++) {
        const int32_t c = b->member[q];
        int32_t *position = positions_of(b, c);
        g->above[c] = group;
        for (int32_t i = 0; i < rows_of(b, c); i++)
            position[i] = b->place[position[i]];
    }
    return LIBSOLVER_OK;
}

/* Child c joins, unless there would be too many rows.  Returns whether it did. */
static int join(const grouping *b, int32_t c, rows_together *t)
{
    const int32_t *other = positions_of(b, c), others = rows_of(b, c);
    rows_together all = begin_like(t);
    int32_t i = 0, j = 0;
    while (i < t->rows || j < others) {
        const int32_t row =
            j == others || (i < t->rows && t->row[i] < other[j]) ? t->row[i] : other[j];
        if (all.rows == t->most_rows)
            return 0;
        all.row[all.rows++] = row;
        i += i < t->rows && t->row[i] == row;
        j += j < others && other[j] == row;
    }
    all.members = t->members;
    all.entries = t->entries + (int64_t)others * others;
    *t = all;
    b->member[t->members++] = c;
    return 1;
}

/* A group is full when it has children enough and their blocks are about as large as its own, which
 * is written and read for them, or twice as many. */
static int is_full(const grouping *b, const rows_together *t)
{
    return t->members >= b->together &&
           (t->members >= 2 * b->together || 2 * t->entries >= (int64_t)t->rows * t->rows);
}

/* The group at hand is made, or its few members are left; *count: of the children left. */
static libsolver_status end_group(grouping *b, int32_t s, rows_together *t, int32_t *count)
{
    const int makes = t->members >= LEAST && (!t->has_leaves || 2 * t->members >= b->together);
    if (makes)
        TRY(make_group(b, s, t));
    for (int32_t q = 0; q < (makes ? 1 : t->members); q++)
        b->list[(*count)++] = makes ? b->g->fronts - 1 : b->member[q];
    *t = begin_like(t);
    return LIBSOLVER_OK;
}

/* See factor_is_leaf. */
static int is_leaf(const grouping *b, int32_t s)
{
    const factor_pattern *p = b->pattern;
    const int32_t j = p->first[s];
    return b->children[s] == 0 && p->first[s + 1] == j + 1 && b->g->rows[s] <= b->leaf_rows &&
           p->start[j + 1] - p->start[j] == b->g->rows[s];
}

/* Leaves among the children b->list[0 .. count) of front s are grouped, as below, as long as no
 * other child comes between them: being in postorder they are numbered consecutively. */
static libsolver_status group_leaves(grouping *b, int32_t s, int32_t count, int32_t *left)
{
    rows_together t = {.most_rows = b->leaf_rows, .has_leaves = 1};
    *left = 0;
    for (int32_t q = 0; q < count; q++) {
        const int32_t c = b->list[q];
        const int leaf = is_leaf(b, c);
        if (leaf && t.members < FACTOR_SUMMED_LEAVES && join(b, c, &t))
            continue;
        TRY(end_group(b, s, &t, left));
        if (leaf)
            join(b, c, &t); /* with fewer rows than a group may have */
        else
            b->list[(*left)++] = c;
    }
    return end_group(b, s, &t, left);
}

/* Children b->list[0 .. count) of front s are grouped once; groups take their members' places.
 * Returns how many are left in *left. */
static libsolver_status group_once(grouping *b, int32_t s, int32_t count, int32_t *left)
{
    rows_together t = {.most_rows = MOST_ROWS};
    *left = 0;
    for (int32_t q = 0; q < count; q++) {
        const int32_t c = b->list[q];
        if (rows_of(b, c) > MOST_MEMBER) {
            b->list[(*left)++] = c; /* left + members <= q */
            continue;
        }
        if (is_full(b, &t) || !join(b, c, &t)) {
            TRY(end_group(b, s, &t, left));
            join(b, c, &t);
        }
    }
    return end_group(b, s, &t, left);
}

/* Groups of front s, and of these, until no more than `wide` are left or none can be joined. */
static libsolver_status group_children(grouping *b, int32_t s)
{
    int32_t left = b->children[s], count;
    for (int32_t c = b->last[s], q = left; c >= 0; c = b->before[c])
        b->list[--q] = c;
    TRY(group_leaves(b, s, left, &left));
    count = left + 1;
    while (left > b->wide && left < count) {
        count = left;
        TRY(group_once(b, s, count, &left));
    }
    return LIBSOLVER_OK;
}

static void link_children(grouping *b)
{
    const factor_pattern *p = b->pattern;
    for (int32_t s = 0; s < p->nodes; s++) {
        b->last[s] = b->before[s] = -1;
        b->children[s] = 0;
    }
    for (int32_t s = 0; s < p->nodes; s++) {
        const int32_t above = b->g->above[s] = p->above[s];
        b->g->row_start[s] = p->row_start[s];
        b->g->rows[s] = (int32_t)(p->row_start[s + 1] - p->row_start[s]);
        if (above >= 0) {
            b->before[s] = b->last[above];
            b->last[above] = s;
            b->children[above]++;
        }
    }
}

static int32_t most_children(const grouping *b)
{
    int32_t most = 0;
    for (int32_t s = 0; s < b->pattern->nodes; s++)
        most = b->children[s] > most ? b->children[s] : most;
    return most;
}

/* All groups, and the order in which fronts are visited. */
static libsolver_status group(grouping *b)
{
    factor_groups *g = b->g;
    const int32_t most = most_children(b);
    int32_t visited = 0;
    if (most > b->wide) {
        b->list = memory_new(b->m, most, sizeof(int32_t));
        b->member = memory_new(b->m, most, sizeof(int32_t));
        b->place = memory_new(b->m, b->pattern->n, sizeof(int32_t));
        if (!b->list || !b->member || !b->place)
            return LIBSOLVER_OUT_OF_MEMORY;
        TRY(reserve(b, 0));
    }
    for (int32_t s = 0; s < g->nodes; s++) {
        const int32_t first = g->fronts;
        if (b->children[s] > b->wide)
            TRY(group_children(b, s));
        for (int32_t q = first; q < g->fronts; q++)
            g->visit[visited++] = q;
        g->visit[visited++] = s;
    }
    return LIBSOLVER_OK;
}

libsolver_status factor_groups_find(memory *m, const factor_pattern *p, int32_t wide,
                                    int32_t together, int32_t leaf_rows, factor_groups *g)
{
    grouping b = {.m = m,
                  .pattern = p,
                  .g = g,
                  .wide = wide,
                  .together = together < LEAST ? LEAST : together,
                  .leaf_rows = leaf_rows};
    const int64_t nodes = p->nodes, most = nodes + nodes / (LEAST - 1);
    *g =
        (factor_groups){.nodes = p->nodes, .fronts = p->nodes, .positions = p->row_start[p->nodes]};
    if (most > INT32_MAX)
        return LIBSOLVER_NOT_BUILT;
    g->above = memory_new(m, most, sizeof(int32_t));
    g->visit = memory_new(m, most, sizeof(int32_t));
    g->rows = memory_new(m, most, sizeof(int32_t));
    g->row_start = memory_new(m, most, sizeof(int64_t));
    g->first_leaf = memory_new(m, most - nodes, sizeof(int32_t));
    b.children = memory_new(m, nodes, sizeof(int32_t));
    b.last = memory_new(m, nodes, sizeof(int32_t));
    b.before = memory_new(m, nodes, sizeof(int32_t));
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    if (g->above && g->visit && g->rows && g->row_start && g->first_leaf && b.children && b.last &&
        b.before) {
        link_children(&b);
        status = group(&b);
    }
    memory_free(m, b.children);
    memory_free(m, b.last);
    memory_free(m, b.before);
    memory_free(m, b.list);
    memory_free(m, b.member);
    memory_free(m, b.place);
    return status;
}

void factor_groups_free(memory *m, factor_groups *g)
{
    memory_free(m, g->above);
    memory_free(m, g->visit);
    memory_free(m, g->rows);
    memory_free(m, g->row_start);
    memory_free(m, g->position);
    memory_free(m, g->first_leaf);
    *g = (factor_groups){0};
}
