/* solver/gpu/async_tmpl.c: refactorizations that nobody waits for, and what the host makes of them
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * All steps of a refactorization go on the stream as they would for the last factor that was made
 * on the device: sums of values, A by rows, the factorization, what prepares solves.  The last
 * kernel judges (gpu/factor/device_outcome.h).  A captured sequence runs whenever its graph is
 * launched, of which nobody tells the host: it compares the number of the last outcome with the one
 * it knows. */
#include "gpu/factor/device_outcome.h"
#include "solver/gpu/numeric.h"

static libsolver_status refuse(const device_numeric *f, message *why)
{
    if (!f->a || f->plan->program.nodes == 0)
        return FAIL(why, LIBSOLVER_NOT_BUILT,
                    "factors of this analysis are made on the CPU: they cannot be made without a "
                    "wait");
    if (!f->plan->values)
        return FAIL(why, LIBSOLVER_NOT_BUILT, "values of this matrix are summed on the host");
    if (!tree_solver_adopts_async(f->solver))
        return FAIL(why, LIBSOLVER_NOT_BUILT,
                    "the last factor was not made on the device: there is no plan for one that is "
                    "not waited for");
    return LIBSOLVER_OK;
}

static libsolver_status launch(device_numeric *f, const void *values, libsolver_status *status,
                               message *why)
{
    device_outcome *o = tree_solver_outcome(f->solver);
    void *panels;
    backend_plan_view view;
    CPU->view_plan(f->plan->cpu, &view);
    TRY(device_values_take_async(&f->values, f->plan->values, view.given->start, f->n, values,
                                 &o->words->flaws, why));
    TRY(tree_matrix_set(f->a, f->values.value.at, why));
    TRY(tree_solver_reserve(f->solver, &f->tree.view, &panels, why));
    const factorizer_arguments arguments = {.values = f->values.value.at,
                                            .panel = panels,
                                            .is_unscaled = f->scaling == BACKEND_UNSCALED,
                                            .doubt_level = view.doubt_level};
    TRY(device_factorizer_launch(&f->factorizer, &f->plan->program, &arguments, why));
    return tree_solver_adopt_async(f->solver, f->factorizer.scale, f->factorizer.outcome, status,
                                   why);
}

static factor_state state_on_device(const device_numeric *f)
{
    return (factor_state){.is_on_device = 1, .is_packed = 1, .scaling = f->scaling};
}

libsolver_status NAME(gpu_refactorize_async)(void *numeric, const void *values,
                                             libsolver_status *status, int *is_captured,
                                             message *why)
{
    device_numeric *f = numeric;
    TRY(refuse(f, why));
    *is_captured = device_outcome_is_captured(tree_solver_outcome(f->solver));
    f->given = NULL;
    f->state = state_on_device(f);
    const libsolver_status launched = launch(f, values, status, why);
    if (launched != LIBSOLVER_OK && !*is_captured) {
        /* a part of it may have run: there is no factor */
        message unused = {0};
        judged_outcome last;
        if (device_outcome_last(tree_solver_outcome(f->solver), &last, &unused) == LIBSOLVER_OK)
            f->settled = last.number;
        NAME(gpu_tell_outcome)(f, launched, &unused);
        f->state = (factor_state){0};
    }
    return launched;
}

libsolver_status NAME(gpu_settle)(void *numeric, backend_report *report, backend_settled *outcome,
                                  message *why)
{
    device_numeric *f = numeric;
    device_outcome *o = tree_solver_outcome(f->solver);
    judged_outcome last;
    *outcome = BACKEND_UNCHANGED;
    if (!o->words || device_outcome_is_captured(o))
        return LIBSOLVER_OK;
    TRY(device_outcome_last(o, &last, why));
    if (last.number == f->settled)
        return LIBSOLVER_OK;
    f->settled = last.number;
    f->given = NULL;
    f->state = state_on_device(f);
    if (last.status == LIBSOLVER_NONFINITE || last.status == LIBSOLVER_INVALID) {
        *outcome = BACKEND_REFUSED;
        return FAIL(why, (libsolver_status)last.status, "%s",
                    last.status == LIBSOLVER_NONFINITE
                        ? "a value that was factorized without a wait is not finite"
                        : "the values that were factorized without a wait are not symmetric, or "
                          "not Hermitian");
    }
    if (last.status != LIBSOLVER_OK || last.uncertain > 0) {
        *outcome = BACKEND_AGAIN;
        return LIBSOLVER_OK;
    }
    *outcome = BACKEND_ADOPTED;
    *report = f->made;
    report->smallest = last.smallest;
    report->uncertain = report->small = report->growths = 0;
    return LIBSOLVER_OK;
}

libsolver_status NAME(gpu_tell_outcome)(device_numeric *f, libsolver_status status, message *why)
{
    device_outcome *o = f->solver ? tree_solver_outcome(f->solver) : NULL;
    if (!o || !o->words || !o->is_used)
        return LIBSOLVER_OK;
    return device_outcome_set(o, status, why);
}
