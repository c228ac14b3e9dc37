/* cli/help.h: what there is to say about commands and options, for people and for programs
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "options.h"

/* In the order in which --format lists them. */
typedef enum help_format { HELP_TEXT, HELP_MARKDOWN, HELP_MAN, HELP_BASH, HELP_JSON } help_format;

/* On s->help_on, or on all, on standard output. */
int command_help(const settings *s, failure *f);

#endif
