/* cli/timeline_svg.c: the parts of a picture that show what blocks do over time
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *           |  what the blocks do: parts of them in each state       |
 *     label |  a bar, on the same axis of time                       | numbers */
#include "svg.h"
#include "timeline.h"
#include <math.h>
#include <stdio.h>

number_text timeline_number(double value, int digits)
{
    number_text t = {"-"};
    if (isfinite(value))
        snprintf(t.text, sizeof t.text, "%.*f", digits, value);
    return t;
}

double timeline_x(const timeline *t, double seconds)
{
    return t->seconds > 0 ? TIMELINE_LEFT + TIMELINE_PLOT * seconds / t->seconds : TIMELINE_LEFT;
}

void timeline_svg_times(const timeline *t, double bottom, output *o)
{
    double step = 1e-9;
    while (step > 0 && t->seconds / step > 12)
        step *= t->seconds / step > 120 ? 10 : t->seconds / step > 60 ? 5 : 2;
    for (int k = 0; t->seconds > 0 && k * step <= t->seconds; k++) {
        char text[32];
        const double x = timeline_x(t, k * step);
        svg_line(o, x, TIMELINE_TOP, x, bottom, "stroke=\"#eeeeee\"");
        snprintf(text, sizeof text, "%g%s", 1e6 * k * step, k == 0 ? " us" : "");
        svg_label(o, x, TIMELINE_TOP - 6, "middle", text);
    }
}

void timeline_svg_states(const timeline *t, const char *const *colours, output *o)
{
    const double width = (double)TIMELINE_PLOT / TIMELINE_BINS;
    for (int s = t->states - 1; s >= 0; s--) {
        output_print(o, "<path fill=\"%s\" d=\"M%d %d", colours[s], TIMELINE_LEFT,
                     TIMELINE_TOP + TIMELINE_AREA);
        for (int b = 0; b < TIMELINE_BINS; b++) {
            double part = 0;
            for (int below = 0; below <= s; below++)
                part += t->bin[b][below];
            output_print(o, "V%.1fH%.1f", TIMELINE_TOP + TIMELINE_AREA * (1 - part),
                         TIMELINE_LEFT + width * (b + 1));
        }
        output_print(o, "V%dZ\"/>\n", TIMELINE_TOP + TIMELINE_AREA);
    }
    svg_label(o, TIMELINE_LEFT - 8, TIMELINE_TOP + TIMELINE_AREA, "end", "none");
}

void timeline_svg_label(const char *text, double y, output *o)
{
    svg_label(o, TIMELINE_LEFT - 8, y + 12, "end", text);
}

void timeline_svg_bar(const timeline *t, double from, double to, double y, const char *colour,
                      output *o)
{
    svg_box(o, timeline_x(t, from), y + 3, timeline_x(t, to) - timeline_x(t, from), 8, colour);
}

static double column_x(int column)
{
    return TIMELINE_LEFT + TIMELINE_PLOT + 50 + TIMELINE_STEP * column;
}

void timeline_svg_number(int column, double value, int digits, double y, output *o)
{
    svg_label(o, column_x(column), y + 12, "end", timeline_number(value, digits).text);
}

void timeline_svg_head(int column, const char *text, double above, output *o)
{
    svg_label(o, column_x(column), TIMELINE_ROWS - above, "end", text);
}

void timeline_svg_heads(const char *const names[TIMELINE_COLUMNS], output *o)
{
    for (int k = 0; k < TIMELINE_COLUMNS; k++)
        timeline_svg_head(k, names[k], 8, o);
}
