/* cli/session.h: the library's phases on one problem, as the settings ask, with failures as exit
 * codes
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

#include "clock.h"
#include "options.h"
#include "problem.h"
#include "progress.h"

typedef struct session {
    const char *name; /* of the problem, in messages */
    libsolver_options options;
    void *stream; /* with --backend gpu: where the library works */
    int64_t *permutation;
    libsolver_matrix view;
    float *single; /* values of the view in single precision */
    libsolver_context *context;
    libsolver_analysis *analysis;
    libsolver_factor *factor;
    libsolver_status status; /* of the last call */
} session;

/* name, p and shown, which hears of progress, must outlive the session.  session_end in every
 * case. */
int session_begin(session *s, const settings *wanted, const char *name, const problem *p,
                  progress *shown, failure *f);
void session_end(session *s);

/* Phases; a result that is there already is freed first. */
int session_analyze(session *s, failure *f);
int session_factorize(session *s, failure *f);

/* Takes the status of a call of the library on the factor, or, if that is NULL, the context: an
 * error becomes a failure with the object's message, or the status's sentence if it has none, and
 * its place. */
int session_check(session *s, libsolver_status status, const libsolver_factor *factor, failure *f);

/* The status that stands for a failure before or beside the library. */
libsolver_status status_of_failure(const failure *f);

#endif
