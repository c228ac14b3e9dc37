/* base/message.c: the last message of an object, with the place where it arose
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
    const size_t used = strlen(m->text);
    snprintf(m->text + used, sizeof m->text - used, " (%s:%d)", name ? name + 1 : file, line);
    return status;
}
