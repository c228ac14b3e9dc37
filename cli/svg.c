/* cli/svg.c: the few shapes that pictures of measurements are made of
 * SPDX-License-Identifier: BSD-3-Clause */
#include "svg.h"

static const char *const colours[SVG_PAINTS] = {"#56b4e9", "#e69f00", "#009e73", "#d55e00",
                                                "#cc79a7", "#0072b2", "#f0e442", "#a6761d"};

/* Strokes in a tile of 6 by 6; the first colour has none. */
static const char *const hatchings[SVG_PAINTS] = {
    "",       "M0 6L6 0",         "M0 0L6 6",     "M0 3H6",
    "M3 0V6", "M0 0L6 6M0 6L6 0", "M0 3H6M3 0V6", "M0 6L6 0M0 3H6"};

static void write_styles(output *o)
{
    output_print(o, "<style>\n.page{fill:#fff}text{fill:#1a1a1a}.neutral{fill:#d9d9d9}"
                    ".grid{stroke:#e4e4e4}.line{stroke:#1a1a1a;stroke-width:1.5}.hatch{stroke:#fff;"
                    "stroke-opacity:.6}text.on{fill:#000}\n");
    for (int k = 0; k < SVG_PAINTS; k++)
        output_print(o, ".c%d{fill:%s}", k, colours[k]);
    output_print(
        o, "\n@media "
           "(prefers-color-scheme:dark){.page{fill:#161616}text{fill:#ececec}text.on{fill:#000}"
           ".neutral{fill:#4a4a4a}.grid{stroke:#333}.line{stroke:#ececec}"
           "}\n</style>\n<defs>\n");
    for (int k = 1; k < SVG_PAINTS; k++)
        output_print(o,
                     "<pattern id=\"h%d\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
                     "<path class=\"hatch\" d=\"%s\"/></pattern>\n",
                     k, hatchings[k]);
    output_print(o, "</defs>\n");
}

void svg_open(output *o, int width, double height, const char *title, const char *description)
{
    output_print(o,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" "
                 "viewBox=\"0 0 %d %.0f\" role=\"img\" aria-labelledby=\"title description\" "
                 "font-family=\"sans-serif\" font-size=\"12\">\n",
                 width, height, width, height);
    output_print(o, "<title id=\"title\">");
    svg_escaped(o, title);
    output_print(o, "</title>\n<desc id=\"description\">");
    svg_escaped(o, description);
    output_print(o, "</desc>\n");
    write_styles(o);
    output_print(o, "<rect class=\"page\" width=\"100%%\" height=\"100%%\"/>\n");
}

void svg_close(output *o)
{
    output_print(o, "</svg>\n");
}

static void write_paint(output *o, int paint, int hatching)
{
    if (paint == SVG_NEUTRAL)
        output_print(o, "class=\"neutral\"");
    else if (hatching)
        output_print(o, "fill=\"url(#h%d)\"", paint);
    else
        output_print(o, "class=\"c%d\"", paint);
}

void svg_box(output *o, double x, double y, double width, double height, int paint)
{
    for (int hatching = 0; hatching <= (paint > SVG_FIRST); hatching++) {
        output_print(o, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" ", x, y, width,
                     height);
        write_paint(o, paint, hatching);
        output_print(o, "/>\n");
    }
}

void svg_path_begin(output *o, int paint, int hatching)
{
    output_print(o, "<path ");
    write_paint(o, paint, hatching);
    output_print(o, " d=\"");
}

void svg_path_end(output *o)
{
    output_print(o, "\"/>\n");
}

void svg_line(output *o, double x, double y, double to_x, double to_y, svg_stroke stroke)
{
    static const char *const styles[] = {"class=\"grid\"", "class=\"line\"",
                                         "class=\"line\" stroke-dasharray=\"4 4\""};
    output_print(o, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x, y, to_x,
                 to_y, styles[stroke]);
}

void svg_label(output *o, double x, double y, const char *anchor, const char *text)
{
    output_print(o, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor,
                 text);
}

void svg_label_inside(output *o, double x, double y, const char *text)
{
    output_print(o, "<text class=\"on\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n",
                 x, y, text);
}

void svg_key(output *o, double x, double y, int paint, const char *text)
{
    svg_box(o, x, y, 12, 12, paint);
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
