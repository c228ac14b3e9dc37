/* solver/phases/factorize.c: a matrix that fits an analysis, and the factorization of its values
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/phases/factorize.h"
#include "solver/phases/host_view.h"
#include "solver/phases/workspace.h"

libsolver_status factor_check_matrix(libsolver_factor *f, const libsolver_matrix *a)
{
    const libsolver_analysis *s = f->analysis;
    host_view view;
    TRY(host_view_indices(f->context, a, &view, &f->last));
    const libsolver_status status = input_matches(&s->input, &view.a, &f->last);
    host_view_free(f->context, &view);
    TRY(status);
    if (a->type != s->type || a->symmetry != s->symmetry)
        return FAIL(&f->last, LIBSOLVER_PATTERN_MISMATCH,
                    "the type or symmetry is not the one that was analysed");
    if (!a->values && s->input.entries > 0)
        return FAIL(&f->last, LIBSOLVER_INVALID, "the matrix has no values");
    return LIBSOLVER_OK;
}

libsolver_status factor_factorize_values(libsolver_factor *f)
{
    const libsolver_analysis *s = f->analysis;
    const libsolver_options *o = &s->options;
    f->usable = 0;
    if (!f->is_on_device)
        s->backend->set_values(f->numeric, f->incoming);
    const backend_options how = {
        .positive_definite = o->kind == LIBSOLVER_KIND_SPD                ? 1
                             : o->kind != LIBSOLVER_KIND_AUTO             ? 0
                             : is_complex_symmetric(s->type, s->symmetry) ? 0
                                                                          : -1,
        .scaling = o->matching == LIBSOLVER_ON   ? BACKEND_MATCH
                   : s->pairs_need_scaling       ? BACKEND_MATCH_MILD
                   : o->scaling == LIBSOLVER_OFF ? BACKEND_UNSCALED
                                                 : BACKEND_EQUILIBRATE,
        .may_match = o->matching == LIBSOLVER_AUTO,
        .pivot_threshold = f->pivot_threshold,
        .delay_cap = o->delay_cap,
        .inertia_effort = (int)o->inertia_effort,
    };
    TRY(s->backend->factorize(f->numeric, &how, &f->report, &f->last));
    if (!f->workspace)
        TRY(workspace_create(f, 1, &f->workspace, &f->last));
    if (s->backend->confirm)
        TRY(s->backend->confirm(f->numeric, f->workspace->memory, &how, o->refine_steps,
                                factor_tolerance(f), &f->report, &f->last));
    f->usable = 1;
    if (f->report.zero > 0)
        return FAIL(&f->last, LIBSOLVER_SINGULAR, "%lld pivots are zero",
                    (long long)f->report.zero);
    return f->report.perturbed > 0 ? LIBSOLVER_PERTURBED : LIBSOLVER_OK;
}
