/* cli/refinement.c: a refinement step by step
 * SPDX-License-Identifier: BSD-3-Clause */
#include "refinement.h"
#include "certificate.h"
#include "chosen_residual.h"
#include "room.h"
#include <math.h>
#include <string.h>

/* With method auto, FGMRES follows a plain step that leaves more than this part of the error; a
 * refinement ends with a step that leaves more than the second, as far as it goes: of the bound
 * too. */
#define SLOW 0.1
#define STALLED 0.9

static libsolver_status solve_plain(const session *s, const dense_block *b, const dense_block *x)
{
    const libsolver_vectors bv = dense_view(b, b->columns), xv = dense_view(x, x->columns);
    return libsolver_solve_plain(s->factor, LIBSOLVER_PART_ALL, NULL, &bv, &xv);
}

/* x += A^-1 (b - A x) with the factor for the inverse; r: as large as x. */
static int plain_step(const refinement *how, linear_system *system, session *s, dense_block *r,
                      failure *f)
{
    dense_block *x = &system->x;
    const triplets *a = &system->problem.a;
    const int64_t length = (int64_t)x->n * x->columns * triplets_width(a);
    if (!residual(a, how->residual, system->nrhs, system->b.values, x->values, r->values))
        return failure_memory(f, s->name);
    dense_set(r);
    if (session_check(s, solve_plain(s, r, r), s->factor, f))
        return f->code;
    dense_get(r);
    for (int64_t k = 0; k < length; k++)
        x->values[k] += r->values[k];
    dense_set(x);
    return 0;
}

static int fgmres_step(const linear_system *system, session *s, const settings *wanted, failure *f)
{
    const libsolver_limits limits = {.steps = 1,
                                     .tolerance = settings_tolerance(wanted),
                                     .method = LIBSOLVER_METHOD_FGMRES,
                                     .until_stalled = wanted->tolerance < 0};
    const libsolver_vectors b = dense_view(&system->b, system->nrhs),
                            x = dense_view(&system->x, system->nrhs);
    const libsolver_status status = libsolver_refine_within(s->factor, NULL, &limits, &b, &x, NULL);
    return session_check(s, status, s->factor, f);
}

/* One step of that kind; its time in *seconds. */
static int make_step(const refinement *how, libsolver_step_kind kind, linear_system *system,
                     session *s, dense_block *r, const settings *wanted, double *seconds,
                     failure *f)
{
    const double begin = seconds_now();
    if (kind == LIBSOLVER_STEP_START)
        session_check(s, solve_plain(s, &system->b, &system->x), s->factor, f);
    else if (kind == LIBSOLVER_STEP_PLAIN)
        plain_step(how, system, s, r, f);
    else
        fgmres_step(system, s, wanted, f);
    *seconds = seconds_now() - begin;
    if (!f->code)
        dense_get(&system->x);
    return f->code;
}

/* The errors of x; bounds: one for each column. */
static int measure(refinement_step *step, const linear_system *system, session *s,
                   const settings *wanted, double *bounds, failure *f)
{
    const libsolver_vectors b = dense_view(&system->b, system->nrhs),
                            x = dense_view(&system->x, system->nrhs);
    if (!backward_error(&system->problem.a, system->nrhs, system->b.values, system->x.values,
                        &step->backward_error))
        return failure_memory(f, s->name);
    step->error = linear_system_error(system, wanted);
    const libsolver_status status = libsolver_forward_error(s->factor, NULL, &b, &x, bounds);
    if (session_check(s, status, s->factor, f))
        return f->code;
    step->bound = 0;
    for (int64_t k = 0; k < system->nrhs; k++)
        step->bound = fmax(step->bound, bounds[k]);
    return 0;
}

/* Whether the backward error is as wanted, or small where as little as can be is wanted. */
static bool is_good(const refinement_step *step, const settings *wanted)
{
    return step->backward_error <= settings_tolerance(wanted);
}

/* Of two that are good the one with the smaller bound, of others that with the smaller backward
 * error. */
static bool is_better(const refinement_step *step, const refinement_step *than,
                      const settings *wanted)
{
    return is_good(step, wanted) && is_good(than, wanted)
               ? step->bound < than->bound
               : step->backward_error < than->backward_error;
}

/* The next step, -1: there is none. */
static int next_step(const refinement *r, const settings *wanted)
{
    const int most = wanted->refine < 0                  ? 10
                     : wanted->refine < REFINEMENT_STEPS ? (int)wanted->refine
                                                         : REFINEMENT_STEPS;
    const refinement_step *last = &r->step[r->count - 1];
    const double before = r->count > 1 ? r->step[r->count - 2].backward_error : INFINITY,
                 tolerance = wanted->tolerance < 0 ? 0 : settings_tolerance(wanted);
    if (r->count > most || !(last->backward_error > tolerance))
        return -1;
    const double bound_before = r->count > 1 ? r->step[r->count - 2].bound : INFINITY;
    const bool falls = last->backward_error <= STALLED * before ||
                       (wanted->tolerance < 0 && last->bound <= STALLED * bound_before),
               is_slow = !(last->backward_error <= SLOW * before);
    if (r->method == LIBSOLVER_METHOD_AUTO && last->made_by != LIBSOLVER_STEP_FGMRES)
        return is_slow && !(falls && is_good(last, wanted)) ? LIBSOLVER_STEP_FGMRES
                                                            : LIBSOLVER_STEP_PLAIN;
    if (!falls)
        return -1;
    return r->method == LIBSOLVER_METHOD_PLAIN ? LIBSOLVER_STEP_PLAIN : LIBSOLVER_STEP_FGMRES;
}

/* Steps and what they come to; best: room for the best x, r: for the residual. */
static int refine(refinement *how, linear_system *system, session *s, const settings *wanted,
                  dense_block *best, dense_block *r, double *bounds, failure *f)
{
    const size_t bytes = sizeof(double) * (size_t)best->n * (size_t)best->columns *
                         (size_t)triplets_width(&system->problem.a);
    for (int kind = LIBSOLVER_STEP_START; kind >= 0; kind = next_step(how, wanted)) {
        refinement_step *step = &how->step[how->count];
        *step = (refinement_step){.made_by = (libsolver_step_kind)kind, .bound = NAN};
        if (make_step(how, step->made_by, system, s, r, wanted, &step->seconds, f) ||
            measure(step, system, s, wanted, bounds, f))
            return f->code;
        if (how->best < 0 || is_better(step, &how->step[how->best], wanted)) {
            how->best = how->count;
            memcpy(best->values, system->x.values, bytes);
        }
        how->count++;
    }
    memcpy(system->x.values, best->values, bytes);
    dense_set(&system->x);
    return 0;
}

int refinement_run(refinement *how, linear_system *system, session *s, const settings *wanted,
                   failure *f)
{
    const triplets *a = &system->problem.a;
    dense_block best = {0}, r = {0};
    double *bounds = room_new(system->nrhs + 1, sizeof *bounds);
    how->count = 0;
    how->best = -1;
    libsolver_info(s->factor, &how->factor);
    how->residual = wanted->residual != RESIDUAL_AUTO ? (residual_precision)wanted->residual
                    : type_is_single(a->type)         ? RESIDUAL_DOUBLE
                                                      : RESIDUAL_EXTENDED;
    if (bounds && dense_create(&best, a->n, system->nrhs, a->type) &&
        dense_create(&r, a->n, system->nrhs, a->type))
        refine(how, system, s, wanted, &best, &r, bounds, f);
    else
        failure_memory(f, s->name);
    dense_free(&best);
    dense_free(&r);
    room_free(bounds);
    return f->code;
}
