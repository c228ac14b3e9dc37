/* cli/options_table.h: the commands and options of the tool, in one table for the parser, the help,
 * the manual page, the table of the guide and the shell's completion
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_OPTIONS_TABLE_H
#define CLI_OPTIONS_TABLE_H

#include "options.h"

typedef struct command_entry {
    const char *name;
    command command;
    int least, most; /* operands */
    const char *operands, *help;
} command_entry;

typedef enum value_kind {
    VALUE_NONE,      /* a bool is set */
    VALUE_CHOICE,    /* one of the words in `value`; an int takes its position.  A last word FILE
                        takes any other text as a path, into ordering_file */
    VALUE_COUNT,     /* a whole number in [least, most], int64_t */
    VALUE_BYTES,     /* the same, may end in K, M or G (powers of 1024) */
    VALUE_REAL,      /* a number in (0, most] */
    VALUE_TOLERANCE, /* the same or the word "least", which is TOLERANCE_LEAST */
    VALUE_TEXT
} value_kind;

typedef struct option_entry {
    const char *name, *alias; /* alias: NULL, or another name */
    const char *value;        /* as the help shows it, NULL: it takes none */
    unsigned commands;        /* that know it */
    value_kind kind;
    double least, most;
    size_t field;         /* of settings */
    const char *standard; /* what holds without it, NULL: nothing */
    const char *api;      /* the field of libsolver_options that it sets, NULL: none */
    const char *help;
} option_entry;

/* A pair of what is written and what it means. */
typedef struct term_entry {
    const char *term, *meaning;
} term_entry;

/* Each ends with an entry of NULLs. */
extern const command_entry command_table[];
extern const option_entry option_table[];
extern const term_entry problem_table[]; /* made on the spot */
extern const term_entry exit_table[];    /* codes */

#endif
