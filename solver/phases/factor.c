/* solver/phases/factor.c: the second phase: a factor from values, again and again
 * SPDX-License-Identifier: BSD-3-Clause */
#include "gpu/device/devices.h"
#include "solver/phases/context.h"
#include "solver/phases/factorize.h"
#include "solver/phases/host_view.h"
#include "solver/phases/options.h"
#include "solver/phases/workspace.h"
#include <omp.h>
#include <string.h>

/* Memory for values and the backend's object. */
static libsolver_status prepare(libsolver_factor *f, const libsolver_analysis *s)
{
    memory *m = &s->context->env.memory;
    memory_part part[FACTOR_VALUE_PARTS];
    f->analysis = s;
    f->pivot_threshold = s->options.pivot_threshold;
    if (!memory_take(m, part, factor_value_parts(f, s, part)))
        return FAIL(&f->last, LIBSOLVER_OUT_OF_MEMORY, "the values wanted %lld more bytes",
                    (long long)m->wanted);
    return s->backend->create(s->plan, &f->numeric, &f->last);
}

/* incoming := A, diagonal := that of A.  a: as factor_check_matrix has found it. */
static libsolver_status read_values(libsolver_factor *f, const libsolver_matrix *a)
{
    const libsolver_analysis *s = f->analysis;
    host_view view;
    f->has_values = f->is_on_device = 0;
    TRY(host_view_values(f->context, a, s->input.entries, &view, &f->last));
    const libsolver_status status =
        s->typed->sum(&s->input, view.a.values, f->incoming, f->mirrored, &f->last);
    host_view_free(f->context, &view);
    TRY(status);
    s->typed->diagonal(&s->input, f->incoming, f->diagonal);
    f->has_values = 1;
    return LIBSOLVER_OK;
}

static libsolver_status check_shift(libsolver_factor *f, const libsolver_vectors *shift)
{
    const int64_t n = f->analysis->input.a.n;
    if (shift->rows != n || shift->columns != 1 || (unsigned)shift->layout > LIBSOLVER_ROW_MAJOR ||
        shift->ld < (shift->layout == LIBSOLVER_COLUMN_MAJOR ? n : 1) || (!shift->values && n > 0))
        return FAIL(&f->last, LIBSOLVER_INVALID, "the shift is not a vector of %lld values",
                    (long long)n);
    TRY(reserved_check(shift, &f->last));
    if (shift->type != f->analysis->type)
        return FAIL(&f->last, LIBSOLVER_INVALID, "the shift has not the factor's type");
    if (shift->place == LIBSOLVER_DEVICE && f->context->backend == LIBSOLVER_BACKEND_CPU)
        return FAIL(&f->last, LIBSOLVER_NOT_BUILT,
                    "a shift in device memory needs the GPU backend");
    return LIBSOLVER_OK;
}

/* From one value of a shift to the next. */
static int64_t shift_step(const libsolver_vectors *shift)
{
    return shift->layout == LIBSOLVER_ROW_MAJOR ? shift->ld : 1;
}

/* The shift as n scalars, one after the other. */
static void pack_shift(const libsolver_factor *f, const libsolver_vectors *shift, char *to)
{
    const size_t bytes = f->analysis->typed->bytes, step = (size_t)shift_step(shift);
    for (size_t i = 0; i < (size_t)shift->rows; i++)
        memcpy(to + i * bytes, (const char *)shift->values + i * step * bytes, bytes);
}

/* The view of a copy on the host of a shift that lies on the device; *copy: to be freed. */
static libsolver_status fetch_shift(libsolver_factor *f, const libsolver_vectors *shift,
                                    libsolver_vectors *here, void **copy)
{
    environment *env = &f->context->env;
    const int64_t values = shift->rows > 0 ? (shift->rows - 1) * shift_step(shift) + 1 : 0,
                  bytes = values * (int64_t)f->analysis->typed->bytes;
    *copy = memory_new(&env->memory, bytes, 1);
    if (!*copy)
        return NO_MEMORY(env, "a copy of the shift", &f->last);
    *here = *shift;
    here->place = LIBSOLVER_HOST;
    here->values = *copy;
    return gpu_device_read(env->device, env->stream, shift->values, bytes, *copy, &f->last);
}

/* A + diag(shift) on the device, where A is, or was given last (a NULL).  *taken: 0 if that cannot
 * be, or something is wrong with the values. */
static libsolver_status take_on_device(libsolver_factor *f, const libsolver_matrix *a,
                                       const libsolver_vectors *shift, int *taken)
{
    const backend *b = f->analysis->backend;
    *taken = 0;
    if (!b->set_device_values || !(a ? a->place == LIBSOLVER_DEVICE : f->is_on_device))
        return LIBSOLVER_OK;
    const void *values = shift ? f->diagonal : NULL;
    if (shift && shift->place == LIBSOLVER_DEVICE)
        values = shift->values;
    else if (shift)
        pack_shift(f, shift, f->diagonal);
    f->has_values &= !a;
    TRY(b->set_device_values(f->numeric, a ? a->values : NULL, values, taken, &f->last));
    if (*taken)
        f->has_values = f->is_on_device = 1;
    return LIBSOLVER_OK;
}

/* What was given last on the device comes to the host. */
static libsolver_status fetch_values(libsolver_factor *f)
{
    const libsolver_analysis *s = f->analysis;
    TRY(s->backend->get_device_values(f->numeric, f->incoming, &f->last));
    s->typed->diagonal(&s->input, f->incoming, f->diagonal);
    f->is_on_device = 0;
    return LIBSOLVER_OK;
}

/* A + diag(shift) in incoming, where the device has not taken them. */
static libsolver_status take_here(libsolver_factor *f, const libsolver_matrix *a,
                                  const libsolver_vectors *shift)
{
    const libsolver_analysis *s = f->analysis;
    libsolver_vectors here;
    void *copy = NULL;
    if (a)
        TRY(read_values(f, a));
    else if (f->is_on_device)
        TRY(fetch_values(f));
    if (!shift || shift->place != LIBSOLVER_DEVICE)
        return s->typed->shift(&s->input, f->diagonal, shift, f->incoming, &f->last);
    libsolver_status status = fetch_shift(f, shift, &here, &copy);
    if (status == LIBSOLVER_OK)
        status = s->typed->shift(&s->input, f->diagonal, &here, f->incoming, &f->last);
    memory_free(&f->context->env.memory, copy);
    return status;
}

/* Values on the device and their factor with one wait, where that can be. */
static libsolver_status refactorize_there(libsolver_factor *f, const libsolver_matrix *a,
                                          backend_settled *outcome)
{
    const backend *b = f->analysis->backend;
    if (!b->refactorize || a->place != LIBSOLVER_DEVICE || !f->usable)
        return LIBSOLVER_OK;
    const libsolver_status status =
        b->refactorize(f->numeric, a->values, &f->report, outcome, &f->last);
    if (status == LIBSOLVER_OK && *outcome == BACKEND_UNCHANGED)
        return status;
    f->has_values = f->is_on_device =
        status == LIBSOLVER_OK ? *outcome != BACKEND_REFUSED : status == LIBSOLVER_CANCELLED;
    f->usable = *outcome == BACKEND_ADOPTED;
    return status;
}

/* A + diag(shift) on the device, or in incoming; a NULL: with the A given last, shift NULL: 0.
 * After a failure the factor is what it was, and a good A has been given.  *outcome: ADOPTED, it is
 * factorized already. */
static libsolver_status new_values(libsolver_factor *f, const libsolver_matrix *a,
                                   const libsolver_vectors *shift, backend_settled *outcome)
{
    int taken = 0;
    *outcome = BACKEND_UNCHANGED;
    if (shift)
        TRY(check_shift(f, shift));
    if (a)
        TRY(factor_check_matrix(f, a));
    else if (!f->has_values)
        return FAIL(&f->last, LIBSOLVER_INVALID,
                    "there are no values to be shifted: none were given, or the last were refused");
    if (a && !shift)
        TRY(refactorize_there(f, a, outcome));
    if (*outcome == BACKEND_ADOPTED || *outcome == BACKEND_AGAIN)
        return LIBSOLVER_OK;
    /* values of a shift that are apart in device memory are put together on the host */
    if (!shift || shift->place == LIBSOLVER_HOST || shift_step(shift) == 1)
        TRY(take_on_device(f, a, shift, &taken));
    return taken ? LIBSOLVER_OK : take_here(f, a, shift);
}

/* The first values, where the analysis had none: if they call for pairs of rows that are eliminated
 * together, the factor goes on with an order of its own. */
static libsolver_status follow_values(libsolver_factor *f)
{
    const libsolver_analysis *before = f->analysis;
    libsolver_analysis *with;
    if (f->is_on_device)
        return LIBSOLVER_OK;
    const double begin = omp_get_wtime();
    const libsolver_status status = analysis_with_values(before, f->incoming, &with, &f->last);
    if (status == LIBSOLVER_OUT_OF_MEMORY && !f->last.text[0])
        return NO_MEMORY(&f->context->env, "the order of the factor", &f->last);
    TRY(status);
    if (!with)
        return LIBSOLVER_OK;
    before->backend->destroy(f->numeric);
    f->numeric = NULL;
    f->analysis = f->own_analysis = with;
    f->analysis_seconds = omp_get_wtime() - begin;
    environment_log(
        &f->context->env,
        "zeros on the diagonal, which the analysis could not see: a new order in %.1f ms, for "
        "this factor",
        1e3 * f->analysis_seconds);
    return with->backend->create(with->plan, &f->numeric, &f->last);
}

static void log_factorization(const libsolver_factor *f, double seconds)
{
    environment_log(&f->context->env,
                    "factorization: %s on the %s, %lld entries, %lld pivots delayed, %lld "
                    "perturbed, %lld zero; %.3g s",
                    f->report.cholesky ? "Cholesky" : "L D L^T",
                    f->report.on_device ? "GPU" : "CPU", (long long)f->report.factor_nnz,
                    (long long)f->report.delayed, (long long)f->report.perturbed,
                    (long long)f->report.zero, seconds);
}

static libsolver_status factorize(libsolver_factor *f, const libsolver_matrix *a,
                                  const libsolver_vectors *shift, int is_first)
{
    const double begin = omp_get_wtime();
    message_clear(&f->last);
    environment_progress(&f->context->env, PHASE_FACTORIZE, 0);
    backend_settled outcome;
    f->status = new_values(f, a, shift, &outcome);
    if (f->status == LIBSOLVER_OK && is_first)
        f->status = follow_values(f);
    if (f->status == LIBSOLVER_OK && outcome != BACKEND_ADOPTED)
        f->status = factor_factorize_values(f);
    if (f->status >= 0) {
        log_factorization(f, omp_get_wtime() - begin);
        environment_progress(&f->context->env, PHASE_FACTORIZE, 1);
    }
    return f->status;
}

static libsolver_status without_matrix(libsolver_factor *f)
{
    return f->status = FAIL(&f->last, LIBSOLVER_INVALID, "the matrix to be factorized is NULL");
}

/* An object without values or factor, NULL if it cannot be had. */
static libsolver_factor *new_factor(libsolver_context *context, message *why)
{
    memory *m = &context->env.memory;
    libsolver_factor *f = memory_zeroed(m, 1, sizeof(libsolver_factor));
    if (!f) {
        FAIL(why, LIBSOLVER_OUT_OF_MEMORY, "the factor wanted %lld more bytes",
             (long long)m->wanted);
        return NULL;
    }
    f->context = context;
    atomic_flag_clear(&f->own_busy);
    atomic_flag_clear(&f->writing);
    omp_init_lock(&f->settling);
    return f;
}

libsolver_status factor_open(const libsolver_analysis *s, libsolver_factor **factor, message *why)
{
    libsolver_factor *f = *factor = new_factor(s->context, why);
    if (!f)
        return LIBSOLVER_OUT_OF_MEMORY;
    const libsolver_status status = prepare(f, s);
    if (status == LIBSOLVER_OK)
        return status;
    *why = f->last;
    libsolver_factor_free(f);
    *factor = NULL;
    return status;
}

libsolver_status libsolver_factorize_shifted(const libsolver_analysis *s, const libsolver_matrix *a,
                                             const libsolver_vectors *shift,
                                             libsolver_factor **factor)
{
    if (factor)
        *factor = NULL;
    if (!s)
        return LIBSOLVER_INVALID;
    message why = {0};
    if (!factor) {
        FAIL(&why, LIBSOLVER_INVALID, "where the factor is to go is NULL");
        context_message(s->context, &why);
        return LIBSOLVER_INVALID;
    }
    libsolver_factor *f = new_factor(s->context, &why);
    if (!f) {
        context_message(s->context, &why);
        return LIBSOLVER_OUT_OF_MEMORY;
    }
    libsolver_status status = prepare(f, s);
    if (status == LIBSOLVER_OK)
        status = a ? factorize(f, a, shift, 1) : without_matrix(f);
    if (status < 0)
        context_message(s->context, &f->last);
    if (status == LIBSOLVER_INVALID || status == LIBSOLVER_PATTERN_MISMATCH ||
        status == LIBSOLVER_OUT_OF_MEMORY)
        libsolver_factor_free(f);
    else
        *factor = f;
    return status;
}

libsolver_status libsolver_factorize(const libsolver_analysis *s, const libsolver_matrix *a,
                                     libsolver_factor **factor)
{
    return libsolver_factorize_shifted(s, a, NULL, factor);
}

libsolver_status libsolver_set_pivot_threshold(libsolver_factor *f, double threshold)
{
    if (!f)
        return LIBSOLVER_INVALID;
    message why = {0};
    const libsolver_status status = threshold_check(threshold, &why);
    if (status == LIBSOLVER_OK)
        f->pivot_threshold = threshold;
    return factor_outcome(f, status, &why);
}

libsolver_status libsolver_refactorize_shifted(libsolver_factor *f, const libsolver_matrix *a,
                                               const libsolver_vectors *shift)
{
    if (!f)
        return LIBSOLVER_INVALID;
    if (!f->numeric)
        return FAIL(&f->last, LIBSOLVER_INVALID, "there is no analysis: it failed");
    factor_settle(f); /* whose factor, and values, stay where the new ones are refused */
    return factorize(f, a, shift, 0);
}

libsolver_status libsolver_refactorize(libsolver_factor *f, const libsolver_matrix *a)
{
    if (f && f->numeric && !a)
        return without_matrix(f);
    return libsolver_refactorize_shifted(f, a, NULL);
}

/* The context that the options ask for, or, when they are refused, one that only serves to say
 * why. */
static libsolver_status own_context(const libsolver_options *options, libsolver_context **context)
{
    message why = {0};
    const libsolver_status status = context_create(options, context, &why);
    if (status == LIBSOLVER_OK || status == LIBSOLVER_OUT_OF_MEMORY)
        return status;
    libsolver_options plain;
    libsolver_options_default(&plain);
    if (options->allocate && options->release) {
        plain.allocate = options->allocate;
        plain.release = options->release;
        plain.memory_user = options->memory_user;
    }
    if (context_create(&plain, context, NULL) != LIBSOLVER_OK)
        return LIBSOLVER_OUT_OF_MEMORY;
    context_message(*context, &why);
    return status;
}

libsolver_status libsolver_factor_matrix(const libsolver_matrix *a,
                                         const libsolver_options *options,
                                         libsolver_factor **factor)
{
    if (factor)
        *factor = NULL;
    if (!factor)
        return LIBSOLVER_INVALID;
    libsolver_context *context = NULL;
    libsolver_status status = own_context(options, &context);
    libsolver_factor *f = context ? new_factor(context, NULL) : NULL;
    if (!f) {
        libsolver_context_free(context);
        return LIBSOLVER_OUT_OF_MEMORY;
    }
    f->own_context = context;
    *factor = f;
    if (status == LIBSOLVER_OK)
        status = libsolver_analyze(context, a, options, &f->own_analysis);
    f->status = status;
    if (f->status != LIBSOLVER_OK) {
        f->last = context->last;
        return f->status;
    }
    f->status = prepare(f, f->own_analysis);
    return f->status == LIBSOLVER_OK ? factorize(f, a, NULL, 0) : f->status;
}

void libsolver_factor_free(libsolver_factor *f)
{
    if (!f)
        return;
    memory *m = &f->context->env.memory;
    libsolver_workspace_free(f->workspace);
    if (f->numeric)
        f->analysis->backend->destroy(f->numeric);
    memory_free(m, f->incoming);
    memory_free(m, f->diagonal);
    memory_free(m, f->mirrored);
    libsolver_analysis_free(f->own_analysis);
    libsolver_context *own = f->own_context;
    omp_destroy_lock(&f->settling);
    memory_free(m, f);
    libsolver_context_free(own);
}
