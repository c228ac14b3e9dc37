/* cli/svg.c: the few shapes that pictures of measurements are made of
 * SPDX-License-Identifier: BSD-3-Clause */
#include "svg.h"

void svg_open(output *o, int width, double height)
{
    output_print(o,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" "
                 "font-family=\"sans-serif\" font-size=\"12\">\n",
                 width, height);
    output_print(o, "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n");
}

void svg_close(output *o)
{
    output_print(o, "</svg>\n");
}

void svg_box(output *o, double x, double y, double width, double height, const char *colour)
{
    output_print(o, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n", x,
                 y, width, height, colour);
}

void svg_line(output *o, double x, double y, double to_x, double to_y, const char *style)
{
    output_print(o, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x, y, to_x,
                 to_y, style);
}

void svg_label(output *o, double x, double y, const char *anchor, const char *text)
{
    output_print(o, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor,
                 text);
}

void svg_key(output *o, double x, double y, const char *colour, const char *text)
{
    svg_box(o, x, y, 12, 12, colour);
    svg_label(o, x + 18, y + 10, "start", text);
}

void svg_escaped(output *o, const char *text)
{
    for (; *text; text++)
        if (*text == '<' || *text == '>' || *text == '&' || *text == '"')
            output_print(o, "&#%d;", *text);
        else
            output_print(o, "%c", *text >= ' ' && *text <= '~' ? *text : '?');
}
