/* cli/options.c: the command line, by the table of options
 * SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"
#include "options_table.h"
#include "suggest.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- values ---------------------------------------------------------------------------------- */

/* Position of text in words ("a|b|c"), -1 if it is not there. */
static int choice_position(const char *words, const char *text)
{
    const size_t length = strlen(text);
    for (int position = 0;; position++) {
        size_t span = strcspn(words, "|");
        if (span == length && strncmp(words, text, length) == 0)
            return position;
        if (!words[span])
            return -1;
        words += span + 1;
    }
}

/* What a misspelt choice may have meant; FILE is none of them. */
static suggestion_text meant_choice(const option_entry *o, const char *text)
{
    suggestion near = suggest_none(text);
    for (const char *word = o->value; word;) {
        const size_t span = strcspn(word, "|");
        if (strncmp(word, "FILE", span) != 0)
            suggest(&near, text, word, span);
        word = word[span] ? word + span + 1 : NULL;
    }
    return suggest_text(&near);
}

/* Whether a text that is no word of a choice is meant as a path: such a file is there, or it looks
 * like none of the words. */
static bool is_path(const char *text)
{
    return strpbrk(text, "/.") || access(text, F_OK) == 0;
}

static int parse_choice(const option_entry *o, const char *text, settings *s, failure *f)
{
    int *field = (int *)(void *)((char *)s + o->field);
    const char *last = strrchr(o->value, '|') + 1;
    const bool takes_file = strcmp(last, "FILE") == 0;
    *field = choice_position(o->value, text);
    if (takes_file && *text && (*field < 0 || strcmp(text, "FILE") == 0) && is_path(text)) {
        *field = choice_position(o->value, "FILE");
        s->ordering_file = text;
        return 0;
    }
    if (*field >= 0 && !(takes_file && strcmp(text, "FILE") == 0))
        return 0;
    return failure_set(f, EXIT_USAGE, "%s: '%s' is none of %s%s%s", o->name, text, o->value,
                       takes_file ? ", and there is no such file" : "", meant_choice(o, text).text);
}

static int parse_count(const option_entry *o, const char *text, int64_t *field, failure *f)
{
    static const char units[] = "KMG";
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    bool good = !errno && end != text;
    if (good && o->kind == VALUE_BYTES && *end && strchr(units, *end)) {
        const int shift = 10 * (int)(strchr(units, *end) - units + 1);
        good = value <= INT64_MAX >> shift && value >= 0;
        value = good ? value << shift : 0;
        end++;
    }
    good = good && *end == '\0' && (double)value >= o->least &&
           (o->kind == VALUE_BYTES || (double)value <= o->most);
    if (good) {
        *field = value;
        return 0;
    }
    if (o->kind == VALUE_BYTES)
        return failure_set(
            f, EXIT_USAGE,
            "%s: '%s' is not a whole number of bytes from 1 on, K, M or G may follow it", o->name,
            text);
    return failure_set(f, EXIT_USAGE, "%s: '%s' is not a whole number from %.0f to %.0f", o->name,
                       text, o->least, o->most);
}

static int parse_real(const option_entry *o, const char *text, double *field, failure *f)
{
    char *end;
    const bool may_be_least = o->kind == VALUE_TOLERANCE;
    if (may_be_least && strcmp(text, "least") == 0) {
        *field = TOLERANCE_LEAST;
        return 0;
    }
    *field = strtod(text, &end);
    if (end != text && *end == '\0' && *field > 0 && *field <= o->most)
        return 0;
    return failure_set(f, EXIT_USAGE, "%s: '%s' is not a number above 0 and at most %g%s", o->name,
                       text, o->most, may_be_least ? ", nor the word least" : "");
}

static int parse_value(const option_entry *o, const char *text, settings *s, failure *f)
{
    void *field = (char *)s + o->field;
    switch (o->kind) {
    case VALUE_NONE:
        *(bool *)field = true;
        return 0;
    case VALUE_CHOICE:
        return parse_choice(o, text, s, f);
    case VALUE_COUNT:
    case VALUE_BYTES:
        return parse_count(o, text, field, f);
    case VALUE_REAL:
    case VALUE_TOLERANCE:
        return parse_real(o, text, field, f);
    case VALUE_TEXT:
        *(const char **)field = text;
        return *text ? 0 : failure_set(f, EXIT_USAGE, "%s: the name is empty", o->name);
    }
    return 0;
}

/* ---- command line ---------------------------------------------------------------------------- */

static bool is_named(const char *name, const char *argument, size_t length)
{
    return name && strlen(name) == length && strncmp(name, argument, length) == 0;
}

static const option_entry *find_option(unsigned commands, const char *argument, size_t length)
{
    for (const option_entry *o = option_table; o->name; o++)
        if ((o->commands & commands) &&
            (is_named(o->name, argument, length) || is_named(o->alias, argument, length)))
            return o;
    return NULL;
}

/* The option of a command that takes this word, for --mixed instead of --precision mixed; NULL:
 * none, or several do. */
static const option_entry *option_with_word(unsigned commands, const char *word)
{
    const option_entry *found = NULL;
    for (const option_entry *o = option_table; o->name; o++)
        if ((o->commands & commands) && o->kind == VALUE_CHOICE &&
            choice_position(o->value, word) >= 0) {
            if (found)
                return NULL;
            found = o;
        }
    return found;
}

static int unknown_option(const settings *s, const char *to, const char *argument, int length,
                          failure *f)
{
    char given[80];
    snprintf(given, sizeof given, "%.*s", length, argument);
    if (find_option(~0U, argument, (size_t)length))
        return failure_set(f, EXIT_USAGE, "%s is no option of %s; see libsolver %s --help", given,
                           to, to);
    suggestion near = suggest_none(given);
    for (const option_entry *o = option_table; o->name; o++)
        if (o->commands & s->command) {
            suggest(&near, given, o->name, strlen(o->name));
            if (o->alias)
                suggest(&near, given, o->alias, strlen(o->alias));
        }
    const option_entry *of = option_with_word(s->command, given + strspn(given, "-"));
    if (of)
        return failure_set(f, EXIT_USAGE, "unknown option '%s'; did you mean %s %s?", given,
                           of->name, given + strspn(given, "-"));
    return failure_set(f, EXIT_USAGE, "unknown option '%s'%s%s", given, suggest_text(&near).text,
                       *near.word ? "" : "; see libsolver --help");
}

/* arguments[*k] is an option, NAME VALUE or NAME=VALUE; *k moves on to its value. */
static int parse_option(settings *s, int count, char **arguments, int *k, failure *f)
{
    const char *argument = arguments[*k];
    const size_t length = strcspn(argument, "=");
    const option_entry *option = find_option(s->command, argument, length);
    if (!option)
        return unknown_option(s, arguments[1], argument, (int)length, f);
    const char *value = argument[length] ? argument + length + 1 : NULL;
    if (option->kind == VALUE_NONE && value)
        return failure_set(f, EXIT_USAGE, "%s takes no value", option->name);
    if (option->kind != VALUE_NONE && !value) {
        if (*k + 1 == count)
            return failure_set(f, EXIT_USAGE, "%s needs a value (%s)", option->name, option->value);
        value = arguments[++*k];
    }
    return parse_value(option, value, s, f);
}

static const command_entry *find_command(const char *name)
{
    for (const command_entry *c = command_table; c->name; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

static int unknown_command(const char *name, failure *f)
{
    suggestion near = suggest_none(name);
    for (const command_entry *c = command_table; c->name; c++)
        suggest(&near, name, c->name, strlen(c->name));
    suggest(&near, name, "--help", 6);
    suggest(&near, name, "--version", 9);
    if (find_option(~0U, name, strcspn(name, "=")))
        return failure_set(f, EXIT_USAGE,
                           "the command comes first, as in libsolver solve MATRIX %s", name);
    return failure_set(f, EXIT_USAGE, "unknown command '%s'%s%s", name, suggest_text(&near).text,
                       *near.word ? "" : "; see libsolver --help");
}

static bool is_any(const char *text, const char *word, const char *other)
{
    return strcmp(text, word) == 0 || strcmp(text, other) == 0;
}

/* A picture whose name promises what it is not. */
static bool names_another_format(const char *path)
{
    static const char *const suffixes[] = {".png", ".pdf", ".jpg", ".jpeg", ".gif", ".eps", ".ps"};
    const char *suffix = strrchr(path, '.');
    for (size_t k = 0; suffix && k < sizeof suffixes / sizeof *suffixes; k++)
        if (strcmp(suffix, suffixes[k]) == 0)
            return true;
    return false;
}

static int check_operands(settings *s, const command_entry *c, failure *f)
{
    if (s->operand_count < c->least || s->operand_count > c->most)
        return failure_set(f, EXIT_USAGE, "usage: libsolver %s %s", c->name, c->operands);
    if (s->command == COMMAND_GENERATE && !s->output)
        return failure_set(f, EXIT_USAGE, "generate needs -o FILE");
    if (s->command == COMMAND_PLOT && !s->output)
        return failure_set(f, EXIT_USAGE, "plot needs -o FILE.svg");
    if (s->command == COMMAND_PLOT && names_another_format(s->output))
        return failure_set(f, EXIT_USAGE, "%s: the picture is written as SVG: -o FILE.svg",
                           s->output);
    if (s->profile && s->backend != LIBSOLVER_BACKEND_GPU)
        return failure_set(f, EXIT_USAGE,
                           "--profile needs --backend gpu: it traces solves on a GPU");
    if (s->command == COMMAND_REFINE && s->compare_precisions &&
        s->precision != PRECISION_BY_MATRIX)
        return failure_set(f, EXIT_USAGE,
                           "--compare-precisions takes them all: not together with --precision");
    if (s->compare_precisions && s->output)
        return failure_set(f, EXIT_USAGE,
                           "--compare-precisions finds several x: not together with -o");
    if (s->residual != RESIDUAL_AUTO && s->method == LIBSOLVER_METHOD_FGMRES)
        return failure_set(f, EXIT_USAGE,
                           "--residual is about plain steps: not together with --method fgmres");
    if (s->command == COMMAND_HELP && s->operand_count > 0) {
        const command_entry *on = find_command(s->operands[0]);
        if (!on)
            return unknown_command(s->operands[0], f);
        s->help_on = on->command;
    }
    return 0;
}

int settings_parse(settings *s, int count, char **arguments, failure *f)
{
    *s = (settings){.precision = PRECISION_BY_MATRIX,
                    .threads = -1,
                    .refine = -1,
                    .purpose = -1,
                    .operands = arguments};
    if (count < 2)
        return failure_set(f, EXIT_USAGE, "no command; see libsolver --help");
    if (is_any(arguments[1], "--help", "-h")) {
        s->command = COMMAND_HELP;
        return 0;
    }
    if (strcmp(arguments[1], "--version") == 0) {
        s->command = COMMAND_VERSION;
        return 0;
    }
    const command_entry *c = find_command(arguments[1]);
    if (!c)
        return unknown_command(arguments[1], f);
    s->command = c->command;
    bool options_end = false;
    for (int k = 2; k < count; k++) {
        const char *argument = arguments[k];
        if (options_end || argument[0] != '-' || argument[1] == '\0')
            s->operands[s->operand_count++] = arguments[k];
        else if (is_any(argument, "--help", "-h")) {
            s->help_on = s->command;
            s->command = COMMAND_HELP;
            return 0;
        } else if (strcmp(argument, "--") == 0)
            options_end = true;
        else if (parse_option(s, count, arguments, &k, f))
            return f->code;
    }
    return check_operands(s, c, f);
}

double settings_tolerance(const settings *s)
{
    bool single = s->precision == PRECISION_S || s->precision == PRECISION_C;
    return s->tolerance > 0 ? s->tolerance : single ? 5e-6 : 1e-14;
}

void settings_library_options(const settings *s, libsolver_options *o)
{
    libsolver_options_default(o);
    o->backend = (libsolver_backend)s->backend;
    o->device = (int)s->device;
    o->purpose = s->purpose >= 0                                 ? (libsolver_purpose)s->purpose
                 : s->command & (COMMAND_SOLVE | COMMAND_REFINE) ? LIBSOLVER_PURPOSE_FEW
                                                                 : LIBSOLVER_PURPOSE_DEFAULT;
    o->kind = (libsolver_kind)s->kind;
    o->ordering = (libsolver_ordering)s->ordering;
    o->matching = (libsolver_choice)s->matching;
    o->scaling = (libsolver_choice)s->scaling;
    o->tolerance = settings_tolerance(s);
    o->mixed = s->precision == PRECISION_MIXED ? LIBSOLVER_ON : LIBSOLVER_OFF;
    o->delay_cap = s->delay_cap;
    if (s->threads > 0)
        o->threads = (int)s->threads;
    if (s->refine >= 0)
        o->refine_steps = (int)s->refine;
    if (s->pivot_threshold > 0)
        o->pivot_threshold = s->pivot_threshold;
}
