/* solver/phases/solve.c: the third phase: solves, refinement, workspaces
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/phases/objects.h"
#include <math.h>
#include <string.h>

/* Right-hand sides that the factor's own workspace grows to; wider blocks are solved in panels of
 * that many.
 */
#define OWN_COLUMNS 32

static libsolver_status create_workspace(const libsolver_factor *f, int64_t columns,
                                         libsolver_workspace **workspace, message *why)
{
    if (!f->numeric)
        return FAIL(why, LIBSOLVER_INVALID, "there is no factor: the analysis failed");
    if (columns < 1 || columns > INT32_MAX)
        return FAIL(why, LIBSOLVER_INVALID, "a workspace for %lld columns", (long long)columns);
    memory *m = &f->context->env.memory;
    libsolver_workspace *w = memory_zeroed(m, 1, sizeof(libsolver_workspace));
    if (!w)
        return FAIL(why, LIBSOLVER_OUT_OF_MEMORY, "the workspace wanted %lld more bytes",
                    (long long)m->wanted);
    w->factor = f;
    w->columns = columns;
    w->info.backward_error = w->info.backward_error_initial = NAN;
    atomic_flag_clear(&w->busy);
    const libsolver_status status =
        f->analysis->backend->workspace_create(f->numeric, columns, &w->memory, why);
    if (status != LIBSOLVER_OK)
        memory_free(m, w);
    else
        *workspace = w;
    return status;
}

libsolver_status libsolver_workspace_create(const libsolver_factor *f, int64_t columns,
                                            libsolver_workspace **workspace)
{
    if (workspace)
        *workspace = NULL;
    if (!f || !workspace)
        return LIBSOLVER_INVALID;
    message why = {""};
    const libsolver_status status = create_workspace(f, columns, workspace, &why);
    if (status != LIBSOLVER_OK)
        factor_message(f, &why);
    return status;
}

int64_t libsolver_workspace_bytes(const libsolver_factor *f, int64_t columns)
{
    if (!f || !f->usable || columns < 1)
        return 0;
    return (int64_t)sizeof(libsolver_workspace) +
           f->analysis->backend->workspace_bytes(f->numeric, columns);
}

void libsolver_workspace_free(libsolver_workspace *w)
{
    if (!w)
        return;
    w->factor->analysis->backend->workspace_destroy(w->factor->numeric, w->memory);
    memory_free(&w->factor->context->env.memory, w);
}

/* Why a call on this factor cannot be served. */
static libsolver_status check(const libsolver_factor *f, const libsolver_workspace *w,
                              const libsolver_vectors *b, const libsolver_vectors *x, message *why)
{
    if (!b || !x)
        return FAIL(why, LIBSOLVER_INVALID, "%s is NULL", b ? "x" : "b");
    if (!f->usable)
        return FAIL(why, LIBSOLVER_INVALID, "there is no factor: the last factorization failed");
    if (w && w->factor != f)
        return FAIL(why, LIBSOLVER_INVALID, "the workspace belongs to another factor");
    const libsolver_vectors *both[2] = {b, x};
    for (int i = 0; i < 2; i++) {
        const libsolver_vectors *v = both[i];
        const char *name = i == 0 ? "b" : "x";
        const int64_t n = f->analysis->input.a.n;
        if (v->rows != n || v->columns < 0 || v->columns != b->columns)
            return FAIL(why, LIBSOLVER_INVALID, "%s is %lld x %lld, expected %lld x %lld", name,
                        (long long)v->rows, (long long)v->columns, (long long)n,
                        (long long)b->columns);
        if ((unsigned)v->layout > LIBSOLVER_ROW_MAJOR || (unsigned)v->place > LIBSOLVER_DEVICE)
            return FAIL(why, LIBSOLVER_INVALID, "a field of %s has no legal value", name);
        if (v->ld < (v->layout == LIBSOLVER_COLUMN_MAJOR ? v->rows : v->columns))
            return FAIL(why, LIBSOLVER_INVALID, "the leading dimension %lld of %s is too small",
                        (long long)v->ld, name);
        if (v->type != f->analysis->type)
            return FAIL(why, LIBSOLVER_INVALID, "%s has not the factor's type", name);
        if (v->place == LIBSOLVER_DEVICE && !f->analysis->backend->takes_device_vectors)
            return FAIL(why, LIBSOLVER_NOT_BUILT, "%s in device memory needs the GPU backend",
                        name);
        if (v->place != b->place)
            return FAIL(why, LIBSOLVER_INVALID, "b and x do not lie in the same memory");
        if (!v->values && n > 0 && v->columns > 0)
            return FAIL(why, LIBSOLVER_INVALID, "%s has no values", name);
    }
    return LIBSOLVER_OK;
}

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

/* The workspace of a call: the caller's, or the factor's own one, which has its flag in the factor
 * since a call may replace it. */
static atomic_flag *busy(const libsolver_factor *f, libsolver_workspace *w)
{
    return w ? &w->busy : &((libsolver_factor *)f)->own_busy;
}

/* Gives the workspace to this call alone. */
static libsolver_status take(const libsolver_factor *f, libsolver_workspace *w, message *why)
{
    if (atomic_flag_test_and_set(busy(f, w)))
        return FAIL(why, LIBSOLVER_INVALID, "the workspace is in use by another call");
    return LIBSOLVER_OK;
}

static void give_back(const libsolver_factor *f, libsolver_workspace *w)
{
    atomic_flag_clear(busy(f, w));
}

double factor_tolerance(const libsolver_factor *f)
{
    const libsolver_options *o = &f->analysis->options;
    const int single = f->analysis->type == LIBSOLVER_S || f->analysis->type == LIBSOLVER_C;
    return o->tolerance > 0 ? o->tolerance : single ? 5e-6 : 1e-14;
}

/* What the factor makes of any solution. */
static int remarks_of(const libsolver_factor *f)
{
    return (f->report.zero > 0 ? LIBSOLVER_SINGULAR : 0) |
           (f->report.perturbed > 0 ? LIBSOLVER_PERTURBED : 0);
}

/* Solves and refines, or only refines, in a workspace that has been taken. */
static libsolver_status refine(const libsolver_factor *f, libsolver_workspace *w, int solve_first,
                               const libsolver_vectors *b, const libsolver_vectors *x,
                               double *backward_error, message *why)
{
    const double tolerance = factor_tolerance(f);
    backend_refinement r = {.solve_first = solve_first,
                            .steps = f->analysis->options.refine_steps,
                            .tolerance = tolerance};
    w->info.backward_error = w->info.backward_error_initial = NAN;
    w->info.remarks = 0;
    const libsolver_status status =
        f->analysis->backend->refine(f->numeric, w->memory, b, x, &r, backward_error, why);
    if (status != LIBSOLVER_OK)
        return status;
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

/* Makes the factor's own workspace wide enough. */
static libsolver_status widen(libsolver_factor *f, int64_t columns, message *why)
{
    const int64_t wanted = columns < OWN_COLUMNS ? columns : OWN_COLUMNS;
    if (f->workspace->columns >= wanted)
        return LIBSOLVER_OK;
    libsolver_workspace *wider = NULL;
    TRY(create_workspace(f, wanted, &wider, why));
    libsolver_workspace_free(f->workspace);
    f->workspace = wider;
    return LIBSOLVER_OK;
}

static libsolver_status solve(libsolver_factor *f, const libsolver_vectors *b,
                              const libsolver_vectors *x, message *why)
{
    TRY(schur_refused(f, why));
    TRY(check(f, NULL, b, x, why));
    TRY(check_finite(f, b, why));
    TRY(take(f, NULL, why));
    libsolver_status status = widen(f, b->columns, why);
    if (status == LIBSOLVER_OK)
        status = refine(f, f->workspace, 1, b, x, NULL, why);
    give_back(f, NULL);
    return status;
}

libsolver_status libsolver_solve(libsolver_factor *f, const libsolver_vectors *b,
                                 const libsolver_vectors *x)
{
    if (!f)
        return LIBSOLVER_INVALID;
    message why = {""};
    const libsolver_status status = solve(f, b, x, &why);
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
    TRY(check(f, w, b, x, why));
    TRY(take(f, w, why));
    const libsolver_status status =
        f->analysis->backend->solve(f->numeric, parts[part], (w ? w : f->workspace)->memory, b, x,
                                    why);
    give_back(f, w);
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
    message why = {""};
    const libsolver_status status = solve_plain(f, part, workspace, b, x, &why);
    if (status < 0)
        factor_message(f, &why);
    return status;
}

static libsolver_status only_refine(const libsolver_factor *f, libsolver_workspace *w,
                                    const libsolver_vectors *b, const libsolver_vectors *x,
                                    double *backward_error, message *why)
{
    TRY(schur_refused(f, why));
    TRY(check(f, w, b, x, why));
    if (b->values == x->values && b->columns > 0 && b->rows > 0)
        return FAIL(why, LIBSOLVER_INVALID, "x is b, which is still wanted");
    TRY(check_finite(f, b, why));
    TRY(take(f, w, why));
    const libsolver_status status = refine(f, w ? w : f->workspace, 0, b, x, backward_error, why);
    give_back(f, w);
    return status;
}

libsolver_status libsolver_refine(const libsolver_factor *f, libsolver_workspace *workspace,
                                  const libsolver_vectors *b, const libsolver_vectors *x,
                                  double *backward_error)
{
    if (!f)
        return LIBSOLVER_INVALID;
    message why = {""};
    const libsolver_status status = only_refine(f, workspace, b, x, backward_error, &why);
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
    TRY(check(f, w, b, x, why));
    if (b->place != LIBSOLVER_DEVICE)
        return FAIL(why, LIBSOLVER_INVALID, "b and x are not in device memory");
    TRY(take(f, w, why));
    libsolver_workspace *used = w ? w : f->workspace;
    used->info.backward_error = used->info.backward_error_initial = NAN;
    used->info.steps = used->info.remarks = 0;
    const libsolver_status launched = on->solve_async(f->numeric, used->memory, b, x, &r,
                                                      remarks_of(f), backward_error, status, why);
    give_back(f, w);
    return launched;
}

libsolver_status libsolver_solve_async(const libsolver_factor *f, libsolver_workspace *workspace,
                                       int steps, const libsolver_vectors *b,
                                       const libsolver_vectors *x, double *backward_error,
                                       libsolver_status *status)
{
    if (!f)
        return LIBSOLVER_INVALID;
    message why = {""};
    const libsolver_status launched =
        solve_async(f, workspace, steps, b, x, backward_error, status, &why);
    if (launched != LIBSOLVER_OK)
        factor_message(f, &why);
    return launched;
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

libsolver_status workspace_begin(const libsolver_factor *f, libsolver_workspace *w,
                                 const libsolver_vectors *b, const libsolver_vectors *x,
                                 void **backend_memory, message *why)
{
    if (b && x)
        TRY(check(f, w, b, x, why));
    else if (!f->usable)
        return FAIL(why, LIBSOLVER_INVALID, "there is no factor: the last factorization failed");
    else if (w && w->factor != f)
        return FAIL(why, LIBSOLVER_INVALID, "the workspace belongs to another factor");
    TRY(take(f, w, why));
    *backend_memory = (w ? w : f->workspace)->memory;
    return LIBSOLVER_OK;
}

void workspace_end(const libsolver_factor *f, libsolver_workspace *w)
{
    give_back(f, w);
}
