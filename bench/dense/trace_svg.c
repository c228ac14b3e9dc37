/* bench/dense/trace_svg.c: the picture of a traced triangular solve
 * SPDX-License-Identifier: BSD-3-Clause */
#include "bench/dense/trace_svg.h"
#include "cli/svg.h"
#include <stdio.h>

enum { LEFT = 60, TOP = 36, WIDTH = 900, PLOT = WIDTH - 80, HEIGHT = 560, PHASES = 4 };

static const char *const phases[PHASES] = {"diagonal block", "tiles left of the last", "last tile",
                                           "diagonal step"};
static const char *const colours[PHASES] = {"#b8b8b8", "#7fb2e5", "#e5a84f", "#c0504d"};

static void draw(output *o, int64_t n, int rows, const uint64_t *word)
{
    const int bar = HEIGHT / rows > 2 ? HEIGHT / rows : 2, bottom = TOP + rows * bar;
    uint64_t first = UINT64_MAX, last = 0;
    for (int r = 0; r < rows; r++) {
        const uint64_t *t = word + (int64_t)TRACE_WORDS * r;
        first = t[TRACE_START] < first ? t[TRACE_START] : first;
        last = t[TRACE_SENT] > last ? t[TRACE_SENT] : last;
    }
    const double scale = last > first ? PLOT / (double)(last - first) : 0;
    char text[64];
    svg_open(o, WIDTH, bottom + 54);
    for (int p = 0; p < PHASES; p++)
        svg_key(o, LEFT + 190 * p, 8, colours[p], phases[p]);
    for (int r = 0; r < rows; r++)
        for (int p = 0; p < PHASES; p++) {
            const uint64_t *t = word + (int64_t)TRACE_WORDS * r + p;
            svg_box(o, LEFT + scale * (double)(t[0] - first), TOP + r * bar,
                    scale * (double)(t[1] - t[0]), bar, colours[p]);
        }
    svg_label(o, 8, TOP + 12, "start", "row 0");
    snprintf(text, sizeof text, "%d", rows - 1);
    svg_label(o, 8, bottom, "start", text);
    svg_label(o, LEFT, bottom + 20, "start", "0");
    snprintf(text, sizeof text, "%.1f us", 1e-3 * (double)(last - first));
    svg_label(o, LEFT + PLOT, bottom + 20, "end", text);
    snprintf(text, sizeof text, "block rows of 64, n = %lld", (long long)n);
    svg_label(o, WIDTH / 2, bottom + 38, "middle", text);
    svg_close(o);
}

int trace_svg_store(const char *path, int64_t n, int rows, const uint64_t *word)
{
    failure f = {0};
    output o;
    if (!output_open(&o, path, &f)) {
        draw(&o, n, rows, word);
        output_close(&o, true, &f);
    }
    if (f.code)
        fprintf(stderr, "%s\n", f.text);
    return f.code;
}
