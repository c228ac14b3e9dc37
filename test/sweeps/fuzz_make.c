/* test/sweeps/fuzz_make.c: calls that make factors, and make them again
 * SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz_calls.h"
#include <math.h>
#include <string.h>

static int is_injected(const fuzz_session *s, libsolver_status status)
{
    return (status == LIBSOLVER_OUT_OF_MEMORY && s->refused > 0) ||
           (status == LIBSOLVER_CANCELLED && s->cancelled > 0);
}

/* Without a factor of its own factor_matrix has nothing to say it with. */
static int has_message(const fuzz_session *s)
{
    return session_message(s)[0] || (s->is_simple && !s->factor);
}

libsolver_status attempt(fuzz_session *s, const char *name, call *make, void *argument,
                         void (*after)(fuzz_session *s))
{
    const int injected = s->may_fail && chance(s, 40), cancels = chance(s, 50);
    const int64_t at = chance(s, 50) ? below(s, 4) : below(s, 60);
    session_arm(s, injected && !cancels ? at : -1, injected && cancels ? at : -1);
    libsolver_status status = make(s, argument);
    if (injected)
        session_tell(s, "  with %s %d made to fail: %s", cancels ? "poll" : "allocation", (int)at,
                     libsolver_status_name(status));
    if (s->cancelled > 0 && status != LIBSOLVER_CANCELLED)
        session_fail(s, "a cancelled call did not end", "%s: %s", name,
                     libsolver_status_name(status));
    if (is_injected(s, status)) {
        session_counts[COUNT_INJECTED]++;
        if (!has_message(s))
            session_fail(s, "a failure without a message", "%s: %s", name,
                         libsolver_status_name(status));
        session_arm(s, -1, -1);
        if (after)
            after(s);
        session_tell(s, "%s once more", name);
        status = make(s, argument);
    }
    session_arm(s, -1, -1);
    if (status < 0 && !has_message(s))
        session_fail(s, "a failure without a message", "%s: %s", name,
                     libsolver_status_name(status));
    session_end_call(s);
    return status;
}

int is_limited(const fuzz_session *s, libsolver_status status)
{
    return status == LIBSOLVER_OUT_OF_MEMORY && s->options.memory_limit > 0;
}

unsigned fit_wanted(const fuzz_session *s)
{
    libsolver_factor_info info;
    libsolver_info(s->factor, &info);
    return (s->status == LIBSOLVER_SINGULAR ? FIT_ZERO_PIVOTS : 0u) |
           (info.perturbed > 0 ? FIT_PERTURBED : 0u) |
           (s->options.mixed == LIBSOLVER_ON &&
                    (info.precision == LIBSOLVER_D || info.precision == LIBSOLVER_Z)
                ? FIT_DOUBLE
                : 0u);
}

/* The factor may have taken more memory for fronts since workspaces were made or used.  A call that
 * ran out of it may have, too. */
static void note_growth(fuzz_session *s, libsolver_status status)
{
    libsolver_factor_info info;
    libsolver_info(s->factor, &info);
    for (int k = 0; k <= SESSION_WORKSPACES; k++)
        s->has_grown[k] |= info.growths > 0 || status == LIBSOLVER_OUT_OF_MEMORY;
}

static void factor_is_new(fuzz_session *s, libsolver_status status)
{
    const int is_first = status >= 0 && !s->was_usable;
    s->was_usable |= status >= 0;
    session_forget_truth(s);
    system_free(&s->factored);
    s->factored = system_copy(&s->given);
    s->status = status;
    s->usable = status >= 0;
    if (is_first) { /* its own workspace was made with it, before it went to double */
        s->has_grown[SESSION_WORKSPACES] = 0;
        s->is_fit_for[SESSION_WORKSPACES] = fit_wanted(s) & ~(unsigned)FIT_DOUBLE;
    }
}

static libsolver_status make_simple(fuzz_session *s, void *none)
{
    (void)none;
    libsolver_factor_free(s->factor);
    s->factor = NULL;
    return libsolver_factor_matrix(&s->view.matrix, &s->options, &s->factor);
}

static libsolver_status make_context(fuzz_session *s, void *none)
{
    (void)none;
    return libsolver_context_create(&s->options, &s->context);
}

static libsolver_status make_analysis(fuzz_session *s, void *with_values)
{
    libsolver_matrix a = s->view.matrix;
    a.values = with_values ? a.values : NULL;
    return libsolver_analyze(s->context, &a, &s->options, &s->analysis);
}

static libsolver_status make_factor(fuzz_session *s, void *none)
{
    (void)none;
    libsolver_factor_free(s->factor);
    s->factor = NULL;
    s->was_usable = 0;
    return libsolver_factorize(s->analysis, &s->view.matrix, &s->factor);
}

/* Context and analysis; whether they are there. */
static int prepare(fuzz_session *s)
{
    const int with_values = chance(s, 60);
    libsolver_status status = LIBSOLVER_OUT_OF_MEMORY;
    /* without a context there is no message */
    s->may_fail = s->may_fail && s->options.memory_limit == 0;
    const int may_fail = s->may_fail;
    s->may_fail = 0;
    if ((status = attempt(s, "context_create", make_context, NULL, NULL)) != LIBSOLVER_OK) {
        if (!is_limited(s, status))
            session_fail(s, "context_create failed", "%s", libsolver_status_name(status));
        return 0;
    }
    s->may_fail = may_fail;
    session_tell(s, "analyze%s", with_values ? "" : " the pattern");
    status = attempt(s, "analyze", make_analysis, with_values ? s : NULL, NULL);
    const int is_unbuilt =
        status == LIBSOLVER_NOT_BUILT && s->options.ordering == LIBSOLVER_ORDERING_METIS;
    if (status != LIBSOLVER_OK && !is_limited(s, status) && !is_unbuilt)
        session_fail(s, "analyze failed", "%s: %s", libsolver_status_name(status),
                     session_message(s));
    return status == LIBSOLVER_OK;
}

int begin(fuzz_session *s)
{
    libsolver_status status;
    if (chance(s, 4))
        do_refused_begin(s);
    s->is_simple = chance(s, 40);
    if (s->is_simple) {
        session_tell(s, "factor_matrix");
        status = attempt(s, "factor_matrix", make_simple, NULL, NULL);
    } else {
        if (!prepare(s))
            return 0;
        session_tell(s, "factorize");
        status = attempt(s, "factorize", make_factor, NULL, NULL);
    }
    const int is_unbuilt =
        status == LIBSOLVER_NOT_BUILT && s->options.ordering == LIBSOLVER_ORDERING_METIS;
    if (is_limited(s, status) || is_unbuilt)
        return 0;
    if (!s->factor) {
        session_fail(s, "a factorization failed", "%s: %s", libsolver_status_name(status),
                     session_message(s));
        return 0;
    }
    factor_is_new(s, status);
    s->has_given = 1;
    s->columns = 1;
    check_factorized(s, status);
    return 1;
}

typedef struct new_values {
    const libsolver_matrix *a;
    const libsolver_vectors *shift;
    int is_plain; /* refactorize */
} new_values;

static libsolver_status make_refactor(fuzz_session *s, void *values_)
{
    const new_values *v = values_;
    return v->is_plain ? libsolver_refactorize(s->factor, v->a)
                       : libsolver_refactorize_shifted(s->factor, v->a, v->shift);
}

void solve_is_refused(fuzz_session *s)
{
    const int n = s->given.n;
    fuzz_block b = block_random(&s->r, &s->given, n, 1);
    const libsolver_status status =
        s->options.schur_size > 0
            ? libsolver_schur_condense(s->factor, NULL, &b.vectors, &b.vectors)
            : libsolver_solve(s->factor, &b.vectors, &b.vectors);
    if (status != LIBSOLVER_INVALID)
        session_fail(s, "a solve without a factor", "%s", libsolver_status_name(status));
    if (!session_message(s)[0])
        session_fail(s, "a failure without a message", "a solve without a factor");
    block_free(&b);
}

static void draw_shift(fuzz_session *s, fuzz_block *shift)
{
    const double size = ldexp(1, below(s, 12) - 6);
    const int integer = chance(s, 40);
    for (int i = 0; i < s->given.n; i++) {
        const double re = integer ? below(s, 3) : size * random_real(&s->r),
                     im = s->given.is_complex && !s->given.is_hermitian ? size * random_real(&s->r)
                                                                        : 0;
        s->shift_re[i] = system_round(&s->given, re);
        s->shift_im[i] = system_round(&s->given, im);
        block_set(shift, i, 0, re, im);
    }
}

/* A factor may allocate for growth, and once more after it, for a first matching, for a first L D
 * L^T or a factor in double. */
static void check_allocations(fuzz_session *s, const libsolver_factor_info *before)
{
    libsolver_factor_info after;
    libsolver_info(s->factor, &after);
    const int fixed =
        s->options.kind == LIBSOLVER_KIND_SPD || s->options.kind == LIBSOLVER_KIND_QUASI_DEFINITE ||
        (s->options.kind == LIBSOLVER_KIND_INDEFINITE && s->options.matching == LIBSOLVER_OFF);
    if (fixed && s->options.mixed != LIBSOLVER_ON && after.allocations > before->allocations &&
        after.growths == 0 && before->growths == 0)
        session_fail(s, "refactorize allocates", "%d times",
                     (int)(after.allocations - before->allocations));
}

/* The same values time and again: whatever they need is there the third time. */
static void repeat_refactorize(fuzz_session *s, const new_values *v, libsolver_status wanted)
{
    libsolver_factor_info before, after;
    libsolver_inertia_counts counts[2] = {{0}, {0}};
    libsolver_status status = LIBSOLVER_OK;
    session_tell(s, "the same three times more");
    for (int k = 0; k < 3 && status >= 0; k++) {
        libsolver_info(s->factor, &before);
        libsolver_inertia(s->factor, &counts[k % 2]);
        status = v->is_plain ? libsolver_refactorize(s->factor, v->a)
                             : libsolver_refactorize_shifted(s->factor, v->a, v->shift);
        note_growth(s, status);
    }
    libsolver_info(s->factor, &after);
    if ((status < 0) != (wanted < 0))
        session_fail(s, "the same values have another status", "%s, before %s",
                     libsolver_status_name(status), libsolver_status_name(wanted));
    if (status < 0)
        return;
    if (after.allocations > before.allocations)
        session_fail(s, "refactorize with the same values allocates",
                     "%d times, kind %d, %d growths", (int)(after.allocations - before.allocations),
                     after.kind, (int)after.growths);
    s->status = status; /* fewer attempts are made for values that are like the last */
    check_factorized(s, status);
}

/* New values, or the same ones, shifted or not. */
void do_refactorize(fuzz_session *s)
{
    libsolver_factor_info before;
    libsolver_matrix a = s->view.matrix;
    fuzz_block shift = block_random(&s->r, &s->given, s->given.n, 1);
    const int shifted = chance(s, 40), old_values = shifted && s->has_given && chance(s, 50);
    const int had_workspace = s->was_usable, repeats = chance(s, 15);
    const char *what = old_values ? "the values given last" : system_revalue(&s->r, &s->given);
    if (!old_values)
        view_fill(&s->view, &s->given);
    if (chance(s, 50))
        a.pointers = a.indices = NULL;
    if (shifted)
        draw_shift(s, &shift);
    new_values v = {old_values ? NULL : &a, shifted ? &shift.vectors : NULL,
                    !shifted && chance(s, 60)};
    libsolver_info(s->factor, &before);
    session_tell(s, "refactorize%s: %s%s", shifted ? "_shifted" : "", what,
                 a.pointers ? "" : ", without indices");
    s->usable = 0;
    s->is_shifted = shifted;
    const libsolver_status status = attempt(s, "refactorize", make_refactor, &v, solve_is_refused);
    note_growth(s, status);
    s->has_given = 1;
    factor_is_new(s, status);
    if (!is_limited(s, status)) {
        check_factorized(s, status);
        if (status >= 0 && had_workspace && !s->may_fail)
            check_allocations(s, &before);
        if (repeats && !s->may_fail)
            repeat_refactorize(s, &v, status);
    }
    block_free(&shift);
}

/* Another factor of the same analysis. */
void do_factorize(fuzz_session *s)
{
    for (int k = 0; k < SESSION_WORKSPACES; k++) {
        libsolver_workspace_free(s->workspace[k]);
        s->workspace[k] = NULL;
    }
    session_tell(s, "free, factorize: %s", system_revalue(&s->r, &s->given));
    view_fill(&s->view, &s->given);
    const libsolver_status status = attempt(s, "factorize", make_factor, NULL, NULL);
    s->is_shifted = 0;
    s->columns = 1;
    s->has_given = 1;
    factor_is_new(s, status);
    if (s->factor)
        check_factorized(s, status);
    else if (!is_limited(s, status))
        session_fail(s, "a factorization failed", "%s: %s", libsolver_status_name(status),
                     session_message(s));
}
