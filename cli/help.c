/* cli/help.c: what there is to say about commands and options, from their table
 * SPDX-License-Identifier: BSD-3-Clause */
#include "help.h"
#include "json.h"
#include "options_table.h"
#include "report.h"
#include <stdio.h>
#include <string.h>

static bool concerns(const settings *s, unsigned commands)
{
    return !s->help_on || (s->help_on & commands);
}

/* The names of the commands that know an option. */
static void print_commands(unsigned commands, const char *between)
{
    bool first = true;
    for (const command_entry *c = command_table; c->name; c++)
        if (c->command & commands) {
            printf("%s%s", first ? "" : between, c->name);
            first = false;
        }
}

/* ---- text ------------------------------------------------------------------------------------ */

enum { TEXT_COLUMN = 30, TEXT_WIDTH = 100 };

/* Words from column `at` on, broken before TEXT_WIDTH; later lines begin there too. */
static void print_words(const char *words, int at)
{
    const int indent = at;
    while (*words) {
        const int length = (int)strcspn(words, " ");
        if (at > indent && at + 1 + length > TEXT_WIDTH) {
            printf("\n%*s", indent, "");
            at = indent;
        } else if (at > indent)
            at += printf(" ");
        at += printf("%.*s", length, words);
        words += length;
        words += strspn(words, " ");
    }
    putchar('\n');
}

static void print_option(const option_entry *o)
{
    char help[512];
    int width = printf("  %s%s%s%s%s", o->name, o->alias ? ", " : "", o->alias ? o->alias : "",
                       o->value ? " " : "", o->value ? o->value : "");
    if (width >= TEXT_COLUMN) {
        putchar('\n');
        width = 0;
    }
    printf("%*s", TEXT_COLUMN - width, "");
    snprintf(help, sizeof help, "%s%s%s%s", o->help, o->standard ? " (default: " : "",
             o->standard ? o->standard : "", o->standard ? ")" : "");
    print_words(help, TEXT_COLUMN);
}

static void print_text(const settings *s)
{
    if (!s->help_on)
        printf("libsolver: solves sparse symmetric systems A x = b, positive definite and "
               "indefinite\n\n");
    for (const command_entry *c = command_table; c->name; c++)
        if (concerns(s, c->command))
            printf("libsolver %-8s %-26s %s\n", c->name, c->operands, c->help);
    printf("\nOptions%s:\n", s->help_on ? "" : " (libsolver COMMAND --help: those of one command)");
    for (const option_entry *o = option_table; o->name; o++)
        if (concerns(s, o->commands))
            print_option(o);
    if (concerns(s, ~(unsigned)(COMMAND_INFO | COMMAND_HELP))) {
        printf("\nA matrix is a Matrix Market file (.mtx, .mtx.gz; -: standard input) or a "
               "problem made on the spot:\n");
        for (const term_entry *t = problem_table; t->term; t++)
            printf("  %s  %s\n", t->term, t->meaning);
        printf("Without a right-hand side, b = A x* is made from x*(i) = 1 + 0.1 (i mod 7).\n");
    }
    printf("\nExit code:\n");
    for (const term_entry *t = exit_table; t->term; t++)
        printf("  %s  %s\n", t->term, t->meaning);
}

/* ---- Markdown -------------------------------------------------------------------------------- */

/* Text in a cell of a table. */
static void print_cell(const char *text)
{
    for (; *text; text++)
        printf(*text == '|' ? "\\%c" : "%c", *text);
}

/* What a number may be, in words; "" where the choice says it. */
static void print_range(const option_entry *o)
{
    switch (o->kind) {
    case VALUE_COUNT:
    case VALUE_BYTES:
        printf("whole, at least %.0f", o->least);
        break;
    case VALUE_REAL:
    case VALUE_TOLERANCE:
        printf("above 0, at most %g", o->most);
        break;
    case VALUE_NONE:
    case VALUE_CHOICE:
    case VALUE_TEXT:
        break;
    }
}

static void print_markdown(const settings *s)
{
    printf("| option | value | range | default | commands | field of `libsolver_options` | meaning "
           "|\n|---|---|---|---|---|---|---|\n");
    for (const option_entry *o = option_table; o->name; o++) {
        if (!concerns(s, o->commands))
            continue;
        printf("| `%s`%s%s%s | ", o->name, o->alias ? ", `" : "", o->alias ? o->alias : "",
               o->alias ? "`" : "");
        print_cell(o->value ? o->value : "");
        printf(" | ");
        print_range(o);
        printf(" | %s | ", o->standard ? o->standard : "");
        print_commands(o->commands, ", ");
        printf(" | %s%s%s | ", o->api ? "`" : "", o->api ? o->api : "", o->api ? "`" : "");
        print_cell(o->help);
        printf(" |\n");
    }
}

/* ---- manual page ----------------------------------------------------------------------------- */

/* Text in which a hyphen is one, and no line is a request. */
static void print_roff(const char *text)
{
    if (*text == '.' || *text == '\'')
        printf("\\&");
    for (; *text; text++)
        printf(*text == '-' ? "\\%c" : *text == '\\' ? "\\e" : "%c", *text);
}

static void print_roff_term(const char *bold, const char *other, const char *value)
{
    printf(".TP\n\\fB");
    print_roff(bold);
    printf("\\fR");
    if (other) {
        printf(", \\fB");
        print_roff(other);
        printf("\\fR");
    }
    if (value && *value) {
        printf(" \\fI");
        print_roff(value);
        printf("\\fR");
    }
    putchar('\n');
}

static void print_roff_terms(const char *title, const term_entry *t)
{
    printf(".SH %s\n", title);
    for (; t->term; t++) {
        print_roff_term(t->term, NULL, NULL);
        print_roff(t->meaning);
        printf(".\n");
    }
}

static void print_man(const settings *s)
{
    printf(".TH LIBSOLVER 1 \"\" \"libsolver %s\" \"User Commands\"\n.SH NAME\nlibsolver \\- solve "
           "sparse symmetric systems of linear equations\n.SH SYNOPSIS\n",
           libsolver_version());
    for (const command_entry *c = command_table; c->name; c++) {
        printf(".B libsolver %s\n", c->name);
        print_roff(c->operands);
        printf("%s[OPTION...]\n.br\n", *c->operands ? " " : "");
    }
    printf(
        ".SH DESCRIPTION\nSolves A x = b for a sparse symmetric or Hermitian A by Cholesky and "
        "LDL^T factorizations, on the CPU and on the GPU, and checks each solution by its "
        "componentwise backward error.\nA matrix is a Matrix Market file (.mtx, .mtx.gz; \\-: "
        "standard input) or "
        "a problem made on the spot.\nWithout a right\\-hand side, b = A x* is made from x*(i) = "
        "1 + 0.1 (i mod 7), and the forward error is reported too.\n.SH COMMANDS\n");
    for (const command_entry *c = command_table; c->name; c++) {
        print_roff_term(c->name, NULL, c->operands);
        print_roff(c->help);
        printf(".\n");
    }
    printf(".SH OPTIONS\n");
    for (const option_entry *o = option_table; o->name; o++) {
        if (!concerns(s, o->commands))
            continue;
        print_roff_term(o->name, o->alias, o->value);
        print_roff(o->help);
        printf(".\n");
        if (o->standard) {
            printf("Default: ");
            print_roff(o->standard);
            printf(".\n");
        }
        printf("Commands: ");
        print_commands(o->commands, ", ");
        printf(".\n");
    }
    print_roff_terms("PROBLEMS", problem_table);
    print_roff_terms("EXIT STATUS", exit_table);
    printf(".SH EXAMPLES\n.nf\nlibsolver solve A.mtx b.mtx \\-o x.mtx\nlibsolver bench lap3d:30 "
           "A.mtx.gz \\-\\-backend gpu\n.fi\n");
}

/* ---- completion ------------------------------------------------------------------------------ */

static void print_bash_options(command c)
{
    for (const option_entry *o = option_table; o->name; o++)
        if (o->commands & c)
            printf("%s %s%s", o->name, o->alias ? o->alias : "", o->alias ? " " : "");
    printf("--help");
}

static void print_bash(void)
{
    printf("# bash completion for libsolver\n_libsolver()\n{\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=\n"
           "    COMPREPLY=()\n    case $before in\n");
    for (const option_entry *o = option_table; o->name; o++) {
        if (!o->value)
            continue;
        printf("    %s%s%s) ", o->name, o->alias ? "|" : "", o->alias ? o->alias : "");
        if (o->kind == VALUE_CHOICE) {
            printf("words='");
            for (const char *p = o->value; *p; p++)
                putchar(*p == '|' ? ' ' : *p);
            printf("'; COMPREPLY=($(compgen -W \"$words\" -- \"$word\")); ");
        }
        printf("return;;\n");
    }
    printf("    esac\n    case $COMP_CWORD:${COMP_WORDS[1]} in\n    1:*) words='");
    for (const command_entry *c = command_table; c->name; c++)
        printf("%s ", c->name);
    printf("--help --version';;\n");
    for (const command_entry *c = command_table; c->name; c++) {
        printf("    *:%s) words='", c->name);
        if (c->command == COMMAND_HELP)
            print_commands(~0U, " ");
        else
            print_bash_options(c->command);
        printf("';;\n");
    }
    printf("    esac\n    [[ $COMP_CWORD == 1 || $word == -* || ${COMP_WORDS[1]} == help ]] &&\n"
           "        COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n}\n"
           "complete -o default -F _libsolver libsolver\n");
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void write_terms(const char *key, const term_entry *t, json *j)
{
    json_open_list(j, key);
    for (; t->term; t++) {
        json_open_item(j);
        json_string(j, "term", t->term);
        json_string(j, "meaning", t->meaning);
        json_close(j);
    }
    json_close_list(j);
}

static void write_options(const settings *s, json *j)
{
    json_open_list(j, "options");
    for (const option_entry *o = option_table; o->name; o++) {
        if (!concerns(s, o->commands))
            continue;
        json_open_item(j);
        json_string(j, "name", o->name);
        json_string(j, "alias", o->alias);
        json_string(j, "value", o->value);
        json_string(j, "default", o->standard);
        json_string(j, "field", o->api);
        json_string(j, "help", o->help);
        json_open(j, "commands");
        for (const command_entry *c = command_table; c->name; c++)
            json_boolean(j, c->name, c->command & o->commands);
        json_close(j);
        json_close(j);
    }
    json_close_list(j);
}

static int print_json(const settings *s, failure *f)
{
    json j = {0};
    json_open(&j, NULL);
    json_schema("help", &j);
    json_open_list(&j, "commands");
    for (const command_entry *c = command_table; c->name; c++) {
        json_open_item(&j);
        json_string(&j, "name", c->name);
        json_string(&j, "operands", c->operands);
        json_string(&j, "help", c->help);
        json_close(&j);
    }
    json_close_list(&j);
    write_options(s, &j);
    write_terms("problems", problem_table, &j);
    write_terms("exit_codes", exit_table, &j);
    json_close(&j);
    json_end_line(&j);
    if (j.failed)
        failure_memory(f, "the help");
    else
        fputs(j.text, stdout);
    json_free(&j);
    return f->code;
}

int command_help(const settings *s, failure *f)
{
    switch ((help_format)s->help_format) {
    case HELP_TEXT:
        print_text(s);
        break;
    case HELP_MARKDOWN:
        print_markdown(s);
        break;
    case HELP_MAN:
        print_man(s);
        break;
    case HELP_BASH:
        print_bash();
        break;
    case HELP_JSON:
        return print_json(s, f);
    }
    return f->code;
}
