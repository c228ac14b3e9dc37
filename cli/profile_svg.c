/* cli/profile_svg.c: the picture of a profile
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     title, what was measured and the floors
 *     |  what the blocks do: parts of them that wait for bytes, wait for inputs, multiply    |
 *     |  row: from its first task's begin to its last one's end, the dark part is what it    |
 * tasks, bytes, ... |  adds to the solve; below it a line as long as its floor | */
#include "profile.h"
#include "svg.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum {
    LEFT = 170,
    PLOT = 620,
    TOP = 96,
    AREA = 150,
    GAP = 44,
    ROW = 17,
    COLUMNS = LEFT + PLOT,
    WIDTH = COLUMNS + 400
};

static const char *const state_names[PROFILE_STATES] = {"waiting for bytes", "waiting for inputs",
                                                        "multiplying"};
static const char *const state_colours[PROFILE_STATES] = {"#7fb2e5", "#e5a84f", "#5b9b5b"};
#define ROW_COLOUR "#d9d9d9"
#define ADDED_COLOUR "#c0504d"

/* us, or a dash */
typedef struct number_text {
    char text[32];
} number_text;

static number_text number(double value, int digits)
{
    number_text t = {"-"};
    if (isfinite(value))
        snprintf(t.text, sizeof t.text, "%.*f", digits, value);
    return t;
}

static double at(const profile *p, double seconds)
{
    return p->seconds > 0 ? LEFT + PLOT * seconds / p->seconds : LEFT;
}

static void draw_title(const profile *p, const profile_facts *facts, output *o)
{
    output_print(o, "<text x=\"8\" y=\"20\" font-size=\"15\">");
    svg_escaped(o, facts->name);
    output_print(o, ": one solve%s", facts->device ? " on " : "");
    svg_escaped(o, facts->device ? facts->device : "");
    output_print(o, ", n = %" PRId64 ", %" PRId64 " entries in L</text>\n", facts->n,
                 facts->factor_nnz);
    output_print(
        o,
        "<text x=\"8\" y=\"40\">%s us on a stream, %s us in a graph, %s us traced. Floors: %s us "
        "for %.1f MB at %s TB/s, %s us for %d "
        "levels of %.2f us.</text>\n",
        number(1e6 * facts->stream, 1).text, number(1e6 * facts->graph, 1).text,
        number(1e6 * p->seconds, 1).text, number(1e6 * p->bytes_floor, 1).text,
        1e-6 * (double)p->bytes, number(1e-12 * p->bytes_per_second, 2).text,
        number(1e6 * p->chain_floor, 1).text, p->levels, 1e6 * PROFILE_STEP);
    for (int s = 0; s < PROFILE_STATES; s++) {
        char text[64];
        snprintf(text, sizeof text, "%s (%.0f %%)", state_names[s], 100 * p->part[s]);
        svg_key(o, LEFT + 210 * s, 56, state_colours[s], text);
    }
    svg_label(o, LEFT - 10, 66, "end", "time of the blocks");
}

/* Lines at round times through the whole picture. */
static void draw_times(const profile *p, double bottom, output *o)
{
    double step = 1e-9;
    while (step > 0 && p->seconds / step > 12)
        step *= p->seconds / step > 120 ? 10 : p->seconds / step > 60 ? 5 : 2;
    for (int k = 0; p->seconds > 0 && k * step <= p->seconds; k++) {
        char text[32];
        svg_line(o, at(p, k * step), TOP, at(p, k * step), bottom, "stroke=\"#eeeeee\"");
        snprintf(text, sizeof text, "%g%s", 1e6 * k * step, k == 0 ? " us" : "");
        svg_label(o, at(p, k * step), TOP - 6, "middle", text);
    }
}

/* Each state's band lies on those before it. */
static void draw_states(const profile *p, output *o)
{
    const double width = (double)PLOT / PROFILE_BINS;
    for (int s = PROFILE_STATES - 1; s >= 0; s--) {
        output_print(o, "<path fill=\"%s\" d=\"M%d %d", state_colours[s], LEFT, TOP + AREA);
        for (int b = 0; b < PROFILE_BINS; b++) {
            double part = 0;
            for (int below = 0; below <= s; below++)
                part += p->bin[b][below];
            output_print(o, "V%.1fH%.1f", TOP + AREA * (1 - part), LEFT + width * (b + 1));
        }
        output_print(o, "V%dZ\"/>\n", TOP + AREA);
    }
    svg_label(o, LEFT - 8, TOP + 10, "end", "all blocks");
    svg_label(o, LEFT - 8, TOP + AREA, "end", "none");
}

static void draw_columns(output *o)
{
    static const char *const names[] = {"tasks", "MB", "adds", "floor", "bytes", "inputs", "mult."};
    for (int k = 0; k < 7; k++)
        svg_label(o, COLUMNS + 50 + 55 * k, TOP + AREA + GAP - 8, "end", names[k]);
    svg_label(o, COLUMNS + 50 + 55 * 3, TOP + AREA + GAP - 22, "end", "us");
    svg_label(o, COLUMNS + 50 + 55 * 6, TOP + AREA + GAP - 22, "end", "us, means of the tasks");
}

static void draw_row(const profile *p, const profile_row *row, double y, output *o)
{
    char text[64];
    snprintf(text, sizeof text, "%s %d %s", row->backward ? "down" : "up", row->height,
             profile_kind(row->kind));
    svg_label(o, LEFT - 8, y + 12, "end", text);
    svg_box(o, at(p, row->begin), y + 3, at(p, row->end) - at(p, row->begin), 8, ROW_COLOUR);
    svg_box(o, at(p, row->end - row->added), y + 3, at(p, row->end) - at(p, row->end - row->added),
            8, ADDED_COLOUR);
    svg_line(o, at(p, row->begin), y + 13, at(p, row->begin + row->floor), y + 13,
             "stroke=\"#000000\" stroke-width=\"1.5\"");
    const number_text column[] = {
        number((double)row->tasks, 0),  number(1e-6 * (double)row->bytes, 2),
        number(1e6 * row->added, 2),    number(1e6 * row->floor, 2),
        number(1e6 * row->staging, 2),  number(1e6 * row->gathering, 2),
        number(1e6 * row->computing, 2)};
    for (int k = 0; k < 7; k++)
        svg_label(o, COLUMNS + 50 + 55 * k, y + 12, "end", column[k].text);
}

void profile_svg(const profile *p, const profile_facts *facts, output *o)
{
    const double bottom = TOP + AREA + GAP + ROW * p->rows;
    svg_open(o, WIDTH, bottom + 40);
    draw_title(p, facts, o);
    draw_times(p, bottom, o);
    draw_states(p, o);
    draw_columns(o);
    for (int32_t r = 0; r < p->rows; r++)
        draw_row(p, &p->row[r], TOP + AREA + GAP + ROW * r, o);
    if (p->bytes_floor <= p->seconds)
        svg_line(o, at(p, p->bytes_floor), TOP, at(p, p->bytes_floor), bottom,
                 "stroke=\"#000000\" stroke-dasharray=\"4 4\"");
    svg_label(o, LEFT, bottom + 22, "start",
              "Bars: from a level's first task to its last, dark what it adds to the solve; lines "
              "below them: "
              "its floor; dashed: all bytes at the "
              "rate of copies.");
    svg_close(o);
}
