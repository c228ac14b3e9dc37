/* cli/failure.h: exit codes of the tool, and the one line that says why a step failed
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_FAILURE_H
#define CLI_FAILURE_H

enum { EXIT_SOLVED = 0, EXIT_USAGE = 1, EXIT_INPUT = 2, EXIT_NUMERICAL = 3, EXIT_RESOURCES = 4 };

/* code: EXIT_SOLVED as long as nothing failed.  A step that can fail takes one of these, fills it
 * at most once and returns its code. */
typedef struct failure {
    int code;
    char text[4608]; /* room for a longest path and a sentence */
    char place[64];  /* in the library's source, "file:line"; "": no call of it failed */
} failure;

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
int failure_set(failure *f, int code, const char *format, ...);

/* EXIT_RESOURCES: "SUBJECT: not enough memory", and how much was wanted, if room_wanted knows. */
int failure_memory(failure *f, const char *subject);

#endif
