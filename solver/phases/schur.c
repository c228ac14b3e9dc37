/* solver/phases/schur.c: the Schur complement of an index set, and solves around it
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/phases/objects.h"

libsolver_status schur_refused(const libsolver_factor *f, message *why)
{
    if (f->analysis && f->analysis->schur_size > 0)
        return FAIL(
            why, LIBSOLVER_INVALID,
            "the rows of the Schur complement are not eliminated: condense and expand instead");
    return LIBSOLVER_OK;
}

/* Whether there is something to ask. */
static libsolver_status check(const libsolver_factor *f, message *why)
{
    if (!f->usable)
        return FAIL(why, LIBSOLVER_INVALID, "there is no factor: the last factorization failed");
    if (f->analysis->schur_size == 0)
        return FAIL(why, LIBSOLVER_INVALID, "the analysis had no schur_rows");
    return LIBSOLVER_OK;
}

static libsolver_status told(const libsolver_factor *f, libsolver_status status, message *why)
{
    if (status == LIBSOLVER_OK)
        return f->report.zero > 0        ? LIBSOLVER_SINGULAR
               : f->report.perturbed > 0 ? LIBSOLVER_PERTURBED
                                         : LIBSOLVER_OK;
    if (!why->text[0])
        FAIL(why, status, "%s", libsolver_status_sentence(status));
    factor_message(f, why);
    return status;
}

static libsolver_status complement(const libsolver_factor *f, const libsolver_vectors *s,
                                   message *why)
{
    TRY(check(f, why));
    const int64_t size = f->analysis->schur_size;
    if (s->rows != size || s->columns != size || (unsigned)s->layout > LIBSOLVER_ROW_MAJOR ||
        s->ld < size || !s->values || s->type != f->analysis->type)
        return FAIL(why, LIBSOLVER_INVALID, "s is not %lld x %lld of the factor's type",
                    (long long)size, (long long)size);
    if (s->place != LIBSOLVER_HOST)
        return FAIL(why, LIBSOLVER_NOT_BUILT, "a Schur complement in device memory");
    return f->analysis->backend->schur_complement(f->numeric, s, why);
}

libsolver_status libsolver_schur_complement(const libsolver_factor *f, const libsolver_vectors *s)
{
    if (!f || !s)
        return LIBSOLVER_INVALID;
    message why = {""};
    return told(f, complement(f, s, &why), &why);
}

/* expand: the second half, otherwise the first. */
static libsolver_status half_solve(const libsolver_factor *f, libsolver_workspace *w, int expand,
                                   const libsolver_vectors *b, const libsolver_vectors *x,
                                   message *why)
{
    void *own = NULL;
    TRY(check(f, why));
    TRY(workspace_begin(f, w, b, x, &own, why));
    const libsolver_status status =
        f->analysis->backend->schur_solve(f->numeric, expand, own, b, x, why);
    workspace_end(f, w);
    return status;
}

libsolver_status libsolver_schur_condense(const libsolver_factor *f, libsolver_workspace *workspace,
                                          const libsolver_vectors *b, const libsolver_vectors *x)
{
    if (!f || !b || !x)
        return LIBSOLVER_INVALID;
    message why = {""};
    return told(f, half_solve(f, workspace, 0, b, x, &why), &why);
}

libsolver_status libsolver_schur_expand(const libsolver_factor *f, libsolver_workspace *workspace,
                                        const libsolver_vectors *x)
{
    if (!f || !x)
        return LIBSOLVER_INVALID;
    message why = {""};
    return told(f, half_solve(f, workspace, 1, x, x, &why), &why);
}
