/* solver/gpu/async_tmpl.c: refactorizations that nobody waits for, or that are waited for once, at
 * the end, and what the host makes of them
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
    if (!f->a || !f->program)
        return FAIL(why, LIBSOLVER_NOT_BUILT,
                    "factors of this analysis are made on the CPU: they cannot be made without a "
                    "wait");
    if (f->plan->schur_size > 0)
        return FAIL(why, LIBSOLVER_NOT_BUILT,
                    "factors with a Schur complement are made by calls that wait");
    if (!f->plan->values)
        return FAIL(why, LIBSOLVER_NOT_BUILT, "values of this matrix are summed on the host");
    if (!tree_solver_adopts_async(f->solver))
        return FAIL(why, LIBSOLVER_NOT_BUILT,
                    "the last factor was not made on the device: there is no plan for one that is "
                    "not waited for");
    if (f->made.perturbed > 0)
        return FAIL(why, LIBSOLVER_NOT_BUILT,
                    "the last factor, in single precision, has a larger diagonal: whether others "
                    "want that is not found out without a wait");
    return LIBSOLVER_OK;
}

/* Values NULL: those that are taken already.  keeps: the values before stay where these are not
 * good, and the factor becomes that of those again. */
static libsolver_status launch(device_numeric *f, const void *values, int keeps,
                               libsolver_status *status, message *why)
{
    device_outcome *o = tree_solver_outcome(f->solver);
    backend_plan_view view;
    CPU->view_plan(f->plan->cpu, &view);
    if (values)
        TRY(device_values_check_async(&f->values, f->plan->values, view.given->start, f->n, values,
                                      keeps, &o->words->flaws, why));
    factorizer_arguments arguments = {.values = f->values.value.at,
                                      .fresh = values && keeps ? f->values.sum : NULL,
                                      .flaws = &o->words->flaws,
                                      .panel = tree_solver_panels(f->solver),
                                      .is_unscaled = f->asked.scaling == BACKEND_UNSCALED,
                                      .doubt_level = f->asked.doubt_level};
    TRY(tree_solver_expect(f->solver, f->program, &arguments.clear, &arguments.clear_words, why));
    TRY(device_factorizer_launch(&f->factorizer, f->program, &arguments, why));
    /* beside the last tasks: the factorization reads the values, and wants nothing of A by rows */
    TRY(tree_matrix_set(f->a, f->values.value.at, 0, why));
    TRY(tree_solver_adopt_async(f->solver, f->factorizer.words, why));
    TRY(device_factorizer_judge(&f->factorizer, f->program, why));
    return tree_solver_judge(f->solver, f->factorizer.scale, f->factorizer.outcome, keeps, status,
                             why);
}

/* A part of what was to be launched may have run: there is no factor. */
static void lose(device_numeric *f, libsolver_status failure)
{
    message unused = {0};
    judged_outcome last;
    if (device_outcome_last(tree_solver_outcome(f->solver), &last, &unused) == LIBSOLVER_OK)
        f->settled = last.number;
    NAME(gpu_tell_outcome)(f, failure, &unused);
    f->state = (factor_state){0};
}

static const factor_state on_device = {.is_on_device = 1, .is_packed = 1};

libsolver_status NAME(gpu_refactorize_async)(void *numeric, const void *values,
                                             libsolver_status *status, int *is_captured,
                                             message *why)
{
    device_numeric *f = numeric;
    TRY(refuse(f, why));
    *is_captured = device_outcome_is_captured(tree_solver_outcome(f->solver));
    f->given = NULL;
    f->state = on_device;
    const libsolver_status launched = launch(f, values, 0, status, why);
    if (launched != LIBSOLVER_OK && !*is_captured)
        lose(f, launched);
    return launched;
}

/* Whether the values were not good, and so not factorized. */
static int is_refusal(const judged_outcome *last)
{
    return last->status == LIBSOLVER_NONFINITE || last->status == LIBSOLVER_INVALID;
}

/* What good values have come to; the report: of a factor. */
static backend_settled outcome_of(const device_numeric *f, const judged_outcome *last,
                                  backend_report *report)
{
    if (last->status != LIBSOLVER_OK || last->uncertain > 0)
        return BACKEND_AGAIN;
    *report = f->made;
    report->smallest = last->smallest;
    report->uncertain = report->small = report->growths = 0;
    return BACKEND_ADOPTED;
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
    f->state = on_device;
    if (is_refusal(&last)) {
        *outcome = BACKEND_REFUSED;
        return FAIL(why, (libsolver_status)last.status, "%s",
                    last.status == LIBSOLVER_NONFINITE
                        ? "a value that was factorized without a wait is not finite"
                        : "the values that were factorized without a wait are not symmetric, or "
                          "not Hermitian");
    }
    *outcome = outcome_of(f, &last, report);
    return LIBSOLVER_OK;
}

/* ---- With one wait --------------------------------------------------------------------------- */

/* The last factor was made on the device and left nothing to be decided, as whether a factor in
 * single precision will do. */
static int is_to_be_made_alike(const device_numeric *f)
{
    return f->a && !f->plan->mixed && f->state.is_on_device && f->state.is_packed && !f->trace &&
           tree_solver_adopts_async(f->solver) &&
           !device_outcome_is_captured(tree_solver_outcome(f->solver)) && f->made.small == 0 &&
           f->made.uncertain == 0;
}

libsolver_status NAME(gpu_make_alike)(device_numeric *f, const void *values, backend_report *report,
                                      backend_settled *outcome, message *why)
{
    judged_outcome last;
    *outcome = BACKEND_UNCHANGED;
    if (!is_to_be_made_alike(f))
        return LIBSOLVER_OK;
    libsolver_status status =
        f->given ? device_values_put(&f->values, f->given, why) : LIBSOLVER_OK;
    if (status == LIBSOLVER_OK)
        status = launch(f, values, 1, NULL, why);
    if (status == LIBSOLVER_OK)
        status = device_outcome_last(tree_solver_outcome(f->solver), &last, why);
    const int is_refused = status == LIBSOLVER_OK && is_refusal(&last);
    if (status == LIBSOLVER_OK && !is_refused && environment_cancelled(f->env))
        status =
            FAIL(why, LIBSOLVER_CANCELLED, "%s", libsolver_status_sentence(LIBSOLVER_CANCELLED));
    if (status != LIBSOLVER_OK) {
        lose(f, status);
        if (status == LIBSOLVER_CANCELLED)
            return status;
        if (!f->may_fall_back) { /* no room, perhaps, for what is packed */
            tree_solver_drop(f->solver);
            return status;
        }
        environment_log(f->env, "factorizes step by step: %s", why->text);
        message_clear(why);
        *outcome = BACKEND_REFUSED;
        return LIBSOLVER_OK;
    }
    f->settled = last.number;
    if (is_refused)
        return LIBSOLVER_OK;
    *outcome = outcome_of(f, &last, report);
    f->state = *outcome == BACKEND_ADOPTED ? on_device : (factor_state){0};
    return LIBSOLVER_OK;
}

libsolver_status NAME(gpu_refactorize)(void *numeric, const void *values, backend_report *report,
                                       backend_settled *outcome, message *why)
{
    device_numeric *f = numeric;
    f->given = NULL;
    *outcome = BACKEND_UNCHANGED;
    return f->plan->values ? NAME(gpu_make_alike)(f, values, report, outcome, why) : LIBSOLVER_OK;
}

/* ---- For those that wait for every step ------------------------------------------------------ */

libsolver_status NAME(gpu_tell_outcome)(device_numeric *f, libsolver_status status, message *why)
{
    device_outcome *o = f->solver ? tree_solver_outcome(f->solver) : NULL;
    if (!o || !o->words || !o->is_used)
        return LIBSOLVER_OK;
    return device_outcome_set(o, status, why);
}
