/* test/sweeps/fuzz_calls.h: the calls of a sequence
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_SWEEPS_FUZZ_CALLS_H
#define TEST_SWEEPS_FUZZ_CALLS_H

#include "fuzz_checks.h"

static inline int below(fuzz_session *s, int bound)
{
    return random_below(&s->r, bound);
}

static inline int chance(fuzz_session *s, int percent)
{
    return below(s, 100) < percent;
}

void draw_options(fuzz_session *s);
void tell_options(fuzz_session *s);

/* A call that may be made to fail, and is then made again.  after: what must hold once it has
 * failed, NULL: nothing special. */
typedef libsolver_status call(fuzz_session *s, void *argument);
libsolver_status attempt(fuzz_session *s, const char *name, call *make, void *argument,
                         void (*after)(fuzz_session *s));
/* whether it may come from the memory limit */
int is_limited(const fuzz_session *s, libsolver_status status);

/* What a workspace follows a factor in, once, at its next use. */
enum {
    FIT_ZERO_PIVOTS = 1,
    FIT_PERTURBED = 2,
    FIT_DOUBLE = 4 /* after a factor in single precision */
};
unsigned fit_wanted(const fuzz_session *s);

/* Factors.  begin: the first one; whether it is there. */
int begin(fuzz_session *s);
void do_factorize(fuzz_session *s);
void do_refactorize(fuzz_session *s);
void solve_is_refused(fuzz_session *s);

/* Solves. */
void draw_right_sides(fuzz_session *s, fuzz_block *b);
void do_solve(fuzz_session *s);
void do_condition(fuzz_session *s);
void do_workspace(fuzz_session *s);

/* Arguments at fault. */
void do_refused_begin(fuzz_session *s);
void do_refused_refactorize(fuzz_session *s);
void do_refused_solve(fuzz_session *s);

#endif
