/* base/message.h: why a call failed, and where in the source that was found
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef BASE_MESSAGE_H
#define BASE_MESSAGE_H

#include "libsolver_types.h"

typedef struct message {
    char text[240]; /* a sentence for the user; "": nothing failed */
    char place[64]; /* "file:line" of the FAIL that wrote it, for a report of a fault */
} message;

/* Writes the sentence and returns the status, so that a failure is one line:
 *     return FAIL(m, LIBSOLVER_INVALID, "row %d is out of range", i);
 * m may be NULL. */
#define FAIL(m, status, ...) message_set(m, status, __FILE__, __LINE__, __VA_ARGS__)

/* For a failure that was recovered from and is not reported. */
static inline void message_clear(message *m)
{
    if (m)
        m->text[0] = m->place[0] = 0;
}

/* Passes a status up unless it is OK. */
#define TRY(call) \
    do { \
        const libsolver_status try_status_ = (call); \
        if (try_status_ != LIBSOLVER_OK) \
            return try_status_; \
    } while (0)

/* The same where there is something to free: sets `status` and goes to `done`. */
#define TRY_DONE(call) \
    do { \
        if ((status = (call)) != LIBSOLVER_OK) \
            goto done; \
    } while (0)

#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
libsolver_status
message_set(message *m, libsolver_status status, const char *file, int line, const char *format,
            ...);

#endif
