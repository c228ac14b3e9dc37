/* solver/cpu/means_tmpl.c: LDL^T by the scaling and threshold that leave least in doubt
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * What the first attempt leaves in doubt others may tell: with scaling by matching, then with a larger threshold.  What they came
 * to is kept, so that the next values need not be searched for anew. */
#include "solver/cpu/numeric.h"

/* The pivot threshold when a smaller one has left pivots whose sign is uncertain. */
#define CAREFUL_THRESHOLD 0.5

/* Most columns that are delayed to one front when they would outgrow the space for them. */
#define DELAY_CAP 128

typedef struct search {
    int attempts;
    backend_options means;  /* of the last attempt */
    int is_clear;           /* an attempt has left nothing uncertain, ... */
    backend_options by;     /* ... the first of them by these means, ... */
    int64_t zero, positive; /* ... and this came out */
    int is_split;           /* of another such attempt something else did */
    int is_confirmed;       /* the last attempt and this one agree */
} search;

/* Pivots whose sign another attempt may tell; in mixed precision, which is for speed, a factor in double would. */
static int is_uncertain(const numeric *f, const backend_report *report)
{
    return report->uncertain > 0 && !f->single;
}

static int is_doubtful(const numeric *f, const backend_report *report)
{
    return is_uncertain(f, report) || report->zero > 0;
}

/* LDL^T, with capped delays if it must be. */
static libsolver_status attempt(numeric *f, search *h, backend_report *report)
{
    libsolver_status status = NAME(cpu_attempt)(f, 0, &h->means, report);
    if (status == TOO_MANY_DELAYS && !h->means.may_match) {
        environment_log(f->plan->env,
                        "too many delayed pivots: at most %d go to a front, others are perturbed", DELAY_CAP);
        h->means.delay_cap = DELAY_CAP;
        status = NAME(cpu_attempt)(f, 0, &h->means, report);
    }
    h->attempts += status == LIBSOLVER_OK;
    if (status == LIBSOLVER_OK && report->uncertain == 0 && !h->is_clear) {
        h->is_clear = 1;
        h->by = h->means;
        h->zero = report->zero;
        h->positive = report->positive;
    }
    return status;
}

/* One more attempt.  A pivot that is zero may only be small beside what was added to its row: zeros count as certain only
 * when two attempts by different means agree, and no other finds itself as clear but different. */
static libsolver_status attempt_again(numeric *f, search *h, backend_report *report)
{
    const backend_report before = *report;
    TRY(attempt(f, h, report));
    if (report->uncertain > 0)
        return LIBSOLVER_OK;
    const int is_as_clear = report->zero == h->zero && report->positive == h->positive;
    const int is_other =
        h->means.scaling != h->by.scaling || h->means.pivot_threshold != h->by.pivot_threshold;
    h->is_split |= !is_as_clear;
    h->is_confirmed = is_as_clear && is_other && !h->is_split;
    if (report->zero > 0 && !h->is_confirmed &&
        (report->zero != before.zero || report->positive != before.positive))
        report->uncertain = 1;
    return LIBSOLVER_OK;
}

static void use_matching(search *h)
{
    h->means.scaling = BACKEND_MATCH;
    h->means.may_match = 0;
}

/* After an attempt by equilibration with zero or uncertain pivots: by matching, unless that leaves more zeros. */
static libsolver_status try_matching(numeric *f, search *h, backend_report *report)
{
    const backend_scaling scaling = h->means.scaling;
    const int64_t zero = report->zero;
    use_matching(h);
    TRY(attempt_again(f, h, report));
    if (report->zero <= zero)
        return LIBSOLVER_OK;
    environment_log(f->plan->env, "%lld zero pivots: equilibration once more", (long long)report->zero);
    h->means.scaling = scaling;
    return attempt_again(f, h, report);
}

/* Zeros that one attempt alone has found. */
static void doubt_zeros(const numeric *f, backend_report *report)
{
    if (report->zero > 0 && report->uncertain == 0 && !f->single)
        report->uncertain = 1;
}

/* What the next values begin with. */
static void keep_end(numeric *f, const search *h, const backend_report *report)
{
    f->last_search =
        (search_end){.is_doubtful = is_uncertain(f, report),
                     .is_confirmed = report->zero > 0 && report->uncertain == 0 && h->is_confirmed,
                     .first = h->by,
                     .last = h->means,
                     .zero = report->zero,
                     .uncertain = report->uncertain,
                     .perturbed = report->perturbed};
}

/* LDL^T, again with other means when it comes out badly.  A scaling by matching that has helped is the first choice of the
 * next factorization. */
static libsolver_status search_means(numeric *f, const backend_options *options, backend_report *report)
{
    const environment *env = f->plan->env;
    const int is_matched = options->may_match && f->matching_helped;
    search h = {.means = *options};
    int helps = is_matched;
    if (is_matched)
        use_matching(&h);
    libsolver_status status = attempt(f, &h, report);
    if (status == TOO_MANY_DELAYS) {
        environment_log(env, "too many delayed pivots: scaling by matching instead of equilibration");
        use_matching(&h);
        helps = 1;
        status = attempt(f, &h, report);
    }
    if (status == LIBSOLVER_OK && is_doubtful(f, report) && h.means.may_match) {
        environment_log(
            env, "%lld zero pivots, %lld of uncertain sign: scaling by matching instead of equilibration",
            (long long)report->zero, (long long)report->uncertain);
        status = try_matching(f, &h, report);
        helps = status == LIBSOLVER_OK && !is_doubtful(f, report);
    }
    const int is_open = is_uncertain(f, report) || (is_matched && report->zero > 0 && !f->single);
    if (status == LIBSOLVER_OK && is_open && report->perturbed == 0 &&
        h.means.pivot_threshold < CAREFUL_THRESHOLD) {
        /* |L| <= 2 keeps rounding errors as small as they can be, which tells most zeros from small pivots */
        environment_log(env, "%lld zero pivots, %lld of uncertain sign: pivoting again with threshold %g",
                        (long long)report->zero, (long long)report->uncertain, CAREFUL_THRESHOLD);
        h.means.pivot_threshold = CAREFUL_THRESHOLD;
        h.means.may_match = 0;
        status = attempt_again(f, &h, report);
    }
    if (h.attempts == 1 && options->may_match)
        doubt_zeros(f, report);
    f->matching_helped = helps;
    f->last_search = (search_end){0};
    if (status == LIBSOLVER_OK && options->may_match)
        keep_end(f, &h, report);
    return status;
}

/* The attempt that left pivots uncertain whatever else was tried, alone if it leaves no more than that. */
static libsolver_status repeat_last(numeric *f, backend_report *report, int *is_enough)
{
    const search_end *before = &f->last_search;
    search h = {.means = before->last};
    const libsolver_status status = attempt(f, &h, report);
    *is_enough = status == LIBSOLVER_OK
                     ? report->uncertain <= before->uncertain && report->perturbed <= before->perturbed &&
                           (report->zero == 0 || report->zero == before->zero)
                     : status != TOO_MANY_DELAYS;
    if (status == LIBSOLVER_OK && *is_enough) {
        doubt_zeros(f, report);
        f->last_search.is_doubtful =
            is_uncertain(f, report); /* once certain, the cheaper means come first again */
    }
    return status;
}

/* The two attempts that agreed on the zeros among the last values, if these have as many and they agree again. */
static libsolver_status repeat_both(numeric *f, backend_report *report, int *is_enough)
{
    search h = {.means = f->last_search.first};
    libsolver_status status = attempt(f, &h, report);
    *is_enough =
        status == LIBSOLVER_OK ? report->uncertain == 0 && report->zero == 0 : status != TOO_MANY_DELAYS;
    if (status != LIBSOLVER_OK || *is_enough || report->uncertain > 0)
        return status;
    environment_log(f->plan->env, "%lld zero pivots, 0 of uncertain sign: counted again as those before",
                    (long long)report->zero);
    h.means = f->last_search.last;
    status = attempt_again(f, &h, report);
    *is_enough = status == LIBSOLVER_OK ? h.is_confirmed : status != TOO_MANY_DELAYS;
    return status;
}

libsolver_status NAME(cpu_find_means)(numeric *f, const backend_options *options, backend_report *report)
{
    const int is_doubtful_end = f->last_search.is_doubtful, is_confirmed = f->last_search.is_confirmed;
    int is_enough = 0;
    if (!options->may_match || !(is_doubtful_end || is_confirmed))
        return search_means(f, options, report);
    const libsolver_status status =
        is_confirmed ? repeat_both(f, report, &is_enough) : repeat_last(f, report, &is_enough);
    if (is_enough)
        return status;
    environment_log(f->plan->env, "%lld zero pivots, %lld of uncertain sign: not as before",
                    (long long)report->zero, (long long)report->uncertain);
    return search_means(f, options, report);
}
