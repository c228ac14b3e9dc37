/* solver/phases/objects.c: what all phases ask of a factor, and the messages that objects keep
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/phases/objects.h"

/* ---- Messages -------------------------------------------------------------------------------- */

static void store(atomic_flag *writing, message *last, const message *why)
{
    while (atomic_flag_test_and_set(writing))
        ;
    *last = *why;
    atomic_flag_clear(writing);
}

void context_message(libsolver_context *context, const message *why)
{
    store(&context->writing, &context->last, why);
}

void factor_message(const libsolver_factor *factor, const message *why)
{
    libsolver_factor *f = (libsolver_factor *)factor;
    store(&f->writing, &f->last, why);
}

libsolver_status factor_outcome(const libsolver_factor *f, libsolver_status status,
                                const message *why)
{
    if (status < 0)
        factor_message(f, why);
    return status;
}

static _Thread_local message last_of_thread;

void thread_message(const message *why)
{
    last_of_thread = *why;
}

const char *libsolver_context_message(const libsolver_context *context)
{
    return context ? context->last.text : last_of_thread.text;
}

const char *libsolver_context_place(const libsolver_context *context)
{
    return context ? context->last.place : last_of_thread.place;
}

const char *libsolver_factor_message(const libsolver_factor *f)
{
    return f ? f->last.text : "";
}

const char *libsolver_factor_place(const libsolver_factor *f)
{
    return f ? f->last.place : "";
}

/* ---- Factors --------------------------------------------------------------------------------- */

int factor_value_parts(libsolver_factor *f, const libsolver_analysis *s,
                       memory_part part[FACTOR_VALUE_PARTS])
{
    const int64_t n = s->input.a.n, nnz = s->input.a.start[n];
    part[0] = (memory_part){&f->incoming, nnz, s->typed->bytes, 0};
    part[1] = (memory_part){&f->diagonal, n, s->typed->bytes, 0};
    part[2] = (memory_part){&f->mirrored, nnz, s->typed->bytes, 0};
    return s->input.full ? 3 : 2;
}

int64_t factor_bytes(const libsolver_analysis *s)
{
    libsolver_factor f;
    memory_part part[FACTOR_VALUE_PARTS];
    return memory_counted(1, sizeof(libsolver_factor)) +
           memory_sum(part, factor_value_parts(&f, s, part)) +
           memory_counted(1, sizeof(libsolver_workspace));
}

double factor_tolerance_asked(const libsolver_factor *f, double asked)
{
    const int single = f->analysis->type == LIBSOLVER_S || f->analysis->type == LIBSOLVER_C;
    return asked > 0 ? asked : single ? 5e-6 : 1e-14;
}

double factor_tolerance(const libsolver_factor *f)
{
    return factor_tolerance_asked(f, f->analysis->options.tolerance);
}

libsolver_status factor_needed(const libsolver_factor *f, message *why)
{
    if (f->usable)
        return LIBSOLVER_OK;
    return FAIL(why, LIBSOLVER_INVALID, "there is no factor: the last factorization failed");
}

libsolver_status schur_refused(const libsolver_factor *f, message *why)
{
    if (f->analysis && f->analysis->schur_size > 0)
        return FAIL(
            why, LIBSOLVER_INVALID,
            "the rows of the Schur complement are not eliminated: condense and expand instead");
    return LIBSOLVER_OK;
}

libsolver_status factor_remark(const libsolver_factor *f)
{
    return f->report.zero > 0        ? LIBSOLVER_SINGULAR
           : f->report.perturbed > 0 ? LIBSOLVER_PERTURBED
                                     : LIBSOLVER_OK;
}

libsolver_status factor_answer(const libsolver_factor *f, libsolver_status status,
                               const message *why)
{
    return status == LIBSOLVER_OK ? factor_remark(f) : factor_outcome(f, status, why);
}
