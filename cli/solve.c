/* cli/solve.c: `libsolver solve`, one system from files to a checked solution
 * SPDX-License-Identifier: BSD-3-Clause */
#include "certificate.h"
#include "commands.h"
#include "dense_block.h"
#include "mm_read.h"
#include "mm_write.h"
#include "output.h"
#include "report.h"
#include "session.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct solve_run {
    const settings *settings;
    problem problem;
    session session;
    dense_block b, x;
    report report;
    comparison comparison;
    bool shows_progress;
    double start;
} solve_run;

/* Says what goes on when somebody watches and it is going to take a while. */
static void announce(const solve_run *run, const char *what, double seconds_predicted)
{
    if (run->shows_progress && seconds_predicted > 2)
        fprintf(stderr, "%s ...\n", what);
}

/* Adds the time since *mark to a phase and moves the mark. */
static void clock_phase(double *phase, double *mark)
{
    double now = seconds_now();
    *phase = now - *mark;
    *mark = now;
}

/* ---- reading --------------------------------------------------------------------------------- */

static int allocate_block(solve_run *run, dense_block *block, failure *f)
{
    const triplets *a = &run->problem.a;
    return dense_create(block, a->n, run->report.nrhs, a->type)
               ? 0
               : failure_memory(f, run->report.path);
}

/* b from its file, or A x* */
static int get_right_hand_sides(solve_run *run, failure *f)
{
    const settings *s = run->settings;
    const triplets *a = &run->problem.a;
    report *r = &run->report;
    if (s->operand_count > 1) {
        int64_t columns;
        double *values;
        if (mm_read_vectors(s->operands[1], a->n, a->type, &values, &columns, f))
            return f->code;
        r->nrhs = columns;
        if (!dense_adopt(&run->b, a->n, columns, a->type, values))
            return failure_memory(f, s->operands[1]);
        if (s->nrhs && s->nrhs != columns)
            return failure_set(f, EXIT_INPUT, "%s: it has %lld columns, --nrhs says %lld",
                               s->operands[1], (long long)columns, (long long)s->nrhs);
        return allocate_block(run, &run->x, f);
    }
    r->nrhs = s->nrhs ? s->nrhs : 1;
    if (allocate_block(run, &run->b, f) || allocate_block(run, &run->x, f))
        return f->code;
    made_solution(a->n, r->nrhs, triplets_width(a), run->x.values);
    return triplets_multiply(a, run->x.values, r->nrhs, run->b.values) ? 0
                                                                       : failure_memory(f, r->path);
}

static int read_input(solve_run *run, failure *f)
{
    double mark = run->start;
    if (!problem_load(run->report.path, &run->problem, f)) {
        run->report.matrix = &run->problem.a;
        if (!problem_convert(&run->problem, run->settings->precision, f) &&
            !get_right_hand_sides(run, f))
            dense_set(&run->b);
    }
    clock_phase(&run->report.seconds.read, &mark);
    return f->code;
}

/* ---- phases ---------------------------------------------------------------------------------- */

static int analyze(solve_run *run, failure *f)
{
    report *r = &run->report;
    double mark = seconds_now();
    announce(run, "analyzing", 2e-6 * (double)r->matrix->nnz);
    if (session_analyze(&run->session, f))
        return f->code;
    clock_phase(&r->seconds.analyze, &mark);
    libsolver_analysis_query(run->session.analysis, &r->analysis);
    r->analyzed = true;
    return 0;
}

static int factorize(solve_run *run, failure *f)
{
    report *r = &run->report;
    double mark = seconds_now();
    announce(run, "factorizing", 2e-10 * r->analysis.factor_flops);
    session_factorize(&run->session, f);
    if (run->session.factor) {
        libsolver_info(run->session.factor, &r->factor);
        r->factorized = true;
    }
    if (f->code)
        return f->code;
    clock_phase(&r->seconds.factorize, &mark);
    r->has_inertia = libsolver_inertia(run->session.factor, &r->inertia) == LIBSOLVER_OK;
    return 0;
}

static int solve(solve_run *run, failure *f)
{
    report *r = &run->report;
    const int32_t n = r->matrix->n;
    libsolver_vectors b = dense_view(&run->b, r->nrhs), x = dense_view(&run->x, r->nrhs);
    libsolver_factor *factor = run->session.factor;
    double mark = seconds_now();
    announce(run, "solving", 1e-8 * (double)r->analysis.factor_nnz * (double)r->nrhs);
    if (session_check(&run->session, libsolver_solve(factor, &b, &x), factor, f))
        return f->code;
    clock_phase(&r->seconds.solve, &mark);
    dense_get(&run->x);
    libsolver_solve_query(factor, NULL, &r->solve);
    r->solved = true;
    if (run->settings->operand_count < 2)
        r->forward_error = forward_error(n, r->nrhs, triplets_width(r->matrix), run->x.values);
    return 0;
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
    if (!session_begin(&run->session, s, r->path, &run->problem, f) && !analyze(run, f) &&
        !factorize(run, f))
        solve(run, f);
    r->status = run->session.status;
    if (f->code)
        return f->code;
    if (s->output && mm_write_vectors(s->output, r->matrix->n, r->nrhs, triplets_width(r->matrix),
                                      run->x.values, f))
        return f->code;
    if (!(r->solve.backward_error <= r->tolerance))
        return failure_set(f, EXIT_NUMERICAL, "%s: backward error %.2g, wanted %.2g (%s)", r->path,
                           r->solve.backward_error, r->tolerance, libsolver_status_name(r->status));
    return 0;
}

/* ---- results --------------------------------------------------------------------------------- */

/* The JSON comes also after a failure, which stays the reason of the exit code. */
static void write_json(const solve_run *run, failure *f)
{
    json j = {0};
    failure unwritten = {0};
    report_json(&run->report, &j);
    if (j.failed)
        failure_memory(&unwritten, run->settings->json);
    else
        output_store(run->settings->json, j.text, j.length, &unwritten);
    json_free(&j);
    if (unwritten.code && !f->code)
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
    run.shows_progress = isatty(STDERR_FILENO) && !s->quiet;
    run.report = (report){.path = s->operands[0],
                          .tolerance = settings_tolerance(s),
                          .mixed = s->precision == PRECISION_MIXED,
                          .forward_error = NAN,
                          .seconds = {NAN, NAN, NAN, NAN, NAN}};
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
    if (!s->quiet && !is_printed(s->json) && !is_printed(s->output))
        report_text(&run.report, stdout);
    if (s->json)
        write_json(&run, f);
    session_end(&run.session);
    problem_free(&run.problem);
    dense_free(&run.b);
    dense_free(&run.x);
    return f->code;
}
