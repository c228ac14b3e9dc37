/* base/message.c: why a call failed, and where in the source that was found
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/message.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

libsolver_status message_set(message *m, libsolver_status status, const char *file, int line,
                             const char *format, ...)
{
    if (!m)
        return status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(m->text, sizeof m->text, format, arguments);
    va_end(arguments);
    const char *name = strrchr(file, '/');
    snprintf(m->place, sizeof m->place, "%s:%d", name ? name + 1 : file, line);
    return status;
}
