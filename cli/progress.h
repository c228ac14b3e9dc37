/* cli/progress.h: what goes on, on the terminal of somebody who watches
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "libsolver.h"
#include <stdbool.h>

/* A line of standard error that is written over, and wiped out when a phase ends. */
typedef struct progress {
    bool shown;         /* standard error is a terminal, and no silence was asked for */
    const char *prefix; /* what stands before it */
    double begin, told; /* of the phase; the last time the line was written */
    bool written;       /* something stands there */
} progress;

progress progress_start(bool quiet, const char *prefix);
/* A sentence, as "reading". */
void progress_say(progress *p, const char *what);
/* For options.progress, with a progress for the user. */
void progress_tell(void *progress, libsolver_phase phase, double fraction);
/* For options.log, with a progress for the user. */
void progress_log(void *progress, const char *sentence);
/* Wipes the line out, for others to print. */
void progress_wipe(progress *p);

#endif
