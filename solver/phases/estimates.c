/* solver/phases/estimates.c: what is known of A and of solutions on request: determinant,
 * condition, forward errors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/phases/workspace.h"
#include <math.h>

static libsolver_status determinant(const libsolver_factor *f, libsolver_determinant_info *d,
                                    message *why)
{
    if (!d)
        return FAIL(why, LIBSOLVER_INVALID, "where the determinant is to go is NULL");
    *d = (libsolver_determinant_info){.log_abs = NAN, .phase_real = NAN, .phase_imaginary = NAN};
    TRY(factor_needed(f, why));
    return f->analysis->backend->determinant(f->numeric, &d->log_abs, &d->phase_real,
                                             &d->phase_imaginary, why);
}

libsolver_status libsolver_determinant(const libsolver_factor *f, libsolver_determinant_info *d)
{
    factor_settle(f);
    if (!f)
        return LIBSOLVER_INVALID;
    message why = {0};
    return factor_answer(f, determinant(f, d, &why), &why);
}

static libsolver_status condition(const libsolver_factor *f, libsolver_workspace *w,
                                  double *estimate, message *why)
{
    void *own = NULL;
    if (!estimate)
        return FAIL(why, LIBSOLVER_INVALID, "where the condition is to go is NULL");
    *estimate = NAN;
    TRY(schur_refused(f, why));
    TRY(workspace_begin(f, w, NULL, NULL, &own, why));
    libsolver_status status = LIBSOLVER_OK;
    if (f->report.zero > 0)
        *estimate = INFINITY;
    else
        status = f->analysis->backend->condition(f->numeric, own, estimate, why);
    workspace_give_back(f, w);
    return status;
}

libsolver_status libsolver_condition(const libsolver_factor *f, libsolver_workspace *workspace,
                                     double *estimate)
{
    factor_settle(f);
    if (!f)
        return LIBSOLVER_INVALID;
    message why = {0};
    return factor_answer(f, condition(f, workspace, estimate, &why), &why);
}

static libsolver_status forward_error(const libsolver_factor *f, libsolver_workspace *w,
                                      const libsolver_vectors *b, const libsolver_vectors *x,
                                      double *error, message *why)
{
    void *own = NULL;
    if (!b || !x || (!error && b->columns > 0))
        return FAIL(why, LIBSOLVER_INVALID, "%s NULL",
                    !b   ? "b is"
                    : !x ? "x is"
                         : "where the forward errors are to go is");
    TRY(schur_refused(f, why));
    TRY(workspace_begin(f, w, b, x, &own, why));
    for (int64_t j = 0; j < b->columns && f->report.zero > 0; j++)
        error[j] = INFINITY;
    libsolver_status status = LIBSOLVER_OK;
    if (f->report.zero == 0)
        status = f->analysis->backend->forward_error(f->numeric, own, b, x, error, why);
    workspace_give_back(f, w);
    return status;
}

libsolver_status libsolver_forward_error(const libsolver_factor *f, libsolver_workspace *workspace,
                                         const libsolver_vectors *b, const libsolver_vectors *x,
                                         double *error)
{
    factor_settle(f);
    if (!f)
        return LIBSOLVER_INVALID;
    message why = {0};
    return factor_answer(f, forward_error(f, workspace, b, x, error, &why), &why);
}
