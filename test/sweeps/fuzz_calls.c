/* test/sweeps/fuzz_calls.c: random sequences of calls on random small systems, each answer held against an oracle
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     fuzz_calls [--seed S] [--sequences N] [--first K] [--verbose] [--matrices]
 *
 * Sequence K of seed S is the same wherever it begins, so what a failure prints replays it alone.  Each failure has a class; the
 * first of a class is printed with the calls that led to it, the others are counted (--verbose: all are printed; --matrices: with the matrix).  Sequences without
 * injected failures are made twice, with other numbers of threads, and must give the same bits. */
#define _GNU_SOURCE
#include "fuzz_checks.h"
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int below(fuzz_session *s, int bound)
{
    return random_below(&s->r, bound);
}

static int chance(fuzz_session *s, int percent)
{
    return below(s, 100) < percent;
}

/* ---- Options ---- */

static void draw_schur_rows(fuzz_session *s)
{
    int32_t row[64];
    const int n = s->given.n;
    random_permutation(&s->r, n, row);
    s->options.schur_size = 1 + below(s, n < 8 ? n : 8);
    for (int k = 0; k < s->options.schur_size; k++)
        s->schur_rows[k] = row[k];
    s->options.schur_rows = s->schur_rows;
}

/* The signs of the diagonal, positive where it is 0. */
static void draw_signs(fuzz_session *s)
{
    for (int i = 0; i < s->given.n; i++)
        s->signs[i] = chance(s, 3) ? (int8_t)(2 * below(s, 2) - 1) : s->given.re[i + i * s->given.n] < 0 ? -1 : 1;
    s->options.expected_signs = s->signs;
}

static void draw_permutation(fuzz_session *s)
{
    int32_t row[64];
    random_permutation(&s->r, s->given.n, row);
    for (int k = 0; k < s->given.n; k++)
        s->permutation[k] = row[k];
    s->options.permutation = s->permutation;
}

static void draw_options(fuzz_session *s)
{
    static const double thresholds[] = {0.01, 0.01, 0.01, 0.5, 0.1, 1e-4, 1e-8}, tolerances[] = {0, 0, 0, 1e-10, 1e-4, 1e-15};
    static const int64_t caps[] = {0, 0, 0, 1, 3, 20};
    static const int steps[] = {10, 10, 10, 0, 1, 3};
    libsolver_options *o = &s->options;
    const int complex_symmetric = !s->given.is_hermitian;
    libsolver_options_default(o);
    o->backend = below(s, 2) ? LIBSOLVER_BACKEND_CPU : LIBSOLVER_BACKEND_AUTO;
    o->threads = 1 + below(s, 3);
    o->kind = (libsolver_kind)(below(s, 10) * 2 / 5);
    if (o->kind == LIBSOLVER_KIND_QUASI_DEFINITE && !chance(s, 60))
        o->kind = LIBSOLVER_KIND_AUTO;
    if (complex_symmetric && (o->kind == LIBSOLVER_KIND_SPD || o->kind == LIBSOLVER_KIND_QUASI_DEFINITE))
        o->kind = LIBSOLVER_KIND_INDEFINITE;
    o->ordering = chance(s, 40) ? LIBSOLVER_ORDERING_AUTO : (libsolver_ordering)below(s, 6);
    o->matching = (libsolver_choice)(chance(s, 50) ? 0 : below(s, 3));
    o->scaling = (libsolver_choice)(chance(s, 70) ? 0 : below(s, 3));
    o->pivot_threshold = thresholds[below(s, 7)];
    o->purpose = (libsolver_purpose)below(s, 3);
    o->refine_steps = steps[below(s, 6)];
    o->tolerance = tolerances[below(s, 6)];
    if (s->given.is_single && o->tolerance > 0 && o->tolerance < 1e-7)
        o->tolerance = 1e-6;
    o->keep = (libsolver_choice)below(s, 3);
    o->mixed = !s->given.is_single && chance(s, 20) ? LIBSOLVER_ON : LIBSOLVER_OFF;
    o->delay_cap = caps[below(s, 6)];
    if (o->ordering == LIBSOLVER_ORDERING_USER)
        draw_permutation(s);
    if (o->kind == LIBSOLVER_KIND_QUASI_DEFINITE)
        draw_signs(s);
    if (s->given.n > 0 && o->mixed == LIBSOLVER_OFF && chance(s, 10))
        draw_schur_rows(s);
    if (s->may_fail && chance(s, 20))
        o->memory_limit = 2000 + below(s, 60000);
    session_connect(s);
}

static void tell_options(fuzz_session *s)
{
    static const char *const kinds[] = {"AUTO", "SPD", "INDEFINITE", "QUASI_DEFINITE"};
    static const char *const orderings[] = {"AUTO", "AMD", "ND", "METIS", "NATURAL", "USER"}, *const choices[] = {"AUTO", "ON", "OFF"};
    static const char *const types = "dszc";
    const libsolver_options *o = &s->options;
    const libsolver_matrix *m = &s->view.matrix;
    session_tell(s, "%s, n = %d, type %c %s; %s %s, base %d, int%d and int%d, %d entries", s->given.family, s->given.n, types[s->given.type],
                 s->given.symmetry ? "Hermitian" : "symmetric",
                 m->storage == LIBSOLVER_LOWER ? "LOWER" : m->storage == LIBSOLVER_UPPER ? "UPPER" : "FULL", m->format ? "triplets" : "compressed",
                 m->base, m->pointer_type ? 64 : 32, m->index_type ? 64 : 32, (int)s->view.entries);
    session_tell(s, "kind %s, ordering %s, matching %s, scaling %s, u = %g, purpose %d, %d steps, tolerance %g, mixed %s, delay_cap %d, %d Schur rows, %d "
                 "threads, limit %d",
                 kinds[o->kind], orderings[o->ordering], choices[o->matching], choices[o->scaling], o->pivot_threshold, o->purpose, o->refine_steps,
                 o->tolerance, choices[o->mixed], (int)o->delay_cap, (int)o->schur_size, o->threads, (int)o->memory_limit);
}

/* ---- A call that may be made to fail, and is then made again ---- */

typedef libsolver_status call(fuzz_session *s, void *argument);

static int is_injected(const fuzz_session *s, libsolver_status status)
{
    return (status == LIBSOLVER_OUT_OF_MEMORY && s->refused > 0) || (status == LIBSOLVER_CANCELLED && s->cancelled > 0);
}

/* Without a factor of its own factor_matrix has nothing to say it with. */
static int has_message(const fuzz_session *s)
{
    return session_message(s)[0] || (s->is_simple && !s->factor);
}

/* after: what must hold once it has failed, NULL: nothing special. */
static libsolver_status attempt(fuzz_session *s, const char *name, call *make, void *argument, void (*after)(fuzz_session *s))
{
    const int injected = s->may_fail && chance(s, 40), cancels = chance(s, 50);
    const int64_t at = chance(s, 50) ? below(s, 4) : below(s, 60);
    session_arm(s, injected && !cancels ? at : -1, injected && cancels ? at : -1);
    libsolver_status status = make(s, argument);
    if (injected)
        session_tell(s, "  with %s %d made to fail: %s", cancels ? "poll" : "allocation", (int)at, libsolver_status_name(status));
    if (s->cancelled > 0 && status != LIBSOLVER_CANCELLED)
        session_fail(s, "a cancelled call did not end", "%s: %s", name, libsolver_status_name(status));
    if (is_injected(s, status)) {
        session_counts[COUNT_INJECTED]++;
        if (!has_message(s))
            session_fail(s, "a failure without a message", "%s: %s", name, libsolver_status_name(status));
        session_arm(s, -1, -1);
        if (after)
            after(s);
        session_tell(s, "%s once more", name);
        status = make(s, argument);
    }
    session_arm(s, -1, -1);
    if (status < 0 && !has_message(s))
        session_fail(s, "a failure without a message", "%s: %s", name, libsolver_status_name(status));
    session_end_call(s);
    return status;
}

/* Whether a status may come from the memory limit. */
static int is_limited(const fuzz_session *s, libsolver_status status)
{
    return status == LIBSOLVER_OUT_OF_MEMORY && s->options.memory_limit > 0;
}

/* ---- Making factors ---- */

static void factor_is_new(fuzz_session *s, libsolver_status status)
{
    s->was_usable |= status >= 0;
    session_forget_truth(s);
    system_free(&s->factored);
    s->factored = system_copy(&s->given);
    s->status = status;
    s->usable = status >= 0;
    s->is_stale[SESSION_WORKSPACES] |= s->options.mixed == LIBSOLVER_ON; /* made before the factor went to double */
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
    s->may_fail = s->may_fail && s->options.memory_limit == 0; /* without a context there is no message */
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
    const int is_unbuilt = status == LIBSOLVER_NOT_BUILT && s->options.ordering == LIBSOLVER_ORDERING_METIS;
    if (status != LIBSOLVER_OK && !is_limited(s, status) && !is_unbuilt)
        session_fail(s, "analyze failed", "%s: %s", libsolver_status_name(status), session_message(s));
    return status == LIBSOLVER_OK;
}

static void overwrite(fuzz_view *v, libsolver_type type, int64_t k, double with)
{
    fuzz_block b = {.vectors = {.values = v->values, .rows = v->entries, .columns = 1, .ld = v->entries, .type = type}};
    block_set(&b, k, 0, with, 0);
}

/* Options or a matrix that are at fault, before all else. */
static void do_refused_begin(fuzz_session *s)
{
    static const char *const faults[] = {"threads", "a tolerance", "a reserved field", "a row", "a NaN", "a base", "a permutation", "a threshold"};
    const int fault = s->view.entries > 0 ? below(s, 8) : below(s, 3);
    int64_t permutation[64] = {0};
    libsolver_options o = s->options;
    libsolver_matrix a = s->view.matrix;
    libsolver_factor *f = NULL;
    const int64_t entry = s->view.entries > 0 ? below(s, (int)s->view.entries) : 0;
    void *indices = fuzz_room(s->view.entries, 8);
    memcpy(indices, s->view.indices, 8 * (size_t)s->view.entries);
    a.indices = indices;
    if (fault == 0)
        o.threads = -1;
    else if (fault == 1)
        o.tolerance = 1 + below(s, 2);
    else if (fault == 2)
        o.reserved[below(s, 12)] = 1;
    else if (fault == 3 && a.index_type == LIBSOLVER_INT32)
        ((int32_t *)indices)[entry] = chance(s, 50) ? -1 : s->given.n + a.base;
    else if (fault == 3)
        ((int64_t *)indices)[entry] = chance(s, 50) ? INT64_MIN : INT64_C(1) << 32;
    else if (fault == 4)
        overwrite(&s->view, s->given.type, entry, NAN);
    else if (fault == 5)
        a.base = 2;
    else if (fault == 6) {
        o.ordering = LIBSOLVER_ORDERING_USER;
        o.permutation = permutation;
        permutation[0] = s->given.n;
    } else if (fault == 7)
        o.pivot_threshold = below(s, 2);
    o.memory_limit = 0;
    session_tell(s, "factor_matrix with %s that is none", faults[fault]);
    const libsolver_status status = libsolver_factor_matrix(&a, &o, &f);
    if (status != (fault == 4 ? LIBSOLVER_NONFINITE : LIBSOLVER_INVALID))
        session_fail(s, "a wrong argument", "%s: %s", faults[fault], libsolver_status_name(status));
    if (!libsolver_factor_message(f)[0])
        session_fail(s, "a failure without a message", "%s", faults[fault]);
    libsolver_factor_free(f);
    if (s->live != 0)
        session_fail(s, "memory is leaked", "%d blocks", (int)s->live);
    free(indices);
    view_fill(&s->view, &s->given);
    session_end_call(s);
}

static int begin(fuzz_session *s)
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
    const int is_unbuilt = status == LIBSOLVER_NOT_BUILT && s->options.ordering == LIBSOLVER_ORDERING_METIS;
    if (is_limited(s, status) || is_unbuilt)
        return 0;
    if (!s->factor) {
        session_fail(s, "a factorization failed", "%s: %s", libsolver_status_name(status), session_message(s));
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
    return v->is_plain ? libsolver_refactorize(s->factor, v->a) : libsolver_refactorize_shifted(s->factor, v->a, v->shift);
}

static void solve_is_refused(fuzz_session *s)
{
    const int n = s->given.n;
    fuzz_block b = block_random(&s->r, &s->given, n, 1);
    const libsolver_status status = s->options.schur_size > 0 ? libsolver_schur_condense(s->factor, NULL, &b.vectors, &b.vectors)
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
        const double re = integer ? below(s, 3) : size * random_real(&s->r), im = s->given.is_complex && !s->given.is_hermitian ? size * random_real(&s->r) : 0;
        s->shift_re[i] = system_round(&s->given, re);
        s->shift_im[i] = system_round(&s->given, im);
        block_set(shift, i, 0, re, im);
    }
}

/* A factor may allocate for growth, and once more after it, for a first matching, for a first L D L^T or a factor in double. */
static void check_allocations(fuzz_session *s, const libsolver_factor_info *before)
{
    libsolver_factor_info after;
    libsolver_info(s->factor, &after);
    const int fixed = s->options.kind == LIBSOLVER_KIND_SPD || s->options.kind == LIBSOLVER_KIND_QUASI_DEFINITE ||
                      (s->options.kind == LIBSOLVER_KIND_INDEFINITE && s->options.matching == LIBSOLVER_OFF);
    if (fixed && s->options.mixed != LIBSOLVER_ON && after.allocations > before->allocations && after.growths == 0 && before->growths == 0)
        session_fail(s, "refactorize allocates", "%d times", (int)(after.allocations - before->allocations));
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
        status = v->is_plain ? libsolver_refactorize(s->factor, v->a) : libsolver_refactorize_shifted(s->factor, v->a, v->shift);
    }
    libsolver_info(s->factor, &after);
    if ((status < 0) != (wanted < 0))
        session_fail(s, "the same values have another status", "%s, before %s", libsolver_status_name(status), libsolver_status_name(wanted));
    if (status < 0)
        return;
    if (after.allocations > before.allocations)
        session_fail(s, "refactorize with the same values allocates", "%d times, kind %d, %d growths", (int)(after.allocations - before.allocations),
                     after.kind, (int)after.growths);
    s->status = status; /* fewer attempts are made for values that are like the last */
    for (int k = 0; k <= SESSION_WORKSPACES; k++)
        s->is_stale[k] = 1;
    check_factorized(s, status);
}

/* New values, or the same ones, shifted or not. */
static void do_refactorize(fuzz_session *s)
{
    libsolver_factor_info before, now;
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
    new_values v = {old_values ? NULL : &a, shifted ? &shift.vectors : NULL, !shifted && chance(s, 60)};
    libsolver_info(s->factor, &before);
    session_tell(s, "refactorize%s: %s%s", shifted ? "_shifted" : "", what, a.pointers ? "" : ", without indices");
    s->usable = 0;
    s->is_shifted = shifted;
    const libsolver_status status = attempt(s, "refactorize", make_refactor, &v, solve_is_refused);
    libsolver_info(s->factor, &now);
    for (int k = 0; k <= SESSION_WORKSPACES; k++)
        s->is_stale[k] |= status != LIBSOLVER_OK || now.growths != before.growths || now.kind != before.kind || now.precision != before.precision;
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

/* Arguments that are at fault: the old factor stays. */
static void do_refused_refactorize(fuzz_session *s)
{
    static const char *const faults[] = {"another order", "other indices", "another type", "another symmetry", "a NaN", "no values", "a shift that is infinite", "NULL"};
    int fault = below(s, 8);
    libsolver_matrix a = s->view.matrix;
    fuzz_block shift = block_random(&s->r, &s->given, s->given.n, 1);
    libsolver_status status, wanted = LIBSOLVER_PATTERN_MISMATCH, or = LIBSOLVER_INVALID;
    if ((s->view.entries == 0 && fault != 0 && fault != 2) || (fault == 1 && s->given.n < 2))
        fault = 0;
    view_fill(&s->view, &s->given);
    session_tell(s, "refactorize with %s", faults[fault]);
    if (fault == 0) {
        a.n++;
        a.pointers = a.indices = NULL;
    } else if (fault == 1) {
        if (a.index_type == LIBSOLVER_INT32)
            ((int32_t *)s->view.indices)[0] = a.base + ((int32_t *)s->view.indices)[0] - a.base + (((int32_t *)s->view.indices)[0] - a.base > 0 ? -1 : 1);
        else
            ((int64_t *)s->view.indices)[0] += ((int64_t *)s->view.indices)[0] - a.base > 0 ? -1 : 1;
    } else if (fault == 2)
        a.type = a.type == LIBSOLVER_D ? LIBSOLVER_S : LIBSOLVER_D;
    else if (fault == 3)
        a.symmetry = a.symmetry ? LIBSOLVER_SYMMETRIC : LIBSOLVER_HERMITIAN;
    else if (fault == 4) {
        overwrite(&s->view, s->given.type, below(s, (int)s->view.entries), NAN);
        wanted = LIBSOLVER_NONFINITE;
        s->has_given = 0;
    } else if (fault == 5)
        a.values = NULL;
    else if (fault == 6) {
        for (int i = 0; i < s->given.n; i++)
            block_set(&shift, i, 0, i == 0 ? INFINITY : 0, 0);
        wanted = LIBSOLVER_NONFINITE;
        s->has_given = 1; /* the matrix itself was good */
    }
    status = fault == 7 ? libsolver_refactorize(s->factor, NULL) : libsolver_refactorize_shifted(s->factor, &a, fault == 6 ? &shift.vectors : NULL);
    const int left_alone = fault == 4 || fault == 6 ? status == wanted : status == wanted || status == or;
    if (!left_alone)
        session_fail(s, "a wrong argument", "%s: %s", faults[fault], libsolver_status_name(status));
    if (!session_message(s)[0])
        session_fail(s, "a failure without a message", "%s", faults[fault]);
    if (fault == 1) {
        if (a.index_type == LIBSOLVER_INT32)
            ((int32_t *)s->view.indices)[0] = s->view.entry[0].row + a.base;
        else
            ((int64_t *)s->view.indices)[0] = s->view.entry[0].row + a.base;
    }
    view_fill(&s->view, &s->given);
    if (!s->has_given && libsolver_refactorize_shifted(s->factor, NULL, NULL) != LIBSOLVER_INVALID)
        session_fail(s, "refused values are used", "refactorize_shifted without a matrix");
    block_free(&shift);
    session_end_call(s);
}

/* ---- Solves ---- */

typedef struct solve_arguments {
    fuzz_block b, x;
    libsolver_workspace *workspace;
    int in_place, refines;
    double *errors, *forward;
    double condition;
} solve_arguments;

/* Random, 0, consistent with A, or with a few entries. */
static void draw_right_sides(fuzz_session *s, fuzz_block *b)
{
    const int n = s->given.n;
    oracle_matrix a = system_matrix(&s->factored, s->is_shifted ? s->shift_re : NULL, s->shift_im);
    for (int j = 0; j < b->vectors.columns; j++) {
        const int what = below(s, 10);
        quad_complex x[64], y[64] = {{0, 0}};
        for (int i = 0; i < n; i++) {
            const double re = random_real(&s->r), im = random_real(&s->r);
            const int zero = what == 0 || (what < 3 && below(s, 4) > 0);
            x[i] = zero ? (quad_complex){0, 0} : (quad_complex){re, s->given.is_complex ? im : 0};
        }
        for (int k = 0; k < n && what > 5; k++)
            for (int i = 0; i < n; i++) {
                const quad_complex v = a.entry[i + k * n];
                y[i].re += v.re * x[k].re - v.im * x[k].im;
                y[i].im += v.re * x[k].im + v.im * x[k].re;
            }
        for (int i = 0; i < n; i++)
            block_set(b, i, j, (double)(what > 5 ? y : x)[i].re, (double)(what > 5 ? y : x)[i].im);
    }
    oracle_matrix_free(&a);
}

static libsolver_status make_solve(fuzz_session *s, void *arguments)
{
    solve_arguments *p = arguments;
    block_free(&p->x);
    p->x = block_copy(&p->b);
    return libsolver_solve(s->factor, p->in_place ? &p->x.vectors : &p->b.vectors, &p->x.vectors);
}

/* x := a plain solve, then refined */
static libsolver_status make_refine(fuzz_session *s, void *arguments)
{
    solve_arguments *p = arguments;
    block_free(&p->x);
    p->x = block_copy(&p->b);
    const libsolver_status status = libsolver_solve_plain(s->factor, LIBSOLVER_PART_ALL, p->workspace, &p->b.vectors, &p->x.vectors);
    return status < 0 ? status : libsolver_refine(s->factor, p->workspace, &p->b.vectors, &p->x.vectors, p->errors);
}

static libsolver_status make_forward(fuzz_session *s, void *arguments)
{
    solve_arguments *p = arguments;
    return libsolver_forward_error(s->factor, p->workspace, &p->b.vectors, &p->x.vectors, p->forward);
}

static libsolver_status make_condition(fuzz_session *s, void *arguments)
{
    solve_arguments *p = arguments;
    return libsolver_condition(s->factor, p->workspace, &p->condition);
}

/* A workspace may grow once for a factor that grew or that has zero or perturbed pivots for the first time. */
static void check_no_allocations(fuzz_session *s, int slot, int64_t requests, const char *name)
{
    if (s->requests != requests && !s->may_fail && !s->is_stale[slot])
        session_fail(s, "a solve allocates", "%s: %d times", name, (int)(s->requests - requests));
    s->is_stale[slot] = 0;
}

static void do_solve(fuzz_session *s)
{
    const int columns = chance(s, 5) ? 33 + below(s, 10) : chance(s, 5) ? 0 : 1 + below(s, 4);
    solve_arguments p = {.b = block_random(&s->r, &s->given, s->given.n, columns), .in_place = chance(s, 30), .refines = chance(s, 40)};
    libsolver_solve_info info;
    double errors[64], forward[64];
    p.errors = chance(s, 70) ? errors : NULL;
    p.forward = forward;
    const int drawn = below(s, SESSION_WORKSPACES), slot = p.refines && s->workspace[drawn] ? drawn : SESSION_WORKSPACES;
    p.workspace = slot < SESSION_WORKSPACES ? s->workspace[slot] : NULL;
    draw_right_sides(s, &p.b);
    session_tell(s, "%s, %d columns%s%s%s", p.refines ? "solve_plain, refine" : "solve", columns, p.b.vectors.layout ? " by rows" : "",
                 p.in_place && !p.refines ? ", x is b" : "", p.workspace ? ", own workspace" : "");
    const int64_t requests = s->requests;
    libsolver_status status = attempt(s, p.refines ? "refine" : "solve", p.refines ? make_refine : make_solve, &p, NULL);
    if (p.refines || columns <= s->columns)
        check_no_allocations(s, slot, requests, p.refines ? "refine" : "solve");
    if (!p.refines && status >= 0)
        s->columns = columns > s->columns ? (columns < 32 ? columns : 32) : s->columns;
    if (status < 0) {
        if (!is_limited(s, status))
            session_fail(s, "a solve failed", "%s: %s", libsolver_status_name(status), session_message(s));
    } else {
        libsolver_solve_query(s->factor, p.workspace, &info);
        session_digest(s, &status, sizeof status);
        session_digest(s, &info.backward_error, sizeof info.backward_error);
        session_digest(s, p.x.vectors.values, (size_t)p.x.count * scalar_bytes(s->given.type));
        session_end_call(s);
        if (!block_is_sound(&p.x) || !block_is_sound(&p.b))
            session_fail(s, "written outside of a block", "solve");
        check_solution(s, status, &info, &p.b, &p.x, p.refines ? p.errors : NULL);
        if (chance(s, 30)) {
            session_tell(s, "forward_error");
            status = attempt(s, "forward_error", make_forward, &p, NULL);
            session_digest(s, forward, sizeof *forward * (size_t)columns);
            check_forward_errors(s, status, &p.b, &p.x, forward);
        }
    }
    block_free(&p.b);
    block_free(&p.x);
}

static void do_condition(fuzz_session *s)
{
    solve_arguments p = {.workspace = s->workspace[below(s, SESSION_WORKSPACES)]};
    session_tell(s, "condition");
    const libsolver_status status = attempt(s, "condition", make_condition, &p, NULL);
    session_digest(s, &p.condition, sizeof p.condition);
    check_condition(s, status, p.condition);
}

/* Arguments that a solve must refuse, and messages for each. */
static void do_refused_solve(fuzz_session *s)
{
    const int n = s->given.n, fault = below(s, 6);
    fuzz_block b = block_random(&s->r, &s->given, n, 1 + below(s, 2));
    draw_right_sides(s, &b);
    fuzz_block x = block_copy(&b);
    libsolver_status wanted = LIBSOLVER_INVALID;
    if (fault == 0)
        x.vectors.rows++;
    else if (fault == 1)
        x.vectors.columns++;
    else if (fault == 2)
        b.vectors.ld = (b.vectors.layout ? b.vectors.columns : n) - 1;
    else if (fault == 3)
        x.vectors.type = x.vectors.type == LIBSOLVER_Z ? LIBSOLVER_C : LIBSOLVER_Z;
    else if (fault == 4 && n > 0) {
        block_set(&b, below(s, n), 0, NAN, 0);
        wanted = LIBSOLVER_NONFINITE;
    } else
        b.vectors.columns = -1;
    session_tell(s, "a solve with fault %d", fault);
    const libsolver_status status = libsolver_solve(s->factor, &b.vectors, &x.vectors);
    if (status != wanted && status != LIBSOLVER_INVALID)
        session_fail(s, "a wrong argument", "solve, fault %d: %s", fault, libsolver_status_name(status));
    if (!session_message(s)[0])
        session_fail(s, "a failure without a message", "solve, fault %d", fault);
    if (libsolver_refine(s->factor, NULL, &x.vectors, &x.vectors, NULL) >= 0 && n > 0 && x.vectors.columns > 0)
        session_fail(s, "a wrong argument", "refine with x as b");
    block_free(&b);
    block_free(&x);
    session_end_call(s);
}

/* ---- The rest ---- */

typedef struct workspace_arguments {
    int slot, columns;
} workspace_arguments;

static libsolver_status make_workspace(fuzz_session *s, void *arguments)
{
    const workspace_arguments *p = arguments;
    return libsolver_workspace_create(s->factor, p->columns, &s->workspace[p->slot]);
}

static void do_workspace(fuzz_session *s)
{
    workspace_arguments p = {below(s, SESSION_WORKSPACES), 1 + below(s, 6)};
    libsolver_workspace_free(s->workspace[p.slot]);
    s->workspace[p.slot] = NULL;
    session_tell(s, "workspace_create: %d columns", p.columns);
    const libsolver_status status = attempt(s, "workspace_create", make_workspace, &p, NULL);
    if (status != LIBSOLVER_OK && !is_limited(s, status))
        session_fail(s, "workspace_create failed", "%s", libsolver_status_name(status));
}

static void do_queries(fuzz_session *s)
{
    libsolver_factor_info info;
    libsolver_analysis_info plan;
    int64_t permutation[64], seen[64] = {0};
    libsolver_info(s->factor, &info);
    if (info.host_bytes < 0 || info.host_bytes_peak < info.host_bytes || libsolver_workspace_bytes(s->factor, 2) < 0)
        session_fail(s, "queries", "%" PRId64 " bytes held, peak %" PRId64, info.host_bytes, info.host_bytes_peak);
    fuzz_block b = block_random(&s->r, &s->given, s->given.n, 1);
    int64_t tasks = 0;
    if (libsolver_solve_async(s->factor, NULL, 1, &b.vectors, &b.vectors, NULL, NULL) != LIBSOLVER_NOT_BUILT ||
        libsolver_solve_traced(s->factor, NULL, &b.vectors, &b.vectors, 0, NULL, &tasks) >= 0)
        session_fail(s, "queries", "a solve on the device, without one");
    block_free(&b);
    if (s->analysis) {
        libsolver_analysis_query(s->analysis, &plan);
        libsolver_permutation(s->analysis, permutation);
        for (int k = 0; k < s->given.n; k++)
            if (permutation[k] < 0 || permutation[k] >= s->given.n || seen[permutation[k]]++) {
                session_fail(s, "queries", "the permutation is none");
                break;
            }
        session_digest(s, permutation, sizeof *permutation * (size_t)s->given.n);
        if (plan.n != s->given.n || plan.factor_nnz < plan.nnz - s->given.n)
            session_fail(s, "queries", "n %d, nnz(L) %d", (int)plan.n, (int)plan.factor_nnz);
    }
    session_end_call(s);
}

/* Another factor of the same analysis. */
static void do_factorize(fuzz_session *s)
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
        session_fail(s, "a factorization failed", "%s: %s", libsolver_status_name(status), session_message(s));
}

static void next_call(fuzz_session *s)
{
    const int what = below(s, 100);
    if (what < 25)
        do_refactorize(s);
    else if (what < 30)
        do_refused_refactorize(s);
    else if (what < 35 && !s->is_simple)
        do_factorize(s);
    else if (what < 40)
        do_queries(s);
    else if (!s->usable)
        solve_is_refused(s);
    else if (s->options.schur_size > 0) {
        session_tell(s, "schur_complement, condense, expand");
        check_schur(s);
    } else if (what < 48)
        do_workspace(s);
    else if (what < 52)
        do_refused_solve(s);
    else if (what < 58)
        do_condition(s);
    else if (what < 70) {
        session_tell(s, "get_factor_l, _d, scaling, parts, determinant");
        check_factors(s);
    } else
        do_solve(s);
    session_end_call(s);
}

/* ---- Sequences ---- */

/* threads: 0, or instead of those drawn */
static void run_sequence(fuzz_session *s, uint64_t seed, int64_t number, int threads)
{
    memset(s, 0, offsetof(fuzz_session, text));
    s->text[0] = 0;
    s->seed = seed;
    s->number = number;
    s->checking = threads == 0;
    s->r = (random_stream){seed * UINT64_C(0xd1342543de82ef95) + (uint64_t)number * UINT64_C(0x2545f4914f6cdd1d)};
    random_next(&s->r);
    s->may_fail = chance(s, 25);
    const libsolver_type type = (libsolver_type)below(s, 4);
    s->given = system_random(&s->r, type, (libsolver_symmetry)below(s, 2));
    s->view = view_random(&s->r, &s->given);
    draw_options(s);
    s->options.threads = threads > 0 ? threads : s->options.threads;
    tell_options(s);
    if (begin(s))
        for (int left = below(s, 8); left > 0 && s->factor; left--)
            next_call(s);
}

static uint64_t running_seed;
static int64_t running_number;
static const char *running_calls;

/* What was running when the program is ended by a signal. */
static void on_signal(int number)
{
    char line[200];
    const int length = snprintf(line, sizeof line, "signal %d\n  --seed %" PRIu64 " --first %" PRId64 " --sequences 1\n", number, running_seed, running_number);
    if (length > 0 && write(1, line, (size_t)length) && write(1, running_calls, strlen(running_calls)))
        fsync(1);
    _exit(3);
}

static void run_twice(fuzz_session *first, fuzz_session *second, uint64_t seed, int64_t number)
{
    running_number = number;
    alarm(60);
    run_sequence(first, seed, number, 0);
    if (!first->may_fail && first->options.memory_limit == 0) {
        run_sequence(second, seed, number, first->options.threads % 3 + 1);
        for (int k = 0; k < first->calls || k < second->calls; k++)
            if (k >= first->calls || k >= second->calls || first->digests[k] != second->digests[k]) {
                session_fail(first, "other bits with another number of threads", "call %d of %d, %d and %d threads", k, first->calls,
                             first->options.threads, second->options.threads);
                break;
            }
        session_free(second);
    }
    session_free(first);
}

int main(int argc, char **argv)
{
    static fuzz_session first, second;
    static const int signals[] = {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL, SIGALRM};
    int64_t sequences = 1000, start = 0;
    running_seed = 1;
    for (int k = 1; k < argc; k++) {
        if (k + 1 < argc && strcmp(argv[k], "--seed") == 0)
            running_seed = strtoull(argv[++k], NULL, 10);
        else if (k + 1 < argc && strcmp(argv[k], "--sequences") == 0)
            sequences = strtoll(argv[++k], NULL, 10);
        else if (k + 1 < argc && strcmp(argv[k], "--first") == 0)
            start = strtoll(argv[++k], NULL, 10);
        else if (strcmp(argv[k], "--verbose") == 0)
            session_verbose = 1;
        else if (strcmp(argv[k], "--matrices") == 0)
            session_matrices = 1;
        else {
            fprintf(stderr, "usage: fuzz_calls [--seed S] [--sequences N] [--first K] [--verbose] [--matrices]\n");
            return 2;
        }
    }
    running_calls = first.text;
    for (int k = 0; k < (int)(sizeof signals / sizeof signals[0]); k++)
        signal(signals[k], on_signal);
    for (int64_t k = start; k < start + sequences; k++)
        run_twice(&first, &second, running_seed, k);
    printf("seed %" PRIu64 ": ", running_seed);
    return session_report(sequences) > 0;
}
