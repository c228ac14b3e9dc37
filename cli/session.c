/* cli/session.c: the library's phases on one problem
 * SPDX-License-Identifier: BSD-3-Clause */
#include "session.h"
#include "device.h"
#include "permutation.h"
#include "room.h"
#include <stdio.h>

static int exit_code(libsolver_status status)
{
    switch (status) {
    case LIBSOLVER_INVALID:
    case LIBSOLVER_NONFINITE:
    case LIBSOLVER_PATTERN_MISMATCH:
        return EXIT_INPUT;
    case LIBSOLVER_OUT_OF_MEMORY:
    case LIBSOLVER_OUT_OF_DEVICE_MEMORY:
    case LIBSOLVER_NOT_BUILT:
    case LIBSOLVER_CUDA:
        return EXIT_RESOURCES;
    default:
        return status < 0 ? EXIT_NUMERICAL : EXIT_SOLVED;
    }
}

int session_check(session *s, libsolver_status status, const libsolver_factor *factor, failure *f)
{
    s->status = status;
    if (status >= 0)
        return 0;
    snprintf(f->place, sizeof f->place, "%s",
             factor ? libsolver_factor_place(factor) : libsolver_context_place(s->context));
    libsolver_factor_info info;
    libsolver_info(factor, &info);
    if (status == LIBSOLVER_NOT_POSITIVE_DEFINITE && info.failed_row >= 0)
        return failure_set(f, EXIT_NUMERICAL,
                           "%s: the pivot of row %lld is not positive: the matrix is not positive "
                           "definite; --type indefinite factorizes it",
                           s->name, (long long)info.failed_row + 1);
    const char *message =
        factor ? libsolver_factor_message(factor) : libsolver_context_message(s->context);
    return failure_set(f, exit_code(status), "%s: %s", s->name,
                       *message ? message : libsolver_status_sentence(status));
}

libsolver_status status_of_failure(const failure *f)
{
    return f->code == EXIT_RESOURCES ? LIBSOLVER_OUT_OF_MEMORY : LIBSOLVER_INVALID;
}

/* Floats for the view of a matrix in single precision. */
static int set_single(session *s, const triplets *a, failure *f)
{
    if (a->type != LIBSOLVER_S && a->type != LIBSOLVER_C)
        return 0;
    const int64_t count = a->nnz * triplets_width(a);
    s->single = room_new(count + 1, sizeof *s->single);
    if (!s->single) {
        s->status = LIBSOLVER_OUT_OF_MEMORY;
        return failure_memory(f, s->name);
    }
    for (int64_t k = 0; k < count; k++)
        s->single[k] = (float)a->values[k];
    s->view.values = s->single;
    return 0;
}

int session_begin(session *s, const settings *wanted, const char *name, const problem *p,
                  progress *shown, failure *f)
{
    *s = (session){.name = name, .view = triplets_view(&p->a)};
    settings_library_options(wanted, &s->options);
    s->options.allocate = room_allocate; /* keeps --memory-limit, for library and tool together */
    s->options.release = room_release;
    s->options.log = wanted->log ? progress_log : NULL;
    s->options.log_user = shown;
    s->options.progress = shown->shown ? progress_tell : NULL;
    s->options.progress_user = shown;
    if (set_single(s, &p->a, f))
        return f->code;
    if (wanted->ordering_file &&
        permutation_read(wanted->ordering_file, p->a.n, &s->permutation, f)) {
        s->status = status_of_failure(f);
        return f->code;
    }
    s->options.permutation = s->permutation;
    /* no such device: the context says so */
    if (s->options.backend == LIBSOLVER_BACKEND_GPU && !device_use(s->options.device))
        s->options.stream = s->stream = device_stream_create();
    return session_check(s, libsolver_context_create(&s->options, &s->context), NULL, f);
}

void session_end(session *s)
{
    libsolver_factor_free(s->factor);
    libsolver_analysis_free(s->analysis);
    libsolver_context_free(s->context);
    device_stream_free(s->stream);
    room_free(s->permutation);
    room_free(s->single);
}

int session_analyze(session *s, failure *f)
{
    libsolver_analysis_free(s->analysis);
    s->analysis = NULL;
    libsolver_status status = libsolver_analyze(s->context, &s->view, &s->options, &s->analysis);
    return session_check(s, status, NULL, f);
}

int session_factorize(session *s, failure *f)
{
    libsolver_factor_free(s->factor);
    s->factor = NULL;
    libsolver_status status = libsolver_factorize(s->analysis, &s->view, &s->factor);
    return session_check(s, status, s->factor, f);
}
