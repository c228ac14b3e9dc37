/* base/environment.c: log, cancel and progress callbacks
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/environment.h"
#include <stdarg.h>
#include <stdio.h>

void environment_log(const environment *e, const char *format, ...)
{
    if (!e->log)
        return;
    char sentence[240];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    e->log(e->log_user, sentence);
}

int environment_cancelled(const environment *e)
{
    return e->cancel && e->cancel(e->cancel_user);
}

void environment_progress(const environment *e, int phase, double fraction)
{
    if (e->progress)
        e->progress(e->progress_user, phase, fraction);
}
