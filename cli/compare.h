/* cli/compare.h: the same problem solved by SuiteSparse's CHOLMOD, for comparison
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * CHOLMOD's library mixes GPL parts, so the tool does not link it: the program libsolver-compare
 * does, which is built where CHOLMOD is there and lies beside the tool.  It prints one line of
 * tab-separated fields:
 *     solver  analyze  factorize  solve  backward error  message
 * Seconds, one call each; NaN: not reached, and the message says why. */
#ifndef CLI_COMPARE_H
#define CLI_COMPARE_H

#include "options.h"

typedef struct comparison {
    bool done;
    char solver[64], message[256];
    double analyze, factorize, solve, backward_error;
} comparison;

/* The path of libsolver-compare in place, of `room` bytes.  EXIT_RESOURCES: this build has none. */
int compare_find(char *place, int room, failure *f);

/* Runs it on the operands of s.  EXIT_RESOURCES: it could not be run. */
int compare_run(const settings *s, comparison *c, failure *f);

#endif
