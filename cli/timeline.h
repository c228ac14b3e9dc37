/* cli/timeline.h: what the blocks of a device do over time, and the parts of a picture that show it
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_TIMELINE_H
#define CLI_TIMELINE_H

#include "json.h"
#include "output.h"
#include <stddef.h>
#include <stdint.h>

enum { TIMELINE_BINS = 240, TIMELINE_MOST_STATES = 8 };

typedef struct timeline {
    int states;                        /* what a block can be doing */
    double seconds;                    /* from the first begin to the last end, */
    double blocks;                     /* and the blocks that there are, which together make 1 */
    double part[TIMELINE_MOST_STATES]; /* of all blocks' time in each state; the rest: none */
    double bin[TIMELINE_BINS][TIMELINE_MOST_STATES]; /* the same for equal parts of the time */
} timeline;

/* A block is in that state from one time to another. */
void timeline_add(timeline *t, int state, double from, double to);
/* Takes for `blocks` the most that are busy at a time, in the mean over a bin. */
void timeline_fit(timeline *t);

/* What rows of a profile begin with: tasks that are alike on one level. */
typedef struct timeline_row {
    int32_t level;
    int64_t tasks;
    double begin, end; /* of the first and of the last of them, seconds after the first of all */
    double added;      /* by which they end later than all rows before: sums to `seconds` */
} timeline_row;

/* One more task; level: the same for all tasks of a row. */
void timeline_add_task(timeline_row *row, int32_t level, double begin, double end);
/* Its times, as members of an object. */
void timeline_json(const timeline_row *row, json *j);
/* Leaves the rows that have tasks, ascending by level, then by end, and sets what they add; returns
 * how many there are.  size: of a row. */
int32_t timeline_finish_rows(void *rows, int32_t count, size_t size);

/* ---- timeline_svg.c ---- */

/* Left of the plot stand labels, right of it columns of numbers. */
enum {
    TIMELINE_LEFT = 170,
    TIMELINE_PLOT = 620,
    TIMELINE_TOP = 96, /* of the area with the states; above it titles and keys */
    TIMELINE_AREA = 150,
    TIMELINE_GAP = 44, /* the heads of the columns */
    TIMELINE_ROW = 17,
    TIMELINE_ROWS = TIMELINE_TOP + TIMELINE_AREA + TIMELINE_GAP,
    TIMELINE_COLUMNS = 7,
    TIMELINE_STEP = 55, /* from one to the next */
    TIMELINE_WIDTH = TIMELINE_LEFT + TIMELINE_PLOT + 400
};

double timeline_x(const timeline *t, double seconds);
/* Lines at round times through the whole picture, and what the axis is. */
void timeline_svg_times(const timeline *t, double bottom, output *o);
/* A band for each state, which lies on those before it, with its name where there is room. */
void timeline_svg_states(const timeline *t, const char *const *names, output *o);
/* Of a row: its label, a part of its bar, its numbers, with so many digits or fewer; NaN is a dash.
 */
void timeline_svg_label(const char *text, double y, output *o);
void timeline_svg_bar(const timeline *t, double from, double to, double y, int paint, output *o);
void timeline_svg_number(int column, double value, int digits, double y, output *o);
/* The heads of all columns, and a text so far above the rows that ends with one of them. */
void timeline_svg_heads(const char *const names[TIMELINE_COLUMNS], output *o);
void timeline_svg_head(int column, const char *text, double above, output *o);

/* A number in a sentence; NaN: a dash. */
typedef struct number_text {
    char text[32];
} number_text;
number_text timeline_number(double value, int digits);

#endif
