/* cli/refine.c: `libsolver refine`, refinement step by step, in one way or in several side by side
 * SPDX-License-Identifier: BSD-3-Clause */
#include "commands.h"
#include "mm_write.h"
#include "output.h"
#include "refinement.h"
#include "report.h"
#include <math.h>
#include <stdio.h>

enum { MOST_WAYS = 4 };

typedef struct refine_run {
    const settings *settings;
    linear_system system;
    progress progress;
    FILE *to; /* NULL: nothing is printed */
    libsolver_status status;
    libsolver_analysis_info analysis[MOST_WAYS];
    refinement way[MOST_WAYS];
    int ways; /* done */
    double start, read;
} refine_run;

/* One factor, and each of the methods with it. */
static int run_precision(refine_run *run, int of_factor, const libsolver_method *methods, int count,
                         failure *f)
{
    settings wanted = *run->settings;
    session s;
    wanted.precision = of_factor;
    if (!session_begin(&s, &wanted, wanted.operands[0], &run->system.problem, &run->progress, f) &&
        !session_analyze(&s, f)) {
        const double begin = seconds_now();
        session_factorize(&s, f);
        for (int k = 0; k < count && !f->code; k++) {
            refinement *way = &run->way[run->ways];
            *way = (refinement){.precision = of_factor,
                                .method = methods[k],
                                .factorize = k == 0 ? seconds_now() - begin
                                                    : run->way[run->ways - 1].factorize};
            libsolver_analysis_query(s.analysis, &run->analysis[run->ways]);
            progress_say(&run->progress, "refining");
            if (!refinement_run(way, &run->system, &s, &wanted, f))
                run->ways++;
        }
    }
    run->status = s.status;
    session_end(&s);
    progress_wipe(&run->progress);
    return f->code;
}

static void print_system(const refine_run *run)
{
    const report r = {.path = run->settings->operands[0],
                      .matrix = &run->system.problem.a,
                      .asymmetry = run->system.problem.asymmetry};
    if (run->to)
        report_text_matrix(&r, run->to);
}

static double best_error(const refine_run *run)
{
    double least = INFINITY;
    for (int k = 0; k < run->ways; k++)
        least = fmin(least, run->way[k].step[run->way[k].best].backward_error);
    return least;
}

static int run_all(refine_run *run, failure *f)
{
    static const libsolver_method both[] = {LIBSOLVER_METHOD_PLAIN, LIBSOLVER_METHOD_FGMRES};
    const settings *s = run->settings;
    const libsolver_method one = (libsolver_method)s->method;
    const triplets *a = &run->system.problem.a;
    progress_say(&run->progress, "reading");
    if (linear_system_read(&run->system, s, f)) {
        run->status = status_of_failure(f);
        return f->code;
    }
    run->read = seconds_now() - run->start;
    progress_wipe(&run->progress);
    print_system(run);
    if (!s->compare_precisions)
        return run_precision(run, s->precision, &one, 1, f);
    return run_precision(run, triplets_width(a) == 2 ? PRECISION_Z : PRECISION_D, both, 2, f) ||
                   run_precision(run, PRECISION_MIXED, both, 2, f)
               ? f->code
               : 0;
}

/* x of the last way, and whether any has reached the tolerance. */
static int finish(refine_run *run, failure *f)
{
    const settings *s = run->settings;
    const triplets *a = &run->system.problem.a;
    const double error = best_error(run), tolerance = settings_tolerance(s);
    if (run->to && s->compare_precisions)
        refinement_compare(run->way, run->ways, run->to);
    else if (run->to && run->ways > 0)
        refinement_text(run->way, run->to);
    if (f->code)
        return f->code;
    if (!(error <= tolerance))
        return failure_set(f, EXIT_NUMERICAL, "%s: backward error %.2g, wanted %.2g%s",
                           s->operands[0], error, tolerance,
                           s->output ? "; x is not written, a larger --tol would accept it" : "");
    if (s->output)
        mm_write_vectors(s->output, a->n, run->system.nrhs, triplets_width(a), run->system.x.values,
                         f);
    return f->code;
}

static void write_json(const refine_run *run, failure *f)
{
    const settings *s = run->settings;
    const triplets *a = run->system.is_read ? &run->system.problem.a : NULL;
    json j = {0};
    json_open(&j, NULL);
    json_schema("refine", &j);
    json_open(&j, "matrix");
    json_string(&j, "path", s->operands[0]);
    json_integer_or_null(&j, "n", a, a ? a->n : 0);
    json_integer_or_null(&j, "nnz", a, a ? a->nnz : 0);
    json_string(&j, "type", a ? type_name(a->type) : NULL);
    json_close(&j);
    json_string(&j, "status", libsolver_status_name(run->status));
    json_string(&j, "message", f->text);
    json_real(&j, "tolerance", settings_tolerance(s));
    json_integer_or_null(&j, "nrhs", run->system.nrhs > 0, run->system.nrhs);
    json_open_list(&j, "refinements");
    for (int k = 0; k < run->ways; k++) {
        json_open_item(&j);
        refinement_json(&run->way[k], &run->analysis[k], &j);
        json_close(&j);
    }
    json_close_list(&j);
    json_open(&j, "seconds");
    json_real(&j, "read", run->read);
    json_real(&j, "total", seconds_now() - run->start);
    json_close(&j);
    json_close(&j);
    json_end_line(&j);
    json_store(&j, s->json, f);
}

int command_refine(const settings *s, failure *f)
{
    refine_run run = {.settings = s, .start = seconds_now(), .read = NAN};
    run.progress = progress_start(s->quiet, "");
    if (!s->quiet && !(s->json && output_is_printed(s->json)) &&
        !(s->output && output_is_printed(s->output)))
        run.to = stdout;
    if (s->output && output_check(s->output, f))
        run.status = LIBSOLVER_INVALID;
    else
        run_all(&run, f);
    progress_wipe(&run.progress);
    finish(&run, f);
    if (s->json)
        write_json(&run, f);
    linear_system_free(&run.system);
    return f->code;
}
