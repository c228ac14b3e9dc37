/* solver/phases/options.c: defaults and their checks
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/phases/options.h"
#include <string.h>

void libsolver_options_default(libsolver_options *options)
{
    memset(options, 0, sizeof *options);
    options->refine_steps = 10;
}

/* An enum field beyond its last value. */
static int beyond(int64_t value, int64_t last)
{
    return value < 0 || value > last;
}

libsolver_status threshold_check(double threshold, message *why)
{
    if (!(threshold >= 0 && threshold <= 0.5))
        return FAIL(why, LIBSOLVER_INVALID, "the pivot threshold %g is not in [0, 0.5]", threshold);
    return LIBSOLVER_OK;
}

libsolver_status limits_check(int64_t steps, double tolerance, message *why)
{
    if (steps < 0)
        return FAIL(why, LIBSOLVER_INVALID, "%lld refinement steps", (long long)steps);
    if (!(tolerance >= 0 && tolerance < 1))
        return FAIL(why, LIBSOLVER_INVALID, "the tolerance %g is not in [0, 1)", tolerance);
    return LIBSOLVER_OK;
}

libsolver_status options_check(const libsolver_options *o, message *why)
{
    if (beyond(o->backend, LIBSOLVER_BACKEND_GPU) ||
        beyond(o->kind, LIBSOLVER_KIND_QUASI_DEFINITE) ||
        beyond(o->ordering, LIBSOLVER_ORDERING_USER) || beyond(o->matching, LIBSOLVER_OFF) ||
        beyond(o->scaling, LIBSOLVER_OFF) || beyond(o->purpose, LIBSOLVER_PURPOSE_LATENCY) ||
        beyond(o->keep, LIBSOLVER_OFF) || beyond(o->mixed, LIBSOLVER_OFF) ||
        beyond(o->inertia_effort, LIBSOLVER_EFFORT_NONE))
        return FAIL(why, LIBSOLVER_INVALID, "an option has no legal value");
    if (o->threads < 0)
        return FAIL(why, LIBSOLVER_INVALID, "%d threads", o->threads);
    if (!o->allocate != !o->release)
        return FAIL(why, LIBSOLVER_INVALID, "allocate and release come together or not at all");
    if (o->memory_limit < 0)
        return FAIL(why, LIBSOLVER_INVALID, "the memory limit %lld is negative",
                    (long long)o->memory_limit);
    TRY(threshold_check(o->pivot_threshold, why));
    TRY(limits_check(o->refine_steps, o->tolerance, why));
    if (o->delay_cap < 0)
        return FAIL(why, LIBSOLVER_INVALID, "at most %lld delayed columns",
                    (long long)o->delay_cap);
    for (int i = 0; i < (int)(sizeof o->reserved / sizeof o->reserved[0]); i++)
        if (o->reserved[i] != 0)
            return FAIL(why, LIBSOLVER_INVALID, "reserved option fields must be zero");
    return LIBSOLVER_OK;
}
