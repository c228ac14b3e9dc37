/* cli/svg.h: the few shapes that pictures of measurements are made of
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Pictures follow the reader's choice of a light or a dark page (prefers-color-scheme).  Colours
 * are those of Okabe and Ito, which the colour-blind can tell apart, and each has a hatching of its
 * own too, for print and for who sees no colours. */
#ifndef CLI_SVG_H
#define CLI_SVG_H

#include "output.h"

/* What areas are filled with: */
enum {
    SVG_NEUTRAL = -1, /* a grey beside which all others stand out */
    SVG_FIRST = 0,    /* SVG_FIRST + k, k < SVG_PAINTS: the k-th colour with its hatching */
    SVG_PAINTS = 8
};

/* What lines are drawn with. */
typedef enum svg_stroke { SVG_GRID, SVG_SOLID, SVG_DASHED } svg_stroke;

/* A page with a title and a description, for screen readers and tips; and its end. */
void svg_open(output *o, int width, double height, const char *title, const char *description);
void svg_close(output *o);

void svg_box(output *o, double x, double y, double width, double height, int paint);
/* A closed path, "M..Z", in parts: _begin, output_print of the path, _end; once more with
 * hatching for all colours but the first. */
void svg_path_begin(output *o, int paint, int hatching);
void svg_path_end(output *o);
void svg_line(output *o, double x, double y, double to_x, double to_y, svg_stroke stroke);
/* anchor: start, middle or end; text: of letters that need no escape */
void svg_label(output *o, double x, double y, const char *anchor, const char *text);
/* On an area that is filled with a colour, around x. */
void svg_label_inside(output *o, double x, double y, const char *text);
/* A box of this paint and what it stands for, on a line of text whose upper end is y. */
void svg_key(output *o, double x, double y, int paint, const char *text);
/* Any text, for inside an element; what is not printable becomes a question mark. */
void svg_escaped(output *o, const char *text);

#endif
