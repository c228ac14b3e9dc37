/* cli/refinement.h: a refinement step by step, and what is told of it
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_REFINEMENT_H
#define CLI_REFINEMENT_H

#include "json.h"
#include "linear_system.h"
#include "session.h"
#include <stdio.h>

enum { REFINEMENT_STEPS = 100 };

typedef struct refinement_step {
    libsolver_step_kind made_by;
    double backward_error; /* of x as it was left, by cli/certificate.h, largest of all columns */
    double bound;          /* of the error of x, by libsolver_forward_error; NaN: not known */
    double error;          /* of x, NaN: no solution is known to compare with */
    double seconds;        /* the step took, without what measures it */
} refinement_step;

/* One way to refine one system. */
typedef struct refinement {
    int precision; /* of the factor as asked for, see options.h */
    libsolver_method method;
    residual_precision residual;  /* of plain steps */
    libsolver_factor_info factor; /* with which it was refined */
    double factorize;             /* seconds */
    int count;                    /* of the steps, the first solve included */
    int best;                     /* the one whose x was kept, -1: none */
    refinement_step step[REFINEMENT_STEPS + 1];
} refinement;

/* Refines from a first solve with the session's factor until the tolerance is reached (below 0: it
 * falls no more) or `most` steps are made, and leaves the best x in system->x. */
int refinement_run(refinement *r, linear_system *system, session *s, const settings *wanted,
                   failure *f);

/* ---- refinement_report.c ---- */

/* The table of one, and of several side by side. */
void refinement_text(const refinement *r, FILE *to);
void refinement_compare(const refinement *r, int count, FILE *to);
void refinement_json(const refinement *r, const libsolver_analysis_info *analysis, json *j);

#endif
