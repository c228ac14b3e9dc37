/* cli/solve.c: `libsolver solve`, one system from files to a checked solution
 * SPDX-License-Identifier: BSD-3-Clause */
#include "commands.h"
#include "html_report.h"
#include "linear_system.h"
#include "mm_write.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "room.h"
#include "session.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct solve_run {
    const settings *settings;
    linear_system system;
    session session;
    report report;
    comparison comparison;
    progress progress;
    FILE *to; /* where the report is printed as it comes about, NULL: nowhere */
    double start;
} solve_run;

/* Part of the report. */
static void print(solve_run *run, void (*part)(const report *r, FILE *to))
{
    progress_wipe(&run->progress);
    if (!run->to)
        return;
    part(&run->report, run->to);
    fflush(run->to);
}

/* Adds the time since *mark to a phase and moves the mark. */
static void clock_phase(double *phase, double *mark)
{
    double now = seconds_now();
    *phase = now - *mark;
    *mark = now;
}

/* ---- phases ---------------------------------------------------------------------------------- */

static int read_input(solve_run *run, failure *f)
{
    double mark = run->start;
    report *r = &run->report;
    progress_say(&run->progress, "reading");
    linear_system_read(&run->system, run->settings, f);
    if (run->system.is_read)
        r->matrix = &run->system.problem.a;
    r->asymmetry = run->system.problem.asymmetry;
    r->nrhs = run->system.nrhs;
    clock_phase(&r->seconds.read, &mark);
    if (!f->code)
        print(run, report_text_matrix);
    return f->code;
}

static int analyze(solve_run *run, failure *f)
{
    report *r = &run->report;
    double mark = seconds_now();
    progress_say(&run->progress, "analyzing");
    if (session_analyze(&run->session, f))
        return f->code;
    clock_phase(&r->seconds.analyze, &mark);
    libsolver_analysis_query(run->session.analysis, &r->analysis);
    r->analyzed = true;
    print(run, report_text_analysis);
    return 0;
}

static int factorize(solve_run *run, failure *f)
{
    report *r = &run->report;
    double mark = seconds_now();
    progress_say(&run->progress, "factorizing");
    session_factorize(&run->session, f);
    if (run->session.factor) {
        libsolver_info(run->session.factor, &r->factor);
        r->factorized = true;
    }
    if (f->code)
        return f->code;
    clock_phase(&r->seconds.factorize, &mark);
    r->has_inertia = libsolver_inertia(run->session.factor, &r->inertia) == LIBSOLVER_OK;
    print(run, report_text_factor);
    return 0;
}

static int solve(solve_run *run, failure *f)
{
    report *r = &run->report;
    const libsolver_vectors b = dense_view(&run->system.b, r->nrhs),
                            x = dense_view(&run->system.x, r->nrhs);
    libsolver_factor *factor = run->session.factor;
    const libsolver_limits limits = {.steps = run->session.options.refine_steps,
                                     .tolerance = r->tolerance,
                                     .until_stalled = run->settings->tolerance < 0,
                                     .history = r->history,
                                     .history_room = REPORT_HISTORY};
    double mark = seconds_now();
    progress_say(&run->progress, "solving");
    r->backward_errors = room_new(r->nrhs + 1, sizeof *r->backward_errors);
    if (!r->backward_errors) {
        run->session.status = LIBSOLVER_OUT_OF_MEMORY;
        return failure_memory(f, r->path);
    }
    const libsolver_status status =
        libsolver_solve_within(factor, NULL, &limits, &b, &x, r->backward_errors);
    if (session_check(&run->session, status, factor, f))
        return f->code;
    clock_phase(&r->seconds.solve, &mark);
    dense_get(&run->system.x);
    libsolver_solve_query(factor, NULL, &r->solve);
    libsolver_info(factor, &r->factor); /* memory, the workspace included */
    r->solved = true;
    r->forward_error = linear_system_error(&run->system, run->settings);
    print(run, report_text_solution);
    return 0;
}

/* Solves with refinement that the condition takes, and the bound of the errors of one column,
 * nearly. */
enum { ESTIMATE_SOLVES = 6 };

/* Whether they are wanted: asked for, or to be had for less than a tenth of the time so far. */
static bool wants_bounds(const solve_run *run)
{
    const report *r = &run->report;
    const double one = r->seconds.solve / ((double)r->nrhs * (r->solve.steps + 1));
    return run->settings->error_bounds ||
           (!run->settings->quiet &&
            ESTIMATE_SOLVES * one * (1 + (double)r->nrhs) <= 0.1 * (seconds_now() - run->start));
}

static int bound_errors(solve_run *run, failure *f)
{
    report *r = &run->report;
    const libsolver_vectors b = dense_view(&run->system.b, r->nrhs),
                            x = dense_view(&run->system.x, r->nrhs);
    libsolver_factor *factor = run->session.factor;
    double mark = seconds_now(), *bounds;
    if (!wants_bounds(run))
        return 0;
    progress_say(&run->progress, "estimating errors");
    const libsolver_status solved = run->session.status; /* which that of estimates says nothing of
                                                          */
    bounds = room_new(r->nrhs + 1, sizeof *bounds);
    if (!bounds)
        return failure_memory(f, r->path);
    libsolver_status status = libsolver_condition(factor, NULL, &r->condition);
    if (status >= 0)
        status = libsolver_forward_error(factor, NULL, &b, &x, bounds);
    if (!session_check(&run->session, status, factor, f)) {
        run->session.status = solved;
        r->forward_bound = 0;
        for (int64_t k = 0; k < r->nrhs; k++)
            r->forward_bound = fmax(r->forward_bound, bounds[k]);
        r->bounded = true;
    }
    room_free(bounds);
    clock_phase(&r->seconds.estimate, &mark);
    if (r->bounded)
        print(run, report_text_accuracy);
    return f->code;
}

/* All phases, and x written: status and message of the report, the failure in *f. */
static int run_phases(solve_run *run, failure *f)
{
    report *r = &run->report;
    const settings *s = run->settings;
    if (read_input(run, f)) {
        r->status = status_of_failure(f);
        return f->code;
    }
    if (!session_begin(&run->session, s, r->path, &run->system.problem, &run->progress, f) &&
        !analyze(run, f) && !factorize(run, f) && !solve(run, f))
        bound_errors(run, f);
    r->status = run->session.status;
    if (f->code)
        return f->code;
    if (!(r->solve.backward_error <= r->tolerance))
        return failure_set(f, EXIT_NUMERICAL, "%s: backward error %.2g, wanted %.2g (%s)%s",
                           r->path, r->solve.backward_error, r->tolerance,
                           libsolver_status_name(r->status),
                           s->output ? "; x is not written, a larger --tol would accept it" : "");
    if (s->output)
        mm_write_vectors(s->output, r->matrix->n, r->nrhs, triplets_width(r->matrix),
                         run->system.x.values, f);
    return f->code;
}

/* ---- results --------------------------------------------------------------------------------- */

/* The JSON comes also after a failure, which stays the reason of the exit code. */
static void write_json(const solve_run *run, failure *f)
{
    json j = {0};
    report_json(&run->report, &j);
    json_store(&j, run->settings->json, f);
}

/* The same of the page. */
static void write_html(solve_run *run, failure *f)
{
    failure unwritten = {0};
    if (html_report(&run->report, &run->session, run->settings->html, &unwritten) && !f->code)
        *f = unwritten;
}

static bool is_printed(const char *path)
{
    return path && output_is_printed(path);
}

/* What was read goes to the other program too, whatever came of it here; a first failure stays. */
static void compare(solve_run *run, failure *f)
{
    failure other = {0};
    run->report.compare = &run->comparison;
    if (run->report.matrix && compare_run(run->settings, &run->comparison, &other) && !f->code)
        *f = other;
}

int command_solve(const settings *s, failure *f)
{
    solve_run run = {.settings = s, .start = seconds_now()};
    run.progress = progress_start(s->quiet, "");
    if (!s->quiet && !is_printed(s->json) && !is_printed(s->output) && !is_printed(s->html))
        run.to = stdout;
    run.report = (report){.path = s->operands[0],
                          .tolerance = settings_tolerance(s),
                          .precision = s->precision,
                          .device = (int)s->device,
                          .forward_error = NAN,
                          .seconds = {NAN, NAN, NAN, NAN, NAN, NAN}};
    char program[4096];
    /* before any work that would be wasted */
    if (s->compare && compare_find(program, sizeof program, f))
        run.report.status = LIBSOLVER_NOT_BUILT;
    else if (s->output && output_check(s->output, f))
        run.report.status = LIBSOLVER_INVALID;
    else
        run_phases(&run, f);
    run.report.message = f->text;
    run.report.place = f->place;
    run.report.seconds.total = seconds_now() - run.start;
    if (s->compare)
        compare(&run, f);
    print(&run, report_text_end);
    if (s->json)
        write_json(&run, f);
    if (s->html)
        write_html(&run, f);
    session_end(&run.session);
    linear_system_free(&run.system);
    room_free(run.report.backward_errors);
    return f->code;
}
