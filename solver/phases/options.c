/* solver/phases/options.c: defaults and their checks
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/phases/options.h"
#include <string.h>

void libsolver_options_default(libsolver_options *options)
{
    memset(options, 0, sizeof *options);
    options->refine_steps = 10;
}

libsolver_status threshold_check(double threshold, message *why)
{
    if (!(threshold >= 0 && threshold <= 0.5))
        return FAIL(why, LIBSOLVER_INVALID, "the pivot threshold %g is not in [0, 0.5]", threshold);
    return LIBSOLVER_OK;
}

static libsolver_status refinement_check(int64_t steps, double tolerance, message *why)
{
    if (steps < 0)
        return FAIL(why, LIBSOLVER_INVALID, "%lld refinement steps: 0, only check, or more",
                    (long long)steps);
    if (!(tolerance >= 0 && tolerance < 1))
        return FAIL(why, LIBSOLVER_INVALID, "the tolerance %g is not in [0, 1)", tolerance);
    return LIBSOLVER_OK;
}

libsolver_status limits_check(const libsolver_limits *limits, message *why)
{
    TRY(refinement_check(limits->steps, limits->tolerance, why));
    if ((unsigned)limits->method > LIBSOLVER_METHOD_FGMRES)
        return FAIL(why, LIBSOLVER_INVALID, "there is no method %d of refinement",
                    (int)limits->method);
    if (limits->history_room < 0 || (limits->history_room > 0 && !limits->history))
        return FAIL(why, LIBSOLVER_INVALID, "a history of %lld steps without room for them",
                    (long long)limits->history_room);
    for (int i = 0; i < (int)(sizeof limits->reserved / sizeof limits->reserved[0]); i++)
        if (limits->reserved[i] != 0)
            return FAIL(why, LIBSOLVER_INVALID, "reserved fields of limits must be zero");
    return LIBSOLVER_OK;
}

/* Fields that are enums. */
static libsolver_status choices_check(const libsolver_options *o, message *why)
{
    const struct {
        const char *field;
        int64_t value, last;
    } choices[] = {
        {"backend", o->backend, LIBSOLVER_BACKEND_GPU},
        {"kind", o->kind, LIBSOLVER_KIND_QUASI_DEFINITE},
        {"ordering", o->ordering, LIBSOLVER_ORDERING_USER},
        {"matching", o->matching, LIBSOLVER_OFF},
        {"scaling", o->scaling, LIBSOLVER_OFF},
        {"purpose", o->purpose, LIBSOLVER_PURPOSE_LATENCY},
        {"keep", o->keep, LIBSOLVER_OFF},
        {"mixed", o->mixed, LIBSOLVER_OFF},
        {"inertia_effort", o->inertia_effort, LIBSOLVER_EFFORT_NONE},
    };
    for (size_t k = 0; k < sizeof choices / sizeof *choices; k++)
        if (choices[k].value < 0 || choices[k].value > choices[k].last)
            return FAIL(why, LIBSOLVER_INVALID, "options.%s is %lld: a value from 0 to %lld",
                        choices[k].field, (long long)choices[k].value, (long long)choices[k].last);
    return LIBSOLVER_OK;
}

libsolver_status options_check(const libsolver_options *o, message *why)
{
    TRY(choices_check(o, why));
    if (o->threads < 0)
        return FAIL(why, LIBSOLVER_INVALID, "options.threads is %d: 0, as OpenMP says, or more",
                    o->threads);
    if (!o->allocate != !o->release)
        return FAIL(why, LIBSOLVER_INVALID, "allocate and release come together or not at all");
    if (o->memory_limit < 0)
        return FAIL(why, LIBSOLVER_INVALID, "options.memory_limit is %lld: 0, none, or more bytes",
                    (long long)o->memory_limit);
    TRY(threshold_check(o->pivot_threshold, why));
    TRY(refinement_check(o->refine_steps, o->tolerance, why));
    if (o->delay_cap < 0)
        return FAIL(why, LIBSOLVER_INVALID, "options.delay_cap is %lld: 0, no cap, or more",
                    (long long)o->delay_cap);
    for (int i = 0; i < (int)(sizeof o->reserved / sizeof o->reserved[0]); i++)
        if (o->reserved[i] != 0)
            return FAIL(why, LIBSOLVER_INVALID,
                        "options.reserved[%d] is not zero; libsolver_options_default sets what is "
                        "not known",
                        i);
    return LIBSOLVER_OK;
}
