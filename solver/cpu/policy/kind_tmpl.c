/* solver/cpu/policy/kind_tmpl.c: Cholesky or L D L^T, and what follows where the first does not do
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/cpu/policy/policy.h"

/* LDL^T with the signs that are expected of the pivots.  Elsewhere no pivot is put right, and
 * nothing is scaled for single precision: such a factor is made here. */
static libsolver_status factorize_signed(numeric *f, const backend_options *options,
                                         backend_report *report)
{
    backend_options o = *options;
    const backend_cholesky *there = o.scaling == BACKEND_MATCH || f->single ? NULL : f->elsewhere;
    libsolver_status status = LIBSOLVER_NOT_POSITIVE_DEFINITE;
    o.may_match = 0;
    if (there)
        status = NAME(cpu_attempt_elsewhere)(f, 0, &o, report);
    if (status == LIBSOLVER_NOT_POSITIVE_DEFINITE) {
        if (f->elsewhere)
            TRY(f->elsewhere->bring_values(f->elsewhere->user));
        status = NAME(cpu_attempt)(f, 0, &o, report);
    }
    TRY(status);
    return report->perturbed > 0 ? LIBSOLVER_OK : NAME(cpu_settle_doubt)(f, report);
}

/* Row of A with the first diagonal entry in elimination order that is eliminated and not positive,
 * -1 if there is none. */
static int64_t nonpositive_diagonal(const numeric *f)
{
    const pattern *a = &f->plan->a;
    for (int32_t j = 0; j < a->n; j++)
        if (!(scalar_real(f->value[a->start[j]]) > 0) && !plan_keeps_row(f->plan, j))
            return f->plan->part.perm[j];
    return -1;
}

/* Cholesky in mixed precision for a matrix that is known to be definite, when rounding has made a
 * pivot negative: with a larger diagonal, which makes a good preconditioner of a factor that could
 * not be had.  A matrix that fails with the largest is not definite. */
static libsolver_status attempt_shifted(numeric *f, const backend_options *options,
                                        backend_report *report)
{
    static const double shifts[] = {16 * FLT_EPSILON, 256 * FLT_EPSILON};
    libsolver_status status = LIBSOLVER_NOT_POSITIVE_DEFINITE;
    environment_log(f->plan->env,
                    "a pivot is not positive in single precision: Cholesky with a larger diagonal");
    for (int k = 0; k < 2 && status == LIBSOLVER_NOT_POSITIVE_DEFINITE; k++)
        status = NAME(cpu_attempt_in_single)(f, shifts[k], 1, options, report);
    report->perturbed = f->plan->a.n;
    return status;
}

/* Cholesky.  Where the matrix may be singular, or indefinite, as far as rounding errors let see, L
 * D L^T is to say, if it may: this is NOT_POSITIVE_DEFINITE too. */
static libsolver_status factorize_definite(numeric *f, const backend_options *options,
                                           backend_report *report)
{
    const int only = options->positive_definite > 0;
    libsolver_status status = NAME(cpu_attempt)(f, 1, options, report);
    if (status == LIBSOLVER_NOT_POSITIVE_DEFINITE && f->single && only)
        status = attempt_shifted(f, options, report);
    if (status != LIBSOLVER_OK || report->perturbed > 0)
        return status;
    if (f->single && report->on_device) { /* the factor would have to come from there */
        report->small = report->uncertain;
        return LIBSOLVER_OK;
    }
    TRY(NAME(cpu_settle_doubt)(f, report));
    if (report->uncertain == 0 || only || f->single)
        return LIBSOLVER_OK;
    environment_log(
        f->plan->env,
        "%lld pivots of the Cholesky factor are within rounding errors: L D L^T instead",
        (long long)report->uncertain);
    return LIBSOLVER_NOT_POSITIVE_DEFINITE;
}

/* KIND_AUTO: where the last values ended as L D L^T the next begin with it, until such a factor
 * comes out with all pivots clearly positive: the next may be Cholesky's.  Values that are definite
 * and indefinite by turns must not cost two factorizations each time: whenever that Cholesky fails,
 * twice as many such factors, in a row, are waited for as before, at most MOST_WAIT.  When more
 * than so many by Cholesky have followed one another, it has paid, and the count of failures begins
 * anew. */
#define MOST_WAIT 1024
static void remember_kind(numeric *f, int has_tried_cholesky, const backend_report *report)
{
    kind_memory *k = &f->history.last_kind;
    const int is_positive =
        report->negative + report->zero + report->uncertain + report->perturbed == 0;
    if (has_tried_cholesky && !report->cholesky)
        k->wait = k->wait == 0 ? 1 : k->wait < MOST_WAIT ? 2 * k->wait : MOST_WAIT;
    k->cholesky = report->cholesky ? k->cholesky + 1 : 0;
    k->positive_ldlt = !report->cholesky && is_positive ? k->positive_ldlt + 1 : 0;
    if (k->cholesky > k->wait)
        k->wait = 0;
    k->begins_with_ldlt =
        !report->cholesky && (k->positive_ldlt == 0 || k->positive_ldlt < k->wait);
}

/* Cholesky, unless the diagonal says at once that it is of no use. */
static libsolver_status try_cholesky(numeric *f, const backend_options *options,
                                     backend_report *report)
{
    report->failed_row = f->elsewhere ? -1 : nonpositive_diagonal(f);
    report->bad_diagonal = report->failed_row >= 0;
    return report->bad_diagonal ? LIBSOLVER_NOT_POSITIVE_DEFINITE
                                : factorize_definite(f, options, report);
}

libsolver_status NAME(cpu_factorize)(void *numeric_, const backend_options *options,
                                     backend_report *report, message *why)
{
    numeric *f = numeric_;
    const environment *env = f->plan->env;
    backend_options settings = *options;
    libsolver_status status = LIBSOLVER_NOT_POSITIVE_DEFINITE;
    const int begins_with_ldlt =
        options->positive_definite == 0 ||
        (options->positive_definite < 0 && f->history.last_kind.begins_with_ldlt);
    int has_tried_cholesky = 0;
    *report = (backend_report){.failed_row = -1};
    if (!begins_with_ldlt) {
        status = try_cholesky(f, options, report);
        has_tried_cholesky = !report->bad_diagonal;
        /* it is likely to be singular */
        settings.zero_level = report->uncertain > 0 ? RAISED_ZERO : 0;
        if (status == LIBSOLVER_NOT_POSITIVE_DEFINITE && options->positive_definite > 0)
            return FAIL(why, status, "the pivot of row %lld is not positive",
                        (long long)report->failed_row);
    }
    if (status == LIBSOLVER_NOT_POSITIVE_DEFINITE) {
        if (f->elsewhere && !f->plan->sign)
            TRY(f->elsewhere->bring_values(f->elsewhere->user));
        status = f->plan->sign ? factorize_signed(f, options, report)
                               : NAME(cpu_choose_scaling_and_threshold)(f, &settings, report);
    }
    if (status == LIBSOLVER_OK && f->single) {
        f->single->finish(f->factor, f->row_sum, f->order, report);
        f->entries = report->factor_nnz;
        report->in_single = 1;
    }
    if (status == LIBSOLVER_OK && options->positive_definite < 0)
        remember_kind(f, has_tried_cholesky, report);
    if (status == LIBSOLVER_OK)
        f->cycle = NAME(cpu_cycle_length)(f->plan, f->single || report->perturbed > 0);
    if (status == LIBSOLVER_OUT_OF_MEMORY)
        return FAIL(why, status, "the factorization wanted %lld more bytes",
                    (long long)env->memory.wanted);
    if (status == LIBSOLVER_CANCELLED)
        return FAIL(why, status, "the factorization was cancelled");
    return status;
}
