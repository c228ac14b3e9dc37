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
        svg_line(o, x, TIMELINE_TOP, x, bottom, SVG_GRID);
        snprintf(text, sizeof text, "%g", 1e6 * k * step);
        svg_label(o, x, TIMELINE_TOP - 6, "middle", text);
    }
    svg_label(o, TIMELINE_LEFT + TIMELINE_PLOT + 22, TIMELINE_TOP - 6, "start",
              "us after the first task began");
}

/* Where the band of state s ends in bin b, counted from below. */
static double band_top(const timeline *t, int s, int b)
{
    double part = 0;
    for (int below = 0; below <= s; below++)
        part += t->bin[b][below];
    return part;
}

static void write_band(const timeline *t, int s, int hatching, output *o)
{
    const double width = (double)TIMELINE_PLOT / TIMELINE_BINS;
    svg_path_begin(o, SVG_FIRST + s, hatching);
    output_print(o, "M%d %d", TIMELINE_LEFT, TIMELINE_TOP + TIMELINE_AREA);
    for (int b = 0; b < TIMELINE_BINS; b++)
        output_print(o, "V%.1fH%.1f", TIMELINE_TOP + TIMELINE_AREA * (1 - band_top(t, s, b)),
                     TIMELINE_LEFT + width * (b + 1));
    output_print(o, "V%dZ", TIMELINE_TOP + TIMELINE_AREA);
    svg_path_end(o);
}

/* Bins under a name, and the height that it wants as a part of the area. */
#define NAME_BINS 46
#define NAME_PART 0.1

/* The name of state s where its band is thickest along the name. */
static void name_band(const timeline *t, int s, const char *name, output *o)
{
    double best = NAME_PART, middle = 0;
    int first = -1, last = -1; /* places as good as the best */
    for (int b = 0; b + NAME_BINS <= TIMELINE_BINS; b++) {
        double low = 0, high = 1;
        for (int k = b; k < b + NAME_BINS; k++) {
            const double top = band_top(t, s, k), bottom = top - t->bin[k][s];
            low = bottom > low ? bottom : low;
            high = top < high ? top : high;
        }
        if (high - low < best)
            continue;
        if (high - low > best || first < 0)
            first = b;
        best = high - low;
        middle = 0.5 * (high + low);
        last = b;
    }
    if (first >= 0)
        svg_label_inside(o,
                         TIMELINE_LEFT +
                             TIMELINE_PLOT * 0.5 * (first + last + NAME_BINS) / TIMELINE_BINS,
                         TIMELINE_TOP + TIMELINE_AREA * (1 - middle) + 4, name);
}

void timeline_svg_states(const timeline *t, const char *const *names, output *o)
{
    for (int s = t->states - 1; s >= 0; s--) /* a hatching lies on its own band alone */
        for (int hatching = 0; hatching <= (s > 0); hatching++)
            write_band(t, s, hatching, o);
    for (int s = 0; s < t->states; s++)
        name_band(t, s, names[s], o);
    svg_label(o, TIMELINE_LEFT - 8, TIMELINE_TOP + TIMELINE_AREA, "end", "none");
}

void timeline_svg_label(const char *text, double y, output *o)
{
    svg_label(o, TIMELINE_LEFT - 8, y + 12, "end", text);
}

void timeline_svg_bar(const timeline *t, double from, double to, double y, int paint, output *o)
{
    svg_box(o, timeline_x(t, from), y + 3, timeline_x(t, to) - timeline_x(t, from), 8, paint);
}

static double column_x(int column)
{
    return TIMELINE_LEFT + TIMELINE_PLOT + 50 + TIMELINE_STEP * column;
}

/* A column has room for seven characters: large numbers give up decimals. */
void timeline_svg_number(int column, double value, int digits, double y, output *o)
{
    while (digits > 0 && fabs(value) >= pow(10, 6 - digits))
        digits--;
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
