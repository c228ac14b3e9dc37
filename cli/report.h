/* cli/report.h: what a solve has found out, for programs (JSON) and for people
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "compare.h"
#include "json.h"
#include "triplets.h"
#include <stdio.h>

typedef struct report_seconds {
    double read, analyze, factorize, solve, estimate, total; /* NaN: not reached */
} report_seconds;

enum { REPORT_HISTORY = 64 }; /* most steps of a refinement that are told */

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
    int precision;           /* asked for, see options.h */
    int device;              /* the GPU that is used where one is */
    double asymmetry;        /* that was taken out of the matrix, as part of its largest entry */
    double *backward_errors; /* solved: nrhs */
    bool bounded;            /* these two are there: */
    double condition;        /* |A|_1 |A^-1|_1 */
    double forward_bound;    /* of max |x - A^-1 b| / max |x|, of all columns */
    libsolver_step history[REPORT_HISTORY];
    report_seconds seconds;
    const comparison *compare; /* NULL: not asked for; not done: it could not be run */
} report;

void report_json(const report *r, json *j);

/* For people, each part once it is known: the matrix, the foreseen work, the factor, the solution,
 * how good it is, times and verdict. */
void report_text_matrix(const report *r, FILE *to);
void report_text_analysis(const report *r, FILE *to);
void report_text_factor(const report *r, FILE *to);
void report_text_solution(const report *r, FILE *to);
void report_text_accuracy(const report *r, FILE *to);
void report_text_end(const report *r, FILE *to);

/* Decimal digits of x that a bound of its relative error leaves right, 0 to 17. */
int report_digits(double forward_bound);
/* "d", "s", ... of a type. */
const char *type_name(libsolver_type type);
/* "symmetric" or "hermitian". */
const char *symmetry_name(const triplets *a);
/* As --precision; where it was left open, that of the matrix, NULL if there is none. */
const char *precision_name(int wanted, const triplets *a);
/* "solve", "plain", "fgmres", "singular": what made a step. */
const char *step_name(libsolver_step_kind kind);

/* What each JSON object begins with: the schema "libsolver.OF/1" of doc/json.md, and the
 * version of the library. */
void json_schema(const char *of, json *j);

/* "cholesky" or "ldlt"; "cpu" or "gpu"; "amd", ... as on the command line. */
const char *kind_name(libsolver_kind kind);
const char *backend_name(libsolver_backend backend);
/* Name of the device that solves, kept in *device; NULL where that is the CPU. */
enum { MOST_DEVICES = 64 };
const char *device_name(libsolver_backend backend, int index, libsolver_device *device);
const char *ordering_name(libsolver_ordering ordering);

#endif
