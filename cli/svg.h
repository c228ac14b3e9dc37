/* cli/svg.h: the few shapes that pictures of measurements are made of
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_SVG_H
#define CLI_SVG_H

#include "output.h"

/* A white page, and its end. */
void svg_open(output *o, int width, double height);
void svg_close(output *o);

void svg_box(output *o, double x, double y, double width, double height, const char *colour);
void svg_line(output *o, double x, double y, double to_x, double to_y, const char *style);
/* anchor: start, middle or end; text: of letters that need no escape */
void svg_label(output *o, double x, double y, const char *anchor, const char *text);
/* A box of this colour and what it stands for, on a line of text whose upper end is y. */
void svg_key(output *o, double x, double y, const char *colour, const char *text);
/* Any text, for inside an element; what is not printable becomes a question mark. */
void svg_escaped(output *o, const char *text);

#endif
