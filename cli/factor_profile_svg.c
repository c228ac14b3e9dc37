/* cli/factor_profile_svg.c: the picture of a factorization's profile
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *            title, what was measured, the chain of levels
 *            |  blocks that are busy, by kinds of tasks                 |
 *       kind |  as long as what the levels add whose last task is of it | tasks, operations, ...
 *     levels |  from their first task's begin to their last one's end;  |
 *            |  what each adds, in the colour of its last task          | */
#include "factor_profile.h"
#include "svg.h"
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { MOST_BANDS = 60 };

static_assert((int)FACTOR_KINDS <= (int)SVG_PAINTS, "each kind has a paint of its own");

static void draw_title(const factor_profile *p, const profile_facts *facts, output *o)
{
    profile_facts_svg(facts, "one factorization", o);
    output_print(o, "<text x=\"8\" y=\"40\">");
    if (!isnan(facts->refactorize_device))
        output_print(o, "Ready to solve: %s ms, from values on the host %s. ",
                     timeline_number(1e3 * facts->refactorize_device, 3).text,
                     timeline_number(1e3 * facts->refactorize, 3).text);
    output_print(o, "Alone, traced: %s ms, %s GFlop/s; ",
                 timeline_number(1e3 * p->time.seconds, 3).text,
                 timeline_number(1e-9 * p->all.flops / p->time.seconds, 0).text);
    output_print(o, "%" PRId64 " tasks in %d levels, whose longest tasks sum to %s ms.</text>\n",
                 p->all.tasks, p->levels, timeline_number(1e3 * p->chain, 3).text);
    for (int kind = 0, at = TIMELINE_LEFT; kind < FACTOR_KINDS; kind++)
        if (p->kind[kind].sum.tasks > 0) {
            svg_key(o, at, 56, SVG_FIRST + kind,
                    factor_profile_kind((libsolver_factor_task_kind)kind));
            at += 110;
        }
    svg_label(o, TIMELINE_LEFT - 10, 66, "end", "busy blocks");
}

static void draw_heads(output *o)
{
    static const char *const names[TIMELINE_COLUMNS] = {"tasks",  "GFlop", "mean", "longest",
                                                        "levels", "adds",  "%"};
    timeline_svg_heads(names, o);
    timeline_svg_head(3, "us", 22, o);
    timeline_svg_head(5, "us", 22, o);
}

static void draw_numbers(const factor_profile *p, const factor_sum *sum, int32_t levels,
                         double added, double y, output *o)
{
    timeline_svg_number(0, (double)sum->tasks, 0, y, o);
    timeline_svg_number(1, 1e-9 * sum->flops, 3, y, o);
    timeline_svg_number(2, 1e6 * sum->busy / (double)sum->tasks, 2, y, o);
    timeline_svg_number(3, 1e6 * sum->longest, 2, y, o);
    timeline_svg_number(4, levels, 0, y, o);
    timeline_svg_number(5, 1e6 * added, 1, y, o);
    timeline_svg_number(6, 100 * added / p->time.seconds, 1, y, o);
}

/* Returns where the rows end. */
static double draw_kinds(const factor_profile *p, double y, output *o)
{
    for (int kind = 0; kind < FACTOR_KINDS; kind++) {
        const factor_kind_sum *k = &p->kind[kind];
        if (k->sum.tasks == 0)
            continue;
        timeline_svg_label(factor_profile_kind((libsolver_factor_task_kind)kind), y, o);
        timeline_svg_bar(&p->time, 0, k->added, y, SVG_FIRST + kind, o);
        draw_numbers(p, &k->sum, k->levels, k->added, y, o);
        y += TIMELINE_ROW;
    }
    return y;
}

/* Levels [first, end). */
static void draw_band(const factor_profile *p, int32_t first, int32_t end, double y, output *o)
{
    char text[64];
    double begin = INFINITY, last = 0, added = 0;
    factor_sum sum = {0};
    for (int32_t l = first; l < end; l++) {
        begin = fmin(begin, p->level[l].begin);
        last = fmax(last, p->level[l].end);
        added += p->level[l].added;
        factor_sum_add(&sum, &p->level[l].sum);
    }
    snprintf(text, sizeof text, end - first > 1 ? "levels %d to %d" : "level %d", first, end - 1);
    timeline_svg_label(text, y, o);
    timeline_svg_bar(&p->time, begin, last, y, SVG_NEUTRAL, o);
    for (int32_t l = first; l < end; l++)
        timeline_svg_bar(&p->time, p->level[l].end - p->level[l].added, p->level[l].end, y,
                         SVG_FIRST + (int)p->level[l].last, o);
    draw_numbers(p, &sum, end - first, added, y, o);
}

void factor_profile_svg(const factor_profile *p, const profile_facts *facts, output *o)
{
    const int32_t each = (p->levels + MOST_BANDS - 1) / MOST_BANDS,
                  bands = each > 0 ? (p->levels + each - 1) / each : 0;
    int kinds = 0;
    for (int kind = 0; kind < FACTOR_KINDS; kind++)
        kinds += p->kind[kind].sum.tasks > 0;
    const double bottom = TIMELINE_ROWS + TIMELINE_ROW * (kinds + 1 + bands);
    char blocks[32];
    snprintf(blocks, sizeof blocks, "%.0f", p->time.blocks);
    char title[300];
    const char *names[FACTOR_KINDS];
    for (int kind = 0; kind < FACTOR_KINDS; kind++)
        names[kind] = factor_profile_kind((libsolver_factor_task_kind)kind);
    snprintf(title, sizeof title, "%.200s: where the time of a factorization goes", facts->name);
    svg_open(
        o, TIMELINE_WIDTH, bottom + 56, title,
        "Above, over time, the busy blocks of the device by the kind of their tasks. Below, for "
        "each kind and for the levels one after the other, a bar from the first task's begin to "
        "the last one's end, what they add to the factorization, and their figures.");
    draw_title(p, facts, o);
    timeline_svg_times(&p->time, bottom, o);
    timeline_svg_states(&p->time, names, o);
    svg_label(o, TIMELINE_LEFT - 8, TIMELINE_TOP + 10, "end", blocks);
    draw_heads(o);
    const double y = draw_kinds(p, TIMELINE_ROWS, o) + TIMELINE_ROW;
    for (int32_t b = 0; b < bands; b++)
        draw_band(p, each * b, each * (b + 1) < p->levels ? each * (b + 1) : p->levels,
                  y + TIMELINE_ROW * b, o);
    svg_label(o, 8, bottom + 22, "start",
              "Bars of kinds: what the levels add whose last task is of this kind.");
    svg_label(o, 8, bottom + 38, "start",
              "Bars of levels: from the first task to the last, in colour what each level adds, by "
              "the kind of its last task.");
    svg_close(o);
}
