/* test/support/api_phases.h: all phases of the interface, one call after the other, on one system
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_SUPPORT_API_PHASES_H
#define TEST_SUPPORT_API_PHASES_H

#include "systems.h"

#define COLUMNS 3

/* A system, and its values at another time. */
typedef struct api_system {
    sparse a;
    double *other; /* values on the same pattern */
    double *b, *x; /* n x COLUMNS */
    libsolver_kind kind;
    libsolver_choice mixed;
    int64_t positive;
} api_system;

api_system api_system_new(sparse a, libsolver_kind kind);
api_system definite_system(void);
/* Delays nothing with its own values; with the others it does. */
api_system indefinite_system(void);
void api_system_free(api_system *t);
void check_solution(const api_system *t, int64_t columns, double most);

enum {
    CONTEXT,
    ANALYZE,
    FACTORIZE,
    WORKSPACE,
    PLAIN,
    SOLVE,
    REFINE,
    EXPORT,
    OTHER_VALUES,
    BACK,
    PLAIN_2,
    SOLVE_2,
    STEPS
};

extern const char *const step_names[STEPS];

typedef struct objects {
    libsolver_options options;
    libsolver_context *context;
    libsolver_analysis *analysis;
    libsolver_factor *factor;
    libsolver_workspace *workspace;
} objects;

/* No objects yet, options for them: books in l, and no matching, which would spare the delays. */
void objects_open(objects *o, ledger *l, const api_system *t, int threads);
/* One call; the objects it makes are put into o. */
libsolver_status take_step(int step, const api_system *t, objects *o);
/* What must hold after a step. */
void check_step(int step, const api_system *t, const objects *o);
void objects_free(objects *o);
const char *message_of(int step, const objects *o);

#endif
