/* bench/dense/trace_svg.c: the picture of a traced triangular solve
 * SPDX-License-Identifier: BSD-3-Clause */
#include "bench/dense/trace_svg.h"
#include "cli/svg.h"
#include <stdio.h>

enum { LEFT = 84, TOP = 74, WIDTH = 900, PLOT = WIDTH - 110, HEIGHT = 560, PHASES = 4 };

static const char *const phases[PHASES] = {"until its diagonal is ready", "tiles whose x is there",
                                           "the last tile and its x", "diagonal step"};
/* Told apart by lightness too; the second lines are for pages that are dark. */
static const char style[] =
    "<style>\n"
    "text { font: 12px sans-serif; fill: #1f2328 } "
    ".title { font-size: 15px; font-weight: bold } .page { fill: #ffffff }\n"
    ".axis { stroke: #6e7781 } .p0 { fill: #d0d7de } .p1 { fill: #6cb2eb } "
    ".p2 { fill: #d97706 } .p3 { fill: #7f1d1d }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "text { fill: #e6edf3 } .page { fill: #0d1117 } .axis { stroke: #8b949e }\n"
    ".p0 { fill: #444c56 } .p1 { fill: #316dca } .p2 { fill: #f0a13a } "
    ".p3 { fill: #ffd7d5 }\n}\n</style>\n";

static void bar_put(output *o, int phase, double x, double y, double width, double height)
{
    output_print(o, "<rect class=\"p%d\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
                 phase, x, y, width, height);
}

static void open_page(output *o, const trace_facts *f, double height)
{
    output_print(o,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" width=\"%d\" "
                 "height=\"%.0f\" role=\"img\">\n<title>dtrsv, %s, n = %lld: what each block row "
                 "does when</title>\n",
                 WIDTH, height, WIDTH, height, f->form, (long long)f->n);
    output_print(o,
                 "<desc>A bar for each block row of 64, time to the right: %s; %s; %s; %s. Where "
                 "the bars end is the chain of dependent steps.</desc>\n",
                 phases[0], phases[1], phases[2], phases[3]);
    output_text(o, style, sizeof style - 1);
    output_print(o,
                 "<rect class=\"page\" width=\"100%%\" height=\"100%%\"/>\n<text class=\"title\" "
                 "x=\"%d\" y=\"24\">dtrsv, %s, n = %lld: what each block row does when</text>\n",
                 LEFT, f->form, (long long)f->n);
}

/* Ticks at 1, 2 or 5 times a power of ten. */
static void draw_times(output *o, double us, double scale, double bottom)
{
    double step = 1;
    while (us / step > 12)
        step *= us / step > 120 ? 10 : us / step > 60 ? 5 : 2;
    for (int k = 0; k * step <= us; k++) {
        char text[32];
        const double x = LEFT + scale * 1e3 * k * step;
        svg_line(o, x, bottom, x, bottom + 5, SVG_SOLID);
        snprintf(text, sizeof text, "%g", k * step);
        svg_label(o, x, bottom + 19, "middle", text);
    }
    svg_line(o, LEFT, bottom, LEFT + PLOT, bottom, SVG_SOLID);
    svg_label(o, LEFT + PLOT / 2, bottom + 38, "middle", "time since the first row was taken, us");
}

static void draw(output *o, const trace_facts *f, const uint64_t *word)
{
    const int bar = HEIGHT / f->rows > 2 ? HEIGHT / f->rows : 2;
    const double bottom = TOP + f->rows * bar + 4;
    uint64_t first = UINT64_MAX, last = 0;
    for (int r = 0; r < f->rows; r++) {
        const uint64_t *t = word + (int64_t)TRACE_WORDS * r;
        first = t[TRACE_START] < first ? t[TRACE_START] : first;
        last = t[TRACE_SENT] > last ? t[TRACE_SENT] : last;
    }
    const double scale = last > first ? PLOT / (double)(last - first) : 0;
    char text[64];
    open_page(o, f, bottom + 50);
    for (int p = 0; p < PHASES; p++) {
        bar_put(o, p, LEFT + 200 * p, 40, 12, 12);
        svg_label(o, LEFT + 200 * p + 18, 50, "start", phases[p]);
    }
    for (int r = 0; r < f->rows; r++)
        for (int p = 0; p < PHASES; p++) {
            const uint64_t *t = word + (int64_t)TRACE_WORDS * r + p;
            bar_put(o, p, LEFT + scale * (double)(t[0] - first), TOP + r * bar,
                    scale * (double)(t[1] - t[0]), bar);
        }
    svg_label(o, LEFT - 8, TOP + 12, "end", "block row 0");
    snprintf(text, sizeof text, "%d", f->rows - 1);
    svg_label(o, LEFT - 8, bottom - 4, "end", text);
    draw_times(o, 1e-3 * (double)(last - first), scale, bottom);
    svg_close(o);
}

int trace_svg_store(const char *path, const trace_facts *f, const uint64_t *word)
{
    failure failed = {0};
    output o;
    if (!output_open(&o, path, &failed)) {
        draw(&o, f, word);
        output_close(&o, true, &failed);
    }
    if (failed.code)
        fprintf(stderr, "%s\n", failed.text);
    return failed.code;
}
