/* cli/progress.c: what goes on, on the terminal of somebody who watches
 * SPDX-License-Identifier: BSD-3-Clause */
#include "progress.h"
#include "clock.h"
#include <stdio.h>
#include <unistd.h>

/* Seconds of a phase before which nothing is said of it, and between two lines: what is over sooner
 * is not read by anybody, and timed calls are not to wait for a terminal. */
#define PATIENCE 0.2

progress progress_start(bool quiet, const char *prefix)
{
    return (progress){.shown = !quiet && isatty(STDERR_FILENO), .prefix = prefix};
}

void progress_say(progress *p, const char *what)
{
    if (!p->shown)
        return;
    fprintf(stderr, "\r\033[K%s%s ...", p->prefix, what);
    fflush(stderr);
    p->written = true;
}

void progress_tell(void *progress_, libsolver_phase phase, double fraction)
{
    static const char *const names[] = {"analyzing", "factorizing", "solving"};
    progress *p = progress_;
    char text[80];
    const double now = seconds_now();
    if (!p->shown)
        return;
    if (fraction <= 0)
        p->begin = p->told = now;
    if (fraction >= 1)
        progress_wipe(p);
    if (fraction <= 0 || fraction >= 1 || now - p->told < PATIENCE)
        return;
    p->told = now;
    snprintf(text, sizeof text, "%s: %.0f %%, %.1f s", names[phase], 100 * fraction,
             now - p->begin);
    progress_say(p, text);
}

void progress_log(void *progress_, const char *sentence)
{
    progress *p = progress_;
    progress_wipe(p);
    fprintf(stderr, "log: %s%s\n", p->prefix, sentence);
}

void progress_wipe(progress *p)
{
    if (p->written)
        fprintf(stderr, "\r\033[K");
    p->written = false;
}
