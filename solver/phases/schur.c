/* solver/phases/schur.c: the Schur complement of an index set, and solves around it
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/phases/workspace.h"

/* Whether there is something to ask. */
static libsolver_status check(const libsolver_factor *f, message *why)
{
    TRY(factor_needed(f, why));
    if (f->analysis->schur_size == 0)
        return FAIL(why, LIBSOLVER_INVALID, "the analysis had no schur_rows");
    return LIBSOLVER_OK;
}

static libsolver_status complement(const libsolver_factor *f, const libsolver_vectors *s,
                                   message *why)
{
    TRY(check(f, why));
    const int64_t size = f->analysis->schur_size;
    if (!s)
        return FAIL(why, LIBSOLVER_INVALID, "where the Schur complement is to go is NULL");
    if (s->rows != size || s->columns != size || (unsigned)s->layout > LIBSOLVER_ROW_MAJOR ||
        (unsigned)s->place > LIBSOLVER_DEVICE || s->ld < size || !s->values ||
        s->type != f->analysis->type)
        return FAIL(why, LIBSOLVER_INVALID, "s is not %lld x %lld of the factor's type",
                    (long long)size, (long long)size);
    TRY(reserved_check(s, why));
    return f->analysis->backend->schur_complement(f->numeric, s, why);
}

libsolver_status libsolver_schur_complement(const libsolver_factor *f, const libsolver_vectors *s)
{
    if (!f)
        return LIBSOLVER_INVALID;
    message why = {0};
    return factor_answer(f, complement(f, s, &why), &why);
}

/* expand: the second half, otherwise the first. */
static libsolver_status half_solve(const libsolver_factor *f, libsolver_workspace *w, int expand,
                                   const libsolver_vectors *b, const libsolver_vectors *x,
                                   message *why)
{
    void *own = NULL;
    TRY(check(f, why));
    if (!b || !x)
        return FAIL(why, LIBSOLVER_INVALID, "%s is NULL", b ? "x" : "b");
    TRY(workspace_begin(f, w, b, x, &own, why));
    const libsolver_status status =
        f->analysis->backend->schur_solve(f->numeric, expand, own, b, x, why);
    workspace_give_back(f, w);
    return status;
}

libsolver_status libsolver_schur_condense(const libsolver_factor *f, libsolver_workspace *workspace,
                                          const libsolver_vectors *b, const libsolver_vectors *x)
{
    if (!f)
        return LIBSOLVER_INVALID;
    message why = {0};
    return factor_answer(f, half_solve(f, workspace, 0, b, x, &why), &why);
}

libsolver_status libsolver_schur_expand(const libsolver_factor *f, libsolver_workspace *workspace,
                                        const libsolver_vectors *x)
{
    if (!f)
        return LIBSOLVER_INVALID;
    message why = {0};
    return factor_answer(f, half_solve(f, workspace, 1, x, x, &why), &why);
}
