/* solver/phases/query.c: what is known of a factor
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/phases/objects.h"
#include <string.h>

static libsolver_status inertia(const libsolver_factor *f, libsolver_inertia_counts *counts,
                                message *why)
{
    if (!counts)
        return FAIL(why, LIBSOLVER_INVALID, "where the inertia is to go is NULL");
    TRY(factor_needed(f, why));
    if (is_complex_symmetric(f->analysis->type, f->analysis->symmetry))
        return FAIL(why, LIBSOLVER_INVALID, "a complex symmetric matrix has no inertia");
    const backend_report *r = &f->report;
    counts->positive = r->positive;
    counts->negative = r->negative;
    counts->zero = r->zero;
    counts->certain = r->uncertain == 0 && r->perturbed == 0;
    counts->smallest_pivot = r->smallest;
    return LIBSOLVER_OK;
}

libsolver_status libsolver_inertia(const libsolver_factor *f, libsolver_inertia_counts *counts)
{
    factor_settle(f);
    if (!f)
        return LIBSOLVER_INVALID;
    message why = {0};
    return factor_outcome(f, inertia(f, counts, &why), &why);
}

/* Where solves in the factor's own workspace run; without a factor, where they were asked for. */
static libsolver_backend solving_backend(const libsolver_factor *f)
{
    int (*on_device)(const void *, const void *) =
        f->analysis ? f->analysis->backend->solves_on_device : NULL;
    if (f->usable && f->workspace)
        return on_device && on_device(f->numeric, f->workspace->memory) ? LIBSOLVER_BACKEND_GPU
                                                                        : LIBSOLVER_BACKEND_CPU;
    return f->context->backend == LIBSOLVER_BACKEND_GPU ? LIBSOLVER_BACKEND_GPU
                                                        : LIBSOLVER_BACKEND_CPU;
}

void libsolver_info(const libsolver_factor *f, libsolver_factor_info *info)
{
    factor_settle(f);
    memset(info, 0, sizeof *info);
    if (!f)
        return;
    const memory *m = &f->context->env.memory;
    const backend_report *r = &f->report;
    info->status = f->status;
    info->kind = !f->usable    ? LIBSOLVER_KIND_AUTO
                 : r->cholesky ? LIBSOLVER_KIND_SPD
                 : f->analysis->options.kind == LIBSOLVER_KIND_QUASI_DEFINITE
                     ? LIBSOLVER_KIND_QUASI_DEFINITE
                     : LIBSOLVER_KIND_INDEFINITE;
    if (f->analysis)
        info->precision = r->in_single
                              ? (f->analysis->type == LIBSOLVER_D ? LIBSOLVER_S : LIBSOLVER_C)
                              : f->analysis->type;
    info->backend_factorize = r->on_device ? LIBSOLVER_BACKEND_GPU : LIBSOLVER_BACKEND_CPU;
    info->backend_solve = solving_backend(f);
    info->cpu_reason = r->cpu_reason;
    info->device_bytes = r->device_bytes;
    info->threads = f->context->env.threads;
    info->factor_nnz = r->factor_nnz;
    info->fronts = r->fronts;
    info->two_by_two = r->two_by_two;
    info->delayed = r->delayed;
    info->perturbed = r->perturbed;
    info->growths = r->growths;
    info->failed_row = f->status == LIBSOLVER_NOT_POSITIVE_DEFINITE ? r->failed_row : -1;
    info->host_bytes = m->in_use;
    info->host_bytes_peak = m->peak;
    info->allocations = m->calls;
    info->analysis_seconds = f->analysis_seconds;
}

/* Whether L and D can be read. */
static libsolver_status check_export(const libsolver_factor *f, message *why)
{
    TRY(factor_needed(f, why));
    if (f->analysis->schur_size > 0)
        return FAIL(why, LIBSOLVER_INVALID,
                    "the factor of a matrix with a Schur complement cannot be read");
    return LIBSOLVER_OK;
}

libsolver_status libsolver_get_factor_l(const libsolver_factor *f, int64_t *entries,
                                        int64_t *pointers, int64_t *indices, void *values,
                                        int64_t *order)
{
    factor_settle(f);
    if (!f)
        return LIBSOLVER_INVALID;
    message why = {0};
    libsolver_status status =
        entries ? check_export(f, &why)
                : FAIL(&why, LIBSOLVER_INVALID, "where the number of entries is to go is NULL");
    if (status == LIBSOLVER_OK)
        status = f->analysis->backend->export_l(f->numeric, entries, pointers, indices, values,
                                                order, &why);
    return factor_outcome(f, status, &why);
}

libsolver_status libsolver_get_factor_d(const libsolver_factor *f, void *diagonal,
                                        void *subdiagonal)
{
    factor_settle(f);
    if (!f)
        return LIBSOLVER_INVALID;
    message why = {0};
    libsolver_status status = diagonal && subdiagonal ? check_export(f, &why)
                                                      : FAIL(&why, LIBSOLVER_INVALID,
                                                             "where the %s of D is to go is NULL",
                                                             diagonal ? "subdiagonal" : "diagonal");
    if (status == LIBSOLVER_OK)
        status = f->analysis->backend->export_d(f->numeric, diagonal, subdiagonal, &why);
    return factor_outcome(f, status, &why);
}

libsolver_status libsolver_get_scaling(const libsolver_factor *f, void *scaling)
{
    factor_settle(f);
    if (!f)
        return LIBSOLVER_INVALID;
    message why = {0};
    libsolver_status status =
        scaling ? factor_needed(f, &why)
                : FAIL(&why, LIBSOLVER_INVALID, "where the scaling is to go is NULL");
    if (status == LIBSOLVER_OK)
        status = f->analysis->backend->export_scaling(f->numeric, scaling, &why);
    return factor_outcome(f, status, &why);
}
