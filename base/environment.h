/* base/environment.h: threads, device, memory and callbacks of the caller
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef BASE_ENVIRONMENT_H
#define BASE_ENVIRONMENT_H

#include "base/memory.h"
#include "base/message.h"

/* The values of libsolver_phase. */
enum { PHASE_ANALYZE, PHASE_FACTORIZE, PHASE_SOLVE };

/* The caller's settings that every phase and backend needs. */
typedef struct environment {
    memory memory;
    int threads; /* >= 1 */
    int device;
    void *stream;
    void (*log)(void *user, const char *sentence);
    void *log_user;
    int (*cancel)(void *user);
    void *cancel_user;
    void (*progress)(void *user, int phase, double fraction); /* NULL: he does not listen */
    void *progress_user;
} environment;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void environment_log(const environment *e, const char *format, ...);
/* OUT_OF_MEMORY with a sentence that names the object (a string such as "the workspace") and the
 * size of the latest allocation that failed. */
#define NO_MEMORY(environment, object, why) \
    FAIL(why, LIBSOLVER_OUT_OF_MEMORY, "%s wanted %lld more bytes", object, \
         (long long)(environment)->memory.wanted)
/* Nonzero when the caller asked to stop. */
int environment_cancelled(const environment *e);
/* Tells the caller, if he listens, what part of a phase is done. */
void environment_progress(const environment *e, int phase, double fraction);

#endif
