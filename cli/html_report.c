/* cli/html_report.c: `libsolver solve --html`
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * No scripts, no fonts and no pictures from elsewhere; colours follow the reader's choice of a
 * light or a dark page, and every colour has a word or a number beside it. */
#include "html_report.h"
#include "room.h"
#include "short_number.h"
#include "spy.h"
#include "svg.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* Matrices whose L has more entries are not drawn: it would take as long as a factorization. */
enum { MOST_ENTRIES = 500000000, PLOT = 560, LABELS = 150, BAR = 24, TEXT = 160 };

static const char style[] =
    ":root{color-scheme:light dark;--page:#fff;--ink:#1a1a1a;--soft:#57606a;--rule:#d0d7de;--bar:"
    "#0072b2;--good:#00694a;--bad:#b03a00;--t0:#e3eef7;--t1:#b7d4ea;--t2:#7fb2d9;--t3:#3b83b9;"
    "--t4:#0b4a7a}@media(prefers-color-scheme:dark){:root{--page:#161616;--ink:#ececec;--soft:"
    "#a8b0b8;--rule:#3d444d;--bar:#56b4e9;--good:#5fd3a8;--bad:#ff9d6b;--t0:#1d2a35;--t1:#244860;"
    "--t2:#2f6c92;--t3:#6fb3dc;--t4:#c2e3f7}}body{background:var(--page);color:var(--ink);font:"
    "16px/1.45 sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}h1{font-size:1.5rem}h2{"
    "font-size:1.15rem;margin-top:2.2rem;border-bottom:1px solid var(--rule)}table{border-collapse:"
    "collapse}td,th{padding:.15rem 1rem .15rem 0;text-align:left;vertical-align:top;font-weight:"
    "normal}th{color:var(--soft)}td.n{text-align:right;font-variant-numeric:tabular-nums}.good{"
    "color:var(--good)}.bad{color:var(--bad)}.verdict{font-weight:bold;font-size:1.1rem}p.note{"
    "color:var(--soft)}svg{max-width:100%;height:auto}.wide{overflow-x:auto}svg.own text,.tree "
    "text{fill:var(--ink);font-size:13px}.bar{fill:var(--bar)}.rule{stroke:var(--rule)}.limit{"
    "stroke:var(--bad);stroke-dasharray:6 4}.curve{stroke:var(--bar);stroke-width:2;fill:none}"
    ".facts "
    "td.n{text-align:left}.t0{fill:var(--t0)}.t1{fill:var(--t1)}.t2{fill:var(--t2)}.t3{fill:var(--"
    "t3)}.t4{fill:"
    "var(--t4)}.tree text.dark{fill:var(--page)}.tree text.pale{fill:var(--ink)}";

static void row(output *o, const char *name, const char *value)
{
    output_print(o, "<tr><th scope=\"row\">");
    svg_escaped(o, name);
    output_print(o, "</th><td>");
    svg_escaped(o, value);
    output_print(o, "</td></tr>\n");
}

static void row_integer(output *o, const char *name, int64_t value)
{
    output_print(o, "<tr><th scope=\"row\">%s</th><td class=\"n\">%" PRId64 "</td></tr>\n", name,
                 value);
}

static void heading(output *o, const char *text)
{
    output_print(o, "<h2>%s</h2>\n", text);
}

/* A horizontal bar for each value; NaN: left out. */
static void bars(output *o, const char *title, int count, const char *const *names,
                 const double *values, short_number (*show)(double))
{
    double most = 0;
    int rows = 0;
    for (int k = 0; k < count; k++)
        if (!isnan(values[k])) {
            most = fmax(most, values[k]);
            rows++;
        }
    output_print(o,
                 "<svg class=\"own\" role=\"img\" viewBox=\"0 0 %d %d\" "
                 "width=\"%d\"><title>%s</title>\n",
                 LABELS + PLOT + 120, rows * BAR + 4, LABELS + PLOT + 120, title);
    for (int k = 0, y = 0; k < count; k++) {
        if (isnan(values[k]))
            continue;
        const double width = most > 0 ? fmax(1, PLOT * values[k] / most) : 1;
        output_print(o,
                     "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text><rect class=\"bar\" "
                     "x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\"/><text x=\"%.1f\" "
                     "y=\"%d\">%s</text>\n",
                     LABELS - 10, y + 16, names[k], LABELS, y + 3, width, BAR - 7,
                     LABELS + width + 8, y + 16, show(values[k]).text);
        y += BAR;
    }
    output_print(o, "</svg>\n");
}

/* ---- parts ----------------------------------------------------------------------------------- */

static void write_verdict(const report *r, output *o)
{
    const bool good = r->solved && r->solve.backward_error <= r->tolerance;
    output_print(o, "<p class=\"verdict %s\">", good ? "good" : "bad");
    if (good)
        output_print(o,
                     "&#10003; SOLVED: the backward error %.2g is within the tolerance %.2g. (%s)",
                     r->solve.backward_error, r->tolerance, libsolver_status_name(r->status));
    else {
        output_print(o, "&#10007; NOT SOLVED (%s): ", libsolver_status_name(r->status));
        svg_escaped(o, *r->message ? r->message : libsolver_status_sentence(r->status));
    }
    output_print(o, "</p>\n");
}

static void write_facts(const report *r, output *o)
{
    const triplets *a = r->matrix;
    libsolver_device device;
    char text[TEXT];
    output_print(o, "<table class=\"facts\">\n");
    row(o, "matrix", r->path);
    if (a) {
        snprintf(text, sizeof text, "%d, %s %s", a->n, triplets_width(a) == 2 ? "complex" : "real",
                 symmetry_name(a));
        row(o, "order", text);
        row_integer(o, "entries in the lower triangle", a->nnz);
    }
    if (r->analyzed) {
        row(o, "order of elimination", ordering_name(r->analysis.ordering));
        row(o, "operations foreseen", short_count(r->analysis.factor_flops, "flop").text);
    }
    if (r->factorized) {
        const char *name = device_name(r->factor.backend_solve, r->device, &device);
        row(o, "factor",
            r->factor.kind == LIBSOLVER_KIND_SPD ? "A = L L^T (Cholesky)" : "A = L D L^T");
        row(o, "factorized, solved on",
            r->factor.backend_solve != LIBSOLVER_BACKEND_GPU       ? "CPU"
            : r->factor.backend_factorize != LIBSOLVER_BACKEND_GPU ? "CPU, then GPU"
                                                                   : "GPU");
        if (name)
            row(o, "GPU", name);
        row_integer(o, "threads", r->factor.threads);
    }
    row(o, "instruction set", libsolver_instruction_set());
    row(o, "libsolver", libsolver_version());
    output_print(o, "</table>\n");
}

static void write_phases(const report *r, output *o)
{
    static const char *const names[] = {"read",  "analyze",      "factorize",
                                        "solve", "error bounds", "total"};
    const report_seconds *s = &r->seconds;
    const double values[] = {s->read, s->analyze, s->factorize, s->solve, s->estimate, s->total};
    heading(o, "Where the time went");
    bars(o, "Seconds of each phase", 6, names, values, short_seconds);
}

static void write_factor(const report *r, output *o)
{
    const libsolver_factor_info *i = &r->factor;
    heading(o, "Factor, pivots and inertia");
    output_print(o, "<table>\n");
    row_integer(o, "entries of L, as stored", i->factor_nnz);
    row_integer(o, "fronts", i->fronts);
    row_integer(o, "pivots of 2 x 2", i->two_by_two);
    row_integer(o, "delayed pivots", i->delayed);
    row_integer(o, "perturbed pivots", i->perturbed);
    if (r->has_inertia) {
        row_integer(o, "positive eigenvalues", r->inertia.positive);
        row_integer(o, "negative eigenvalues", r->inertia.negative);
        row_integer(o, "zero eigenvalues", r->inertia.zero);
        row(o, "inertia is", r->inertia.certain ? "certain" : "not certain");
    }
    output_print(o, "</table>\n");
}

static void write_memory(const report *r, output *o)
{
    static const char *const names[] = {"foreseen", "peak", "held now", "GPU, foreseen",
                                        "GPU, held now"};
    const double values[] = {
        (double)r->analysis.host_bytes, r->factorized ? (double)r->factor.host_bytes_peak : NAN,
        r->factorized ? (double)r->factor.host_bytes : NAN,
        r->analysis.device_bytes > 0 ? (double)r->analysis.device_bytes : NAN,
        r->factorized && r->factor.device_bytes > 0 ? (double)r->factor.device_bytes : NAN};
    heading(o, "Memory of the library");
    bars(o, "Bytes of memory", 5, names, values, short_bytes);
}

/* ---- errors by step -------------------------------------------------------------------------- */

enum { CURVE_WIDTH = 520, CURVE_HEIGHT = 190, CURVE_LEFT = 70, LEAST_POWER = -17 };

static double curve_y(double error)
{
    const double power = fmin(0, fmax(LEAST_POWER, log10(fmax(error, 1e-300))));
    return 10 + CURVE_HEIGHT * power / LEAST_POWER;
}

static double curve_x(int step, int steps)
{
    return CURVE_LEFT + 20 + (steps > 1 ? (CURVE_WIDTH - 40) * (double)step / (steps - 1) : 0);
}

static void draw_curve(const report *r, int steps, output *o)
{
    output_print(o,
                 "<svg class=\"own\" role=\"img\" viewBox=\"0 0 %d %d\" width=\"%d\"><title>"
                 "Backward error by step, logarithmic</title>\n",
                 CURVE_LEFT + CURVE_WIDTH + 110, CURVE_HEIGHT + 40, CURVE_LEFT + CURVE_WIDTH + 110);
    for (int power = 0; power >= LEAST_POWER; power -= 4) {
        const double y = curve_y(pow(10, power));
        output_print(o,
                     "<line class=\"rule\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/><text "
                     "x=\"%d\" y=\"%.1f\" text-anchor=\"end\">1e%d</text>\n",
                     CURVE_LEFT, y, CURVE_LEFT + CURVE_WIDTH, y, CURVE_LEFT - 8, y + 4, power);
    }
    const double limit = curve_y(r->tolerance);
    output_print(o,
                 "<line class=\"limit\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/><text "
                 "x=\"%d\" y=\"%.1f\">tolerance %.0e</text>\n<path class=\"curve\" d=\"",
                 CURVE_LEFT, limit, CURVE_LEFT + CURVE_WIDTH, limit, CURVE_LEFT + CURVE_WIDTH + 6,
                 limit + 4, r->tolerance);
    for (int k = 0; k < steps; k++)
        output_print(o, "%c%.1f %.1f", k ? 'L' : 'M', curve_x(k, steps),
                     curve_y(r->history[k].backward_error));
    output_print(o, "\"/>\n");
    for (int k = 0; k < steps; k++)
        output_print(o,
                     "<circle class=\"bar\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/><text x=\"%.1f\" "
                     "y=\"%d\" text-anchor=\"middle\">%d</text>\n",
                     curve_x(k, steps), curve_y(r->history[k].backward_error), curve_x(k, steps),
                     CURVE_HEIGHT + 32, k);
    output_print(o, "</svg>\n");
}

static void write_errors(const report *r, output *o)
{
    const int steps = (int)(r->solve.history < REPORT_HISTORY ? r->solve.history : REPORT_HISTORY);
    char text[TEXT];
    heading(o, "Error by step");
    if (steps > 0)
        draw_curve(r, steps, o);
    output_print(o, "<table><tr><th scope=\"col\">step</th><th scope=\"col\">made by</th><th "
                    "scope=\"col\">backward error</th><th scope=\"col\">took</th></tr>\n");
    for (int k = 0; k < steps; k++)
        output_print(o,
                     "<tr><td class=\"n\">%d</td><td>%s</td><td class=\"n\">%.2e</td><td "
                     "class=\"n\">%s</td></tr>\n",
                     k, step_name(r->history[k].kind), r->history[k].backward_error,
                     short_seconds(r->history[k].seconds).text);
    output_print(o, "</table>\n<table>\n");
    if (!isnan(r->forward_error)) {
        snprintf(text, sizeof text, "%.2e", r->forward_error);
        row(o, "forward error, x being known", text);
    }
    if (r->bounded) {
        snprintf(text, sizeof text, "%.2e", r->condition);
        row(o, "condition number, estimated", text);
        snprintf(text, sizeof text, "%.2e: %d digits are right", r->forward_bound,
                 report_digits(r->forward_bound));
        row(o, "bound of the forward error", text);
    }
    output_print(o, "</table>\n");
}

/* ---- pictures of the matrix ------------------------------------------------------------------ */

typedef struct drawing {
    int64_t *order, *position, *height;
    int32_t *parent;
    spy *panel; /* 3 */
} drawing;

static void draw_matrix(const report *r, const session *at_work, drawing *d, output *o)
{
    static const char *const texts[] = {"A as given", "A in the order of elimination", "L"};
    const spy *const panels[] = {&d->panel[0], &d->panel[1], &d->panel[2]};
    const int32_t n = r->matrix->n;
    libsolver_permutation(at_work->analysis, d->order);
    for (int64_t k = 0; k < n; k++)
        d->position[d->order[k]] = k;
    spy_matrix(r->matrix, NULL, &d->panel[0]);
    spy_matrix(r->matrix, d->position, &d->panel[1]);
    if (!spy_factor_tree(r->matrix, d->position, &d->panel[2], d->parent, d->height))
        return;
    heading(o, "Where the entries are");
    output_print(o, "<div class=\"wide\">\n");
    spy_svg(panels, texts, 3, "Where A and L have entries", o);
    output_print(o, "</div>\n");
    heading(o, "Elimination tree");
    output_print(o,
                 "<p class=\"note\">A box is a chain of columns; it is as wide as the operations "
                 "in it and below it, and its colour the stronger, the more of all "
                 "operations are its own. "
                 "Boxes beside one another can be eliminated at the same time.</p>\n<div "
                 "class=\"wide tree\">\n");
    html_tree(n, d->parent, d->height, o);
    output_print(o, "</div>\n");
}

static void write_matrix(const report *r, const session *at_work, output *o)
{
    const int64_t n = r->matrix->n;
    if (n == 0 || r->analysis.factor_nnz > MOST_ENTRIES) {
        output_print(o, "<p class=\"note\">The matrix is not drawn: L is %s.</p>\n",
                     n == 0 ? "empty" : "too large for that");
        return;
    }
    drawing d = {.order = room_new(n, sizeof *d.order),
                 .position = room_new(n, sizeof *d.position),
                 .height = room_new(n, sizeof *d.height),
                 .parent = room_new(n, sizeof *d.parent),
                 .panel = room_new(3, sizeof *d.panel)};
    if (d.order && d.position && d.height && d.parent && d.panel)
        draw_matrix(r, at_work, &d, o);
    else
        output_print(o, "<p class=\"note\">The matrix is not drawn: no memory was left.</p>\n");
    room_free(d.order);
    room_free(d.position);
    room_free(d.height);
    room_free(d.parent);
    room_free(d.panel);
}

int html_report(const report *r, session *at_work, const char *path, failure *f)
{
    output o;
    if (output_open(&o, path, f))
        return f->code;
    output_print(&o, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta "
                     "name=\"viewport\" content=\"width=device-width\"><link rel=\"icon\" "
                     "href=\"data:,\"><title>libsolver: ");
    svg_escaped(&o, r->path);
    output_print(&o, "</title><style>");
    output_text(&o, style, sizeof style - 1);
    output_print(&o, "</style></head><body>\n<h1>A x = b: ");
    svg_escaped(&o, r->path);
    output_print(&o, "</h1>\n");
    write_verdict(r, &o);
    write_facts(r, &o);
    write_phases(r, &o);
    if (r->solved)
        write_errors(r, &o);
    if (r->factorized)
        write_factor(r, &o);
    if (r->analyzed)
        write_memory(r, &o);
    if (r->analyzed)
        write_matrix(r, at_work, &o);
    if (r->solved)
        html_timelines(r, at_work, &o);
    output_print(&o, "</body></html>\n");
    return output_close(&o, true, f);
}
