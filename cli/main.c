/* cli/main.c: the tool `libsolver`
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check_outputs.h"
#include "commands.h"
#include "help.h"
#include "room.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* What was printed has arrived, or the failure says why not; an earlier one stays. */
static void finish_printing(failure *f)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return;
    if (!f->code)
        failure_set(f, EXIT_RESOURCES, "standard output: cannot be written: %s",
                    errno ? strerror(errno) : "a write failed");
}

static void run(const settings *s, failure *f)
{
    room_limit(s->memory_limit);
    switch (s->command) {
    case COMMAND_SOLVE:
        command_solve(s, f);
        break;
    case COMMAND_REFINE:
        command_refine(s, f);
        break;
    case COMMAND_BENCH:
        command_bench(s, f);
        break;
    case COMMAND_PLOT:
        command_plot(s, f);
        break;
    case COMMAND_GENERATE:
        command_generate(s, f);
        break;
    case COMMAND_INFO:
        command_info(s, f);
        break;
    case COMMAND_HELP:
        command_help(s, f);
        break;
    case COMMAND_VERSION:
        printf("libsolver %s\n", libsolver_version());
        break;
    }
}

int main(int count, char **arguments)
{
    settings s;
    failure f = {0};
    if (!settings_parse(&s, count, arguments, &f) && !check_outputs(&s, &f))
        run(&s, &f);
    finish_printing(&f);
    if (f.code)
        fprintf(stderr, "libsolver: %s\n", f.text);
    return f.code;
}
