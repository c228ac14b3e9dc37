/* cli/factor_profile.h: where the time of a factorization on the GPU goes, from the trace of its
 * tasks
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_FACTOR_PROFILE_H
#define CLI_FACTOR_PROFILE_H

#include "json.h"
#include "libsolver_types.h"
#include "profile_facts.h"
#include "timeline.h"

enum { FACTOR_KINDS = LIBSOLVER_FACTOR_TASK_DIVIDE + 1 };

/* Of some tasks. */
typedef struct factor_sum {
    int64_t tasks;
    double flops, busy; /* operations; seconds of all tasks together, */
    double longest;     /* and of the longest one */
} factor_sum;

void factor_sum_add(factor_sum *to, const factor_sum *from);

/* The tasks of one kind on one level. */
typedef struct factor_row {
    timeline_row of;
    libsolver_factor_task_kind kind;
    factor_sum sum;
} factor_row;

/* All tasks of a level. */
typedef struct factor_level {
    double begin, end, added;        /* as in timeline_row */
    libsolver_factor_task_kind last; /* of the task that ends last */
    factor_sum sum;
} factor_level;

/* All tasks of a kind. */
typedef struct factor_kind_sum {
    factor_sum sum;
    int32_t levels; /* whose last task is of this kind, */
    double added;   /* and what they add: sums to the time of the factorization */
} factor_kind_sum;

typedef struct factor_profile {
    int32_t rows, levels;
    factor_row *row;     /* ascending by level, then by end */
    factor_level *level; /* levels */
    factor_kind_sum kind[FACTOR_KINDS];
    factor_sum all;
    double chain;  /* seconds of the longest task of each level, one after the other */
    timeline time; /* a state for each kind; blocks: the most at a time */
} factor_profile;

/* task: of one traced factorization.  False: no memory. */
bool factor_profile_make(const libsolver_factor_task *task, int64_t tasks, factor_profile *p);
void factor_profile_free(factor_profile *p);

/* "tiny", ... */
const char *factor_profile_kind(libsolver_factor_task_kind kind);

void factor_profile_json(const factor_profile *p, const profile_facts *facts, json *j);
/* factor_profile_svg.c: a picture: what is busy over time, a row for each kind, and one for each
 * level, or for as many levels together as make it short. */
void factor_profile_svg(const factor_profile *p, const profile_facts *facts, output *o);

#endif
