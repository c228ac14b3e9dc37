/* cli/check_outputs.c: whether results can be written where they are wanted, checked before any
 * computation
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check_outputs.h"
#include "output.h"
#include "problem.h"
#include "room.h"
#include "traces.h"
#include <string.h>

/* Whether path, which an option names, is no input. */
static int check_inputs(const settings *s, const char *option, const char *path, failure *f)
{
    for (int k = 0; k < s->operand_count; k++)
        if (!problem_generator(s->operands[k]) && output_is_file(path, s->operands[k]))
            return failure_set(f, EXIT_USAGE, "%s would write over the input %s", option,
                               s->operands[k]);
    if (s->ordering_file && output_is_file(path, s->ordering_file))
        return failure_set(f, EXIT_USAGE, "%s would write over the input %s", option,
                           s->ordering_file);
    return 0;
}

/* The files of one problem's profiles. */
static int check_profile(const settings *s, const char *specification, failure *f)
{
    static const char *const suffixes[] = {"json", "svg", "factor.json", "factor.svg"};
    char name[sizeof((problem *)0)->name];
    problem_name(specification, name, sizeof name);
    for (int k = 0; k < 4 && !f->code; k++) {
        char *path = traces_path(s->profile, name, suffixes[k]);
        if (!path)
            failure_memory(f, s->profile);
        else if (s->json && output_is_file(path, s->json))
            failure_set(f, EXIT_USAGE, "--profile and --json name the same file");
        else if (!check_inputs(s, "--profile", path, f))
            output_check(path, f);
        room_free(path);
    }
    return f->code;
}

static bool is_same(const char *path, const char *other)
{
    return strcmp(path, other) == 0 || output_is_file(path, other);
}

int check_outputs(const settings *s, failure *f)
{
    if (s->json && s->output && is_same(s->json, s->output))
        return failure_set(f, EXIT_USAGE, "-o and --json name the same file");
    if (s->html &&
        ((s->json && is_same(s->html, s->json)) || (s->output && is_same(s->html, s->output))))
        return failure_set(f, EXIT_USAGE, "--html names the same file as another result");
    if ((s->output && check_inputs(s, "-o", s->output, f)) ||
        (s->json && check_inputs(s, "--json", s->json, f)) ||
        (s->html && check_inputs(s, "--html", s->html, f)))
        return f->code;
    if ((s->json && output_check(s->json, f)) || (s->html && output_check(s->html, f)) ||
        ((s->command & (COMMAND_GENERATE | COMMAND_PLOT)) && output_check(s->output, f)))
        return f->code;
    for (int k = 0; s->profile && k < s->operand_count; k++)
        if (check_profile(s, s->operands[k], f))
            return f->code;
    return 0;
}
