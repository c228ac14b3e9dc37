/* gpu/substitute/substitution_plan.c: the solve of a tree by substitution: its tasks in their
 * order, and what they read
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/substitute/substitution_plan.h"
#include "gpu/substitute/bundle_table.h"
#include "gpu/substitute/grouped_tree.h"
#include <string.h>

/* What a plan is made from, beside the draft of its tables. */
typedef struct planning {
    substitution_draft draft;
    tree_children children;
    bundles units;
    int32_t *owner;
    int32_t *begin; /* units: the step at which what they read is there, as far as is known */
    const unsigned char *joined;
} planning;

static void set_nodes(const factor_tree *tree, const int64_t *panel_at, int32_t *owner,
                      substitution *s)
{
    for (int32_t v = 0; v < tree->nodes; v++) {
        s->node[v] =
            (substitution_node){.panel = panel_at[v],
                                .row_start = tree->row_start[v],
                                .first = tree->first[v],
                                .columns = tree->first[v + 1] - tree->first[v],
                                .rows = (int32_t)(tree->row_start[v + 1] - tree->row_start[v]),
                                .ld = tree->ld[v]};
        for (int32_t c = tree->first[v]; c < tree->first[v + 1]; c++)
            owner[c] = v;
    }
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

/* Where the block of pivots of node v that begins at `from` ends: no 2x2 pivot is split. */
static int32_t end_of_block(const substitution_node *v, const unsigned char *joined, int32_t from)
{
    if (v->columns - from <= SUBSTITUTE_ROWS)
        return v->columns;
    return from + SUBSTITUTE_ROWS - (joined && joined[v->first + from + SUBSTITUTE_ROWS - 1]);
}

/* Of one large node: pivots, then what is below; only counted while there are no tasks. */
static int32_t add_large(const planning *p, int32_t count, int32_t node, substitution *s)
{
    const substitution_node *v = &s->node[node];
    const int32_t front = v->columns + v->rows;
    for (int32_t from = 0, to; from < front; from = to, count++) {
        to = from < v->columns ? end_of_block(v, p->joined, from) : from + SUBSTITUTE_ROWS;
        to = to < front ? to : front;
        if (s->task)
            s->task[count] = (substitution_task){.node = node, .from = from, .to = to};
    }
    return count;
}

static int32_t count_forward(const planning *p, substitution *s)
{
    int32_t count = 0;
    for (int32_t u = 0; u < p->units.units; u++)
        count = p->units.large[u] ? add_large(p, count, p->units.node[p->units.start[u]], s)
                                  : count + 1;
    return count;
}

/* Steps of a chain of dependent tasks that a bundle takes as long as; a block of a large node is
 * one. */
enum { BUNDLE_STEPS = 2 };

/* Where the units above u may begin, which takes so many steps. */
static void end_unit(planning *p, int32_t u, int32_t steps)
{
    const bundles *b = &p->units;
    for (int32_t k = b->start[u]; k < b->start[u + 1]; k++) {
        const int32_t up = p->draft.tree->above[b->node[k]];
        if (up >= 0 && b->unit[up] != u && p->begin[b->unit[up]] < p->begin[u] + steps)
            p->begin[b->unit[up]] = p->begin[u] + steps;
    }
}

/* The steps at which the tasks of unit u may begin, in their order; returns their number. */
static int32_t set_steps(planning *p, int32_t u, const substitution *s,
                         const substitution_task *task, int32_t *step)
{
    if (!p->units.large[u]) {
        step[0] = p->begin[u];
        end_unit(p, u, BUNDLE_STEPS);
        return 1;
    }
    const substitution_node *v = &s->node[p->units.node[p->units.start[u]]];
    const int32_t front = v->columns + v->rows;
    int32_t count = 0, blocks = 0, end;
    do {
        step[count] = p->begin[u] + blocks;
        end = task[count++].to;
        blocks += end <= v->columns;
    } while (end < front);
    end_unit(p, u, blocks + (v->rows > 0));
    return count;
}

/* Puts the forward tasks into the order of their steps: blocks of threads that draw them one after
 * the other then wait for little.  OUT_OF_MEMORY. */
static libsolver_status order_tasks(memory *m, planning *p, substitution *s)
{
    const int64_t count = s->forward_tasks;
    int32_t *step = memory_new(m, count, sizeof *step), steps = 0, *start = NULL;
    substitution_task *sorted = memory_new(m, 2 * count, sizeof *sorted);
    if (step && sorted) {
        for (int32_t u = 0, k = 0; u < p->units.units; u++)
            k += set_steps(p, u, s, s->task + k, step + k);
        for (int64_t k = 0; k < count; k++)
            steps = step[k] >= steps ? step[k] + 1 : steps;
        start = memory_zeroed(m, (int64_t)steps + 1, sizeof *start);
    }
    if (start) {
        for (int64_t k = 0; k < count; k++)
            start[step[k] + 1]++;
        for (int32_t k = 0; k < steps; k++)
            start[k + 1] += start[k];
        for (int64_t k = 0; k < count; k++)
            sorted[start[step[k]]++] = s->task[k];
        substitution_task *before = s->task;
        s->task = sorted;
        sorted = before;
    }
    memory_free(m, step);
    memory_free(m, sorted);
    memory_free(m, start);
    return start ? LIBSOLVER_OK : LIBSOLVER_OUT_OF_MEMORY;
}

/* The forward tasks in reverse, but for those of rows below. */
static void add_backward(substitution *s)
{
    s->tasks = s->forward_tasks;
    for (int32_t k = s->forward_tasks - 1; k >= 0; k--) {
        const substitution_task t = s->task[k];
        if (t.node < 0 || t.from < s->node[t.node].columns)
            s->task[s->tasks++] = t;
    }
}

/* Diagonal blocks, the narrow ones first; only counted while there are none. */
static void add_blocks(const planning *p, substitution *s)
{
    int32_t count[2] = {0, s->block ? s->narrow_blocks : 0};
    for (int32_t v = 0; v < s->nodes; v++)
        for (int32_t from = 0, to; from < s->node[v].columns; from = to) {
            const substitution_node *q = &s->node[v];
            to = end_of_block(q, p->joined, from);
            const int wide = to - from > SUBSTITUTE_NARROW;
            if (to - from < 2)
                continue;
            if (s->block)
                s->block[count[wide]] =
                    (substitution_block){.at = q->panel + from + (int64_t)from * q->ld,
                                         .ld = q->ld,
                                         .order = (int16_t)(to - from),
                                         .large = p->units.large[p->units.unit[v]] != 0};
            count[wide]++;
        }
    if (s->block)
        return;
    s->narrow_blocks = count[0];
    s->blocks = count[0] + count[1];
}

/* ---- The arrays ------------------------------------------------------------------------------ */

/* Where the sources of each large node begin, how many there are, and words and copies of the
 * bundles. */
static int64_t measure(const planning *p, substitution *s)
{
    const bundles *b = &p->units;
    int64_t sources = 0, fronts = 0, copies = 0;
    for (int32_t u = 0; u < b->units; u++) {
        const int32_t v = b->node[b->start[u]];
        if (!b->large[u]) {
            s->table_words += bundle_words(&p->draft, u);
            copies += 1 + b->start[u + 1] - b->start[u];
            continue;
        }
        s->node[v].sources = (int32_t)fronts;
        fronts += s->node[v].columns + s->node[v].rows;
        for (int32_t k = p->children.start[v]; k < p->children.start[v + 1]; k++)
            sources += s->node[p->children.child[k]].rows;
    }
    s->sources = (int32_t)fronts;
    s->copies = (int32_t)copies; /* at most */
    return sources;
}

static int take(memory *m, int64_t sources, substitution *s)
{
    s->source_start = memory_zeroed(m, (int64_t)s->sources + 1, sizeof(int32_t));
    s->source = memory_new(m, sources, sizeof(int32_t));
    s->table = memory_new(m, s->table_words, sizeof(int32_t));
    s->copy = memory_new(m, s->copies, sizeof(substitution_copy));
    s->task = memory_new(m, 2 * (int64_t)s->forward_tasks, sizeof(substitution_task));
    s->block = memory_new(m, s->blocks, sizeof(substitution_block));
    return s->source_start && s->source && s->table && s->copy && s->task && s->block;
}

/* The task of a bundle with these copies, of which those that have no place in it are kept. */
static substitution_task bundle_task(substitution *s, substitution_copy *begin,
                                     substitution_copy **end)
{
    substitution_task t = {.node = -1, .from = (int32_t)(begin - s->copy)};
    substitution_copy *kept = begin;
    int32_t count = 0;
    for (const substitution_copy *c = begin; c < *end; c++) {
        t.bytes += c->bytes;
        if (count < FIRST_COPIES)
            t.first[count++] = *c;
        else
            *kept++ = *c;
    }
    t.to = (int32_t)(kept - s->copy);
    *end = kept;
    return t;
}

static libsolver_status fill(memory *m, planning *p, substitution *s)
{
    const bundles *b = &p->units;
    substitution_copy *copy = s->copy;
    int64_t words = 0;
    int32_t tasks = 0;
    libsolver_status status = LIBSOLVER_OK;
    for (int32_t u = 0; u < b->units && status == LIBSOLVER_OK; u++) {
        const int32_t v = b->node[b->start[u]];
        if (b->large[u]) {
            tasks = add_large(p, tasks, v, s);
            status =
                list_sources(&p->draft, v,
                             (source_list){s->source_start + s->node[v].sources, s->source}, NULL);
        } else {
            substitution_copy *begin = copy;
            status = bundle_write(&p->draft, u, words, s->table + words, &copy);
            words += bundle_words(&p->draft, u);
            s->task[tasks++] = bundle_task(s, begin, &copy);
        }
    }
    s->copies = (int32_t)(copy - s->copy);
    if (status == LIBSOLVER_OK)
        status = order_tasks(m, p, s);
    if (status == LIBSOLVER_OK) {
        add_backward(s);
        add_blocks(p, s);
    }
    return status;
}

static libsolver_status build(memory *m, planning *p, substitution *s)
{
    const factor_tree *tree = p->draft.tree;
    set_nodes(tree, p->draft.panel_at, p->owner, s);
    tree_children_find(tree, &p->children);
    libsolver_status status = bundles_make(m, tree, &p->children, p->draft.panel_at, &p->units);
    if (status != LIBSOLVER_OK)
        return status;
    p->draft.units = &p->units;
    p->draft.children = &p->children;
    p->draft.node = s->node;
    p->draft.owner = p->owner;
    memset(p->draft.place, 0xff, (size_t)tree->n * sizeof(int32_t));
    const int64_t sources = measure(p, s);
    s->forward_tasks = count_forward(p, s);
    add_blocks(p, s);
    return take(m, sources, s) ? fill(m, p, s) : LIBSOLVER_OUT_OF_MEMORY;
}

/* The same, of a tree with its groups. */
static libsolver_status plan_tree(memory *m, const factor_tree *tree, const unsigned char *joined,
                                  const int64_t *panel_at, substitution *s)
{
    const int32_t nodes = tree->nodes;
    planning p = {.joined = joined,
                  .owner = memory_new(m, tree->n, sizeof(int32_t)),
                  .begin = memory_zeroed(m, nodes, sizeof(int32_t)),
                  .children = {.start = memory_new(m, (int64_t)nodes + 2, sizeof(int32_t)),
                               .child = memory_new(m, nodes, sizeof(int32_t))},
                  .draft = {.tree = tree,
                            .panel_at = panel_at,
                            .place = memory_new(m, tree->n, sizeof(int32_t)),
                            .slot = memory_new(m, nodes, sizeof(int32_t)),
                            .panel = memory_zeroed(m, nodes, sizeof(int32_t))}};
    s->node = memory_new(m, nodes, sizeof(substitution_node));
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    if (s->node && p.owner && p.begin && p.children.start && p.children.child && p.draft.place &&
        p.draft.slot && p.draft.panel)
        status = build(m, &p, s);
    bundles_free(m, &p.units);
    memory_free(m, p.owner);
    memory_free(m, p.begin);
    memory_free(m, p.children.start);
    memory_free(m, p.children.child);
    memory_free(m, p.draft.place);
    memory_free(m, p.draft.slot);
    memory_free(m, p.draft.panel);
    return status;
}

libsolver_status substitution_build(memory *m, const factor_tree *tree, const unsigned char *joined,
                                    const int64_t *panel_at, substitution *s)
{
    grouped_tree g;
    *s = (substitution){.n = 0};
    libsolver_status status = grouped_tree_make(m, tree, panel_at, &g);
    if (status == LIBSOLVER_OK) {
        const factor_tree *t = &g.view;
        s->n = t->n;
        s->nodes = t->nodes;
        s->rows = t->row_start[t->nodes];
        s->row = t->row;
        s->own_row = g.row;
        g.row = NULL;
        status = substitution_packets(s) > INT32_MAX / SUBSTITUTE_COLUMNS
                     ? LIBSOLVER_INTERNAL
                     : plan_tree(m, t, joined, g.panel_at, s);
    }
    grouped_tree_free(m, &g);
    if (status != LIBSOLVER_OK)
        substitution_free(m, s);
    return status;
}

void substitution_free(memory *m, substitution *s)
{
    memory_free(m, s->node);
    memory_free(m, s->own_row);
    memory_free(m, s->source_start);
    memory_free(m, s->source);
    memory_free(m, s->table);
    memory_free(m, s->copy);
    memory_free(m, s->task);
    memory_free(m, s->block);
    *s = (substitution){.n = 0};
}
