/* solver/cpu/factor/elsewhere_tmpl.c: factors that another backend makes, by Cholesky or with
 * expected signs: their shape here, and room for them once the host wants them
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/cpu/factor/numeric.h"

void NAME(cpu_set_cholesky)(void *numeric_, const backend_cholesky *calls)
{
    numeric *f = numeric_;
    f->elsewhere = calls;
    if (f->single)
        f->single->backend->set_cholesky(f->factor, calls);
}

/* What is known of a factor without its values: that of the plan.  A Schur complement stays where
 * the factor is made. */
static void describe(numeric *f)
{
    const cpu_plan *plan = f->plan;
    f->entries = 0;
    for (int32_t s = 0; s < plan->part.supernodes; s++) {
        node *v = &f->node[s];
        const int64_t p = plan_pivots(plan, s) - (s == plan->schur_node ? plan->schur_size : 0);
        v->m = plan_rows(plan, s);
        v->k = v->p = (int32_t)p;
        v->packed = 0;
        v->panel = v->d = v->e = NULL;
        v->index = plan->part.row + plan->part.row_start[s];
        v->up = NULL;
        f->entries += p * (p + 1) / 2 + p * (v->m - p);
    }
    for (int32_t k = 0; k < plan->a.n; k++)
        f->order[k] = k;
    for (int32_t k = 0; k < plan->a.n && f->is_inner; k++)
        f->scale[k] = 1;
    f->zero_pivots = 0;
    f->is_elsewhere = 1;
}

static int64_t count_negative(const cpu_plan *plan)
{
    int64_t negative = 0;
    for (int32_t k = 0; k < plan->schur_first && plan->sign; k++)
        negative += plan->sign[k] < 0;
    return negative;
}

libsolver_status NAME(cpu_attempt_elsewhere)(numeric *f, double shift,
                                             const backend_options *options, backend_report *report)
{
    const cholesky_request request = {.scaling = options->scaling,
                                      .in_single = f->is_inner,
                                      .shift = shift,
                                      .doubt_level = numeric_doubt_level(f->plan)};
    *report = (backend_report){.failed_row = -1, .growths = report->growths};
    TRY(NAME(cpu_plan_layout)(f, !f->plan->sign, report));
    if (!f->is_elsewhere)
        describe(f);
    TRY(f->elsewhere->factorize(f->elsewhere->user, &request, report));
    report->cholesky = f->cholesky;
    report->on_device = 1;
    report->negative = count_negative(f->plan);
    report->positive = f->plan->schur_first - report->negative;
    report->factor_nnz = f->entries;
    report->fronts = f->plan->part.supernodes;
    return LIBSOLVER_OK;
}

static libsolver_status copied(const numeric *f, libsolver_status status, message *why)
{
    if (status == LIBSOLVER_OUT_OF_MEMORY)
        return NO_MEMORY(f->plan->env, "a copy of the factor", why);
    if (status == LIBSOLVER_CANCELLED)
        return FAIL(why, status, "the copy of the factor was cancelled");
    return status;
}

libsolver_status NAME(cpu_take_scaling)(void *numeric_, backend_scaling scaling, const void *scale,
                                        message *why)
{
    numeric *f = numeric_;
    if (!scale)
        return copied(f, NAME(cpu_scale)(f, scaling), why);
    NAME(cpu_scale_by)(f, scale);
    return LIBSOLVER_OK;
}

libsolver_status NAME(cpu_take_factor)(void *numeric_, void **panel, void **d, void **e,
                                       message *why)
{
    numeric *f = numeric_;
    const partition *part = &f->plan->part;
    backend_report unused = {0};
    if (f->single)
        return f->single->backend->take_factor(f->factor, panel, d, e, why);
    libsolver_status status = NAME(cpu_layout)(f, f->cholesky, &unused);
    for (int32_t s = 0; s < part->supernodes && status == LIBSOLVER_OK; s++) {
        node *v = &f->node[s];
        status = NAME(cpu_place_node)(f, s, v->m, v->k);
        panel[s] = v->panel;
        d[s] = v->d;
        e[s] = v->e;
        v->index = part->row + part->row_start[s]; /* no column is delayed */
        v->up = NULL;
    }
    return copied(f, status, why);
}
