/* solver/phases/estimates.c: what is known of A and of solutions on request: determinant,
 * condition, forward errors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/phases/objects.h"
#include <math.h>

/* The remark on everything that a factor answers. */
static libsolver_status remark(const libsolver_factor *f)
{
    return f->report.zero > 0        ? LIBSOLVER_SINGULAR
           : f->report.perturbed > 0 ? LIBSOLVER_PERTURBED
                                     : LIBSOLVER_OK;
}

/* Keeps the sentence on a failure. */
static libsolver_status told(const libsolver_factor *f, libsolver_status status, message *why)
{
    if (status == LIBSOLVER_OK)
        return remark(f);
    if (!why->text[0])
        FAIL(why, status, "%s", libsolver_status_sentence(status));
    factor_message(f, why);
    return status;
}

libsolver_status libsolver_determinant(const libsolver_factor *f,
                                       libsolver_determinant_info *determinant)
{
    if (!f || !determinant)
        return LIBSOLVER_INVALID;
    message why = {""};
    *determinant =
        (libsolver_determinant_info){.log_abs = NAN, .phase_real = NAN, .phase_imaginary = NAN};
    libsolver_status status = f->usable ? LIBSOLVER_OK
                                        : FAIL(&why, LIBSOLVER_INVALID,
                                               "there is no factor: the last factorization failed");
    if (status == LIBSOLVER_OK)
        status = f->analysis->backend->determinant(f->numeric, &determinant->log_abs,
                                                   &determinant->phase_real,
                                                   &determinant->phase_imaginary, &why);
    return told(f, status, &why);
}

libsolver_status libsolver_condition(const libsolver_factor *f, libsolver_workspace *workspace,
                                     double *condition)
{
    if (!f || !condition)
        return LIBSOLVER_INVALID;
    message why = {""};
    void *own = NULL;
    *condition = NAN;
    libsolver_status status = schur_refused(f, &why);
    if (status == LIBSOLVER_OK)
        status = workspace_begin(f, workspace, NULL, NULL, &own, &why);
    if (status == LIBSOLVER_OK) {
        if (f->report.zero > 0)
            *condition = INFINITY;
        else
            status = f->analysis->backend->condition(f->numeric, own, condition, &why);
        workspace_end(f, workspace);
    }
    return told(f, status, &why);
}

libsolver_status libsolver_forward_error(const libsolver_factor *f, libsolver_workspace *workspace,
                                         const libsolver_vectors *b, const libsolver_vectors *x,
                                         double *forward_error)
{
    if (!f || !b || !x || (!forward_error && b->columns > 0))
        return LIBSOLVER_INVALID;
    message why = {""};
    void *own = NULL;
    libsolver_status status = schur_refused(f, &why);
    if (status == LIBSOLVER_OK)
        status = workspace_begin(f, workspace, b, x, &own, &why);
    if (status == LIBSOLVER_OK) {
        for (int64_t j = 0; j < b->columns && f->report.zero > 0; j++)
            forward_error[j] = INFINITY;
        if (f->report.zero == 0)
            status =
                f->analysis->backend->forward_error(f->numeric, own, b, x, forward_error, &why);
        workspace_end(f, workspace);
    }
    return told(f, status, &why);
}
