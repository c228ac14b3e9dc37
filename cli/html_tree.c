/* cli/html_tree.c: the elimination tree as boxes below one another
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A box stands for a chain of columns none of which but the lowest has more than one child worth
 * showing.  It is as wide as the operations of its columns and of all below them, so that what
 * hangs below it fits, and is the darker, the more of all operations are its own. */
#include "html_report.h"
#include "room.h"
#include "short_number.h"
#include "svg.h"
#include <math.h>

enum { WIDTH = 900, ROW = 26, ROWS = 14, LEAST_WIDTH = 2, LETTER = 7, SHADES = 5 };

typedef struct tree {
    int32_t n;
    const int32_t *parent;
    const int64_t *height;
    double *below;            /* operations in each column and below it; of all: at n */
    int32_t *child, *sibling; /* first child of each column, of the root of all at n; -1: none */
} tree;

static double flops_of(const tree *t, int32_t column)
{
    return (double)t->height[column] * (double)t->height[column];
}

/* Columns come after their children, so that one pass sums. */
static void link_columns(tree *t)
{
    for (int32_t k = 0; k <= t->n; k++) {
        t->below[k] = 0;
        t->child[k] = -1;
    }
    for (int32_t k = 0; k < t->n; k++) {
        const int32_t up = t->parent[k] < 0 ? t->n : t->parent[k];
        t->below[k] += flops_of(t, k);
        t->below[up] += t->below[k];
        t->sibling[k] = t->child[up];
        t->child[up] = k;
    }
}

static bool is_shown(const tree *t, int32_t column)
{
    return WIDTH * t->below[column] >= LEAST_WIDTH * t->below[t->n];
}

/* The only child that is shown, -1: none or several. */
static int32_t only_child(const tree *t, int32_t column)
{
    int32_t only = -1;
    for (int32_t k = t->child[column]; k != -1; k = t->sibling[k])
        if (is_shown(t, k)) {
            if (only != -1)
                return -1;
            only = k;
        }
    return only;
}

/* 0 to SHADES - 1, by powers of four of the part of all operations */
static int shade_of(double part)
{
    const int shade = SHADES - 1 + (int)floor(log(fmax(part, 1e-9)) / log(4) + 0.5);
    return shade < 0 ? 0 : shade >= SHADES ? SHADES - 1 : shade;
}

static void box(const tree *t, double x, int row, double width, double own, int32_t columns,
                int64_t largest, output *o)
{
    const double part = own / t->below[t->n];
    char text[40];
    const int letters = snprintf(text, sizeof text, "%d col., %.0f %%", columns, 100 * part);
    output_print(o,
                 "<g><rect class=\"t%d\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>"
                 "<title>%d columns, the front has up to %lld rows: %.3g %% of the "
                 "operations</title>",
                 shade_of(part), x, row * ROW, fmax(width - 1, 0.5), ROW - 2, columns,
                 (long long)largest, 100 * part);
    if (letters * LETTER < width)
        output_print(o, "<text class=\"%s\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>",
                     shade_of(part) >= SHADES - 2 ? "dark" : "pale", x + width / 2, row * ROW + 16,
                     text);
    output_print(o, "</g>\n");
}

/* What hangs below a column, from x on; at most ROWS deep. */
static void draw_children(const tree *t, int32_t column, double x, int row, output *o)
{
    for (int32_t k = t->child[column]; row < ROWS && k != -1; k = t->sibling[k]) {
        int32_t end = k, columns = 1;
        double own = flops_of(t, k);
        if (!is_shown(t, k))
            continue;
        for (int32_t next; (next = only_child(t, end)) != -1; end = next, columns++)
            own += flops_of(t, next);
        const double width = WIDTH * t->below[k] / t->below[t->n];
        box(t, x, row, width, own, columns, t->height[end], o);
        draw_children(t, end, x, row + 1, o);
        x += width;
    }
}

static int rows_below(const tree *t, int32_t column, int row)
{
    int deepest = row;
    for (int32_t k = t->child[column]; row < ROWS && k != -1; k = t->sibling[k])
        if (is_shown(t, k)) {
            int32_t end = k;
            for (int32_t next; (next = only_child(t, end)) != -1; end = next)
                ;
            const int depth = rows_below(t, end, row + 1);
            deepest = depth > deepest ? depth : deepest;
        }
    return deepest;
}

static void draw(const tree *t, output *o)
{
    static const char *const least[SHADES] = {"own part below 1 %", "1 %", "3 %", "13 %",
                                              "50 % and more"};
    const int rows = rows_below(t, t->n, 0);
    output_print(
        o,
        "<svg role=\"img\" viewBox=\"0 0 %d %d\" width=\"%d\"><title>Elimination "
        "tree</title><desc>Boxes as wide as the operations in and below them, roots at the "
        "top, in a colour the stronger the more operations are their own.</desc>\n",
        WIDTH, (rows + 1) * ROW + 6, WIDTH);
    draw_children(t, t->n, 0, 0, o);
    for (int k = 0, x = 0; k < SHADES; k++) {
        output_print(o,
                     "<rect class=\"t%d\" x=\"%d\" y=\"%d\" width=\"14\" height=\"14\"/><text "
                     "x=\"%d\" y=\"%d\">%s</text>\n",
                     k, x, rows * ROW + 10, x + 20, rows * ROW + 21, least[k]);
        x += k == 0 ? 190 : 80;
    }
    output_print(o, "</svg>\n");
}

bool html_tree(int32_t n, const int32_t *parent, const int64_t *height, output *o)
{
    tree t = {.n = n,
              .parent = parent,
              .height = height,
              .below = room_new(n + 1, sizeof *t.below),
              .child = room_new(n + 1, sizeof *t.child),
              .sibling = room_new(n + 1, sizeof *t.sibling)};
    const bool enough = t.below && t.child && t.sibling;
    if (enough) {
        link_columns(&t);
        draw(&t, o);
    }
    room_free(t.below);
    room_free(t.child);
    room_free(t.sibling);
    return enough;
}
