/* cli/options.c: the command line; one table of options serves parsing and help
 * SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const struct command_entry {
    const char *name;
    command command;
    int least, most; /* operands */
    const char *operands, *help;
} commands[] = {
    {"solve", COMMAND_SOLVE, 1, 2, "MATRIX [RIGHT-HAND-SIDE]", "solve A x = b, refine and check x"},
    {"bench", COMMAND_BENCH, 1, 1 << 30, "PROBLEM...", "time every phase, one JSON line a problem"},
    {"generate", COMMAND_GENERATE, 1, 1, "PROBLEM -o FILE",
     "write a problem as a Matrix Market file"},
    {"info", COMMAND_INFO, 0, 0, "", "version, what this build contains, instruction set, devices"},
};

typedef enum value_kind {
    VALUE_NONE,   /* a bool is set */
    VALUE_CHOICE, /* one of the words in `value`; an int takes its position.  A last word FILE takes
                     any other text as a path, into ordering_file */
    VALUE_COUNT,  /* a whole number >= least, int64_t */
    VALUE_BYTES,  /* the same, may end in K, M or G (powers of 1024) */
    VALUE_REAL,   /* a number in (0, most] */
    VALUE_TEXT
} value_kind;

#define BOTH (COMMAND_SOLVE | COMMAND_BENCH)

static const struct option_entry {
    const char *name, *value;
    unsigned commands;
    value_kind kind;
    double bound; /* COUNT, BYTES: least; REAL: most */
    size_t field;
    const char *help;
} options[] = {
    {"-o", "FILE", COMMAND_SOLVE | COMMAND_GENERATE, VALUE_TEXT, 0, offsetof(settings, output),
     "where to write x, or the problem (Matrix Market, .gz by suffix)"},
    {"--backend", "auto|cpu|gpu", BOTH, VALUE_CHOICE, 0, offsetof(settings, backend),
     "where to compute"},
    {"--type", "auto|spd|indefinite", BOTH, VALUE_CHOICE, 0, offsetof(settings, kind),
     "Cholesky (spd), LDL^T (indefinite), or what fits"},
    {"--ordering", "auto|amd|nd|metis|natural|FILE", BOTH, VALUE_CHOICE, 0,
     offsetof(settings, ordering), "order of elimination; FILE: the rows 1..n in the order wanted"},
    {"--precision", "d|s|c|z|mixed", BOTH, VALUE_CHOICE, 0, offsetof(settings, precision),
     "real or complex, single or double, default d or z as the matrix; mixed: a factor in single, "
     "refined"},
    {"--nrhs", "K", BOTH, VALUE_COUNT, 1, offsetof(settings, nrhs),
     "right-hand sides made when no file gives them; a further K for bench"},
    {"--threads", "T", BOTH, VALUE_COUNT, 1, offsetof(settings, threads),
     "CPU threads; default as OpenMP says"},
    {"--refine", "N", BOTH, VALUE_COUNT, 0, offsetof(settings, refine), "refinement steps at most"},
    {"--tol", "E", BOTH, VALUE_REAL, 0.5, offsetof(settings, tolerance),
     "wanted backward error; default 1e-14, in single precision 5e-6"},
    {"--matching", "auto|on|off", BOTH, VALUE_CHOICE, 0, offsetof(settings, matching),
     "scaling and ordering by a maximum-product matching"},
    {"--pivot-threshold", "U", BOTH, VALUE_REAL, 0.5, offsetof(settings, pivot_threshold),
     "least size of a pivot relative to its column; default: 0.01, smaller where that delays too "
     "many"},
    {"--memory-limit", "BYTES", BOTH, VALUE_BYTES, 1, offsetof(settings, memory_limit),
     "of host memory, the problem and the vectors included; K, M, G may follow the number"},
    {"--json", "FILE|-", BOTH | COMMAND_INFO, VALUE_TEXT, 0, offsetof(settings, json),
     "write the results as JSON; -: on standard output, in place of the report"},
    {"--profile", "PREFIX", COMMAND_BENCH, VALUE_TEXT, 0, offsetof(settings, profile),
     "with --backend gpu: where the time of a solve goes, to PREFIX.PROBLEM.json and .svg; that of "
     "a "
     "factorization made there, to PREFIX.PROBLEM.factor.json and .factor.svg"},
    {"--compare", NULL, COMMAND_SOLVE, VALUE_NONE, 0, offsetof(settings, compare),
     "solve with SuiteSparse's CHOLMOD too, where this build has it, and print both"},
    {"--quiet", NULL, BOTH, VALUE_NONE, 0, offsetof(settings, quiet), "no report, no progress"},
};

#define LENGTH(array) (sizeof(array) / sizeof *(array))

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

static bool parse_choice(const struct option_entry *o, const char *text, settings *s, int *field)
{
    const char *last = strrchr(o->value, '|') + 1;
    *field = choice_position(o->value, text);
    if (strcmp(last, "FILE") == 0 && (*field < 0 || strcmp(text, "FILE") == 0)) {
        *field = choice_position(o->value, "FILE");
        s->ordering_file = text;
    }
    return *field >= 0;
}

static bool parse_count(const struct option_entry *o, const char *text, int64_t *field)
{
    static const char units[] = "KMG";
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno || end == text || (double)value < o->bound)
        return false;
    if (o->kind == VALUE_BYTES && *end && strchr(units, *end)) {
        int shift = 10 * (int)(strchr(units, *end) - units + 1);
        if (value > INT64_MAX >> shift)
            return false;
        value <<= shift;
        end++;
    }
    if (o->kind == VALUE_COUNT && value > INT32_MAX)
        return false;
    *field = value;
    return *end == '\0';
}

static bool parse_real(const struct option_entry *o, const char *text, double *field)
{
    char *end;
    *field = strtod(text, &end);
    return end != text && *end == '\0' && *field > 0 && *field <= o->bound;
}

static bool parse_value(const struct option_entry *o, const char *text, settings *s)
{
    void *field = (char *)s + o->field;
    switch (o->kind) {
    case VALUE_NONE:
        *(bool *)field = true;
        return true;
    case VALUE_CHOICE:
        return parse_choice(o, text, s, field);
    case VALUE_COUNT:
    case VALUE_BYTES:
        return parse_count(o, text, field);
    case VALUE_REAL:
        return parse_real(o, text, field);
    case VALUE_TEXT:
        *(const char **)field = text;
        return *text != '\0';
    }
    return false;
}

/* ---- command line ---------------------------------------------------------------------------- */

/* arguments[*k] is an option, NAME VALUE or NAME=VALUE; *k moves on to its value. */
static int parse_option(settings *s, int count, char **arguments, int *k, failure *f)
{
    const char *argument = arguments[*k];
    const size_t length = strcspn(argument, "=");
    for (size_t o = 0; o < LENGTH(options); o++) {
        const struct option_entry *option = &options[o];
        if (!(option->commands & s->command) || strlen(option->name) != length ||
            strncmp(option->name, argument, length) != 0)
            continue;
        const char *value = argument[length] ? argument + length + 1 : NULL;
        if (option->kind == VALUE_NONE) {
            if (value)
                return failure_set(f, EXIT_USAGE, "%s takes no value", option->name);
        } else if (!value) {
            if (*k + 1 == count)
                return failure_set(f, EXIT_USAGE, "%s needs a value (%s)", option->name,
                                   option->value);
            value = arguments[++*k];
        }
        if (!parse_value(option, value, s))
            return failure_set(f, EXIT_USAGE, "%s: '%s' is not a valid %s", option->name, value,
                               option->value);
        return 0;
    }
    return failure_set(f, EXIT_USAGE, "unknown option '%.*s'; see libsolver --help", (int)length,
                       argument);
}

static const struct command_entry *find_command(const char *name)
{
    for (size_t k = 0; k < LENGTH(commands); k++)
        if (strcmp(commands[k].name, name) == 0)
            return &commands[k];
    return NULL;
}

static bool is_any(const char *text, const char *word, const char *other)
{
    return strcmp(text, word) == 0 || strcmp(text, other) == 0;
}

static int check_operands(const settings *s, const struct command_entry *c, failure *f)
{
    if (s->operand_count < c->least || s->operand_count > c->most)
        return failure_set(f, EXIT_USAGE, "usage: libsolver %s %s", c->name, c->operands);
    if (s->command == COMMAND_GENERATE && !s->output)
        return failure_set(f, EXIT_USAGE, "generate needs -o FILE");
    if (s->profile && s->backend != LIBSOLVER_BACKEND_GPU)
        return failure_set(f, EXIT_USAGE,
                           "--profile needs --backend gpu: it traces solves on a GPU");
    return 0;
}

int settings_parse(settings *s, int count, char **arguments, failure *f)
{
    *s = (settings){
        .precision = PRECISION_BY_MATRIX, .threads = -1, .refine = -1, .operands = arguments};
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
    const struct command_entry *c = find_command(arguments[1]);
    if (!c)
        return failure_set(f, EXIT_USAGE, "unknown command '%s'; see libsolver --help",
                           arguments[1]);
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
    if (s->command == COMMAND_SOLVE)
        o->purpose = LIBSOLVER_PURPOSE_FEW;
    o->kind = (libsolver_kind)s->kind;
    o->ordering = (libsolver_ordering)s->ordering;
    o->matching = (libsolver_choice)s->matching;
    o->tolerance = settings_tolerance(s);
    o->mixed = s->precision == PRECISION_MIXED ? LIBSOLVER_ON : LIBSOLVER_OFF;
    if (s->threads > 0)
        o->threads = (int)s->threads;
    if (s->refine >= 0)
        o->refine_steps = (int)s->refine;
    if (s->pivot_threshold > 0)
        o->pivot_threshold = s->pivot_threshold;
}

/* ---- help ------------------------------------------------------------------------------------ */

static void print_option(const struct option_entry *o, FILE *to)
{
    const int column = 30;
    int width = fprintf(to, "  %s %s", o->name, o->value ? o->value : "");
    if (width >= column) {
        fputc('\n', to);
        width = 0;
    }
    fprintf(to, "%*s%s\n", column - width, "", o->help);
}

void print_help(const settings *s, FILE *to)
{
    if (!s->help_on)
        fprintf(to, "libsolver: solves sparse symmetric systems A x = b, positive definite and "
                    "indefinite\n\n");
    for (size_t k = 0; k < LENGTH(commands); k++)
        if (!s->help_on || s->help_on == commands[k].command)
            fprintf(to, "libsolver %-8s %-26s %s\n", commands[k].name, commands[k].operands,
                    commands[k].help);
    fprintf(to, "\nOptions%s:\n",
            s->help_on ? "" : " (libsolver COMMAND --help: those of one command)");
    for (size_t k = 0; k < LENGTH(options); k++)
        if (!s->help_on || s->help_on & options[k].commands)
            print_option(&options[k], to);
    if (s->help_on != COMMAND_INFO)
        fprintf(to,
                "\nA matrix is a Matrix Market file (.mtx, .mtx.gz) or a problem made on the spot: "
                "lap2d:N, lap3d:N,\n"
                "vec3d:N (positive definite), kkt2d:N (indefinite), N points along each side of a "
                "grid.\n"
                "Without a right-hand side, b = A x* is made from x*(i) = 1 + 0.1 (i mod 7).\n");
    if (!s->help_on || s->help_on == COMMAND_SOLVE)
        fprintf(to, "\nExit code: 0 solved to the tolerance, 1 wrong usage, 2 wrong input, 3 no "
                    "solution to the\n"
                    "tolerance, 4 out of memory or of what this build can do.\n");
}
