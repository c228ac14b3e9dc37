/* cli/options.h: the command line
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "failure.h"
#include "libsolver.h"
#include <stdbool.h>

typedef enum command {
    COMMAND_SOLVE = 1,
    COMMAND_BENCH = 2,
    COMMAND_GENERATE = 4,
    COMMAND_INFO = 8,
    COMMAND_HELP = 16,
    COMMAND_VERSION = 32,
    COMMAND_REFINE = 64,
    COMMAND_PLOT = 128
} command;

/* In the order in which --precision lists them. */
typedef enum precision {
    PRECISION_BY_MATRIX = -1,
    PRECISION_D,
    PRECISION_S,
    PRECISION_C,
    PRECISION_Z,
    PRECISION_MIXED
} precision;

/* In the order in which --residual lists them. */
typedef enum residual_precision {
    RESIDUAL_AUTO,
    RESIDUAL_SINGLE,
    RESIDUAL_DOUBLE,
    RESIDUAL_EXTENDED
} residual_precision;

/* settings.tolerance: refine until the backward error falls no more. */
#define TOLERANCE_LEAST (-1.0)

typedef struct settings {
    command command;
    command help_on; /* COMMAND_HELP: the command asked about, 0: all */
    char **operands; /* what is no option, in order */
    int operand_count;

    int backend, kind, ordering, matching, scaling; /* values of the library's enumerations */
    int purpose;                                    /* the same, -1: not given */
    int precision, help_format;
    const char *ordering_file; /* ordering is LIBSOLVER_ORDERING_USER */
    int64_t nrhs;              /* 0: not given */
    int64_t threads, refine;   /* -1: not given */
    int64_t device;
    double tolerance;                           /* 0: not given */
    double pivot_threshold;                     /* 0: not given */
    int64_t delay_cap, memory_limit;            /* 0: not given */
    const char *json, *output, *profile, *html; /* NULL: not given */
    int method, residual;                       /* of refine */
    bool quiet, compare, compare_precisions, error_bounds, symmetrize, log;
} settings;

/* Reads the command line; operands point into arguments, which is reordered.  EXIT_USAGE. */
int settings_parse(settings *s, int count, char **arguments, failure *f);

/* The library's options; everything not given is left at its default. */
void settings_library_options(const settings *s, libsolver_options *options);

/* The wanted backward error. */
double settings_tolerance(const settings *s);

#endif
