/* cli/report.h: what a solve has found out, for programs (JSON) and for people
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "compare.h"
#include "json.h"
#include "triplets.h"
#include <stdio.h>

typedef struct report_seconds {
    double read, analyze, factorize, solve, total; /* NaN: not reached */
} report_seconds;

typedef struct report {
    const char *path;
    const triplets *matrix; /* NULL: not read */
    libsolver_status status;
    const char *message;                            /* "": no failure */
    const char *place;                              /* see failure.h */
    bool analyzed, factorized, solved, has_inertia; /* which of the following are filled */
    libsolver_analysis_info analysis;
    libsolver_factor_info factor;
    libsolver_inertia_counts inertia;
    libsolver_solve_info solve;
    int64_t nrhs;         /* 0: not known */
    double forward_error; /* NaN: no solution, or none is known to compare with */
    double tolerance;
    bool mixed; /* a factor in single precision of a matrix in double was asked for */
    report_seconds seconds;
    const comparison *compare; /* NULL: not asked for; not done: it could not be run */
} report;

void report_json(const report *r, json *j);
void report_text(const report *r, FILE *to);

/* "cholesky" or "ldlt"; "cpu" or "gpu"; "amd", ... as on the command line. */
const char *kind_name(libsolver_kind kind);
const char *backend_name(libsolver_backend backend);
const char *ordering_name(libsolver_ordering ordering);

#endif
