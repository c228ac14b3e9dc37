/* solver/gpu/refine_tmpl.c: refinement with solves and residuals on the device
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Plain refinement runs on the device (gpu/refine/tree_refine.h), by the CPU backend's measure and
 * stop rule.  What follows there where it stalls, FGMRES or the repair of singular systems, is the
 * CPU backend's, with solves on the device.  So is the trial of a factor in mixed precision. */
#include "gpu/device/packed.h"
#include "gpu/refine/residual.h"
#include "solver/gpu/numeric.h"
#include <string.h>

/* The device's place in the CPU backend's refinement. */
typedef struct refiner {
    const device_numeric *f;
    device_space *w;
    int in_single;           /* the factor, in mixed precision */
    libsolver_status status; /* of the first solve that failed, ... */
    message *why;            /* ... and why */
} refiner;

/* x, c right-hand sides by rows in the plan's order and scaled, in place; see backend.set_solver.
 * Solves on the device scale once more, by powers of two. */
static void solve_block(void *user, int c, void *x_)
{
    refiner *r = user;
    scalar *x = x_;
    narrow *single = x_;
    backend_view f;
    CPU->view(r->f->cpu, &f);
    const int32_t n = r->f->n, *row = f.row_of;
    const real *scale = f.scale;
    scalar *block = r->w->block;
    const libsolver_vectors v = {
        .values = block, .rows = n, .columns = c, .ld = n, .type = SCALAR_TYPE};
    for (int32_t i = 0; i < n; i++)
        for (int q = 0; q < c; q++)
            block[row[i] + (int64_t)q * n] =
                (r->in_single ? (scalar)single[(int64_t)i * c + q] : x[(int64_t)i * c + q]) /
                scale[i];
    if (r->status == LIBSOLVER_OK)
        r->status = tree_solve_host(r->f->solver, r->w->tree, &v, &v, r->why);
    for (int32_t i = 0; i < n; i++)
        for (int q = 0; q < c; q++) {
            const scalar entry = block[row[i] + (int64_t)q * n] / scale[i];
            if (r->in_single)
                single[(int64_t)i * c + q] = (narrow)entry;
            else
                x[(int64_t)i * c + q] = entry;
        }
}

/* The CPU backend's refinement of blocks on the host. */
static libsolver_status refine_host(const device_numeric *f, device_space *w,
                                    const libsolver_vectors *b, const libsolver_vectors *x,
                                    backend_refinement *refinement, double *backward_error,
                                    message *why)
{
    refiner r = {.f = f, .w = w, .in_single = tree_solver_is_mixed(f->solver), .why = why};
    message unused = {0};
    TRY(NAME(gpu_bring_values)(f, why));
    TRY(CPU->set_solver(f->cpu, w->cpu, solve_block, &r, why));
    const libsolver_status status =
        CPU->refine(f->cpu, w->cpu, b, x, refinement, backward_error, why);
    CPU->set_solver(f->cpu, w->cpu, NULL, NULL, &unused); /* the workspace fits: it cannot fail */
    return status == LIBSOLVER_OK ? r.status : status;
}

/* The refinement of the group at hand goes on on the host, from the best solution so far. */
static libsolver_status go_on(const device_numeric *f, device_space *w,
                              backend_refinement *refinement, double *backward_error, message *why)
{
    const libsolver_vectors *b = tree_refine_b(w->refiner), *x = tree_refine_x(w->refiner);
    const libsolver_vectors hb = on_host(b, w->b), hx = on_host(x, w->x);
    TRY(tree_solver_get(f->solver, b, w->b, why));
    TRY(tree_solver_get(f->solver, x, w->x, why));
    TRY(refine_host(f, w, &hb, &hx, refinement, backward_error, why));
    return tree_solver_put(f->solver, w->x, x, why);
}

static tree_refinement plain_refinement(const device_numeric *f,
                                        const backend_refinement *refinement)
{
    backend_view view;
    CPU->view(f->cpu, &view);
    return (tree_refinement){.solve_first = refinement->solve_first,
                             .steps = refinement->method == REFINE_FGMRES ? 0 : refinement->steps,
                             .tolerance = refinement->tolerance,
                             .least_progress = view.least_progress};
}

/* The device's steps, for who hears of them. */
static void observe(void *observer_, int step, double error)
{
    const backend_observer *observer = observer_;
    observer->step(observer->user, step == 0 ? STEP_START : STEP_PLAIN, error);
}

/* As many columns as are refined together; error: one for each. */
static libsolver_status refine_group(const device_numeric *f, device_space *w,
                                     const libsolver_vectors *b, const libsolver_vectors *x,
                                     backend_refinement *refinement, double *error, message *why)
{
    backend_view view;
    CPU->view(f->cpu, &view);
    const int64_t columns = b->columns;
    double initial[REFINE_COLUMNS];
    tree_refinement plain = plain_refinement(f, refinement);
    backend_observer observer = {0};
    if (refinement->observer) {
        observer = *refinement->observer;
        plain.observe = observe;
        plain.observer = &observer;
    }
    TRY(tree_refine_load(w->refiner, plain.solve_first, b, x, why));
    TRY(tree_refine_run(w->refiner, &plain, error, initial, why));
    int more = view.is_singular ? refinement->steps : refinement->steps - plain.steps, open = 0;
    for (int64_t q = 0; q < columns; q++)
        open += error[q] > refinement->tolerance && isfinite(error[q]);
    backend_refinement rest = {.stalled = 1,
                               .steps = more,
                               .cycles = refinement->cycles,
                               .method = refinement->method,
                               .tolerance = refinement->tolerance,
                               .observer = refinement->observer};
    if (open > 0 && more > 0 && (view.is_singular || refinement->method != REFINE_PLAIN))
        TRY(go_on(f, w, &rest, error, why));
    else
        rest.steps = 0;
    TRY(tree_refine_store(w->refiner, x, why));
    refinement->steps = plain.steps + rest.steps;
    refinement->initial = refinement->final = 0;
    for (int64_t q = 0; q < columns; q++) {
        refinement->initial = fmax(refinement->initial, initial[q]);
        refinement->final = fmax(refinement->final, error[q]);
    }
    return LIBSOLVER_OK;
}

libsolver_status NAME(gpu_refine)(const void *numeric_, void *workspace_,
                                  const libsolver_vectors *b, const libsolver_vectors *x,
                                  backend_refinement *refinement, double *backward_error,
                                  message *why)
{
    const device_numeric *f = numeric_;
    device_space *w = workspace_;
    const int64_t width = tree_refiner_columns(w->refiner);
    backend_refinement worst = {0};
    for (int64_t first = 0; first < b->columns; first += width) {
        const int64_t columns = b->columns - first < width ? b->columns - first : width;
        const libsolver_vectors bp = columns_of(b, first, columns),
                                xp = columns_of(x, first, columns);
        backend_refinement here = *refinement;
        double error[REFINE_COLUMNS];
        TRY(refine_group(f, w, &bp, &xp, &here, error, why));
        if (backward_error)
            memcpy(backward_error + first, error, sizeof(double) * (size_t)columns);
        worst.steps = here.steps > worst.steps ? here.steps : worst.steps;
        worst.initial = fmax(worst.initial, here.initial);
        worst.final = fmax(worst.final, here.final);
    }
    refinement->steps = worst.steps;
    refinement->initial = worst.initial;
    refinement->final = worst.final;
    return LIBSOLVER_OK;
}

/* b := A x* for the x* of a trial, by rows of A on the host: the residual of x* beside 0. */
static libsolver_status make_trial(const device_numeric *f, device_space *w,
                                   const libsolver_vectors *b, const libsolver_vectors *x,
                                   message *why)
{
    backend_plan_view view;
    tree_refinement measure = {.steps = 0};
    double error, initial;
    CPU->view_plan(f->plan->cpu, &view);
    for (int32_t k = 0; k < f->n; k++) {
        w->x[view.row_of[k]] = (scalar)(1 + 0.1 * (k % 7));
        w->b[k] = 0;
    }
    TRY(tree_refine_load(w->refiner, 0, b, x, why));
    TRY(tree_refine_run(w->refiner, &measure, &error, &initial, why));
    const libsolver_vectors residual = tree_refine_residual(w->refiner);
    TRY(tree_solver_get(f->solver, &residual, w->b, why));
    for (int32_t k = 0; k < f->n; k++)
        w->b[k] = -w->b[k];
    return LIBSOLVER_OK;
}

static libsolver_status try_there(void *user, backend_refinement *trial, message *why)
{
    refiner *r = user;
    double error;
    const libsolver_vectors b = {
        .values = r->w->b, .rows = r->f->n, .columns = 1, .ld = r->f->n, .type = SCALAR_TYPE};
    libsolver_vectors x = b;
    x.values = r->w->x;
    TRY(make_trial(r->f, r->w, &b, &x, why));
    return refine_group(r->f, r->w, &b, &x, trial, &error, why);
}

libsolver_status NAME(gpu_confirm_there)(device_numeric *f, void *workspace,
                                         const backend_options *options, int steps,
                                         double tolerance, backend_report *report, message *why)
{
    device_space *w = workspace;
    refiner r = {.f = f, .w = w};
    CPU->set_trial(w->cpu, try_there, &r);
    const libsolver_status status =
        CPU->confirm(f->cpu, w->cpu, options, steps, tolerance, report, why);
    CPU->set_trial(w->cpu, NULL, NULL);
    return status;
}

libsolver_status NAME(gpu_solve_async)(const void *numeric_, void *workspace_,
                                       const libsolver_vectors *b, const libsolver_vectors *x,
                                       const backend_refinement *refinement, int remarks,
                                       double *backward_error, libsolver_status *status,
                                       message *why)
{
    const device_numeric *f = numeric_;
    device_space *w = workspace_;
    const int64_t width = tree_refiner_columns(w->refiner);
    const tree_refinement plain = plain_refinement(f, refinement);
    int64_t first = 0;
    do {
        const int64_t columns = b->columns - first < width ? b->columns - first : width;
        const libsolver_vectors bp = columns_of(b, first, columns),
                                xp = columns_of(x, first, columns);
        const refine_outcome outcome = {.backward_error =
                                            backward_error ? backward_error + first : NULL,
                                        .status = status,
                                        .remarks = remarks,
                                        .is_first_block = first == 0,
                                        .factor = tree_solver_status(f->solver)};
        TRY(tree_refine_launch(w->refiner, &plain, &bp, &xp, &outcome, why));
        first += width;
    } while (first < b->columns);
    return LIBSOLVER_OK;
}
