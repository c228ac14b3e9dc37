/* solver/factor.c: the second phase: a factor from values, again and again
 * SPDX-License-Identifier: BSD-3-Clause */
#include "solver/objects.h"
#include <string.h>

static size_t scalar_bytes(libsolver_type type)
{
    return type == LIBSOLVER_S ? 4 : type == LIBSOLVER_Z ? 16 : 8;
}

/* Memory for values and the backend's object. */
static libsolver_status prepare(libsolver_factor *f, const libsolver_analysis *s)
{
    memory *m = &s->context->env.memory;
    const int64_t nnz = s->input.a.start[s->input.a.n];
    f->analysis = s;
    f->incoming = memory_new(m, nnz, scalar_bytes(s->type));
    if (s->input.full)
        f->mirrored = memory_new(m, nnz, scalar_bytes(s->type));
    if (!f->incoming || (s->input.full && !f->mirrored))
        return FAIL(&f->last, LIBSOLVER_OUT_OF_MEMORY, "the values wanted %lld more bytes",
                    (long long)m->wanted);
    return s->backend->create(s->plan, &f->last, &f->numeric);
}

/* New values and their factorization.  The factor that is there is lost only when the values are good. */
static libsolver_status factorize(libsolver_factor *f, const libsolver_matrix *a)
{
    const libsolver_analysis *s = f->analysis;
    const libsolver_options *o = &s->options;
    f->last.text[0] = 0;
    TRY(input_matches(&s->input, a, &f->last));
    if (a->type != s->type || a->symmetry != s->symmetry)
        return FAIL(&f->last, LIBSOLVER_PATTERN_MISMATCH,
                    "the type or symmetry is not the one that was analysed");
    if (!a->values && s->input.entries > 0)
        return FAIL(&f->last, LIBSOLVER_INVALID, "the matrix has no values");
    TRY(input_values_d(&s->input, a->values, f->incoming, f->mirrored, &f->last));
    f->usable = 0;
    s->backend->set_values(f->numeric, f->incoming);
    const backend_options how = {
        .positive_definite = o->kind == LIBSOLVER_KIND_SPD          ? 1
                             : o->kind == LIBSOLVER_KIND_INDEFINITE ? 0
                                                                    : -1,
        .scaling = o->matching == LIBSOLVER_ON   ? BACKEND_MATCH
                   : o->scaling == LIBSOLVER_OFF ? BACKEND_UNSCALED
                                                 : BACKEND_EQUILIBRATE,
        .may_match = o->matching == LIBSOLVER_AUTO,
        .pivot_threshold = o->pivot_threshold,
    };
    f->status = s->backend->factorize(f->numeric, &how, &f->report, &f->last);
    if (f->status == LIBSOLVER_OK && !f->workspace)
        f->status = libsolver_workspace_create(f, 1, &f->workspace);
    f->usable = f->status == LIBSOLVER_OK;
    if (f->status == LIBSOLVER_OK && f->report.zero > 0)
        f->status = FAIL(&f->last, LIBSOLVER_SINGULAR, "%lld pivots are zero", (long long)f->report.zero);
    if (f->status == LIBSOLVER_OK && f->report.perturbed > 0)
        f->status = LIBSOLVER_PERTURBED;
    return f->status;
}

libsolver_status libsolver_factorize(const libsolver_analysis *s, const libsolver_matrix *a,
                                     libsolver_factor **factor)
{
    if (factor)
        *factor = NULL;
    if (!s || !a || !factor)
        return LIBSOLVER_INVALID;
    libsolver_factor *f = memory_zeroed(&s->context->env.memory, 1, sizeof(libsolver_factor));
    if (!f)
        return LIBSOLVER_OUT_OF_MEMORY;
    f->context = s->context;
    libsolver_status status = prepare(f, s);
    if (status == LIBSOLVER_OK)
        status = factorize(f, a);
    if (status < 0)
        context_message(s->context, &f->last);
    if (status == LIBSOLVER_INVALID || status == LIBSOLVER_PATTERN_MISMATCH ||
        status == LIBSOLVER_OUT_OF_MEMORY)
        libsolver_factor_free(f);
    else
        *factor = f;
    return status;
}

libsolver_status libsolver_refactorize(libsolver_factor *f, const libsolver_matrix *a)
{
    if (!f || !a || !f->numeric)
        return LIBSOLVER_INVALID;
    return factorize(f, a);
}

libsolver_status libsolver_factor_matrix(const libsolver_matrix *a, const libsolver_options *options,
                                         libsolver_factor **factor)
{
    if (factor)
        *factor = NULL;
    if (!a || !factor)
        return LIBSOLVER_INVALID;
    libsolver_context *context = NULL;
    TRY(libsolver_context_create(options, &context));
    libsolver_factor *f = memory_zeroed(&context->env.memory, 1, sizeof(libsolver_factor));
    if (!f) {
        libsolver_context_free(context);
        return LIBSOLVER_OUT_OF_MEMORY;
    }
    f->context = f->own_context = context;
    *factor = f;
    f->status = libsolver_analyze(context, a, options, &f->own_analysis);
    if (f->status != LIBSOLVER_OK) {
        f->last = context->last;
        return f->status;
    }
    f->status = prepare(f, f->own_analysis);
    return f->status == LIBSOLVER_OK ? factorize(f, a) : f->status;
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
    memory_free(m, f->mirrored);
    libsolver_analysis_free(f->own_analysis);
    libsolver_context *own = f->own_context;
    memory_free(m, f);
    libsolver_context_free(own);
}

const char *libsolver_factor_message(const libsolver_factor *f)
{
    return f ? f->last.text : "";
}
