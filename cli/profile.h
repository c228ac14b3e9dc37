/* cli/profile.h: where the time of a solve on the GPU goes, from the trace of its tasks
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_PROFILE_H
#define CLI_PROFILE_H

#include "json.h"
#include "libsolver_types.h"
#include "profile_facts.h"
#include "timeline.h"

/* Seconds from one multiprocessor to another through the second-level cache, the least that a level
 * adds: measured on one H200. */
#define PROFILE_STEP 0.71e-6

/* The tasks of one kind on one level. */
typedef struct profile_row {
    timeline_row of;
    int32_t height, backward;
    libsolver_task_kind kind;
    int32_t blocks; /* that have some of them */
    int64_t bytes;
    double staging, gathering, computing; /* means over the tasks: until the bytes were there, the
                                             inputs, and the rest */
    double floor; /* the longer one of a step and of its bytes at bytes_per_second */
} profile_row;

enum { PROFILE_STAGING, PROFILE_GATHERING, PROFILE_COMPUTING, PROFILE_STATES };

typedef struct profile {
    int32_t rows;
    profile_row *row; /* ascending by level, then by end */
    int32_t levels, blocks;
    int64_t tasks, bytes;
    double bytes_per_second;
    double bytes_floor, chain_floor; /* all bytes at bytes_per_second; a step for each level */
    timeline time;
} profile;

/* task: of one traced solve; bytes_per_second: of the device's memory, NaN: floors of bytes are not
 * known.  False: no memory. */
bool profile_make(const libsolver_task *task, int64_t tasks, double bytes_per_second, profile *p);
void profile_free(profile *p);

/* "small", ... */
const char *profile_kind(libsolver_task_kind kind);

void profile_json(const profile *p, const profile_facts *facts, json *j);
/* profile_svg.c: a picture: what the blocks do over time, and below it a bar for each row. */
void profile_svg(const profile *p, const profile_facts *facts, output *o);

#endif
