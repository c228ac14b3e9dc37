/* cli/bench.c: `libsolver bench`, the time of every phase, one JSON line a problem
 * SPDX-License-Identifier: BSD-3-Clause */
#include "certificate.h"
#include "commands.h"
#include "dense_block.h"
#include "device.h"
#include "output.h"
#include "report.h"
#include "session.h"
#include "traces.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WIDTHS = 3, MOST_SAMPLES = 1001 };

typedef struct bench_run {
    const settings *settings;
    problem problem;
    session session;
    progress progress;
    int64_t widths[MOST_WIDTHS]; /* numbers of right-hand sides, ascending in memory, 0 after the
                                    last */
    dense_block b, x;            /* n x the largest width */

    libsolver_workspace *workspace; /* for `width` columns, the solve being timed */
    int64_t width;

    void *device_b, *device_x; /* the first `width` columns in device memory, with --backend gpu */

    libsolver_matrix values; /* that refactorizations are given */
    double analyze, factorize, refactorize, solve[MOST_WIDTHS], refined_solve, backward_error,
        refined_backward_error;
    int refined_steps;
    double solve_graph[MOST_WIDTHS]; /* replayed from a CUDA graph */

    int64_t factor_tasks; /* of a factorization on the device, 0: the factor is made on the CPU */
    double refactorize_device; /* with values in device memory, ready to solve */
    double factor_device;      /* the factorization alone, by the device's clock */
    int32_t factor_levels;

    libsolver_factor_info info; /* of the factor, before it is traced */
} bench_run;

/* ---- timing ---------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median time of step(run): three times at least, up to a second in all. */
static int measure(int (*step)(bench_run *run, failure *f), bench_run *run, double *median,
                   failure *f)
{
    double samples[MOST_SAMPLES], begin = seconds_now(), before = begin;
    int count = 0;
    while (count < 3 || (before - begin < 1 && count < MOST_SAMPLES)) {
        if (step(run, f))
            return f->code;
        double after = seconds_now();
        samples[count++] = after - before;
        before = after;
    }
    qsort(samples, (size_t)count, sizeof *samples, compare);
    *median = count % 2 ? samples[count / 2] : 0.5 * (samples[count / 2 - 1] + samples[count / 2]);
    return 0;
}

static int step_analyze(bench_run *run, failure *f)
{
    return session_analyze(&run->session, f);
}

static int step_refactorize(bench_run *run, failure *f)
{
    libsolver_factor *factor = run->session.factor;
    libsolver_status status = libsolver_refactorize(factor, &run->values);
    return session_check(&run->session, status, factor, f);
}

static int step_solve(bench_run *run, failure *f)
{
    libsolver_factor *factor = run->session.factor;
    libsolver_vectors b = dense_view(&run->b, run->width), x = dense_view(&run->x, run->width);
    libsolver_status status =
        libsolver_solve_plain(factor, LIBSOLVER_PART_ALL, run->workspace, &b, &x);
    return session_check(&run->session, status, factor, f);
}

/* One asynchronous solve of the columns on the device. */
static int launch_solve(void *user)
{
    bench_run *run = user;
    libsolver_vectors b = dense_view(&run->b, run->width), x = b;
    b.values = run->device_b;
    x.values = run->device_x;
    b.place = x.place = LIBSOLVER_DEVICE;
    run->session.status =
        libsolver_solve_plain(run->session.factor, LIBSOLVER_PART_ALL, run->workspace, &b, &x);
    return run->session.status < 0;
}

static int step_refined_solve(bench_run *run, failure *f)
{
    libsolver_factor *factor = run->session.factor;
    libsolver_vectors b = dense_view(&run->b, 1), x = dense_view(&run->x, 1);
    const libsolver_limits limits = {.steps = run->session.options.refine_steps,
                                     .tolerance = settings_tolerance(run->settings),
                                     .until_stalled = run->settings->tolerance < 0};
    const libsolver_status status = libsolver_solve_within(factor, NULL, &limits, &b, &x, NULL);
    return session_check(&run->session, status, factor, f);
}

/* ---- phases ---------------------------------------------------------------------------------- */

/* b = A x* in as many columns as the widest solve takes. */
static int make_right_hand_sides(bench_run *run, failure *f)
{
    const triplets *a = &run->problem.a;
    int64_t columns = 1;
    for (int k = 0; k < MOST_WIDTHS; k++)
        columns = run->widths[k] > columns ? run->widths[k] : columns;
    if (!dense_create(&run->b, a->n, columns, a->type) ||
        !dense_create(&run->x, a->n, columns, a->type))
        return failure_memory(f, run->problem.name);
    made_solution(a->n, columns, triplets_width(a), run->x.values);
    if (!triplets_multiply(a, run->x.values, columns, run->b.values))
        return failure_memory(f, run->problem.name);
    for (int64_t k = 0; k < columns * a->n * triplets_width(a); k++)
        run->x.values[k] = NAN; /* what is checked later has been computed */
    dense_set(&run->b);
    return 0;
}

static size_t scalar_bytes(libsolver_type type)
{
    return type == LIBSOLVER_S ? 4 : type == LIBSOLVER_Z ? 16 : 8;
}

/* What is written beside a profile; device: to be kept as long. */
static profile_facts facts_of(const bench_run *run, libsolver_device *device)
{
    libsolver_analysis_info analysis;
    const char *name = device_name(LIBSOLVER_BACKEND_GPU, run->session.options.device, device);
    libsolver_analysis_query(run->session.analysis, &analysis);
    return (profile_facts){.name = run->problem.name,
                           .device = name,
                           .n = analysis.n,
                           .factor_nnz = analysis.factor_nnz,
                           .stream = run->solve[0],
                           .graph = run->solve_graph[0],
                           .refactorize = run->refactorize,
                           .refactorize_device = run->refactorize_device};
}

/* The profile of solves of one column on the device. */
static int profile_solves(bench_run *run, failure *f)
{
    libsolver_vectors b = dense_view(&run->b, 1), x = b;
    libsolver_device device;
    profile p;
    b.values = run->device_b;
    x.values = run->device_x;
    b.place = x.place = LIBSOLVER_DEVICE;
    const profile_facts facts = facts_of(run, &device);
    if (!traces_solve(&run->session, run->workspace, &b, &x, &p, f))
        traces_store_solve(&p, &facts, run->settings->profile, f);
    profile_free(&p);
    return f->code;
}

/* Refactorizations of values in device memory, where the factor is made there. */
static int time_device_values(bench_run *run, failure *f)
{
    session *s = &run->session;
    void *values;
    if (s->options.backend != LIBSOLVER_BACKEND_GPU)
        return 0;
    run->factor_tasks = traces_factor_tasks(s);
    if (run->factor_tasks == 0)
        return 0;
    if (device_array_create(s->view.values, scalar_bytes(s->view.type) * (size_t)s->view.nnz,
                            &values))
        session_check(s, LIBSOLVER_CUDA, s->factor, f);
    else {
        run->values.pointers = run->values.indices = NULL;
        run->values.values = values;
        run->values.place = LIBSOLVER_DEVICE;
        if (!step_refactorize(run, f)) /* the first one takes memory for it */
            measure(step_refactorize, run, &run->refactorize_device, f);
    }
    device_array_free(values);
    run->values = s->view;
    return f->code;
}

/* Where the time of a factorization on the device goes. */
static int trace_factorization(bench_run *run, failure *f)
{
    factor_profile p;
    libsolver_device device;
    if (run->factor_tasks == 0 || traces_factor(&run->session, run->factor_tasks, &p, f))
        return f->code;
    run->factor_levels = p.levels;
    run->factor_device = p.time.seconds;
    if (run->settings->profile) {
        const profile_facts facts = facts_of(run, &device);
        traces_store_factor(&p, &facts, run->settings->profile, f);
    }
    factor_profile_free(&p);
    return f->code;
}

/* The timed solves of width k on device pointers, by the device's clock; the last one's x comes
 * back. */
static int time_on_device(bench_run *run, int k, failure *f)
{
    const libsolver_vectors b = dense_view(&run->b, run->width),
                            x = dense_view(&run->x, run->width);
    const size_t bytes = scalar_bytes(b.type) * (size_t)(b.rows * b.columns);
    const int failed =
        device_array_create(b.values, bytes, &run->device_b) ||
        device_array_create(x.values, bytes, &run->device_x) || launch_solve(run) ||
        device_time(run->session.stream, launch_solve, run, &run->solve[k], &run->solve_graph[k]) ||
        device_array_get(run->device_x, bytes, x.values);
    if (!failed && k == 0 && run->settings->profile)
        profile_solves(run, f);
    device_array_free(run->device_b);
    device_array_free(run->device_x);
    run->device_b = run->device_x = NULL;
    if (!failed)
        return f->code;
    const libsolver_status status = run->session.status < 0 ? run->session.status : LIBSOLVER_CUDA;
    return session_check(&run->session, status, run->session.factor, f);
}

/* One width of right-hand sides: workspace, a solve to warm up, the timed ones, and the error of
 * the last.  AUTO is timed as it is used, with blocks on the host, wherever it solves. */
static int bench_solve(bench_run *run, int k, failure *f)
{
    session *s = &run->session;
    const int on_device = s->options.backend == LIBSOLVER_BACKEND_GPU;
    run->width = run->widths[k];
    libsolver_status status = libsolver_workspace_create(s->factor, run->width, &run->workspace);
    if (!session_check(s, status, s->factor, f) &&
        !(on_device ? time_on_device(run, k, f)
                    : step_solve(run, f) || measure(step_solve, run, &run->solve[k], f))) {
        dense_get(&run->x);
        double error;
        if (!backward_error(&run->problem.a, run->width, run->b.values, run->x.values, &error)) {
            s->status = LIBSOLVER_OUT_OF_MEMORY;
            failure_memory(f, run->problem.name);
        } else if (!(error <= run->backward_error)) /* also the first, where it is NaN */
            run->backward_error = error;
    }
    libsolver_workspace_free(run->workspace);
    run->workspace = NULL;
    return f->code;
}

static int run_phases(bench_run *run, const char *specification, failure *f)
{
    session *s = &run->session;
    progress_say(&run->progress, "reading");
    if ((run->settings->symmetrize ? problem_symmetrize : problem_load)(specification,
                                                                        &run->problem, f) ||
        problem_convert(&run->problem, run->settings->precision, f)) {
        s->status = status_of_failure(f);
        return f->code;
    }
    if (session_begin(s, run->settings, run->problem.name, &run->problem, &run->progress, f) ||
        measure(step_analyze, run, &run->analyze, f))
        return f->code;
    if (make_right_hand_sides(run, f)) {
        s->status = status_of_failure(f);
        return f->code;
    }
    double begin = seconds_now();
    if (session_factorize(s, f))
        return f->code;
    run->factorize = seconds_now() - begin;
    run->values = s->view;
    if (measure(step_refactorize, run, &run->refactorize, f) || time_device_values(run, f))
        return f->code;
    for (int k = 0; k < MOST_WIDTHS && run->widths[k]; k++)
        if (bench_solve(run, k, f))
            return f->code;
    if (step_refined_solve(run, f) || measure(step_refined_solve, run, &run->refined_solve, f))
        return f->code;
    libsolver_solve_info refined;
    libsolver_solve_query(s->factor, NULL, &refined);
    run->refined_backward_error = refined.backward_error;
    run->refined_steps = refined.steps;
    libsolver_info(s->factor, &run->info);
    return trace_factorization(run, f);
}

/* ---- results --------------------------------------------------------------------------------- */

static void write_seconds(const bench_run *run, const char *name, const double *seconds, json *j)
{
    json_open(j, name);
    for (int k = 0; k < MOST_WIDTHS && run->widths[k]; k++) {
        char key[24];
        snprintf(key, sizeof key, "%lld", (long long)run->widths[k]);
        json_real(j, key, seconds[k]);
    }
    json_close(j);
}

/* Name of the device that solves, NULL where that is the CPU. */
static const char *backend_device(const session *s, libsolver_device *device)
{
    libsolver_factor_info factor;
    libsolver_info(s->factor, &factor);
    return s->factor ? device_name(factor.backend_solve, s->options.device, device) : NULL;
}

static void write_line(const bench_run *run, const failure *f, json *j)
{
    const session *s = &run->session;
    libsolver_analysis_info analysis = {0};
    libsolver_factor_info factor = run->info;
    libsolver_device device;
    if (s->analysis)
        libsolver_analysis_query(s->analysis, &analysis);
    if (s->factor && factor.threads == 0)
        libsolver_info(s->factor, &factor);
    json_open(j, NULL);
    json_schema("bench", j);
    json_string(j, "name", run->problem.name);
    json_integer(j, "n", run->problem.a.n);
    json_integer(j, "nnz", run->problem.a.nnz);
    json_integer_or_null(j, "factor_nnz", s->analysis, analysis.factor_nnz);
    json_real(j, "factor_flops", s->analysis ? analysis.factor_flops : NAN);
    json_string(j, "kind", s->factor ? kind_name(factor.kind) : NULL);
    json_string(j, "backend", s->factor ? backend_name(factor.backend_solve) : NULL);
    json_integer_or_null(j, "threads", s->factor, factor.threads);
    json_string(j, "instruction_set", libsolver_instruction_set());
    json_string(j, "precision", precision_name(run->settings->precision, &run->problem.a));
    json_string(j, "factor_precision", s->factor ? type_name(factor.precision) : NULL);
    json_string(j, "device", backend_device(s, &device));
    json_real(j, "analyze_s", run->analyze);
    json_real(j, "factorize_s", run->factorize);
    json_real(j, "refactorize_s", run->refactorize);
    if (s->options.backend == LIBSOLVER_BACKEND_GPU) {
        json_real(j, "refactorize_device_s", run->refactorize_device);
        json_real(j, "factor_device_s", run->factor_device);
        json_integer_or_null(j, "factor_levels", run->factor_levels > 0, run->factor_levels);
        json_integer_or_null(j, "factor_tasks", run->factor_tasks > 0, run->factor_tasks);
    }
    write_seconds(run, "solve_s", run->solve, j);
    if (s->options.backend == LIBSOLVER_BACKEND_GPU)
        write_seconds(run, "solve_graph_s", run->solve_graph, j);
    json_real(j, "refined_solve_s", run->refined_solve);
    json_real(j, "backward_error", run->backward_error);
    json_real(j, "tolerance", settings_tolerance(run->settings));
    json_real(j, "refined_backward_error", run->refined_backward_error);
    json_integer_or_null(j, "refinement_steps", run->refined_backward_error >= 0,
                         run->refined_steps);
    json_integer_or_null(j, "host_bytes_peak", s->factor, factor.host_bytes_peak);
    json_integer_or_null(j, "device_bytes", s->factor, factor.device_bytes);
    json_string(j, "status", libsolver_status_name(s->status));
    json_string(j, "message", f->text);
    json_string(j, "place", *f->place ? f->place : NULL);
    json_close(j);
    json_end_line(j);
}

/* Runs one problem and appends its line to j. */
static int bench_problem(const settings *s, const char *specification, json *j, failure *f)
{
    bench_run run = {.settings = s,
                     .widths = {1, 16, s->nrhs == 1 || s->nrhs == 16 ? 0 : s->nrhs},
                     .analyze = NAN,
                     .factorize = NAN,
                     .refactorize = NAN,
                     .refactorize_device = NAN,
                     .factor_device = NAN,
                     .solve = {NAN, NAN, NAN},
                     .solve_graph = {NAN, NAN, NAN},
                     .refined_solve = NAN,
                     .backward_error = NAN,
                     .refined_backward_error = NAN};
    char prefix[sizeof run.problem.name + 2];
    problem_name(specification, run.problem.name, sizeof run.problem.name);
    snprintf(prefix, sizeof prefix, "%s: ", run.problem.name);
    run.progress = progress_start(s->quiet, prefix);
    run_phases(&run, specification, f);
    progress_wipe(&run.progress);
    write_line(&run, f, j);
    session_end(&run.session);
    problem_free(&run.problem);
    dense_free(&run.b);
    dense_free(&run.x);
    return f->code;
}

/* A line goes out as soon as it is known, or all of them into a file at the end.  The first failure
 * decides the exit code; the other problems run all the same. */
int command_bench(const settings *s, failure *f)
{
    json lines = {0};
    const bool to_file = s->json && strcmp(s->json, "-") != 0;
    for (int k = 0; k < s->operand_count; k++) {
        failure here = {0};
        if (bench_problem(s, s->operands[k], &lines, &here) && !f->code)
            *f = here;
        if (lines.failed)
            failure_memory(f, s->operands[k]);
        else if (!to_file) {
            fputs(lines.text, stdout);
            fflush(stdout);
            json_free(&lines);
        }
    }
    failure unwritten = {0};
    if (to_file && lines.text && output_store(s->json, lines.text, lines.length, &unwritten) &&
        !f->code)
        *f = unwritten;
    json_free(&lines);
    return f->code;
}
