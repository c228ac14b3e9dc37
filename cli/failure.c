/* cli/failure.c: the one line that says why a step failed
 * SPDX-License-Identifier: BSD-3-Clause */
#include "failure.h"
#include "room.h"
#include <stdarg.h>
#include <stdio.h>

int failure_set(failure *f, int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(f->text, sizeof f->text, format, arguments);
    va_end(arguments);
    for (char *p = f->text; *p; p++) /* one line, whatever a file name holds */
        if ((unsigned char)*p < ' ' || *p == 127)
            *p = '?';
    return f->code = code;
}

int failure_memory(failure *f, const char *subject)
{
    const long long wanted = room_wanted(), left = room_left();
    if (wanted && left)
        return failure_set(
            f, EXIT_RESOURCES,
            "%s: not enough memory: %lld more bytes were wanted, --memory-limit leaves %lld",
            subject, wanted, left);
    if (wanted)
        return failure_set(f, EXIT_RESOURCES, "%s: not enough memory: %lld more bytes were wanted",
                           subject, wanted);
    return failure_set(f, EXIT_RESOURCES, "%s: not enough memory", subject);
}
