/* solver/phases/solve.c: the third phase: solves and refinement
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/phases/options.h"
#include "solver/phases/workspace.h"
#include <assert.h>
#include <math.h>
#include <omp.h>
#include <string.h>

static libsolver_status check_finite(const libsolver_factor *f, const libsolver_vectors *b,
                                     message *why)
{
    int64_t row, column;
    if (b->place == LIBSOLVER_DEVICE)
        return LIBSOLVER_OK; /* the backward error tells */
    if (f->analysis->typed->finite(b, &row, &column))
        return LIBSOLVER_OK;
    return FAIL(why, LIBSOLVER_NONFINITE, "b(%lld, %lld), 0-based, is not finite", (long long)row,
                (long long)column);
}

/* What the factor makes of any solution. */
static int remarks_of(const libsolver_factor *f)
{
    return (f->report.zero > 0 ? LIBSOLVER_SINGULAR : 0) |
           (f->report.perturbed > 0 ? LIBSOLVER_PERTURBED : 0);
}

static_assert((int)LIBSOLVER_METHOD_FGMRES == REFINE_FGMRES &&
                  (int)LIBSOLVER_METHOD_PLAIN == REFINE_PLAIN &&
                  (int)LIBSOLVER_STEP_START == STEP_START &&
                  (int)LIBSOLVER_STEP_PLAIN == STEP_PLAIN &&
                  (int)LIBSOLVER_STEP_FGMRES == STEP_FGMRES &&
                  (int)LIBSOLVER_STEP_SINGULAR == STEP_SINGULAR,
              "methods and steps are numbered as in the public header");

/* What a call asks for. */
typedef struct request {
    backend_refinement refinement;
    double tolerance; /* by which the status is found */
    libsolver_step *history;
    int64_t history_room;
} request;

/* The steps of a refinement, as they go into the caller's history.  Columns are refined in panels:
 * step k of all is the worst of their k-th steps, and a panel that needs fewer keeps its last. */
typedef struct recorder {
    libsolver_step *history;
    int64_t room, used; /* of all panels */
    int64_t at;         /* next step of the panel at hand */
    double last;        /* its error after the last one */
    double least;       /* of all steps: the final error of the panels before */
    double mark;        /* when the last step ended */
} recorder;

static void raise_error(recorder *r, int64_t k, double error)
{
    if (k < r->room && !(r->history[k].backward_error >= error))
        r->history[k].backward_error = error;
}

/* The panel at hand is done. */
static void end_panel(recorder *r)
{
    for (int64_t k = r->at; k < r->used; k++)
        raise_error(r, k, r->last);
    r->least = fmax(r->least, r->last);
    r->at = 0;
}

static void record(void *recorder_, int made_by, double error)
{
    recorder *r = recorder_;
    const double now = omp_get_wtime();
    if (made_by == STEP_START)
        end_panel(r);
    const int64_t k = r->at++;
    if (k == r->used) {
        r->used++;
        if (k < r->room)
            r->history[k] =
                (libsolver_step){.kind = (libsolver_step_kind)made_by, .backward_error = r->least};
    }
    raise_error(r, k, error);
    if (k < r->room)
        r->history[k].seconds += now - r->mark;
    r->mark = now;
    r->last = error;
}

/* Solves and refines, or only refines, in a workspace that has been taken. */
static libsolver_status refine(const libsolver_factor *f, libsolver_workspace *w,
                               const request *how, const libsolver_vectors *b,
                               const libsolver_vectors *x, double *backward_error, message *why)
{
    const environment *env = &f->context->env;
    backend_refinement r = how->refinement;
    const double tolerance = how->tolerance;
    w->info.backward_error = w->info.backward_error_initial = NAN;
    w->info.remarks = 0;
    w->info.history = 0;
    const double begin = omp_get_wtime();
    recorder steps = {.history = how->history, .room = how->history_room, .mark = begin};
    const backend_observer observer = {record, &steps};
    if (how->history)
        r.observer = &observer;
    environment_progress(env, PHASE_SOLVE, 0);
    const libsolver_status status =
        f->analysis->backend->refine(f->numeric, w->memory, b, x, &r, backward_error, why);
    if (status != LIBSOLVER_OK)
        return status;
    end_panel(&steps);
    environment_log(env,
                    "solve: %lld columns, backward error %.1e after %d refinement steps; %.3g s",
                    (long long)b->columns, r.final, r.steps, omp_get_wtime() - begin);
    environment_progress(env, PHASE_SOLVE, 1);
    w->info.history = steps.used;
    w->info.backward_error = r.final;
    w->info.backward_error_initial = r.initial;
    w->info.steps = r.steps;
    w->info.remarks = remarks_of(f) | (r.final <= tolerance ? 0 : LIBSOLVER_INACCURATE);
    if (w->info.remarks & LIBSOLVER_SINGULAR)
        return FAIL(why, LIBSOLVER_SINGULAR, "%lld pivots are zero; backward error %.1e",
                    (long long)f->report.zero, r.final);
    if (w->info.remarks & LIBSOLVER_INACCURATE)
        return FAIL(why, LIBSOLVER_INACCURATE,
                    "backward error %.1e after %d refinement steps, wanted %.1e", r.final, r.steps,
                    tolerance);
    return w->info.remarks & LIBSOLVER_PERTURBED ? LIBSOLVER_PERTURBED : LIBSOLVER_OK;
}

/* Limits of a refinement: the caller's, NULL for those of the options. */
static libsolver_status read_limits(const libsolver_factor *f, const libsolver_limits *limits,
                                    int solve_first, request *how, message *why)
{
    if (limits)
        TRY(limits_check(limits, why));
    const libsolver_options *o = f->analysis ? &f->analysis->options : NULL;
    *how = (request){.refinement = {.solve_first = solve_first,
                                    .steps = limits ? limits->steps
                                             : o    ? o->refine_steps
                                                    : 0}};
    if (f->analysis)
        how->tolerance =
            limits ? factor_tolerance_asked(f, limits->tolerance) : factor_tolerance(f);
    how->refinement.tolerance = limits && limits->until_stalled ? 0 : how->tolerance;
    if (limits) {
        how->refinement.method = (int)limits->method;
        how->history = limits->history;
        how->history_room = limits->history ? limits->history_room : 0;
    }
    return LIBSOLVER_OK;
}

static libsolver_status solve(libsolver_factor *f, libsolver_workspace *w,
                              const libsolver_limits *limits, const libsolver_vectors *b,
                              const libsolver_vectors *x, double *backward_error, message *why)
{
    request how;
    TRY(read_limits(f, limits, 1, &how, why));
    TRY(schur_refused(f, why));
    TRY(workspace_check(f, w, b, x, why));
    TRY(check_finite(f, b, why));
    TRY(workspace_take(f, w, why));
    libsolver_status status = w ? LIBSOLVER_OK : workspace_widen(f, b->columns, why);
    if (status == LIBSOLVER_OK)
        status = refine(f, w ? w : f->workspace, &how, b, x, backward_error, why);
    workspace_give_back(f, w);
    return status;
}

libsolver_status libsolver_solve(libsolver_factor *f, const libsolver_vectors *b,
                                 const libsolver_vectors *x)
{
    factor_settle(f);
    if (!f)
        return LIBSOLVER_INVALID;
    message why = {0};
    const libsolver_status status = solve(f, NULL, NULL, b, x, NULL, &why);
    factor_message(f, &why);
    return status;
}

libsolver_status libsolver_solve_within(libsolver_factor *f, libsolver_workspace *workspace,
                                        const libsolver_limits *limits, const libsolver_vectors *b,
                                        const libsolver_vectors *x, double *backward_error)
{
    factor_settle(f);
    if (!f)
        return LIBSOLVER_INVALID;
    message why = {0};
    const libsolver_status status = solve(f, workspace, limits, b, x, backward_error, &why);
    if (status != LIBSOLVER_OK)
        factor_message(f, &why);
    return status;
}

static libsolver_status solve_plain(const libsolver_factor *f, libsolver_part part,
                                    libsolver_workspace *w, const libsolver_vectors *b,
                                    const libsolver_vectors *x, message *why)
{
    static const int parts[] = {BACKEND_L | BACKEND_D | BACKEND_LT, BACKEND_L, BACKEND_D,
                                BACKEND_LT};
    if ((unsigned)part > LIBSOLVER_PART_LT)
        return FAIL(why, LIBSOLVER_INVALID, "there is no part %d of a solve", (int)part);
    TRY(schur_refused(f, why));
    TRY(workspace_check(f, w, b, x, why));
    TRY(workspace_take(f, w, why));
    const libsolver_status status =
        f->analysis->backend->solve(f->numeric, parts[part], (w ? w : f->workspace)->memory, b, x,
                                    why);
    workspace_give_back(f, w);
    if (status != LIBSOLVER_OK)
        return status;
    return f->report.zero > 0 ? LIBSOLVER_SINGULAR : LIBSOLVER_OK;
}

libsolver_status libsolver_solve_plain(const libsolver_factor *f, libsolver_part part,
                                       libsolver_workspace *workspace, const libsolver_vectors *b,
                                       const libsolver_vectors *x)
{
    if (!f)
        return LIBSOLVER_INVALID;
    message why = {0};
    if (!b || b->place != LIBSOLVER_DEVICE) /* those on the device wait for nothing */
        factor_settle(f);
    return factor_outcome(f, solve_plain(f, part, workspace, b, x, &why), &why);
}

static libsolver_status only_refine(const libsolver_factor *f, libsolver_workspace *w,
                                    const libsolver_limits *limits, const libsolver_vectors *b,
                                    const libsolver_vectors *x, double *backward_error,
                                    message *why)
{
    request how;
    TRY(read_limits(f, limits, 0, &how, why));
    TRY(schur_refused(f, why));
    TRY(workspace_check(f, w, b, x, why));
    if (b->values == x->values && b->columns > 0 && b->rows > 0)
        return FAIL(why, LIBSOLVER_INVALID, "x is b, which is still wanted");
    TRY(check_finite(f, b, why));
    TRY(workspace_take(f, w, why));
    const libsolver_status status =
        refine(f, w ? w : f->workspace, &how, b, x, backward_error, why);
    workspace_give_back(f, w);
    return status;
}

libsolver_status libsolver_refine(const libsolver_factor *f, libsolver_workspace *workspace,
                                  const libsolver_vectors *b, const libsolver_vectors *x,
                                  double *backward_error)
{
    return libsolver_refine_within(f, workspace, NULL, b, x, backward_error);
}

libsolver_status libsolver_refine_within(const libsolver_factor *f, libsolver_workspace *workspace,
                                         const libsolver_limits *limits, const libsolver_vectors *b,
                                         const libsolver_vectors *x, double *backward_error)
{
    factor_settle(f);
    if (!f)
        return LIBSOLVER_INVALID;
    message why = {0};
    const libsolver_status status = only_refine(f, workspace, limits, b, x, backward_error, &why);
    if (status != LIBSOLVER_OK)
        factor_message(f, &why);
    return status;
}

static libsolver_status solve_async(const libsolver_factor *f, libsolver_workspace *w, int steps,
                                    const libsolver_vectors *b, const libsolver_vectors *x,
                                    double *backward_error, libsolver_status *status, message *why)
{
    const backend *on = f->analysis ? f->analysis->backend : NULL;
    const backend_refinement r = {.solve_first = 1,
                                  .steps = steps,
                                  .tolerance = on ? factor_tolerance(f) : 0};
    if (on && !on->solve_async)
        return FAIL(why, LIBSOLVER_NOT_BUILT,
                    "solves that are not waited for need the GPU backend");
    if (steps < 0)
        return FAIL(why, LIBSOLVER_INVALID, "%d refinement steps", steps);
    TRY(schur_refused(f, why));
    TRY(workspace_check(f, w, b, x, why));
    if (b->place != LIBSOLVER_DEVICE)
        return FAIL(why, LIBSOLVER_INVALID, "b and x are not in device memory");
    TRY(workspace_take(f, w, why));
    libsolver_workspace *used = w ? w : f->workspace;
    used->info.backward_error = used->info.backward_error_initial = NAN;
    used->info.steps = used->info.remarks = 0;
    const libsolver_status launched = on->solve_async(f->numeric, used->memory, b, x, &r,
                                                      remarks_of(f), backward_error, status, why);
    workspace_give_back(f, w);
    return launched;
}

libsolver_status libsolver_solve_async(const libsolver_factor *f, libsolver_workspace *workspace,
                                       int steps, const libsolver_vectors *b,
                                       const libsolver_vectors *x, double *backward_error,
                                       libsolver_status *status)
{
    if (!f)
        return LIBSOLVER_INVALID;
    message why = {0};
    return factor_outcome(f, solve_async(f, workspace, steps, b, x, backward_error, status, &why),
                          &why);
}

void libsolver_solve_query(const libsolver_factor *f, const libsolver_workspace *workspace,
                           libsolver_solve_info *info)
{
    const libsolver_workspace *w = workspace ? workspace : f ? f->workspace : NULL;
    memset(info, 0, sizeof *info);
    info->backward_error = info->backward_error_initial = NAN;
    if (w)
        *info = w->info;
}
