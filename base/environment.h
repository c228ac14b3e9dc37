/* base/environment.h: where work runs, whose memory it takes, whom it tells
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef BASE_ENVIRONMENT_H
#define BASE_ENVIRONMENT_H

#include "base/memory.h"
#include "base/message.h"

/* What every phase and backend needs to know of its caller. */
typedef struct environment {
    memory memory;
    int threads; /* >= 1 */
    int device;
    void *stream;
    void (*log)(void *user, const char *sentence);
    void *log_user;
    int (*cancel)(void *user);
    void *cancel_user;
} environment;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void environment_log(const environment *e, const char *format, ...);
/* OUT_OF_MEMORY with a sentence: `object`, "the workspace", wanted as many bytes as the memory was
 * last asked for in vain. */
#define NO_MEMORY(environment, object, why) \
    FAIL(why, LIBSOLVER_OUT_OF_MEMORY, "%s wanted %lld more bytes", object, \
         (long long)(environment)->memory.wanted)
/* Nonzero when the caller asked to stop. */
int environment_cancelled(const environment *e);

#endif
