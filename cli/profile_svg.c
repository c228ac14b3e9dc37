/* cli/profile_svg.c: the picture of a profile
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     title, what was measured and the floors
 *     |  what the blocks do: parts of them that wait for bytes, wait for inputs, multiply    |
 *     |  row: from its first task's begin to its last one's end, the hatched part is what it |
 * tasks, bytes, ... |  adds to the solve; below it a line as long as its floor | */
#include "profile.h"
#include "svg.h"
#include <math.h>
#include <stdio.h>

static const char *const state_names[PROFILE_STATES] = {"waiting for bytes", "waiting for inputs",
                                                        "multiplying"};
#define ADDED_PAINT (SVG_FIRST + PROFILE_STATES) /* beside the states, which have the first */

static void draw_title(const profile *p, const profile_facts *facts, output *o)
{
    profile_facts_svg(facts, "one solve", o);
    output_print(o, "<text x=\"8\" y=\"40\">");
    if (!isnan(facts->stream))
        output_print(o, "%s us on a stream, %s us in a graph, ",
                     timeline_number(1e6 * facts->stream, 1).text,
                     timeline_number(1e6 * facts->graph, 1).text);
    output_print(o,
                 "%s us traced. Floors: %s us for %.1f MB at %s TB/s, %s us for %d levels of %.2f "
                 "us.</text>\n",
                 timeline_number(1e6 * p->time.seconds, 1).text,
                 timeline_number(1e6 * p->bytes_floor, 1).text, 1e-6 * (double)p->bytes,
                 timeline_number(1e-12 * p->bytes_per_second, 2).text,
                 timeline_number(1e6 * p->chain_floor, 1).text, p->levels, 1e6 * PROFILE_STEP);
    for (int s = 0; s < PROFILE_STATES; s++) {
        char text[64];
        snprintf(text, sizeof text, "%s (%.0f %%)", state_names[s], 100 * p->time.part[s]);
        svg_key(o, TIMELINE_LEFT + 210 * s, 56, SVG_FIRST + s, text);
    }
    svg_label(o, TIMELINE_LEFT - 10, 66, "end", "time of the blocks");
}

static void draw_heads(output *o)
{
    static const char *const names[TIMELINE_COLUMNS] = {"tasks", "MB",     "adds", "floor",
                                                        "bytes", "inputs", "mult."};
    timeline_svg_heads(names, o);
    timeline_svg_head(3, "us", 22, o);
    timeline_svg_head(6, "us, means of the tasks", 22, o);
}

static void draw_row(const profile *p, const profile_row *row, double y, output *o)
{
    const timeline *t = &p->time;
    const double begin = row->of.begin, end = row->of.end;
    char text[64];
    snprintf(text, sizeof text, "%s %d %s", row->backward ? "down" : "up", row->height,
             profile_kind(row->kind));
    timeline_svg_label(text, y, o);
    timeline_svg_bar(t, begin, end, y, SVG_NEUTRAL, o);
    timeline_svg_bar(t, end - row->of.added, end, y, ADDED_PAINT, o);
    const double floor_end = fmin(begin + row->floor, t->seconds); /* it may be longer than all */
    svg_line(o, timeline_x(t, begin), y + 13, timeline_x(t, floor_end), y + 13, SVG_SOLID);
    timeline_svg_number(0, (double)row->of.tasks, 0, y, o);
    const double seconds[] = {row->of.added, row->floor, row->staging, row->gathering,
                              row->computing};
    timeline_svg_number(1, 1e-6 * (double)row->bytes, 2, y, o);
    for (int k = 0; k < 5; k++)
        timeline_svg_number(2 + k, 1e6 * seconds[k], 2, y, o);
}

void profile_svg(const profile *p, const profile_facts *facts, output *o)
{
    const double bottom = TIMELINE_ROWS + TIMELINE_ROW * p->rows,
                 floor = timeline_x(&p->time, p->bytes_floor);
    char title[300];
    snprintf(title, sizeof title, "%.200s: where the time of a solve goes", facts->name);
    svg_open(
        o, TIMELINE_WIDTH, bottom + 40, title,
        "Above, over time, the parts of the device's blocks that wait for bytes, wait for inputs "
        "and multiply. Below, for each level and kind of tasks, a bar from the first one's begin "
        "to the last one's end, what it adds to the solve, its floor, and its figures.");
    draw_title(p, facts, o);
    timeline_svg_times(&p->time, bottom, o);
    timeline_svg_states(&p->time, state_names, o);
    svg_label(o, TIMELINE_LEFT - 8, TIMELINE_TOP + 10, "end", "all blocks");
    draw_heads(o);
    for (int32_t r = 0; r < p->rows; r++)
        draw_row(p, &p->row[r], TIMELINE_ROWS + TIMELINE_ROW * r, o);
    if (p->bytes_floor <= p->time.seconds) {
        const int is_left = p->bytes_floor < 0.5 * p->time.seconds;
        svg_line(o, floor, TIMELINE_TOP, floor, bottom, SVG_DASHED);
        svg_label(o, floor + (is_left ? 5 : -5), TIMELINE_TOP + TIMELINE_AREA + 16,
                  is_left ? "start" : "end", "all bytes at the rate of copies");
    }
    svg_label(
        o, TIMELINE_LEFT, bottom + 22, "start",
        "Bars: from a level's first task to its last, hatched what it adds to the solve; lines "
        "below them: its floor.");
    svg_close(o);
}
