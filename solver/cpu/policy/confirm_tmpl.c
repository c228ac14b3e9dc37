/* solver/cpu/policy/confirm_tmpl.c: mixed precision: whether a factor in single precision will do,
 * and one in double where it will not
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Where single precision cannot tell A from a singular matrix, and what was done to its pivots
 * changed it in many directions, refinement may take longer than a factorization in double, or
 * never get there.  A system with a known solution is tried. */
#include "solver/cpu/policy/policy.h"

/* Most steps of the trial with perturbed pivots, which make the factor that of another matrix, and
 * most cycles of FGMRES in any.  Where it takes more, a solve takes 3 to 100 times as long as with
 * a factor in double, which soon pays (matrices of SuiteSparse's collection), and other right-hand
 * sides may want more still.  For their sake a trial has half of their steps. */
#define TRIAL_STEPS_PERTURBED 3
#define TRIAL_CYCLES 2

static int trial_steps(int steps, const backend_report *report)
{
    const int half = (steps + 1) / 2;
    return report->perturbed > 0 && half > TRIAL_STEPS_PERTURBED ? TRIAL_STEPS_PERTURBED : half;
}

/* Here, or on a device that makes the factor. */
static int lacks_room(libsolver_status status)
{
    return status == LIBSOLVER_OUT_OF_MEMORY || status == LIBSOLVER_OUT_OF_DEVICE_MEMORY ||
           status == LIBSOLVER_NOT_BUILT;
}

/* The factorization in double, after which the one in single is given up: later values are not
 * tried with it.  Where it lacks room the object is for a factor in single again, which is to be
 * made anew, the scaling being gone. */
static libsolver_status factorize_in_double(numeric *f, const backend_options *options,
                                            backend_report *report, message *why)
{
    const cpu_single *single = f->single;
    f->single = NULL;
    f->history.matching_helped = 0;
    f->history.last_search = (search_end){0};
    f->history.last_kind = (kind_memory){0};
    const libsolver_status status = NAME(cpu_take_tree)(f)
                                        ? NAME(cpu_factorize)(f, options, report, why)
                                        : LIBSOLVER_OUT_OF_MEMORY;
    if (!lacks_room(status)) {
        single->backend->destroy(f->factor);
        f->factor = NULL;
        return status;
    }
    NAME(cpu_release_tree)(f);
    f->zero_pivots = 0; /* those of the factor that is gone */
    f->single = single;
    return status;
}

static libsolver_status try(const numeric *f, workspace *w, backend_refinement *trial, message *why)
{
    return w->trial_override ? w->trial_override(w->trial_user, trial, why)
                             : NAME(cpu_refine_trial)(f, w, trial, why);
}

libsolver_status NAME(cpu_confirm)(void *numeric_, void *workspace_, const backend_options *options,
                                   int steps, double tolerance, backend_report *report,
                                   message *why)
{
    numeric *f = numeric_;
    /* now, rather than in a trial of later values, which then take memory without a growth */
    if (f->single && report->growths > 0)
        TRY(NAME(cpu_workspace_fit)(f, workspace_, why));
    if (!f->single || !report_is_doubtful(report) || steps == 0 || f->history.no_room_for_double)
        return LIBSOLVER_OK;
    backend_refinement trial = {.solve_first = 1,
                                .steps = trial_steps(steps, report),
                                .cycles = TRIAL_CYCLES,
                                .tolerance = tolerance};
    const libsolver_status tried = try(f, workspace_, &trial, why);
    if (tried == LIBSOLVER_CANCELLED)
        return FAIL(why, tried, "the factorization was cancelled");
    if (tried != LIBSOLVER_OK)
        return tried;
    if (trial.final <= tolerance)
        return LIBSOLVER_OK;
    environment_log(f->plan->env,
                    "backward error %.1e after %d steps with a factor in single precision: "
                    "factorizing in double",
                    trial.final, trial.steps);
    const int64_t growths = report->growths; /* the attempts that follow count their own */
    libsolver_status status = factorize_in_double(f, options, report, why);
    if (lacks_room(status)) { /* the same factor in single precision once more */
        environment_log(f->plan->env,
                        "no room for a factor in double: it stays in single precision");
        f->history.no_room_for_double = 1;
        message_clear(why);
        status = NAME(cpu_factorize)(f, options, report, why);
    }
    report->growths += growths;
    return status;
}
