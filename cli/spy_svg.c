/* cli/spy_svg.c: the picture of matrices, dark where there are entries
 * SPDX-License-Identifier: BSD-3-Clause */
#include "spy.h"
#include "svg.h"
#include <stdio.h>

enum { PANEL = 360, GAP = 70, LEFT = 66, TOP = 64, SHADES = 4 };

/* From which part of a cell's places on it has that shade, and how dark it is. */
static const double least_part[SHADES] = {0, 0.01, 0.1, 0.5}, darkness[SHADES] = {.25, .5, .75, 1};

static double edge(const spy *s, int cell)
{
    return (double)PANEL * cell / s->cells;
}

/* Rows in a cell of that number. */
static double rows_of(const spy *s, int cell)
{
    const int64_t n = s->n, first = (cell * n + s->cells - 1) / s->cells,
                  end = ((cell + 1) * n + s->cells - 1) / s->cells;
    return (double)(end - first);
}

/* The shade of a cell, -1: it is empty. */
static int shade_of(const spy *s, int row, int column)
{
    const int64_t count = s->count[row][column];
    const double part = (double)count / (rows_of(s, row) * rows_of(s, column));
    int shade = SHADES - 1;
    if (count == 0)
        return -1;
    while (shade > 0 && part < least_part[shade])
        shade--;
    return shade;
}

/* All cells of one shade, a box for each run of them in a row of cells. */
static void draw_shade(const spy *s, int shade, double x, output *o)
{
    output_print(o, "<path class=\"entry\" opacity=\"%.2f\" d=\"", darkness[shade]);
    for (int r = 0; r < s->cells; r++)
        for (int c = 0; c < s->cells; c++) {
            const int first = c;
            while (c < s->cells && shade_of(s, r, c) == shade)
                c++;
            if (c > first)
                output_print(o, "M%.1f %.1fH%.1fV%.1fH%.1fZ", x + edge(s, first), TOP + edge(s, r),
                             x + edge(s, c), TOP + edge(s, r + 1), x + edge(s, first));
        }
    output_print(o, "\"/>\n");
}

static void draw_panel(const spy *s, const char *text, double x, output *o)
{
    char end[16];
    snprintf(end, sizeof end, "%d", s->n);
    output_print(o,
                 "<rect x=\"%.1f\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" "
                 "class=\"line\"/>\n",
                 x, TOP, PANEL, PANEL);
    for (int shade = 0; shade < SHADES; shade++)
        draw_shade(s, shade, x, o);
    svg_label(o, x, TOP - 10, "start", text);
    svg_label(o, x - 4, TOP + 10, "end", "1");
    svg_label(o, x - 4, TOP + PANEL, "end", end);
}

static void draw_key(double y, output *o)
{
    static const char *const texts[SHADES] = {"entries in a cell: some", "1 %", "10 %",
                                              "half of it and more"};
    double x = LEFT;
    for (int shade = 0; shade < SHADES; shade++) {
        output_print(o,
                     "<rect class=\"entry\" opacity=\"%.2f\" x=\"%.1f\" y=\"%.1f\" width=\"12\" "
                     "height=\"12\"/>\n",
                     darkness[shade], x, y);
        svg_label(o, x + 18, y + 10, "start", texts[shade]);
        x += shade == 0 ? 180 : 80;
    }
}

void spy_svg(const spy *const *panels, const char *const *texts, int count, const char *title,
             output *o)
{
    svg_open(o, LEFT + count * (PANEL + GAP), TOP + PANEL + 40, title,
             "Squares in which row 1, column 1 is at the upper left; dark where the matrix has "
             "entries, the darker the more.");
    output_print(o, "<style>.entry{fill:#0072b2}@media (prefers-color-scheme:dark){.entry{fill:"
                    "#8fd0f5}}</style>\n<text x=\"8\" y=\"24\" font-size=\"15\">");
    svg_escaped(o, title);
    output_print(o, "</text>\n");
    for (int k = 0; k < count; k++)
        draw_panel(panels[k], texts[k], LEFT + k * (PANEL + GAP), o);
    draw_key(TOP + PANEL + 14, o);
    svg_close(o);
}
