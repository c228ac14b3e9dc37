/* solver/phases/async.c: factors that are made without a wait, and what calls that want to know of
 * them find
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/phases/factorize.h"
#include "solver/phases/workspace.h"

/* ---- What has come of it --------------------------------------------------------------------- */

/* There is no factor. */
static void lose(libsolver_factor *f, libsolver_status status)
{
    f->usable = 0;
    f->status = status;
}

static void settle(libsolver_factor *f)
{
    backend_settled outcome;
    message why = {0};
    const libsolver_status status =
        f->analysis->backend->settle(f->numeric, &f->report, &outcome, &why);
    if (status != LIBSOLVER_OK) {
        f->has_values &= outcome != BACKEND_REFUSED;
        lose(f, status);
        factor_message(f, &why);
        return;
    }
    if (outcome == BACKEND_UNCHANGED)
        return;
    f->has_values = f->is_on_device = 1;
    f->usable = outcome == BACKEND_ADOPTED;
    f->status = outcome == BACKEND_ADOPTED ? LIBSOLVER_OK : factor_factorize_values(f);
}

void factor_settle(const libsolver_factor *f_)
{
    libsolver_factor *f = (libsolver_factor *)f_; /* it has this factor already */
    if (!f || !f->unsettled)
        return;
    omp_set_lock(&f->settling);
    if (f->unsettled) {
        settle(f);
        f->unsettled = f->is_captured;
    }
    omp_unset_lock(&f->settling);
}

/* ---- Launches -------------------------------------------------------------------------------- */

static libsolver_status refactorize(libsolver_factor *f, const libsolver_matrix *a,
                                    libsolver_status *status)
{
    message *why = &f->last;
    int is_captured = 0;
    if (!f->numeric)
        return FAIL(why, LIBSOLVER_INVALID, "there is no analysis: it failed");
    const backend *on = f->analysis->backend;
    if (!on->refactorize_async)
        return FAIL(why, LIBSOLVER_NOT_BUILT,
                    "factorizations that are not waited for need the GPU backend");
    if (!a)
        return FAIL(why, LIBSOLVER_INVALID, "the matrix to be factorized is NULL");
    if (a->place != LIBSOLVER_DEVICE)
        return FAIL(why, LIBSOLVER_INVALID, "the values are not in device memory");
    if (a->pointers || a->indices)
        return FAIL(why, LIBSOLVER_INVALID,
                    "indices cannot be compared without a wait: they are to be NULL");
    TRY(factor_check_matrix(f, a));
    if (!f->workspace)
        return FAIL(why, LIBSOLVER_NOT_BUILT,
                    "there has been no factor yet: the first is made by a call that waits");
    const libsolver_status launched =
        on->refactorize_async(f->numeric, a->values, status, &is_captured, why);
    if (launched == LIBSOLVER_NOT_BUILT)
        return launched;
    f->is_captured |= is_captured;
    if (launched == LIBSOLVER_OK) {
        f->unsettled = 1;
        f->usable = 1;           /* until somebody wants to know */
        f->report.perturbed = 0; /* of a factorization that has failed */
        return launched;
    }
    f->has_values = f->is_on_device = 0;
    f->unsettled = f->is_captured;
    lose(f, launched);
    return launched;
}

libsolver_status libsolver_refactorize_async(libsolver_factor *f, const libsolver_matrix *a,
                                             libsolver_status *status)
{
    if (!f)
        return LIBSOLVER_INVALID;
    message_clear(&f->last);
    return refactorize(f, a, status);
}
