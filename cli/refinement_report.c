/* cli/refinement_report.c: what is told of refinements
 * SPDX-License-Identifier: BSD-3-Clause */
#include "refinement.h"
#include "report.h"
#include <math.h>

/* "1.2e-10", "infinite", or "-" for what is not known */
typedef struct error_text {
    char text[16];
} error_text;

static error_text show(double error)
{
    error_text t;
    snprintf(t.text, sizeof t.text, isnan(error) ? "-" : isinf(error) ? "infinite" : "%.1e", error);
    return t;
}

static const char *method_name(libsolver_method method)
{
    static const char *const names[] = {"auto", "plain", "fgmres"};
    return names[method];
}

static const char *residual_name(residual_precision of)
{
    static const char *const names[] = {"auto", "single", "double", "extended"};
    return names[of];
}

void refinement_text(const refinement *r, FILE *to)
{
    const bool knows_error = r->count > 0 && !isnan(r->step[0].error);
    fprintf(to, "residual   %s precision in plain steps\n\n", residual_name(r->residual));
    fprintf(to, "step  made by   backward error  bound of error%s  seconds\n",
            knows_error ? "  error   " : "");
    for (int k = 0; k < r->count; k++) {
        const refinement_step *s = &r->step[k];
        fprintf(to, "%4d  %-8s  %-14s  %-14s", k, step_name(s->made_by),
                show(s->backward_error).text, show(s->bound).text);
        if (knows_error)
            fprintf(to, "  %-8s", show(s->error).text);
        fprintf(to, "  %.2g%s\n", s->seconds,
                k == r->best && r->best < r->count - 1 ? "  best" : "");
    }
}

/* One table of all, of what `value` takes from a step. */
static void print_side_by_side(const refinement *r, int count, const char *title,
                               double (*value)(const refinement_step *s), FILE *to)
{
    int most = 0;
    fprintf(to, "\n%s\nstep", title);
    for (int c = 0; c < count; c++) {
        char head[40];
        snprintf(head, sizeof head, "%s, %s",
                 r[c].precision == PRECISION_MIXED ? "mixed" : "double", method_name(r[c].method));
        fprintf(to, "  %-14s", head);
        most = r[c].count > most ? r[c].count : most;
    }
    for (int k = 0; k < most; k++) {
        fprintf(to, "\n%4d", k);
        for (int c = 0; c < count; c++)
            fprintf(to, "  %-14s", k < r[c].count ? show(value(&r[c].step[k])).text : "");
    }
    fputc('\n', to);
}

static double backward_of(const refinement_step *s)
{
    return s->backward_error;
}

static double bound_of(const refinement_step *s)
{
    return s->bound;
}

static double error_of(const refinement_step *s)
{
    return s->error;
}

static double seconds_of(const refinement *r)
{
    double sum = 0;
    for (int k = 0; k < r->count; k++)
        sum += r->step[k].seconds;
    return sum;
}

void refinement_compare(const refinement *r, int count, FILE *to)
{
    print_side_by_side(r, count, "backward error", backward_of, to);
    print_side_by_side(r, count, "bound of the error of x", bound_of, to);
    if (count > 0 && r[0].count > 0 && !isnan(r[0].step[0].error))
        print_side_by_side(r, count, "error of x", error_of, to);
    fprintf(to, "\nseconds for the factor\n      ");
    for (int c = 0; c < count; c++)
        fprintf(to, "%-16.3g", r[c].factorize);
    fprintf(to, "\nseconds for the steps\n      ");
    for (int c = 0; c < count; c++)
        fprintf(to, "%-16.3g", seconds_of(&r[c]));
    fputc('\n', to);
    for (int c = 1; c < count; c++)
        if (r[c].factor.backend_solve != r[0].factor.backend_solve) {
            const int first_on_gpu = r[0].factor.backend_solve == LIBSOLVER_BACKEND_GPU;
            fprintf(to, "Double is on the %s, mixed on the %s: choose one side by --backend.\n",
                    first_on_gpu ? "GPU" : "CPU", first_on_gpu ? "CPU" : "GPU");
            break;
        }
    for (int c = 0; c < count; c++)
        if (r[c].precision == PRECISION_MIXED && !type_is_single(r[c].factor.precision)) {
            fprintf(to, "Single precision was not enough for this matrix: mixed has a factor in "
                        "double too.\n");
            break;
        }
}

void refinement_json(const refinement *r, const libsolver_analysis_info *analysis, json *j)
{
    json_string(j, "precision", r->precision == PRECISION_MIXED ? "mixed" : NULL);
    json_string(j, "factor_precision", type_name(r->factor.precision));
    json_string(j, "kind", kind_name(r->factor.kind));
    json_string(j, "ordering", ordering_name(analysis->ordering));
    json_string(j, "method", method_name(r->method));
    json_string(j, "residual", residual_name(r->residual));
    json_string(j, "backend", backend_name(r->factor.backend_solve));
    json_real(j, "factorize_s", r->factorize);
    json_real(j, "refine_s", seconds_of(r));
    json_integer_or_null(j, "best_step", r->best >= 0, r->best);
    json_open_list(j, "steps");
    for (int k = 0; k < r->count; k++) {
        const refinement_step *s = &r->step[k];
        json_open_item(j);
        json_string(j, "made_by", step_name(s->made_by));
        json_real(j, "backward_error", s->backward_error);
        json_real(j, "forward_bound", s->bound);
        json_real(j, "forward_error", s->error);
        json_real(j, "seconds", s->seconds);
        json_close(j);
    }
    json_close_list(j);
}
