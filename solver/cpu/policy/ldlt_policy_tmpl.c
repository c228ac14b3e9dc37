/* solver/cpu/policy/ldlt_policy_tmpl.c: LDL^T by the scaling, threshold and level of zero that
 * leave least in doubt
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Where the first attempt leaves the signs of pivots in doubt, or zero pivots of which it is not
 * known that they are zeros, others may tell: with a higher level of what counts as zero, with
 * scaling by matching, with a larger threshold.  What they came to is kept, so that the next values
 * need not be searched for anew. */
#include "solver/cpu/policy/policy.h"

/* The pivot threshold of the first attempt when the caller leaves it open. */
#define FIRST_THRESHOLD 0.01

/* The pivot threshold when a smaller one has left pivots in doubt: |L| <= 2 keeps rounding errors
 * as small as they can be. */
#define CAREFUL_THRESHOLD 0.5

/* Most columns that are delayed to one front when they would outgrow the space for them. */
#define DELAY_CAP 128

/* Whether nothing is left to ask: zeros that are known to be such are no doubt. */
static int is_settled(const numeric *f, const backend_report *report)
{
    /* in mixed precision, which is for speed, a factor in double would tell */
    return f->single ? report->zero == 0 : report->uncertain == 0;
}

/* Whether other pivots may tell more: some small ones leave the inertia in doubt.  Where only
 * zeros are in doubt, or what is as small, another attempt would turn them into small pivots. */
static int is_worth_pivoting_again(const numeric *f, const backend_report *report)
{
    return !is_settled(f, report) && !f->single && report->perturbed == 0 &&
           report->small > f->attempt.tiny;
}

/* At pivots in doubt, the tiny ones being taken for zeros if that settles it: at once where it has
 * for former values, not where it has not and the settings are those that ended their search. */
static libsolver_status look_closer(numeric *f, const backend_options *settings,
                                    backend_report *report)
{
    numeric_history *h = &f->history;
    const int may_demote = f->attempt.tiny > 0 && !f->single &&
                           settings->inertia_effort != LIBSOLVER_EFFORT_NONE,
              comes_first = may_demote && h->demotion == DEMOTION_HELPS;
    report->small = report->uncertain;
    if (comes_first) {
        TRY(NAME(cpu_demote)(f, report));
        if (is_settled(f, report))
            return LIBSOLVER_OK;
        h->demotion = DEMOTION_IS_VAIN;
    }
    TRY(NAME(cpu_settle_doubt)(f, report));
    if (is_settled(f, report) || !may_demote || h->demotion != UNKNOWN_ZEROS)
        return LIBSOLVER_OK;
    TRY(NAME(cpu_demote)(f, report));
    h->demotion = is_settled(f, report) ? DEMOTION_HELPS : DEMOTION_IS_VAIN;
    return LIBSOLVER_OK;
}

/* LDL^T by these settings, with capped delays if it must be; pivots in doubt are looked at more
 * closely. */
static libsolver_status attempt(numeric *f, backend_options *settings, backend_report *report)
{
    libsolver_status status = NAME(cpu_attempt)(f, 0, settings, report);
    if (f->is_matched)
        settings->may_match = 0;
    if (status == TOO_MANY_DELAYS && !settings->may_match) {
        environment_log(f->plan->env,
                        "too many delayed pivots: at most %d go to a front, others are perturbed",
                        DELAY_CAP);
        settings->delay_cap = DELAY_CAP;
        status = NAME(cpu_attempt)(f, 0, settings, report);
    }
    if (status == LIBSOLVER_OK && report->perturbed == 0)
        status = look_closer(f, settings, report);
    return status;
}

static void use_matching(backend_options *settings)
{
    settings->scaling = BACKEND_MATCH;
    settings->may_match = 0;
}

static void log_doubt(const numeric *f, const backend_report *report, const char *what_now)
{
    environment_log(f->plan->env, "%lld zero pivots, %lld in doubt: %s", (long long)report->zero,
                    (long long)report->uncertain, what_now);
}

/* With the other level of zero. */
static libsolver_status try_other_zero(numeric *f, backend_options *settings,
                                       backend_report *report)
{
    log_doubt(f, report,
              settings->zero_level > 0 ? "fewer pivots count as zero"
                                       : "more pivots count as zero");
    settings->zero_level = settings->zero_level > 0 ? 0 : RAISED_ZERO;
    return attempt(f, settings, report);
}

/* With scaling by matching instead of equilibration, unless that leaves more zeros or, where any
 * number of attempts is allowed, more small pivots, which magnify errors where zeros do not. */
static libsolver_status try_matching(numeric *f, backend_options *settings, backend_report *report)
{
    const backend_scaling scaling = settings->scaling;
    const int64_t zero = report->zero, small = report->small;
    log_doubt(f, report, "scaling by matching instead of equilibration");
    f->history.demotion = UNKNOWN_ZEROS;
    settings->zero_level = 0;
    use_matching(settings);
    TRY(attempt(f, settings, report));
    const int is_worse =
        report->zero > zero ||
        (settings->inertia_effort == LIBSOLVER_EFFORT_FULL && report->small > small);
    if (!is_worse || is_settled(f, report))
        return LIBSOLVER_OK;
    log_doubt(f, report, "equilibration once more");
    settings->scaling = scaling;
    return attempt(f, settings, report);
}

static libsolver_status try_threshold(numeric *f, backend_options *settings, backend_report *report)
{
    log_doubt(f, report, "pivoting again with threshold 0.5");
    f->history.demotion = UNKNOWN_ZEROS;
    settings->pivot_threshold = CAREFUL_THRESHOLD;
    settings->zero_level = 0;
    settings->may_match = 0;
    return attempt(f, settings, report);
}

/* Whether the caller wants an attempt after so many. */
static int may_try(const backend_options *options, int attempts)
{
    return options->inertia_effort == LIBSOLVER_EFFORT_FULL ||
           (options->inertia_effort == LIBSOLVER_EFFORT_ONE && attempts < 2);
}

/* LDL^T, again by other settings when it comes out badly.  A scaling by matching that has helped is
 * the first choice of the next factorization. */
static libsolver_status search_settings(numeric *f, const backend_options *options,
                                        backend_report *report)
{
    const int is_matched = options->may_match && f->history.matching_helped;
    numeric_history *h = &f->history;
    backend_options settings = *options;
    int helps = is_matched, attempts = 1;
    if (is_matched)
        use_matching(&settings);
    if (options->inertia_effort == LIBSOLVER_EFFORT_NONE)
        settings.zero_level = 0;         /* an attempt without it would have to follow */
    if (h->demotion == DEMOTION_IS_VAIN) /* for what was searched last */
        h->demotion = UNKNOWN_ZEROS;
    libsolver_status status = attempt(f, &settings, report);
    if (status == TOO_MANY_DELAYS) {
        environment_log(f->plan->env,
                        "too many delayed pivots: scaling by matching instead of equilibration");
        use_matching(&settings);
        helps = 1;
        status = attempt(f, &settings, report);
    }
    if (status == LIBSOLVER_OK && may_try(options, attempts) && !is_settled(f, report) &&
        settings.zero_level > 0 && options->inertia_effort == LIBSOLVER_EFFORT_ONE) {
        settings.zero_level = 0;
        status = attempt(f, &settings, report);
        attempts++;
    }
    if (status == LIBSOLVER_OK && may_try(options, attempts) && !is_settled(f, report) &&
        settings.may_match) {
        status = try_matching(f, &settings, report);
        helps = status == LIBSOLVER_OK && is_settled(f, report);
        attempts++;
    }
    if (status == LIBSOLVER_OK && options->inertia_effort == LIBSOLVER_EFFORT_FULL &&
        is_worth_pivoting_again(f, report)) {
        status = try_other_zero(f, &settings, report);
        attempts++;
    }
    if (status == LIBSOLVER_OK && may_try(options, attempts) &&
        is_worth_pivoting_again(f, report) && settings.pivot_threshold < CAREFUL_THRESHOLD) {
        status = try_threshold(f, &settings, report);
        attempts++;
    }
    /* what it made zero is not known to be */
    if (status == LIBSOLVER_OK && settings.zero_level > 0 && !is_settled(f, report)) {
        settings.zero_level = 0;
        status = attempt(f, &settings, report);
    }
    f->history.matching_helped = helps;
    const int is_common = attempts == 1 && is_settled(f, report) &&
                          settings.delay_cap == options->delay_cap && settings.zero_level == 0;
    f->history.last_search =
        (search_end){.was_long = status == LIBSOLVER_OK && !is_common && !f->single,
                     .last = settings,
                     .zero = report->zero,
                     .uncertain = report->uncertain,
                     .perturbed = report->perturbed};
    return status;
}

/* By the settings to which the last values were brought in the end.  *is_enough: they leave no more
 * in doubt than then. */
static libsolver_status repeat_last(numeric *f, backend_report *report, int *is_enough)
{
    const search_end *before = &f->history.last_search;
    backend_options settings = before->last;
    const libsolver_status status = attempt(f, &settings, report);
    *is_enough = status == LIBSOLVER_OK ? report->uncertain <= before->uncertain &&
                                              report->perturbed <= before->perturbed &&
                                              (report->zero == 0 || report->zero == before->zero)
                                        : status != TOO_MANY_DELAYS;
    /* without any doubt the cheaper settings come first again */
    if (status == LIBSOLVER_OK && *is_enough && report->uncertain == 0 && report->zero == 0)
        f->history.last_search.was_long = 0;
    return status;
}

/* As the last values ended if that was a long search, otherwise by a new one. */
static libsolver_status search_or_repeat(numeric *f, const backend_options *options,
                                         backend_report *report)
{
    int is_enough = 0;
    if (!f->history.last_search.was_long)
        return search_settings(f, options, report);
    const libsolver_status status = repeat_last(f, report, &is_enough);
    if (is_enough)
        return status;
    log_doubt(f, report, "not as before");
    return search_settings(f, options, report);
}

/* The lower threshold, once.  *is_enough: it leaves nothing in doubt that others might tell. */
static libsolver_status try_lower(numeric *f, const backend_options *options,
                                  backend_report *report, int *is_enough)
{
    backend_options settings = *options;
    settings.pivot_threshold = POLICY_LOWER_THRESHOLD;
    settings.may_lower = 0;
    settings.zero_level = 0;
    if (settings.may_match && f->history.matching_helped)
        use_matching(&settings);
    const libsolver_status status = attempt(f, &settings, report);
    *is_enough = status == LIBSOLVER_OK ? (is_settled(f, report) && report->perturbed == 0) ||
                                              options->inertia_effort == LIBSOLVER_EFFORT_NONE
                                        : status != TOO_MANY_DELAYS;
    return status;
}

/* The threshold is left to us.  The first one will do unless it delays so many pivots that the work
 * multiplies; then the lower one, unless that multiplies it too, as where columns wait for entries
 * and not for larger ones, or leaves pivots in doubt.  What has come of it is kept. */
static libsolver_status adapt_threshold(numeric *f, backend_options *options,
                                        backend_report *report)
{
    numeric_history *h = &f->history;
    int is_enough = 0;
    options->pivot_threshold = FIRST_THRESHOLD;
    options->may_lower = h->lower == UNKNOWN_DELAYS;
    if (h->lower != LOWER_HELPS) {
        const libsolver_status status = search_or_repeat(f, options, report);
        if (status != TOO_MUCH_WORK)
            return status;
        environment_log(f->plan->env,
                        "delayed pivots multiply the work: pivoting with threshold %g instead",
                        POLICY_LOWER_THRESHOLD);
        h->last_search.was_long = 0;
    }
    const libsolver_status status = try_lower(f, options, report, &is_enough);
    h->lower = is_enough ? LOWER_HELPS : LOWER_IS_VAIN;
    if (is_enough)
        return status;
    environment_log(f->plan->env, "threshold %g again: the lower one %s", FIRST_THRESHOLD,
                    status == LIBSOLVER_OK ? "leaves pivots in doubt" : "delays as many");
    options->may_lower = 0;
    if (options->inertia_effort == LIBSOLVER_EFFORT_ONE && status == LIBSOLVER_OK)
        options->inertia_effort = LIBSOLVER_EFFORT_NONE; /* this is the one more */
    return search_or_repeat(f, options, report);
}

libsolver_status NAME(cpu_choose_scaling_and_threshold)(numeric *f, const backend_options *asked,
                                                        backend_report *report)
{
    backend_options options = *asked;
    if (f->history.asked_threshold != asked->pivot_threshold) {
        f->history.last_search.was_long = 0;
        f->history.lower = UNKNOWN_DELAYS;
    }
    f->history.asked_threshold = asked->pivot_threshold;
    return asked->pivot_threshold > 0 ? search_or_repeat(f, &options, report)
                                      : adapt_threshold(f, &options, report);
}
